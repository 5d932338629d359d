"""Steps that select columns by a model ask the model that they stand before, unless told otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mlcli.experiment.spec.cells import Cell, DataSpec, Experiment
from mlcli.experiment.spec.model_text import models_from_text
from mlcli.experiment.spec.plan import plan
from mlcli.models.neighbours.knn import NearestNeighbours
from mlcli.prepare.forward_selection import ForwardSelection
from mlcli.report.views.remarks import steps_of
from tests.cli.shell import typed
from tests.rows import labelled, table_of


def planned(text: str) -> Cell:
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
    assert steps_of(planned(f"{{use: knn, params: {{k: 3}}, steps: [{step}]}}")) == f"standardise → {shown}"


def test_the_same_holds_inside_other_models() -> None:
    cell = planned("{use: bagging, params: {base: {use: lda, steps: [forward-selection]}}}")
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
