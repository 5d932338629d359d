"""What every split promises, for any rows, classes and groups; few test rows are warned of."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedGroupKFold

from mlcli.core.errors import DataError, MlcliWarning
from mlcli.core.params import build, parameters
from mlcli.core.registry import PROTOCOLS
from mlcli.core.rows import SplitInfo
from mlcli.core.tables import Codes, Rows
from mlcli.experiment.spec.datasets import legal_protocols
from mlcli.protocols._base import Protocol, Split, warn_of_few_judged
from mlcli.tasks.table import KINDS, kind_named

FOLDS = ("k-fold", "stratified-k-fold", "repeated-k-fold", "repeated-stratified-k-fold")
HOLDOUTS = ("holdout", "stratified-holdout", "repeated-holdout", "repeated-stratified-holdout")
EVERY = (*FOLDS, *HOLDOUTS, "leave-one-out")
"""All that hold rows out."""


def splits_of(protocol: str, strata: SplitInfo, seed: int = 1, **params: object) -> Sequence[Split]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MlcliWarning)
        made: Sequence[Split] = build(PROTOCOLS.load(protocol), params).splits(strata, np.random.default_rng(seed))
    return made


def codes(values: Sequence[int]) -> Codes:
    return np.array(values, np.int32)


@st.composite
def some_rows(draw: st.DrawFn, grouped: bool | None = None, least: int = 2) -> SplitInfo:
    rows = draw(st.integers(least, 60))
    classes = st.lists(st.integers(0, 4), min_size=rows, max_size=rows).map(codes)
    groups = st.lists(st.integers(0, 12), min_size=rows, max_size=rows).map(codes)
    with_groups = draw(st.booleans()) if grouped is None else grouped
    return SplitInfo(rows, draw(classes), draw(groups) if with_groups else None)


def units_in(strata: SplitInfo) -> int:
    return strata.rows if strata.groups is None else len(np.unique(strata.groups))


def test_every_protocol_that_a_kind_names_is_registered_and_none_is_left_over() -> None:
    assert {name for kind in KINDS for name in legal_protocols(kind)} == set(PROTOCOLS.names())


@pytest.mark.parametrize("name", PROTOCOLS.names())
def test_a_protocol_is_made_for_kinds_that_there_are_and_that_do_not_name_it_themselves(name: str) -> None:
    protocol: type[Protocol] = PROTOCOLS.load(name)
    assert all(name not in kind_named(kind).protocols for kind in protocol.kinds)
    assert set(EVERY) < set(PROTOCOLS.names())


@pytest.mark.parametrize("protocol", EVERY)
@settings(max_examples=60, deadline=None)
@given(strata=some_rows())
def test_train_and_test_share_no_row_and_no_group_and_neither_is_empty(protocol: str, strata: SplitInfo) -> None:
    assume(units_in(strata) >= 2)
    fitting = {"folds": min(10, units_in(strata))} if "fold" in protocol else {}
    groups = np.arange(strata.rows) if strata.groups is None else strata.groups
    for split in splits_of(protocol, strata, **fitting):
        assert len(split.train) > 0
        assert len(split.test) > 0
        assert sorted([*split.train, *split.test]) == list(range(strata.rows))
        assert not set(groups[split.train]) & set(groups[split.test])


@pytest.mark.parametrize("protocol", [*FOLDS, "leave-one-out"])
@settings(max_examples=60, deadline=None)
@given(strata=some_rows(), folds=st.integers(2, 7), repeats=st.integers(1, 3))
def test_every_row_is_judged_once_per_repeat(protocol: str, strata: SplitInfo, folds: int, repeats: int) -> None:
    assume(units_in(strata) >= folds)
    params = {"folds": folds, "repeats": repeats} if protocol in FOLDS else {}
    made = splits_of(protocol, strata, **params)
    judged = np.bincount(np.concatenate([split.test for split in made]), minlength=strata.rows)
    assert (judged == (repeats if protocol in FOLDS else 1)).all()


@pytest.mark.parametrize("protocol", FOLDS)
@settings(max_examples=60, deadline=None)
@given(strata=some_rows(grouped=False, least=7), folds=st.integers(2, 7))
def test_fold_sizes_differ_by_at_most_one_row(protocol: str, strata: SplitInfo, folds: int) -> None:
    sizes = [len(split.test) for split in splits_of(protocol, strata, folds=folds, repeats=1)]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("protocol", ["stratified-k-fold", "repeated-stratified-k-fold"])
@settings(max_examples=60, deadline=None)
@given(strata=some_rows(grouped=False, least=7), folds=st.integers(2, 7))
def test_counts_of_a_class_differ_by_at_most_one_between_stratified_folds(
    protocol: str, strata: SplitInfo, folds: int
) -> None:
    assert strata.strata is not None
    made = splits_of(protocol, strata, folds=folds, repeats=1)
    counts = np.array([np.bincount(strata.strata[split.test], minlength=5) for split in made])
    assert np.ptp(counts, axis=0).max() <= 1


@pytest.mark.parametrize("protocol", HOLDOUTS)
@settings(max_examples=60, deadline=None)
@given(strata=some_rows(grouped=False), share=st.floats(0.05, 0.95))
def test_a_holdout_judges_the_share_rounded(protocol: str, strata: SplitInfo, share: float) -> None:
    for split in splits_of(protocol, strata, test_share=share):
        assert len(split.test) == min(max(round(strata.rows * share), 1), strata.rows - 1)


@settings(max_examples=60, deadline=None)
@given(strata=some_rows(grouped=False), share=st.floats(0.05, 0.95))
def test_a_stratified_holdout_takes_the_share_of_every_class_rounded_up_or_down(
    strata: SplitInfo, share: float
) -> None:
    assert strata.strata is not None
    split = splits_of("stratified-holdout", strata, test_share=share)[0]
    taken = np.bincount(strata.strata[split.test], minlength=5)
    there = np.bincount(strata.strata, minlength=5)
    assert (np.abs(taken - there * len(split.test) / strata.rows) < 1).all()


def test_groups_of_one_size_and_class_are_dealt_as_evenly_as_rows() -> None:
    groups = codes(np.repeat(np.arange(20), 3).tolist())
    strata = SplitInfo(60, codes(np.repeat([0, 1], 30).tolist()), groups)
    for split in splits_of("stratified-k-fold", strata, folds=5):
        assert len(split.test) == 12
        assert np.bincount(strata.strata[split.test]).tolist() == [6, 6]  # type: ignore[index]


@pytest.mark.parametrize("mixed", [0.0, 0.3, 1.0])
def test_stratified_folds_of_groups_are_as_even_as_those_of_scikit_learn(mixed: float) -> None:
    """The spread between folds of the share that each has of every class; groups may hold several."""
    ours, theirs = np.mean([_spreads(mixed, seed) for seed in range(10)], axis=0)
    assert ours <= theirs * 1.05


def _spreads(mixed: float, seed: int) -> tuple[float, float]:
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(60), rng.integers(1, 20, 60)).astype(np.int32)
    drawn, of_group = (rng.choice(3, size, p=[0.6, 0.3, 0.1]) for size in (len(groups), 60))
    y = np.where(rng.random(len(groups)) < mixed, drawn, of_group[groups]).astype(np.int32)
    ours = [split.test for split in splits_of("stratified-k-fold", SplitInfo(len(y), y, groups), seed, folds=5)]
    peer = StratifiedGroupKFold(5, shuffle=True, random_state=seed)
    theirs = [test for _, test in peer.split(y, y, groups)]
    return _spread(y, ours), _spread(y, theirs)


def _spread(y: Codes, folds: Sequence[Rows]) -> float:
    counts = np.array([np.bincount(y[fold], minlength=3) for fold in folds])
    return float((counts / counts.sum(axis=0)).std(axis=0).mean())


def test_large_and_small_groups_are_packed_into_folds_of_similar_size() -> None:
    strata = SplitInfo(24, None, codes(np.repeat(np.arange(7), [8, 4, 4, 4, 2, 1, 1]).tolist()))
    assert sorted(len(split.test) for split in splits_of("k-fold", strata, folds=3)) == [8, 8, 8]


@pytest.mark.parametrize("protocol", EVERY)
def test_the_same_random_numbers_give_the_same_splits(protocol: str) -> None:
    strata = SplitInfo(40, codes([0, 1, 1, 2] * 10))
    first, second = splits_of(protocol, strata, seed=5), splits_of(protocol, strata, seed=5)
    assert [split.test.tolist() for split in first] == [split.test.tolist() for split in second]


@pytest.mark.parametrize("protocol", [*FOLDS, *HOLDOUTS])
def test_other_random_numbers_and_other_repeats_give_other_splits(protocol: str) -> None:
    strata = SplitInfo(40, codes([0, 1, 1, 2] * 10))
    made = splits_of(protocol, strata, seed=5, repeats=2)
    half = len(made) // 2
    assert made[0].test.tolist() != splits_of(protocol, strata, seed=6)[0].test.tolist()
    assert made[0].test.tolist() != made[half].test.tolist()


def test_three_folds_of_3000_rows_hold_1000_each() -> None:
    """SOURCES.md, section 4: S0 4.4."""
    assert [len(split.test) for split in splits_of("k-fold", SplitInfo(3000), folds=3)] == [1000, 1000, 1000]


def test_leave_one_out_has_a_split_for_each_row_in_order_and_pools_its_answers() -> None:
    made = splits_of("leave-one-out", SplitInfo(5))
    assert [split.test.tolist() for split in made] == [[0], [1], [2], [3], [4]]
    assert [split.label for split in made[-2:]] == ["row 4", "row 5"]
    assert build(PROTOCOLS.load("leave-one-out"), {}).pooled


def test_leave_one_out_of_many_rows_takes_no_quadratic_memory() -> None:
    made = splits_of("leave-one-out", SplitInfo(50_000))
    assert len(made) == 50_000
    assert made[49_999].test.tolist() == [49_999]


def test_splits_are_named_by_repeat_and_fold() -> None:
    strata = SplitInfo(12, codes([0, 1] * 6))
    assert [split.label for split in splits_of("k-fold", strata, folds=2)] == ["fold 1", "fold 2"]
    assert splits_of("k-fold", strata, folds=2, repeats=3)[5].label == "repeat 3, fold 2"
    assert splits_of("repeated-holdout", strata)[1].label == "repeat 2, holdout"


@pytest.mark.parametrize("protocol", [name for name in EVERY if name.startswith("repeated-")])
def test_a_repeated_form_is_its_plain_form_with_repeats(protocol: str) -> None:
    strata = SplitInfo(30, codes([0, 1, 1] * 10))
    plain = splits_of(protocol.removeprefix("repeated-"), strata, repeats=10)
    assert [split.test.tolist() for split in splits_of(protocol, strata)] == [
        split.test.tolist() for split in plain
    ]
    default = {parameter.name: parameter.default for parameter in parameters(PROTOCOLS.load(protocol))}
    assert default["repeats"] > 1


@pytest.mark.parametrize("protocol", FOLDS)
def test_more_folds_than_rows_or_groups_are_refused_with_what_would_work(protocol: str) -> None:
    with pytest.raises(DataError, match="10 folds need at least 10 rows, there are 6") as caught:
        splits_of(protocol, SplitInfo(6, codes([0, 1] * 3)))
    assert "6 folds or fewer would work" in caught.value.problems[0].hint
    with pytest.raises(DataError, match="10 folds need at least 10 groups, there are 3"):
        splits_of(protocol, SplitInfo(30, codes([0, 1, 1] * 10), codes([0, 1, 2] * 10)))


@pytest.mark.parametrize("protocol", EVERY)
def test_one_row_or_one_group_cannot_be_split(protocol: str) -> None:
    for strata, noun in (
        (SplitInfo(1, codes([0])), "rows"),
        (SplitInfo(9, codes([0] * 9), codes([4] * 9)), "groups"),
    ):
        with pytest.raises(DataError, match=f"{protocol} needs at least 2 {noun}, there are 1"):
            splits_of(protocol, strata)


def test_a_class_with_fewer_rows_than_folds_is_warned_of_and_still_split() -> None:
    protocol = build(PROTOCOLS.load("stratified-k-fold"), {"folds": 5})
    with pytest.warns(MlcliWarning, match=r"one class has fewer than 5 rows \(the smallest 3\)"):
        made = protocol.splits(SplitInfo(20, codes([0] * 17 + [1] * 3)), np.random.default_rng(1))
    assert len(made) == 5
    plenty = SplitInfo(20, codes([0] * 10 + [1] * 10))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(protocol.splits(plenty, np.random.default_rng(1))) == 5


STRATIFIED = [protocol for protocol in EVERY if "stratified" in protocol]


@pytest.mark.parametrize("protocol", STRATIFIED)
def test_rows_without_any_label_are_refused_by_what_splits_by_class(protocol: str) -> None:
    with pytest.raises(DataError, match="no labels that they could be split by") as caught:
        splits_of(protocol, SplitInfo(30, None))
    assert caught.value.problems[0].hint.startswith("protocol: whole")


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("protocol", STRATIFIED)
def test_rows_without_a_label_are_split_as_a_class_of_their_own(protocol: str, grouped: bool) -> None:
    groups = np.arange(40, dtype=np.int32) // 2 if grouped else None
    unknown, known = (codes([label] * 20 + [0] * 10 + [1] * 10) for label in (-1, 2))
    for one, other in zip(
        splits_of(protocol, SplitInfo(40, unknown, groups)),
        splits_of(protocol, SplitInfo(40, known, groups)),
        strict=True,
    ):
        assert np.array_equal(one.test, other.test)


def said(protocol: str, rows: int, rare: int = 20, **params: object) -> list[str]:
    y = np.zeros(rows, np.int32)
    y[:rare] = 1
    strata, made = SplitInfo(rows, y), build(PROTOCOLS.load(protocol), params)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        splits = made.splits(strata, np.random.default_rng(1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_few_judged(splits, strata, pooled=made.pooled)
    return [str(one.message) for one in caught]


@pytest.mark.parametrize(
    ("protocol", "rows", "rare", "params", "what"),
    [
        ("holdout", 40, 20, {"test_share": 0.1}, "only 4 test rows"),
        (
            "k-fold",
            20,
            10,
            {"folds": 2},
            "there are only 20 test rows: one prediction more or less is 5 % of them",
        ),
        ("stratified-k-fold", 100, 3, {"folds": 10}, "the rarest class has only 3 test rows"),
        ("k-fold", 40, 20, {"folds": 10}, "the smallest of the 10 test parts holds 4 of the rows"),
        ("bootstrap", 10, 5, {}, "only 10 test rows"),
    ],
)
def test_too_few_rows_are_said(protocol: str, rows: int, rare: int, params: dict[str, object], what: str) -> None:
    assert any(what in one for one in said(protocol, rows, rare, **params))


def test_enough_rows_are_not_mentioned_and_pooled_answers_have_no_parts() -> None:
    assert said("stratified-k-fold", 100, 50) == []
    assert said("holdout", 200, 100) == []
    assert said("leave-one-out", 60) == []
