"""The panel of a dataset: quick methods run, slow ones are left out by name and run when asked for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from mlcli.core.registry import MODELS
from mlcli.data.load import load
from mlcli.experiment.spec.cells import Cell, DataSpec, Experiment, ModelSpec
from mlcli.experiment.spec.datasets import planned_dataset
from mlcli.experiment.spec.plan import plan
from mlcli.experiment.spec.suitability import PATIENCE, estimated_seconds, why_too_slow
from mlcli.experiment.spec.templates import first_experiment

WAITED_FOR = ("svm", "random-forest", "newton-boosting")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> DataSpec:
    """So many rows that a forest takes long."""
    path = tmp_path_factory.mktemp("large") / "large.csv"
    rng = np.random.default_rng(1)
    lines = (f"{value},{'yes' if value > 500 else 'no'}" for value in rng.integers(0, 1000, 200_000))
    path.write_text("\n".join(["a,y", *lines]) + "\n", encoding="utf-8")
    return DataSpec(str(path), target="y")


def cell_of(use: str, cells: Sequence[Cell]) -> Cell:
    return next(cell for cell in cells if cell.model.use == use)


def test_on_a_small_dataset_the_whole_panel_runs() -> None:
    cells = plan(Experiment(data=(DataSpec("iris"),)))
    assert {*WAITED_FOR} < {cell.model.use for cell in cells}
    assert not any(cell.skipped for cell in cells)


def test_a_slow_method_is_left_out_by_name_and_the_reason_says_how_to_ask_for_it(large: DataSpec) -> None:
    cells = plan(Experiment(data=(large,)))
    assert [cell.model.use for cell in cells if cell.skipped] == ["svm", "random-forest"]
    why = cell_of("random-forest", cells).skipped
    assert f"over the {PATIENCE:.0f} s limit" in why
    assert why.endswith("add it with -m random-forest")


def test_a_slow_method_that_is_asked_for_runs(large: DataSpec) -> None:
    cells = plan(Experiment(data=(large,), models=(ModelSpec("random-forest"),)))
    assert not cell_of("random-forest", cells).skipped


def test_a_first_experiment_names_the_quick_methods_only(large: DataSpec) -> None:
    text = first_experiment(large.reference, load(large.reference, target="y"))
    assert "newton-boosting" in text
    assert "random-forest" not in text


@pytest.mark.parametrize("use", WAITED_FOR)
@pytest.mark.parametrize("more", [(2000, 5, 2), (2000, 10, 2), (2000, 10, 3)])
def test_more_rows_and_columns_are_estimated_to_take_longer(use: str, more: tuple[int, int, int]) -> None:
    seconds = MODELS.load(use)().fit_seconds
    assert seconds(*more) > seconds(1000, 5, more[2]) > 0


def test_classes_beyond_two_cost_boosting_a_tree_each() -> None:
    seconds = MODELS.load("newton-boosting")().fit_seconds
    assert seconds(1000, 5, 7) == pytest.approx(7 * seconds(1000, 5, 2))


def test_methods_that_nobody_waits_for_are_in_every_panel() -> None:
    planned = planned_dataset(DataSpec("iris"), load("iris"))
    assert estimated_seconds(planned.dataset, planned.kind, "naive-bayes") == 0
    assert not any(why_too_slow(planned, use) for use in planned.kind.panel)
