"""Nested models in experiments: grids and paths with their places, keys, saved lists, and no leak through them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from mlcli.core.errors import ExperimentError, Problem, UsageError
from mlcli.core.params import build
from mlcli.core.pipeline import learn, predict_rows
from mlcli.core.registry import MODELS
from mlcli.core.state import NamedArrays, packed, unpacked
from mlcli.core.strict_yaml import parse
from mlcli.experiment.run.batch import run
from mlcli.experiment.run.evaluation import evaluate
from mlcli.experiment.run.preparation import cell_key, prepare
from mlcli.experiment.spec.cells import Cell, DataSpec, Experiment, ModelSpec, ProtocolSpec, settings_of
from mlcli.experiment.spec.entries import models_from_text
from mlcli.experiment.spec.file import read_experiment
from mlcli.experiment.spec.json_schema import experiment_schema
from mlcli.experiment.spec.plan import plan
from mlcli.report.views.plan import steps_of
from mlcli.tasks.supervised import LabelledRows
from tests.contract.illegal import illegal_values
from tests.experiment import toy
from tests.experiment.run.test_leakage import TRUSTED, spoiled, state

HOLDOUT = ProtocolSpec("holdout", {"test_share": 0.3})


def written(tmp_path: Path, model: str) -> Experiment:
    """An experiment file with one entry for a model."""
    path = tmp_path / "nested.yaml"
    path.write_text(f"data: [iris]\nmodels:\n  - {model}\n")
    return read_experiment(path)


def chosen(models: Any) -> list[dict[str, Any]]:
    return [dict(model.params) for model in models]


def problems(tmp_path: Path, model: str) -> list[tuple[str, Problem]]:
    """Everything that is wrong with one entry, with line and column."""
    with pytest.raises(ExperimentError) as refused:
        written(tmp_path, model)
    return [(problem.where.partition(".yaml:")[2], problem) for problem in refused.value.problems]


def test_a_grid_goes_into_nested_models(tmp_path: Path) -> None:
    asked = written(tmp_path, "{use: bagging, grid: {base.max_depth: [1, 3], bags: [5]}}")
    assert chosen(asked.models) == [{"base.max_depth": 1, "bags": 5}, {"base.max_depth": 3, "bags": 5}]
    depths = [cell.model.params["base"]["params"]["max_depth"] for cell in plan(asked)[2:]]
    assert depths == [1, 3]


def test_a_path_counts_for_the_models_of_a_grid_that_have_such_a_parameter(tmp_path: Path) -> None:
    asked = written(tmp_path, "{use: bagging, grid: {base.k: [1, 5], base: [knn, lda]}}")
    assert chosen(asked.models) == [{"base.k": 1, "base": "knn"}, {"base": "lda"}, {"base.k": 5, "base": "knn"}]
    labels = [cell.label for cell in plan(asked)[2:]]
    assert labels == ["bagging base=knn base.k=1", "bagging base=lda", "bagging base=knn base.k=5"]


@pytest.mark.parametrize(
    ("model", "where", "what"),
    [
        ("{use: bagging, params: {base: {use: knn, params: {k: 0}}}}", "3:55", "bagging: base: knn: k must be"),
        ("{use: bagging, params: {base: {use: knnn}}}", "3:36", "bagging: base: there is no model 'knnn'"),
        ("{use: bagging, params: {base: knn, base.k: 0}}", "3:40", "bagging: base: knn: k must be"),
        ("{use: bagging, grid: {base.kk: [1], base: [knn]}}", "3:37", "bagging: base: knn has no parameter 'kk'"),
        ("{use: bagging, grid: {base.k: [1, 0], base: [knn]}}", "3:39", "bagging: base: knn: k must be"),
        ("{use: bagging, params: {base: {use: knn, steps: [pcaa]}}}", "3:54", "base: there is no step 'pcaa'"),
        ("{use: bagging, params: {base: {use: knn, as: x}}}", "3:46", "bagging: base: a model has no key 'as'"),
        ("{use: bagging, params: {base: 3}}", "3:29", "bagging: base: a model is an id or a mapping"),
        ("{use: knn, params: {k.x: 3}}", "3:25", "knn: k is no model, so it has no parameter 'x'"),
    ],
)
def test_what_is_wrong_inside_is_said_with_its_place(tmp_path: Path, model: str, where: str, what: str) -> None:
    ((place, problem),) = problems(tmp_path, model)
    assert what in problem.what
    assert place == where


def test_keys_of_the_user_are_left_out_of_nested_models(tmp_path: Path) -> None:
    asked = written(tmp_path, "{use: bagging, params: {base: {use: knn, x-why: said, params: {k: 3, x-y: 1}}}}")
    assert chosen(asked.models) == [{"base": {"use": "knn", "params": {"k": 3}}}]


def test_paths_are_typed_in_a_shell() -> None:
    (made,) = models_from_text(["bagging"], ["base.k=3", "base=knn", "bags=4"])
    assert made.params == {"base": "knn", "base.k": 3, "bags": 4}
    (deep,) = models_from_text(["bagging"], ["base=bagging", "base.base={use: knn}", "base.base.k=2"])
    assert deep.params["base.base.k"] == 2
    near, linear = models_from_text(["{use: bagging, params: {base: knn}}", "bagging"], ["base.k=3"])
    assert near.params == {"base": "knn", "base.k": 3}
    assert linear.params == {}


@pytest.mark.parametrize(
    ("params", "what"),
    [
        (("base=knn", "base.kk=3"), "bagging: base: knn has no parameter 'kk'\n  did you mean 'k'?"),
        (("base=kn",), "bagging: base: there is no model 'kn'\n  did you mean 'knn'?"),
        (("base=knn", "base.k=0"), "bagging: base: knn: k must be at least 1, was given 0"),
        (("bass.k=3",), "bagging: no parameter 'bass.k'"),
    ],
)
def test_a_path_that_leads_nowhere_is_refused(params: tuple[str, ...], what: str) -> None:
    with pytest.raises(UsageError) as refused:
        models_from_text(["bagging"], params)
    assert what in str(refused.value)


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    return Draft202012Validator(experiment_schema())


LEGAL = (
    "{use: bagging, params: {base: knn}}",
    "{use: bagging, params: {base: {use: knn, params: {k: 3}, steps: [min-max]}, base.weights: inverse}}",
    "{use: bagging, params: {base: {use: bagging, params: {base: {use: ridge, params: {l2: 1}}}}}}",
    "{use: bagging, grid: {base: [knn, {use: lda}], base.k: [1, 3]}}",
    "{use: self-training, params: {base: {use: bagging, params: {base: lda}}}}",
)
ILLEGAL = (
    "{use: bagging, params: {base: knnn}}",
    "{use: bagging, params: {base: k-means}}",
    "{use: self-training, params: {base: ridge}}",
    "{use: bagging, params: {base: {use: knn, params: {k: 0}}}}",
    "{use: bagging, params: {base: {use: knn, as: x}}}",
    "{use: bagging, params: {bass.k: 3}}",
    "{use: bagging, grid: {base.k: 3}}",
)


@pytest.mark.parametrize("model", [*LEGAL, *ILLEGAL])
def test_the_schema_accepts_what_reading_does(validator: Draft202012Validator, tmp_path: Path, model: str) -> None:
    legal = model in LEGAL
    value = parse(f"data: [iris]\nmodels: [{model}]", "asked.yaml", ExperimentError).value
    assert validator.is_valid(value) == legal
    if legal:
        assert written(tmp_path, model).models
    else:
        assert problems(tmp_path, model)


def key(params: dict[str, Any], model: str = "bagging") -> str:
    """The key of a cell in the store."""
    cell = toy.cell(model, params=params)
    made = prepare(cell)
    return cell_key(cell, made)


def test_what_a_nested_model_is_changes_the_key_and_how_it_is_written_does_not() -> None:
    around: list[dict[str, Any]] = [
        {},
        {"base": "knn"},
        {"base": "knn", "base.k": 3},
        {"base": {"use": "knn", "steps": ["min-max"]}},
        {"base": {"use": "knn", "steps": []}},
        {"base": {"use": "bagging", "params": {"base": "knn"}}},
    ]
    assert len({key(params) for params in around}) == len(around)
    assert key({"base": "knn", "base.k": 3}) == key({"base": {"use": "knn", "params": {"k": 3}}})
    assert key({"base": "decision-tree"}) == key({})
    assert key({"base": {"use": "knn", "steps": ["standardise"]}}) == key({"base": "knn"})  # which is inserted


def the_cell(model: ModelSpec, data: str = "penguins") -> Cell:
    asked = Experiment((DataSpec(data),), (model,), HOLDOUT)
    return next(cell for cell in plan(asked) if cell.model.use == model.use)


def test_steps_inside_are_shown_beside_those_before_the_model() -> None:
    cell = the_cell(ModelSpec("bagging", {"base": "knn", "base.k": 3}))
    assert steps_of(cell) == "impute → standardise → one-hot in base"
    assert settings_of(cell.model, MODELS) == "base=knn, base.k=3"
    named = the_cell(ModelSpec("bagging", {"base": {"use": "knn", "steps": ["min-max"]}}, ()))
    assert steps_of(named) == "impute → min-max → one-hot in base"
    assert steps_of(the_cell(ModelSpec("self-training", {"base": "knn"}))) == "impute → standardise → one-hot"


def test_a_wrapper_is_skipped_where_the_model_in_it_cannot_do_the_kind() -> None:
    asked = Experiment((DataSpec("cpu"),), (ModelSpec("bagging", {"base": "lda"}),))
    assert plan(asked)[-1].skipped == "bagging does classification; cpu is regression"


def test_steps_inside_learn_from_training_rows_alone() -> None:
    made = prepare(the_cell(ModelSpec("bagging", {"base": "knn", "bags": 3})))
    (split,) = made.splits
    other = replace(made, rows=spoiled(made.rows, split.test[TRUSTED:]))
    before, after = (evaluate(one.block(0, 1)).results[0].answers["test"].arrays() for one in (made, other))
    assert before["probabilities"][:TRUSTED].tobytes() == after["probabilities"][:TRUSTED].tobytes()
    assert state(made, made.rows, split) == state(made, other.rows, split)
    leaking = replace(split, train=np.sort(np.concatenate([split.train, split.test])))
    assert state(made, made.rows, leaking) != state(made, other.rows, leaking)


def test_each_bag_has_steps_of_its_own() -> None:
    made = prepare(the_cell(ModelSpec("bagging", {"base": "knn", "bags": 2})))
    bagging: Any = made.learner.fitted(made.rows, 0).model
    first, second = bagging.models_
    scaled = [next(step for step in one.steps if step.id == "standardise") for one in (first, second)]
    assert not np.array_equal(scaled[0].mean_, scaled[1].mean_)


def test_a_run_of_nested_models_is_stored_and_read_again(tmp_path: Path) -> None:
    from mlcli.experiment.store.runs import cell_from, dataset_from, facts_of_cell, facts_of_dataset

    (cell,) = plan(Experiment((DataSpec("iris"),), (ModelSpec("bagging", {"base": "knn", "bags": 2}),)))[1:]
    assert [result.status for result in run([cell], jobs=1)] == ["done"]
    back = cell_from(json.loads(json.dumps(facts_of_cell(cell))), dataset_from(facts_of_dataset(cell.dataset)))
    assert back.model == replace(cell.model, where="")
    assert steps_of(back) == steps_of(cell)


@pytest.mark.usefixtures("plugin")
class TestLists:
    """A method around a list of models."""

    def test_a_path_into_a_list_begins_with_the_id_of_one_of_them(self) -> None:
        cls = MODELS.load("council")
        made = build(cls, {"models": ["knn", {"use": "lda"}], "models.knn.k": 3})
        assert [model.id for model in made.models] == ["knn", "lda"]
        assert made.models[0].k == 3
        with pytest.raises(UsageError, match="models: there is no model 'kn' in it\n  did you mean 'knn'"):
            build(cls, {"models": ["knn"], "models.kn.k": 3})
        with pytest.raises(UsageError, match="models takes a list"):
            build(cls, {"models": "knn"})

    def test_a_list_is_typed_in_a_shell(self) -> None:
        (made,) = models_from_text(["council"], ["models=knn,lda", "models.knn.k=3"])
        assert made.params == {"models": ["knn", "lda"], "models.knn.k": 3}

    def test_illegal_lists_are_refused(self) -> None:
        from mlcli.core.params import parameters

        cls = MODELS.load("council")
        for value in illegal_values(parameters(cls)[0]):
            with pytest.raises(UsageError, match="models"):
                build(cls, {"models": value})

    def test_fitted_lists_are_saved_and_loaded_to_the_bit(self) -> None:
        data = toy.dataset()
        rows = LabelledRows.from_table(data.table, data.schema)
        model = build(MODELS.load("council"), {"models": ["naive-bayes", {"use": "knn", "steps": ["min-max"]}]})
        learn(model, rows, np.random.default_rng(1))
        arrays: NamedArrays = {}
        loaded = unpacked(json.loads(json.dumps(packed(model, arrays))), arrays)
        assert [one.final.id for one in loaded.models_] == ["naive-bayes", "knn"]
        mine, theirs = (predict_rows(one, rows).arrays()["probabilities"] for one in (model, loaded))
        assert mine.tobytes() == theirs.tobytes()

    def test_each_model_has_the_steps_that_it_needs(self) -> None:
        cell = the_cell(ModelSpec("council"))
        assert steps_of(cell) == "impute → standardise → one-hot in models.knn"

    def test_the_key_depends_on_every_model(self) -> None:
        lists: tuple[list[Any], ...] = (["knn"], ["knn", "lda"], ["lda", "knn"], ["knn", "qda"])
        assert len({key({"models": one}, "council") for one in lists}) == len(lists)
