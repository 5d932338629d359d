"""What every ranker promises: groups stay whole, a score is the row's own, and there is something to learn."""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest

from mlcli.core.errors import DataError, FitError
from mlcli.core.params import build
from mlcli.core.pipeline import predict_rows
from mlcli.core.registry import PROTOCOLS
from mlcli.core.schema import Column, Schema, SchemaField
from mlcli.core.state import packed, unpacked
from mlcli.core.tables import Table
from mlcli.metrics.registry import metric_named
from mlcli.tasks.ranking import GroupedRows, Ranker
from mlcli.tasks.table import kind_named
from tests.contract.exceptions import owing
from tests.contract.subjects import EVERYONE, Subject
from tests.support.rankings import drawn

KIND = kind_named("ranking")
RANKERS = [subject for subject in EVERYONE if subject.kind == KIND.name]
LEARNING = [subject for subject in RANKERS if subject.model not in KIND.baselines]
every_ranker = pytest.mark.parametrize("subject", RANKERS, ids=str)
every_learner = pytest.mark.parametrize("subject", LEARNING, ids=str)


def halves(subject: Subject) -> tuple[GroupedRows, GroupedRows]:
    """Groups to learn from, and others to be asked about."""
    return drawn(subject.accepts(), seed=1), drawn(subject.accepts(), seed=2)


def score(subject: Subject, train: GroupedRows, test: GroupedRows) -> Any:
    """What it answers."""
    return subject.answers(train, test).score


def accuracy(answers: Any) -> float:
    """The share of pairs in order."""
    found = metric_named(KIND.metrics[0], KIND.answers).compute(answers)
    assert isinstance(found, float)
    return found


def shuffled(data: GroupedRows, seed: int) -> GroupedRows:
    """The same rows with the relevances of each group dealt out anew within it."""
    rng = np.random.default_rng(seed)
    relevance = data.relevance.copy()
    for one in np.unique(data.group):
        rows = np.flatnonzero(data.group == one)
        relevance[rows] = relevance[rng.permutation(rows)]
    return replace(data, relevance=relevance)


@pytest.mark.parametrize("name", KIND.protocols)
def test_no_protocol_cuts_a_group(name: str) -> None:
    data = drawn(RANKERS[0].accepts())
    for split in build(PROTOCOLS.load(name), {}).splits(data.split_info(), np.random.default_rng(1)):
        assert not set(data.group[split.train]) & set(data.group[split.test])
        assert len(split.train) + len(split.test) == len(data)


@every_ranker
def test_a_score_depends_neither_on_the_other_rows_nor_on_their_order(subject: Subject) -> None:
    train, test = halves(subject)
    model = subject.fitted(train)
    together, order = predict_rows(model, test).score, np.random.default_rng(1).permutation(len(test))  # type: ignore[attr-defined]
    assert np.array_equal(predict_rows(model, test.take(order)).score, together[order])  # type: ignore[attr-defined]
    alone = [predict_rows(model, test.take(np.array([row]))).score[0] for row in range(5)]  # type: ignore[attr-defined]
    assert np.array_equal(alone, together[:5])


@every_learner
def test_the_order_of_training_rows_does_not_matter(subject: Subject) -> None:
    train, test = halves(subject)
    order = np.random.default_rng(1).permutation(len(train))
    assert score(subject, train.take(order), test) == pytest.approx(score(subject, train, test), abs=1e-6)


@owing("label_names", LEARNING)
def test_the_names_of_groups_and_the_unit_of_relevance_do_not_matter(subject: Subject) -> None:
    train, test = halves(subject)
    other = np.random.default_rng(1).permutation(len(train.names)).astype(np.int32)
    renamed = replace(train, groups=other[train.group], relevance=10 * train.relevance - 7)
    assert score(subject, renamed, test) == pytest.approx(score(subject, train, test), abs=1e-6)


@owing("weights_count_as_repeats", RANKERS)
def test_a_whole_weight_counts_as_that_many_rows(subject: Subject) -> None:
    train, test = halves(subject)
    times = np.random.default_rng(5).integers(1, 4, len(train))
    weighted = score(subject, replace(train, weight=times.astype(float)), test)
    repeated = score(subject, train.take(np.repeat(np.arange(len(train)), times)), test)
    assert weighted == pytest.approx(repeated, abs=1e-6)


@every_ranker
def test_rows_of_weight_0_teach_nothing(subject: Subject) -> None:
    train, test = halves(subject)
    weight = np.random.default_rng(6).integers(0, 2, len(train)).astype(float)
    kept = train.take(np.flatnonzero(weight))
    turned = replace(train, weight=weight, relevance=np.where(weight > 0, train.relevance, -train.relevance))
    assert score(subject, turned, test) == pytest.approx(score(subject, kept, test), abs=1e-6)


@every_learner
def test_it_beats_every_baseline(subject: Subject) -> None:
    train, test = halves(subject)
    right = accuracy(subject.answers(train, test))
    for baseline in KIND.baselines:
        assert right > accuracy(Subject(baseline, KIND.name, piped=subject.piped).answers(train, test))


@every_ranker
def test_relevances_dealt_out_anew_within_groups_teach_nothing(subject: Subject) -> None:
    train, test = halves(subject)
    found = [accuracy(subject.answers(shuffled(train, seed), test)) for seed in range(10)]
    assert abs(np.mean(found) - 0.5) < 0.15


@every_ranker
def test_the_same_seed_gives_the_same_answer_and_rows_stay_as_they_were(subject: Subject) -> None:
    train, test = halves(subject)
    arrays = [part for data in (train, test) for part in (data.table.numbers, data.relevance, data.group)]
    for array in arrays:
        array.setflags(write=False)
    before = [array.copy() for array in arrays]
    assert np.array_equal(score(subject, train, test), score(subject, train, test))
    assert all(np.array_equal(a, b) for a, b in zip(arrays, before, strict=True))


@every_ranker
def test_saved_and_loaded_equals_fitted_to_the_bit(subject: Subject) -> None:
    train, test = halves(subject)
    model = subject.fitted(train)
    arrays: dict[str, Any] = {}
    written = json.dumps(packed(model, arrays), allow_nan=False)
    loaded = unpacked(json.loads(written), arrays)
    assert np.array_equal(predict_rows(loaded, test).score, predict_rows(model, test).score)  # type: ignore[attr-defined]
    assert [asdict(section) for section in loaded.explain()] == [asdict(section) for section in model.explain()]


@every_ranker
def test_what_it_says_of_itself_is_plain_and_it_learns_without_a_warning(subject: Subject) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sections = subject.fitted(halves(subject)[0]).explain()
    assert sections
    assert json.dumps([asdict(section) for section in sections])


@every_ranker
def test_few_columns_are_answered_or_refused_plainly(subject: Subject) -> None:
    for kept in (0, 1):
        train, test = (
            data.with_table(Table.of(list(data.table.parts())[:kept], len(data))) for data in halves(subject)
        )
        refusal, said = "", np.empty(0)
        try:
            said = score(subject, train, test)
        except FitError as error:
            refusal = str(error)
        assert np.isfinite(said).all()
        assert not refusal or "column" in refusal


@every_ranker
def test_training_rows_without_an_order_are_refused(subject: Subject) -> None:
    train, test = halves(subject)
    for flat in (replace(train, relevance=np.ones(len(train))), train.take(np.array([0]))):
        with pytest.raises(FitError, match="no two training rows of one group differ in relevance"):
            score(subject, flat, test)


@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_an_infinite_or_missing_score_is_refused(strange: float) -> None:
    class Strange(Ranker):
        id = "strange"

        def score_rows(self, table: Table) -> Any:
            return np.append(np.zeros(len(table) - 1), strange)

    with pytest.raises(FitError, match="strange answered something that is not a number for 1 of"):
        predict_rows(Strange(), drawn(RANKERS[0].accepts()))


def of_file(target: Column, cells: Any, role: str = "group") -> GroupedRows:
    """Rows read from a table with three groups of two rows."""
    columns = (Column("x"), Column("g", "nominal", ("a", "b", "c")), target)
    parts = zip(columns, (np.arange(6.0), np.array([2, 2, 0, 0, 1, 1]), np.array(cells)), strict=True)
    roles = ("feature", role, "target")
    schema = Schema(tuple(SchemaField(column, said) for column, said in zip(columns, roles, strict=True)))
    return GroupedRows.from_table(Table.of(list(parts), 6), schema)


def test_relevance_is_a_number_the_rank_of_a_level_or_the_second_of_two() -> None:
    numbers = of_file(Column("y"), [3.5, -1, 0, np.nan, 2, 2])
    assert numbers.relevance.tolist() == [3.5, -1, 0, 2, 2]
    assert [numbers.names[code] for code in numbers.group] == ["c", "c", "a", "b", "b"]
    ranks = of_file(Column("y", "ordinal", ("low", "medium", "high")), [2, 0, 1, -1, 1, 2])
    assert ranks.relevance.tolist() == [2, 0, 1, 1, 2]
    chosen = of_file(Column("y", "nominal", ("no", "yes")), [0, 1, 1, 0, 0, 1])
    assert chosen.relevance.tolist() == [0, 1, 1, 0, 0, 1]
    with pytest.raises(DataError, match="'y' has 3 levels without an order"):
        of_file(Column("y", "nominal", ("car", "bus", "train")), [0, 1, 2, 0, 0, 1])
    with pytest.raises(DataError, match="ranking needs a column with the role group"):
        of_file(Column("y"), np.arange(6.0), role="feature")
