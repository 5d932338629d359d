"""Nothing of the test rows reaches what is learned, for every method behind the steps that it needs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from mlcli.core.registry import MODELS
from mlcli.core.state import NamedArrays, packed
from mlcli.core.tables import Table
from mlcli.experiment.run.evaluation import evaluate
from mlcli.experiment.run.preparation import ReadyCell, prepare
from mlcli.experiment.spec.cells import Cell, DataSpec, Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.plan import plan
from mlcli.protocols._base import Split
from mlcli.tasks.table import KINDS
from tests.contract.subjects import quick

DATA = {"classification": DataSpec("penguins"), "regression": DataSpec("penguins", target="body_mass_g")}
"""Numbers and levels, with empty cells in both."""
TRUSTED = 7
"""How many of the judged rows stay as they are."""
MODELS_BY_KIND = [
    (kind.name, entry.name)
    for kind in KINDS
    for entry in MODELS.entries()
    if kind.base_name in entry.bases and kind.name in DATA
]


@cache
def ready(kind: str, model: str) -> tuple[Cell, ReadyCell]:
    """A cell with the steps that its model needs, split once."""
    asked = Experiment(
        (DATA[kind],), (ModelSpec(model, quick(model)),), ProtocolSpec("holdout", {"test_share": 0.3})
    )
    cell = next(cell for cell in plan(asked) if cell.model.use == model)
    return cell, prepare(cell)


def spoiled(rows: Any, which: np.ndarray[Any, Any]) -> Any:
    """The same rows, some of them with other cells and another truth."""
    table = Table(rows.table.columns, rows.table.numbers.copy(), rows.table.codes.copy())
    rng = np.random.default_rng(0)
    table.numbers[which] = 1e3 * rng.standard_normal((len(which), table.numbers.shape[1]))
    table.numbers[which[::5]] = np.nan
    for j, column in enumerate(table.code_columns):
        table.codes[which, j] = rng.integers(-1, len(column.levels), len(which))
    y = rows.y.copy()
    y[which] = 0 if hasattr(rows, "classes") else 1e4 * rng.standard_normal(len(which))
    return replace(rows, table=table, y=y)


def state(made: ReadyCell, rows: Any, split: Split) -> tuple[Any, dict[str, bytes]]:
    arrays: NamedArrays = {}
    structure = packed(made.learner.fitted(rows.take(split.train), 0), arrays)
    return structure, {name: array.tobytes() for name, array in arrays.items()}


@pytest.mark.parametrize(("kind", "model"), MODELS_BY_KIND)
def test_other_cells_and_truths_in_judged_rows_change_nothing_else(kind: str, model: str) -> None:
    _, made = ready(kind, model)
    (split,) = made.splits
    assert not set(split.train) & set(split.test)
    other = replace(made, rows=spoiled(made.rows, split.test[TRUSTED:]))
    before, after = evaluate(made.block(0, 1)), evaluate(other.block(0, 1))
    assert before.failure is None
    assert after.failure is None
    assert before.results[0].explanation == after.results[0].explanation
    mine, theirs = (outcome.results[0].answers["test"].arrays() for outcome in (before, after))
    for name, array in mine.items():
        assert array[:TRUSTED].tobytes() == theirs[name][:TRUSTED].tobytes(), name
    assert mine["truth"].tobytes() != theirs["truth"].tobytes()
    assert state(made, made.rows, split) == state(made, other.rows, split)


@pytest.mark.parametrize(("kind", "model"), MODELS_BY_KIND)
def test_the_test_above_would_notice_a_leak(kind: str, model: str) -> None:
    """Were the judged rows among those learned from, every method that looks at any row would answer otherwise."""
    _, made = ready(kind, model)
    (split,) = made.splits
    leaking = replace(split, train=np.sort(np.concatenate([split.train, split.test])))
    other = spoiled(made.rows, split.test[TRUSTED:])
    assert state(made, made.rows, leaking) != state(made, other, leaking)


@pytest.mark.parametrize("kind", DATA)
def test_no_method_is_shown_the_target_among_the_features(kind: str) -> None:
    cell, made = ready(kind, "zero-r")
    target = cell.dataset.schema.the("target")
    assert target is not None
    assert target.name not in [column.name for column in made.rows.table.columns]
