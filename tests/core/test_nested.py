"""Nested models: how they are written, what is wrong with them, and what follows from what they are."""

from __future__ import annotations

from typing import Any

import pytest

from mlcli.core.configuration import parts_of, ready_for
from mlcli.core.errors import UsageError
from mlcli.core.nested import can_do
from mlcli.core.params import build, parameter_at, settings
from mlcli.core.pipeline import Pipeline
from mlcli.core.schema import Column
from mlcli.models.ensembles.adaboost import AdaBoost
from mlcli.models.ensembles.bagging import Bagging
from mlcli.models.few_labels.cluster_then_label import ClusterThenLabel
from mlcli.models.few_labels.self_training import SelfTraining
from mlcli.models.neighbours.knn import NearestNeighbours
from mlcli.tasks.supervised import Classifier, Regressor

NUMBER, WITH_GAPS = Column("n"), Column("g", missing=True)
COLOUR = Column("c", "nominal", ("b", "r"))


def bagging(**params: Any) -> Any:
    """Bagging, as it would be written in a file; paths are spelt with two underscores."""
    return build(Bagging, {name.replace("__", "."): value for name, value in params.items()})


def inside(model: Any) -> list[str]:
    """The ids of the steps before the base, then that of the base."""
    return [*(step.id for step in model.base.all_steps()), model.base.final.id]


def test_a_nested_model_is_an_id_a_mapping_or_a_model() -> None:
    assert bagging().base.id == "decision-tree"
    assert bagging(base="knn").base.k == 5
    written = bagging(base={"use": "knn", "params": {"k": 3}, "steps": ["min-max", {"use": "impute"}]})
    assert inside(written) == ["min-max", "impute", "knn"]
    assert written.base.final.k == 3
    assert settings(Bagging(base=NearestNeighbours(k=2)))["base"]["params"]["k"] == 2
    assert bagging(base=NearestNeighbours(k=2)).base.k == 2


def test_a_path_goes_into_the_nested_model_at_any_depth() -> None:
    assert bagging(base__max_depth=2).base.max_depth == 2
    assert bagging(base="knn", base__k=3).base.k == 3
    assert bagging(base={"use": "knn", "params": {"weights": "inverse"}}, base__k=3).base.k == 3
    deep = bagging(base="bagging", base__base="knn", base__base__k=2, base__bags=3)
    assert (deep.base.bags, deep.base.base.k) == (3, 2)


def test_a_path_goes_before_what_the_model_has_by_default() -> None:
    assert build(AdaBoost, {"base.max_depth": 3}).base.max_depth == 3
    kept = build(AdaBoost, {"base.min_leaf": 3}).base
    assert (kept.max_depth, kept.min_leaf) == (1, 3)
    assert build(ClusterThenLabel, {"base.clusters": 30}).base.clusters == 30


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"base.q": 3}, "bagging: base: decision-tree has no parameter 'q'"),
        ({"base": "knn", "base.kk": 3}, "base: knn has no parameter 'kk'\n  did you mean 'k'"),
        ({"base": "knn", "base.k": 0}, "base: knn: k must be at least 1"),
        ({"base": {"use": "knn", "params": {"k": 3}}, "base.k": 4}, "base: knn: 'k' is given twice"),
        (
            {"base": "bagging", "base.base": "knn", "base.base.k": 0},
            "base: bagging: base: knn: k must",
        ),
        ({"base": "naive-bayes", "base.priors": [0.5, 0.4]}, "base: naive-bayes: .*1"),
        ({"base": "k-means"}, "base: k-means is no classifier or regressor"),
        ({"bass.k": 3}, "bagging has no parameter 'bass'\n  did you mean 'bags' or 'base'"),
        ({"bags.k": 3}, "bagging: bags is no model, so it has no parameter 'k'"),
    ],
)
def test_what_is_wrong_inside_is_said_with_what_would_work(values: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        build(Bagging, values)


def test_everything_that_is_wrong_is_said_at_once() -> None:
    base = {"use": "knn", "params": {"q": 1, "k": 0}, "stps": [], "steps": ["min-mx", {"use": "impute", "a": 1}]}
    with pytest.raises(UsageError) as refused:
        build(Bagging, {"base": base, "bags": 0})
    assert len(refused.value.problems) == 6


def test_settings_are_plain_and_make_the_same_model_again() -> None:
    model = bagging(base={"use": "knn", "params": {"k": 3}, "steps": ["standardise"]}, bags=4)
    plain = settings(model)
    assert plain["base"]["use"] == "knn"
    assert plain["base"]["params"] == settings(NearestNeighbours(k=3))
    assert [step["use"] for step in plain["base"]["steps"]] == ["standardise"]
    assert "steps" not in settings(bagging())["base"]
    assert settings(build(Bagging, plain)) == plain


def test_a_parameter_is_found_by_its_path() -> None:
    assert parameter_at(Bagging, {}, "base.max_depth") is not None
    assert parameter_at(Bagging, {}, "base.k") is None
    assert parameter_at(Bagging, {"base": "knn"}, "base.k") is not None
    assert parameter_at(Bagging, {"base": "bagging", "base.base": "knn"}, "base.base.k") is not None
    assert parameter_at(Bagging, {"base": "no-such-model"}, "base.k") is None


def test_every_part_is_named_with_its_class() -> None:
    model = bagging(base={"use": "bagging", "params": {"base": {"use": "knn", "steps": ["min-max"]}}})
    assert [name for name, _ in parts_of(model)] == ["bagging", "bagging", "min-max", "knn"]
    assert dict(parts_of(model))["knn"] is NearestNeighbours


def test_a_wrapper_can_do_what_its_model_can_do() -> None:
    assert can_do(bagging(base="knn"), Regressor)
    assert can_do(bagging(base="lda"), Classifier)
    assert not can_do(bagging(base="lda"), Regressor)
    assert not can_do(bagging(base="bagging", base__base="ridge"), Classifier)


def test_the_steps_that_a_nested_model_needs_stand_before_it() -> None:
    near, mixed = bagging(base="knn"), (WITH_GAPS, COLOUR)
    assert inside(ready_for(near, mixed)) == ["impute", "standardise", "one-hot", "knn"]
    assert inside(ready_for(near, (NUMBER,))) == ["standardise", "knn"]
    assert inside(ready_for(bagging(), mixed)) == ["decision-tree"]
    named = bagging(base={"use": "knn", "steps": ["min-max"]})
    assert inside(ready_for(named, (WITH_GAPS,))) == ["impute", "min-max", "knn"]
    deep: Any = ready_for(bagging(base="bagging", base__base="lda"), (COLOUR,))
    assert inside(deep.base) == ["one-hot", "lda"]


def test_numbers_are_not_scaled_inside_where_steps_were_named_before_the_wrapper() -> None:
    assert inside(ready_for(bagging(base="knn"), (NUMBER,), ())) == ["knn"]
    assert inside(ready_for(bagging(base="knn"), (WITH_GAPS,), ())) == ["impute", "knn"]


def test_what_is_ready_is_not_changed_by_making_it_ready() -> None:
    once = ready_for(bagging(base="knn"), (WITH_GAPS, COLOUR))
    assert settings(ready_for(once, (WITH_GAPS, COLOUR))) == settings(once)


def test_a_wrapper_that_accepts_what_its_model_does_has_the_steps_before_itself() -> None:
    taught = build(SelfTraining, {"base": "knn"})
    assert taught.accepts.prefers_scaled
    assert taught.accepts.unlabelled
    assert inside(ready_for(taught, (NUMBER,))) == ["knn"]


def test_a_pipeline_accepts_what_all_of_its_parts_accept() -> None:
    accepts = bagging(base={"use": "naive-bayes", "steps": ["pca"]}).base.accepts
    assert not accepts.nominal
    assert not accepts.missing
    assert isinstance(bagging(base={"use": "knn", "steps": []}).base, Pipeline)
    assert not bagging(base={"use": "knn", "steps": []}).base.accepts.prefers_scaled
