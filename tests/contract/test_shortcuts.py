"""A shortcut answers every part as the plain loop does, to nine digits, or refuses: also where it hurts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from mlcli.core.abilities import LeaveOneOut
from mlcli.core.held_out import HeldOut, Round
from mlcli.core.model import Model
from mlcli.core.pipeline import Pipeline, answers_from_held_out, learn, predict_rows
from mlcli.core.registry import MODELS
from mlcli.core.required_steps import missing_steps
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Array, Codes, Table
from mlcli.prepare.impute import Impute
from mlcli.prepare.one_hot import OneHot
from mlcli.prepare.standardise import Standardise
from mlcli.tasks.classification import LabelledRows
from mlcli.tasks.regression import ValuedRows
from mlcli.tasks.table import kinds_of


def has_shortcut(method: Any) -> bool:
    return issubclass(method, LeaveOneOut)


ROWS = 40
DIGITS = 1e-9
WITH_SHORTCUT = [name for name in MODELS.names() if has_shortcut(MODELS.load(name))]


WARNS_OF_LEVELS = dict.fromkeys(("qda", "naive-bayes"), "a class without a level has no spread there")
"""Methods that warn of any table with a rare level, so that the plain loop must say it."""


def plain(rng: np.random.Generator) -> Array:
    """Three columns of one scale."""
    return rng.normal(size=(ROWS, 3))


def near_copies(rng: np.random.Generator) -> Array:
    """A column, and itself but for its eighth digit."""
    X = rng.normal(size=(ROWS, 3))
    X[:, 1] = X[:, 0] + 1e-8 * rng.normal(size=ROWS)
    return X


def powers(rng: np.random.Generator) -> Array:
    """u, u², ..., u⁸ of numbers around 1."""
    u = rng.uniform(0.9, 1.1, ROWS)
    return np.column_stack([u**power for power in range(1, 9)])


def one_huge(rng: np.random.Generator) -> Array:
    """1e12 in one cell."""
    X = rng.normal(size=(ROWS, 3))
    X[7, 1] = 1e12
    return X


def far_away(rng: np.random.Generator) -> Array:
    """Numbers that vary by 1 around 1e7."""
    return 1e7 + rng.normal(size=(ROWS, 3))


def all_but_constant(rng: np.random.Generator) -> Array:
    """A constant, and a column in which one row differs."""
    X = rng.normal(size=(ROWS, 3))
    X[:, 1] = 0.1
    X[:, 2] = np.where(np.arange(ROWS) == 11, 2.0, 0.1)
    return X


def as_wide_as_long(rng: np.random.Generator) -> Array:
    """As many columns as rows."""
    return rng.normal(size=(ROWS, ROWS))


TABLES: dict[str, Callable[[np.random.Generator], Array]] = {
    make.__name__: make
    for make in (plain, near_copies, powers, one_huge, far_away, all_but_constant, as_wide_as_long)
}


def table_of(numbers: Array, rng: np.random.Generator, *, gaps: bool, levels: bool) -> Table:
    """The numbers, with empty cells and columns of levels if asked for."""
    parts: list[tuple[Column, Any]] = []
    for j, cells in enumerate(numbers.T):
        empty = gaps & (rng.random(ROWS) < 0.1)
        parts.append((Column(f"x{j}", missing=gaps), np.where(empty, np.nan, cells)))
    if levels:
        colours = rng.integers(-1 if gaps else 0, 3, ROWS)
        parts.append((Column("colour", "nominal", ("red", "green", "blue"), missing=gaps), colours))
        parts.append((Column("rare", "nominal", ("no", "yes", "never")), np.arange(ROWS) == 5))
    return Table.of(parts, ROWS)


def rows_of(kind: str, table: Table, rng: np.random.Generator, weighted: bool) -> Any:
    """The table with a class or a number for each row."""
    weight = rng.integers(0, 3, ROWS).astype(np.float64) if weighted else None
    score = np.nan_to_num(table.numbers[:, 0]) + rng.normal(size=ROWS)
    common: dict[str, Any] = {"table": table, "rows": np.arange(ROWS), "target": "y", "weight": weight}
    if kind == "regression":
        return ValuedRows(**common, y=score)
    y = np.digitize(score, np.quantile(score, (0.3, 0.7))).astype(np.int32)
    return LabelledRows(**common, y=y, classes=("a", "b", "c"))


def rounds() -> dict[str, Codes]:
    folds = np.random.default_rng(3).permutation(ROWS) % 5
    return {
        "one by one": np.arange(ROWS, dtype=np.int32),
        "folds": folds.astype(np.int32),
        "unequal parts, rows only learned from": np.where(folds == 4, -1, np.minimum(folds, 2)).astype(np.int32),
        "one part": np.where(folds == 0, 0, -1).astype(np.int32),
    }


def looped(model: Model, steps: Sequence[Step], data: Any, round_: Round, part: int) -> Any:
    """What the plain loop answers of one part."""
    pipeline = Pipeline(steps=tuple(step.fresh() for step in steps), model=model.fresh())
    learn(pipeline, data.take(np.flatnonzero(round_.part != part)), np.random.default_rng(0))
    return predict_rows(pipeline, data.take(round_.rows_of[part]))


def assert_equal_or_refused(model: Model, steps: Sequence[Step], data: Any, part: Codes) -> HeldOut | None:
    """Every part that is not refused is answered as the loop does."""
    round_ = Round(part, int(part.max()) + 1)
    pipeline = Pipeline(steps=tuple(steps), model=model)
    held = pipeline.held_out(data, round_)
    if held is None:
        return None
    answers: Any = answers_from_held_out(pipeline, data, round_, held)
    scale = float(np.abs(data.y).max()) if data.kind == "regression" else 1.0
    for place in np.flatnonzero(~held.refused):
        mine, theirs = answers.take(round_.rows_of[place]), looped(model, steps, data, round_, int(place))
        if data.kind == "regression":
            np.testing.assert_allclose(mine.predicted, theirs.predicted, rtol=DIGITS, atol=DIGITS * scale)
        else:
            np.testing.assert_allclose(mine.probabilities, theirs.probabilities, rtol=0, atol=DIGITS)
            np.testing.assert_array_equal(mine.predicted, theirs.predicted)
    return held


EACH_ROW_ONLY = {"knn"}
"""Folds are fitted one by one; leave-one-out is not."""
CASES = [
    (name, kind.name)
    for name in WITH_SHORTCUT
    for kind in kinds_of(MODELS.load(name))
    if kind.name in ("classification", "regression")
]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_shortcut_equals_the_loop_or_refuses(name: str, kind: str, table: str) -> None:
    rng = np.random.default_rng(5)
    model = MODELS.load(name)()
    for gaps, levels, weighted in ((False, False, False), (False, False, True), (True, True, False)):
        data = rows_of(kind, table_of(TABLES[table](rng), rng, gaps=gaps, levels=levels), rng, weighted)
        steps = missing_steps(model.accepts, data.table.columns, None)
        for part in rounds().values():
            assert_equal_or_refused(model, steps, data, part)


@pytest.mark.parametrize("steps", [(), (Standardise(),), (Impute(), Standardise(ddof=1), OneHot())])
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_a_shortcut_takes_what_steps_learn_anew_from_the_rows_outside_a_part(
    name: str, kind: str, steps: tuple[Step, ...]
) -> None:
    rng = np.random.default_rng(6)
    filled = any(isinstance(step, Impute) for step in steps)
    levels = filled and name not in WARNS_OF_LEVELS
    data = rows_of(kind, table_of(plain(rng), rng, gaps=filled, levels=levels), rng, weighted=False)
    for part in rounds().values():
        held = assert_equal_or_refused(MODELS.load(name)(), steps, data, part)
        if name in EACH_ROW_ONLY and not Round(part, int(part.max()) + 1).one_by_one:
            assert held is None
            continue
        assert held is not None, "a plain table is not refused"
        assert held.refused.sum() <= 1, "but where the only row of a level is left out"
