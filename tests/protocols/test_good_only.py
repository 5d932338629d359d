"""The anomaly split: trained on good rows only, the threshold from validation rows, judged on test rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mlcli.core.errors import DataError, MlcliWarning
from mlcli.core.params import build
from mlcli.core.registry import PROTOCOLS
from mlcli.core.rows import SplitInfo
from mlcli.core.schema import Column, Schema, SchemaField
from mlcli.core.tables import Table
from mlcli.experiment.results import decoded, encoded
from mlcli.experiment.run.batch import run
from mlcli.experiment.run.preparation import prepare, splits_digest
from mlcli.experiment.spec.cells import CellResult, DataSpec, Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.plan import plan
from mlcli.protocols._base import Split
from mlcli.tasks.anomaly import ScreenedRows, highest_f1


def splits_of(labels: Any, groups: Any = None, seed: int = 1, **params: object) -> list[Split]:
    strata = SplitInfo(
        len(labels), np.asarray(labels, np.int32), None if groups is None else np.asarray(groups, np.int32)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MlcliWarning)
        return list(build(PROTOCOLS.load("good-only"), params).splits(strata, np.random.default_rng(seed)))


def counts(labels: Any, rows: Any) -> tuple[int, int]:
    """How many good and bad rows."""
    return int((np.asarray(labels)[rows] == 0).sum()), int((np.asarray(labels)[rows] == 1).sum())


def test_ten_thousand_good_rows_and_twenty_bad_ones() -> None:
    # SOURCES.md, section 4: 6,000 to train, 2,000 + 10 to validate, 2,000 + 10 to test.
    labels = np.repeat([0, 1], [10_000, 20])
    (split,) = splits_of(labels)
    assert counts(labels, split.train) == (6_000, 0)
    assert counts(labels, split.validation) == (2_000, 10)
    assert counts(labels, split.test) == (2_000, 10)


def test_it_says_how_many_good_and_bad_rows_are_in_each_part() -> None:
    protocol = build(PROTOCOLS.load("good-only"), {})
    strata = SplitInfo(10_020, np.repeat([0, 1], [10_000, 20]).astype(np.int32))
    with pytest.warns(MlcliWarning) as warned:
        list(protocol.splits(strata, np.random.default_rng(1)))
    assert str(warned[0].message).startswith(
        "6,000 good rows are learned from, 2,000 good and 10 bad rows choose the threshold, 2,000 good and 10 bad "
        "rows are tested: 0.5 % of these are bad, of all 0.2 %"
    )


@settings(max_examples=80, deadline=None)
@given(
    labels=st.lists(st.sampled_from([-1, 0, 1]), min_size=1, max_size=60),
    grouped=st.booleans(),
    share=st.floats(0.05, 0.95),
)
def test_no_bad_row_is_learned_from_no_group_is_cut_and_every_labelled_row_is_somewhere(
    labels: list[int], grouped: bool, share: float
) -> None:
    codes = np.array([0] * 30 + [1] * 4 + labels)
    groups = np.concatenate([np.arange(34), 34 + np.arange(len(labels)) % 9]) if grouped else None
    for split in splits_of(codes, groups, train_share=share, repeats=2):
        assert (codes[split.train] == 0).all()
        parts = [split.train, split.validation, split.test]
        assert sorted(np.concatenate(parts)) == np.flatnonzero(codes >= 0).tolist()
        for part in parts[1:]:
            assert min(counts(codes, part)) > 0
        if groups is not None:
            kept = [set(groups[part]) for part in parts]
            assert not kept[0] & kept[1]
            assert not kept[0] & kept[2]
            assert not kept[1] & kept[2]


def test_repeats_differ_and_a_seed_gives_the_same_again() -> None:
    labels = np.repeat([0, 1], [100, 20])
    one, other = splits_of(labels, repeats=2)
    assert not np.array_equal(one.train, other.train)
    assert np.array_equal(one.train, splits_of(labels, repeats=2)[0].train)


@pytest.mark.parametrize(
    ("labels", "what"), [([0] * 9, "9 and 0"), ([0, 0, 1, 1], "2 and 2"), ([0] * 9 + [1, -1], "9 and 1")]
)
def test_too_few_rows_are_refused_with_what_would_work(labels: list[int], what: str) -> None:
    with pytest.raises(DataError, match=what) as refused:
        splits_of(labels)
    assert "whole" in refused.value.problems[0].hint


def test_validation_rows_are_part_of_what_a_result_depends_on() -> None:
    (split,) = splits_of(np.repeat([0, 1], [100, 20]))
    other = Split(split.train, split.test, split.label, split.validation[::-1])
    assert splits_digest([split]) != splits_digest([other])


def result_of(data: str, protocol: ProtocolSpec | None = None) -> CellResult:
    cells = plan(Experiment((DataSpec(data, task="anomaly"),), (ModelSpec("lof"),), protocol))
    return run(cells, jobs=1)[-1]


def test_the_threshold_comes_from_validation_rows_and_flags_the_test_rows() -> None:
    (split,) = result_of("wdbc").splits
    validation: Any = split.answers["validation"]
    test: Any = split.answers["test"]
    assert set(test.threshold) == {highest_f1(validation)}
    assert np.array_equal(test.flagged, test.score >= test.threshold[0])
    assert not set(test.rows) & set(validation.rows)


def test_what_is_stored_comes_back() -> None:
    result = result_of("wdbc")
    before: Any = result.splits[0].answers["test"]
    (split,) = decoded(encoded(result.splits), type(before))
    after: Any = split.answers["test"]
    for name, array in before.arrays().items():
        assert np.array_equal(array, after.arrays()[name]), name
    assert (after.classes, after.columns) == (before.classes, before.columns)


def test_rows_without_labels_are_scored_as_a_whole_and_that_is_said() -> None:
    result = result_of("ruspini")
    assert result.cell.protocol.use == "whole"
    assert any("no labels" in note for note in result.cell.dataset.notes)
    assert set(result.splits[0].answers) == {"test"}


def test_good_only_without_labels_is_refused_with_what_would_work() -> None:
    with pytest.raises(DataError, match="needs labels") as refused:
        plan(Experiment((DataSpec("ruspini", task="anomaly"),), (ModelSpec("lof"),), ProtocolSpec("good-only")))
    assert "whole" in refused.value.problems[0].hint


def test_a_few_anomalies_are_warned_of() -> None:
    assert any("9 bad rows" in note for note in result_of("glass").notes)


def test_no_anomaly_reaches_what_is_learned() -> None:
    cell = plan(Experiment((DataSpec("wdbc", task="anomaly"),), (ModelSpec("lof"),)))[-1]
    made = prepare(cell)
    (split,) = made.splits
    assert (made.rows.labels[split.train] == 0).all()
    assert made.rows.classes == ("benign", "malignant")


@pytest.mark.parametrize(("odd", "pieces"), [((1, 4), 1), ((0, 1, 2), 8), ((0,), 8)])
def test_sequences_are_dealt_whole_or_where_they_are_few_in_pieces(odd: tuple[int, ...], pieces: int) -> None:
    """Five sequences of 40 rows, of which the odd ones have two bad rows; a piece has four rows at least."""
    sequence, place = np.divmod(np.arange(200), 40)
    labels = np.isin(sequence, odd) & np.isin(place, [5, 35])
    shuffled = np.random.default_rng(1).permutation(200)
    cells = {"s": sequence, "t": place.astype(float), "x": np.zeros(200), "y": labels}
    roles = {"s": "sequence", "t": "order", "x": "feature", "y": "target"}
    levels = {"s": tuple("abcde"), "y": ("good", "bad")}
    columns = {
        name: Column(name, "nominal", levels[name]) if name in levels else Column(name, "numeric")
        for name in cells
    }
    table = Table.of([(columns[name], cells[name][shuffled]) for name in cells], 200)
    rows: Any = ScreenedRows.from_table(
        table, Schema(tuple(SchemaField(columns[name], roles[name]) for name in cells))
    )
    known = sequence[shuffled] * pieces + place[shuffled] * pieces // 40
    assert len(np.unique(rows.groups)) == 5 * pieces
    assert len(np.unique(np.stack([rows.groups, known]), axis=1).T) == 5 * pieces
