"""Which steps a plan inserts: scaling beside named steps, and the base model of selection steps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import mlcli
from mlcli.data.dataset import Dataset
from mlcli.data.load import load
from mlcli.experiment.run.preparation import train
from mlcli.experiment.spec.cells import Cell, DataSpec, Experiment
from mlcli.experiment.spec.entries import models_from_text
from mlcli.experiment.spec.plan import plan
from mlcli.models.neighbours.knn import NearestNeighbours
from mlcli.prepare.forward_selection import ForwardSelection
from mlcli.report.views.plan import steps_of
from tests.support.rows import labelled, table_of
from tests.support.shell import typed


def planned(text: str, data: str = "penguins") -> Cell:
    cells = plan(Experiment(data=(DataSpec(data),), models=tuple(models_from_text([text], []))))
    return next(cell for cell in cells if cell.model.use not in ("zero-r", "one-r"))


def steps(text: str, data: str = "penguins") -> list[str]:
    return [step.use for step in planned(text, data).steps if step.use not in ("drop", "impute")]


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("[class-weights]", ["standardise", "class-weights", "one-hot"]),
        ("[sample-rows]", ["standardise", "sample-rows", "one-hot"]),
        ("[smote]", ["standardise", "smote", "one-hot"]),
        ("[dates]", ["dates", "standardise", "one-hot"]),
        ("[winsorise]", ["winsorise", "standardise", "one-hot"]),
        ("[log]", ["log", "standardise", "one-hot"]),
        ("[log, class-weights]", ["log", "standardise", "class-weights", "one-hot"]),
        ("[class-weights, log]", ["class-weights", "log", "standardise", "one-hot"]),
        ("[one-hot]", ["standardise", "one-hot"]),
        ("[one-hot, anova]", ["standardise", "one-hot", "anova"]),
        ("[anova]", ["standardise", "one-hot", "anova"]),
        ("[discretise]", ["discretise", "ordinal", "one-hot"]),
        ("[standardise, class-weights]", ["standardise", "class-weights", "one-hot"]),
        ("[class-weights, min-max]", ["class-weights", "min-max", "one-hot"]),
        ("[pca]", ["one-hot", "pca"]),
        ("[]", ["one-hot"]),
    ],
)
def test_only_a_scaler_or_no_steps_remove_the_scaling(named: str, expected: list[str]) -> None:
    assert steps(f"{{use: svm, steps: {named}}}") == expected


def test_a_model_that_wants_no_scale_gets_none() -> None:
    assert steps("{use: naive-bayes, steps: [class-weights]}") == ["class-weights"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{use: bagging, params: {base: {use: knn, steps: [sample-rows]}}}", 1),
        ("{use: voting, params: {models: [{use: knn, steps: [sample-rows]}, lda]}}", 1),
        ("{use: voting, params: {models: [{use: knn, steps: []}, lda]}}", 0),
        ("{use: bagging, steps: [sample-rows], params: {base: knn}}", 1),
        ("{use: bagging, steps: [min-max], params: {base: knn}}", 0),
        ("{use: bagging, steps: [], params: {base: knn}}", 0),
    ],
)
def test_the_same_holds_inside_other_models(text: str, expected: int) -> None:
    assert steps_of(planned(text, "iris")).count("standardise") == expected


@pytest.mark.parametrize(("inside", "expected"), [("[]", 0), ("[sample-rows]", 1)])
def test_a_fit_keeps_the_planned_steps_inside(inside: str, expected: int) -> None:
    cell = planned(f"{{use: bagging, params: {{base: {{use: knn, steps: {inside}}}, bags: 2}}}}", "iris")
    assert isinstance(cell.dataset, Dataset)
    bagging = train(cell).pipeline.model
    for member in getattr(bagging, "models_"):  # noqa: B009
        assert [step.id for step in member.all_steps()].count("standardise") == expected


def test_svm_with_class_weights_answers_as_in_scikit_learn() -> None:
    model = {"use": "svm", "params": {"gamma": 1 / 30}, "steps": ["class-weights"]}
    answers = mlcli.train("wdbc", model).predict("wdbc").iloc[:, -1].to_numpy()
    dataset = load("wdbc")
    target = dataset.schema.the("target")
    assert target is not None
    X = dataset.table.select([column.name for column in dataset.schema.features()]).numbers
    y = np.array(target.levels)[dataset.table.cells(target.name)]
    expected = make_pipeline(StandardScaler(), SVC(gamma=1 / 30, class_weight="balanced")).fit(X, y).predict(X)
    unscaled = SVC(gamma=1 / 30, class_weight="balanced").fit(X, y).predict(X)
    assert np.mean(answers == expected) > 0.995 > np.mean(answers == unscaled)


def planned_for_iris(text: str) -> Cell:
    return next(
        cell
        for cell in plan(Experiment(data=(DataSpec("iris"),), models=tuple(models_from_text([text], []))))
        if cell.model.use not in ("zero-r", "one-r")
    )


@pytest.mark.parametrize(
    ("step", "shown"),
    [
        ("forward-selection", "forward-selection (base=knn, base.k=3)"),
        ("backward-elimination", "backward-elimination (base=knn, base.k=3)"),
        ("exhaustive-subsets", "exhaustive-subsets (base=knn, base.k=3)"),
        ("{use: anova, params: {keep: null}}", "anova (base=knn, base.k=3, keep=none)"),
        ("anova", "anova"),
        ("{use: forward-selection, params: {base: lda}}", "forward-selection (base=lda)"),
    ],
)
def test_the_base_is_the_model_behind_the_step_and_is_shown(step: str, shown: str) -> None:
    assert (
        steps_of(planned_for_iris(f"{{use: knn, params: {{k: 3}}, steps: [{step}]}}")) == f"standardise → {shown}"
    )


def test_the_base_inside_other_models_is_shown() -> None:
    cell = planned_for_iris("{use: bagging, params: {base: {use: lda, steps: [forward-selection]}}}")
    assert steps_of(cell) == "forward-selection (base=lda) in base"


def test_the_table_of_results_names_it() -> None:
    result = typed("eval", "iris", "-m", "{use: lda, steps: [{use: forward-selection, params: {folds: 2}}]}")
    assert "steps before lda: forward-selection (base=lda, folds=2)" in result.stdout


def test_the_column_that_serves_the_model_is_chosen() -> None:
    """A ring round the origin: neighbours tell it from the inside by x and y, a straight line cannot."""
    rng = np.random.default_rng(1)
    angle, inside = rng.uniform(0, 2 * np.pi, 200), np.arange(200) % 2 == 0
    radius = np.where(inside, 1.0, 3.0)
    table = table_of(
        {"x": list(radius * np.cos(angle)), "y": list(radius * np.sin(angle)), "noise": list(rng.normal(size=200))}
    )
    step: Any = ForwardSelection(keep=2).serving(NearestNeighbours())
    assert isinstance(step.base, NearestNeighbours)
    data = labelled(table, np.where(inside, "yes", "no").tolist(), ("no", "yes"))
    step.learn(data, np.random.default_rng(1))
    assert step.kept() == ["x", "y"]
