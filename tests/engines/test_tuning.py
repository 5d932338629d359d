"""Choosing by inner splits: spaces as they are written, paths, what is shared, rules, and what failures say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mlcli.core.configuration import with_steps
from mlcli.core.errors import DataError, FitError, UsageError
from mlcli.core.nested import can_do
from mlcli.core.params import build
from mlcli.core.pipeline import fit_steps, learn, predict_rows
from mlcli.core.ranges import Range, log_range
from mlcli.core.registry import MODELS
from mlcli.engines.inner_validation import Candidate, InnerEvaluation
from mlcli.engines.search_space import parameter_at, space_of, with_values
from mlcli.metrics.registry import metric_named
from mlcli.models.ensembles.bagging import Bagging
from mlcli.models.wrappers.tuned import Tuned
from mlcli.protocols.holdout import StratifiedHoldout
from mlcli.protocols.k_fold import KFold, StratifiedKFold
from mlcli.tasks.table import KINDS, kinds_of
from tests.golden.shipped import as_they_are, in_numbers

SHARED = [
    ("knn", "wine", {"k": [1, 4, 9], "weights": ["uniform", "inverse"]}),
    ("svm", "wine", {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1]}),
    ("svm-regression", "cpu", {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1]}),
    ("kernel-ridge", "cpu", {"alpha": [0.1, 1.0], "gamma": [0.01, 0.1]}),
    ("lasso", "cpu", {"l1": [10.0, 100.0, 1000.0]}),
    ("elastic-net", "cpu", {"strength": [10.0, 100.0], "share": [0.2, 0.9]}),
    ("ridge", "cpu", {"l2": [0.1, 10.0]}),
    ("lda", "wine", {"shrinkage": [0.0, 0.5]}),
    ("newton-boosting", "wine", {"rounds": [3, 10, 20], "learning_rate": [0.1, 0.3]}),
    ("gradient-boosting", "cpu", {"rounds": [3, 10, 20]}),
    ("random-forest", "wine", {"trees": [3, 10], "min_leaf": [1, 5]}),
    ("bagging", "wine", {"bags": [2, 5]}),
    ("adaboost", "wine", {"rounds": [2, 5, 9]}),
]


def tuned(base: Any, ranges: Any = None, **params: Any) -> Any:
    return build(Tuned, {"base": base, "ranges": ranges, **params})


def fitted(model: Any, data: Any, seed: int = 0) -> Any:
    learn(model, data, np.random.default_rng(seed))
    return model


@pytest.mark.parametrize(("use", "name", "ranges"), SHARED, ids=[use for use, *_ in SHARED])
def test_what_is_shared_changes_no_score(use: str, name: str, ranges: Any) -> None:
    data = in_numbers(name)
    base = build(MODELS.load(use), {})
    every = space_of(base, ranges).grid(None)
    candidates = [Candidate(one, with_steps(with_values(base, one), data.table.columns)) for one in every]
    protocol = (StratifiedHoldout if hasattr(data, "classes") else KFold)()
    splits = list(protocol.splits(data.split_info(), np.random.default_rng(1)))[:1]
    metric = metric_named("log-loss" if hasattr(data, "classes") else "rmse", next(
        kind.answers for kind in KINDS if kind.name == data.kind
    ))  # fmt: skip
    together = InnerEvaluation(data, splits, metric, 5).trials(candidates)
    for candidate, trial in zip(candidates, together, strict=True):
        (alone,) = InnerEvaluation(data, splits, metric, 5).trials([candidate])
        assert trial.score == pytest.approx(alone.score, rel=1e-6)
        plain = candidate.model.fresh()
        train = fit_steps(plain, data.take(splits[0].train), np.random.default_rng(5))
        data.task.learn(plain.final, train, np.random.default_rng(5))
        said = metric.compute(predict_rows(plain, data.take(splits[0].test)))
        assert trial.score == pytest.approx(said, rel=1e-6)


def test_paths_lead_into_steps_and_nested_models() -> None:
    nested = {"use": "bagging", "params": {"base": {"use": "decision-tree", "steps": ["pca"]}}}
    model = build(Bagging, {"base": nested})
    changed: Any = with_values(model, {"base.base.max_depth": 3, "base.base.pca.components": 4, "bags": 2})
    inner = changed.base.final.base
    assert (changed.bags, inner.final.max_depth, inner.steps[0].components) == (2, 3, 4)
    assert parameter_at(model, "base.bags").name == "bags"
    assert model.base.final.base.final.max_depth is None


def test_a_path_to_a_whole_model_comes_before_paths_into_it() -> None:
    model = build(Bagging, {"base": "decision-tree"})
    changed: Any = with_values(model, {"base.k": 7, "base": "knn"})
    assert (changed.base.final.id, changed.base.final.k) == ("knn", 7)


@pytest.mark.parametrize(
    ("ranges", "what"),
    [
        ({"l3": [1]}, "the path 'l3' leads nowhere in svm"),
        ({"C": [1, -1]}, "C must be above 0, was given -1"),
        ({"C": []}, "'C' takes values to try"),
        ({"C": 3}, "'C' takes values to try"),
        ({"C": {"from": 1, "to": 0.1}}, "which is not above its beginning"),
        ({"C": {"from": 0, "to": 1, "scale": "log"}}, "begins above 0"),
        ({"C": {"from": 1, "too": 2}}, "has no key 'too'"),
        ({"C": {"from": 1, "to": 2, "points": 1}}, "from 2 up"),
        ({"pca.components": [2]}, "leads nowhere"),
        ({"multiclass": None}, "'multiclass' declares no range"),
        ({}, "the space is empty"),
    ],
)
def test_what_is_wrong_with_a_space_is_said(ranges: Any, what: str) -> None:
    with pytest.raises(UsageError, match="tuned") as caught:
        tuned("svm", ranges)
    assert what in str(caught.value)


def test_whole_numbers_and_factors() -> None:
    assert log_range(1, 50).values(5, whole=True) == (1, 3, 7, 19, 50)
    assert Range(1, 3).values(10, whole=True) == (1, 2, 3)
    assert log_range(0.01, 100).values(5, whole=False) == (0.01, 0.1, 1.0, 10.0, 100.0)


def test_a_grid_of_ranges_stays_within_the_budget() -> None:
    model = tuned("decision-tree", {"max_depth": {"from": 1, "to": 30}, "min_leaf": {"from": 1, "to": 30}})
    learned = fitted(model, in_numbers("wine"))
    assert len(learned.trials_) == 16
    few = fitted(tuned("knn", {"k": list(range(1, 40))}, trials=6), in_numbers("wine"))
    assert len(few.trials_) == 6


def test_random_draws_are_as_many_as_asked_for_and_the_same_for_the_same_seed() -> None:
    model = tuned("ridge", {"l2": {"from": 1e-3, "to": 1e3, "scale": "log"}}, search="random", trials=12)
    one, other = (fitted(model.fresh(), in_numbers("cpu"), seed=4) for _ in range(2))
    assert len(one.trials_) == 12
    assert one.trials_ == other.trials_


def test_halving_is_sparing_on_stages() -> None:
    ranges = {"learning_rate": [0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]}
    base = {"use": "newton-boosting", "params": {"rounds": 27}}
    learned = fitted(tuned(base, ranges, search="halving", resource="stages"), in_numbers("cpu"))
    assert sorted({round(one["effort"], 3) for one in learned.trials_}) == [0.111, 0.333, 1.0]
    assert learned.model_.final.rounds == 27
    with pytest.raises(UsageError, match="lda has no stages"):
        tuned("lda", None, search="halving", resource="stages")


def test_groups_are_never_cut() -> None:
    data = in_numbers("wine")
    grouped = replace(data, groups=(np.arange(len(data)) % 20).astype(np.int32))
    examination = tuned("knn").inner_evaluation(grouped, np.random.default_rng(0))
    for split in examination.splits:
        assert not set(grouped.groups[split.train]) & set(grouped.groups[split.test])


def test_later_rows_judge_what_earlier_ones_teach() -> None:
    data = in_numbers("cpu")
    ordered = replace(data, order=np.random.default_rng(0).permutation(len(data)).astype(np.float64))
    model = tuned("ridge")
    examination = model.inner_evaluation(ordered, np.random.default_rng(0))
    assert model.inner_ == "forward-chaining"
    for split in examination.splits:
        assert ordered.order[split.train].max() < ordered.order[split.test].min()


def test_too_few_rows_to_choose_by() -> None:
    data = in_numbers("wine")
    with pytest.warns(match="cannot be split again to choose by"):
        assert fitted(tuned("decision-tree"), data.take(np.array([3]))).values_ == {}
    with pytest.raises(DataError, match="5 folds need at least 5 rows, there are 3"):
        fitted(tuned("decision-tree", inner={"use": "k-fold", "folds": 5}), data.take(np.array([3, 60, 70])))


def test_protocols_that_cannot_choose_are_refused() -> None:
    with pytest.raises(UsageError, match="nothing can be chosen so"):
        tuned("knn", inner="whole")
    with pytest.raises(UsageError, match="no protocol 'k-folds'"):
        tuned("knn", inner="k-folds")
    with pytest.raises(UsageError, match="cannot split rows of classification"):
        fitted(tuned("knn", inner="good-only"), in_numbers("wine"))


def test_all_candidates_failing_is_an_error_with_a_reason() -> None:
    data = as_they_are("iris")
    base = {"use": "knn", "params": {"priority": ["rose"], "tied_vote": "priority"}}
    with pytest.raises(FitError, match="none of 2 candidates could be scored") as caught:
        fitted(tuned(base, {"k": [1, 3]}), data)
    assert "there is no class 'rose'" in str(caught.value)


def test_some_candidates_failing_is_said() -> None:
    model = tuned({"use": "knn"}, {"tied_vote": ["larger-class", "priority"]})
    learned = fitted(model, in_numbers("wine"))
    assert learned.values_ == {"tied_vote": "larger-class"}
    notes = " ".join(finding.note for finding in learned.explain())
    assert "1 could not be scored" in notes


def test_the_metric_of_choice_decides() -> None:
    learned = fitted(tuned("knn", {"k": [1, 30]}, metric="log-loss"), in_numbers("wine"))
    assert learned.metric_ == "log-loss"
    assert learned.values_ == {"k": 30}
    with pytest.raises(UsageError, match="is a metric of regression"):
        fitted(tuned("knn", {"k": [1, 30]}, metric="rmse"), in_numbers("wine"))


def test_scores_that_splits_do_not_have_are_taken_over_all_inner_answers() -> None:
    inner = {"use": "leave-one-out"}
    learned = fitted(tuned("knn", {"k": [1, 3]}, inner=inner, metric="auc"), in_numbers("iris"))
    assert 0.9 < learned.score_ <= 1.0


def test_values_at_the_edge_of_a_range_are_noted_unless_none_lie_beyond() -> None:
    learned = fitted(tuned("ridge", {"l2": [1e4, 1e5]}), in_numbers("cpu"))
    assert learned.edges_ == {"l2": "lowest"}
    assert fitted(tuned("lda", {"shrinkage": [0.0, 0.9]}), in_numbers("wine")).edges_ == {}


def test_steps_are_learned_in_every_inner_split_anew() -> None:
    """Rows that judge in an inner split do not reach its steps: 1e6 there changes no other row's score."""
    data = in_numbers("cpu")
    base = with_steps(build(MODELS.load("knn"), {}), data.table.columns)
    splits = list(KFold(folds=5).splits(data.split_info(), np.random.default_rng(1)))[:1]
    metric = metric_named("mae", next(kind.answers for kind in KINDS if kind.name == "regression"))
    spoiled = data.table.numbers.copy()
    spoiled[splits[0].test[3:]] = 1e6
    first_rows = replace(splits[0], test=splits[0].test[:3])
    other = data.with_table(replace(data.table, numbers=spoiled))
    before, after = (
        InnerEvaluation(rows, [first_rows], metric, 0).trials([Candidate({}, base)]) for rows in (data, other)
    )
    assert before[0].score == after[0].score


@pytest.mark.parametrize("use", next(kind.panel for kind in KINDS if kind.name == "classification"))
def test_every_method_of_the_panel_declares_what_to_try(use: str) -> None:
    assert space_of(build(MODELS.load(use), {}), None).dimensions


@pytest.mark.parametrize("use", MODELS.names())
def test_what_is_declared_is_legal(use: str) -> None:
    """Every value of every declared range is one that the parameter takes."""
    cls = MODELS.load(use)
    if not {"classification", "regression"} & {kind.name for kind in kinds_of(cls)}:
        return
    for dimension in space_of(build(cls, {}), None).dimensions:
        for value in () if dimension.by_rows else dimension.values(7):
            assert dimension.parameter.problem_with(value) is None


def test_what_a_wrapper_can_do_follows_from_its_base() -> None:
    bases = {kind.name: kind.base for kind in KINDS}
    assert can_do(tuned("lda"), bases["classification"])
    assert not can_do(tuned("lda"), bases["regression"])


def test_a_rare_class_is_no_reason_to_fail() -> None:
    data = in_numbers("wine")
    few = data.take(np.concatenate([np.flatnonzero(data.y != 2), np.flatnonzero(data.y == 2)[:2]]))
    learned = fitted(tuned("knn", {"k": [1, 5]}), few)
    assert learned.inner_ == StratifiedKFold.id
