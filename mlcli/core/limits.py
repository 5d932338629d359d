"""Refuse rows that no method can learn from: none at all, no weight, or numbers too extreme to be squared.

A float holds 1e-308 to 1e308, and methods multiply squares of cells, weights and numbers of rows. Beyond these
limits a variance becomes infinite or 0, and a column that matters would silently count as constant.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from mlcli.core.errors import DataError, FitError, UsageError
from mlcli.core.moments import extent
from mlcli.core.names import bytes_in, number_in, size
from mlcli.core.tables import Array, Flags, Table

if TYPE_CHECKING:
    from mlcli.core.model import Model
    from mlcli.core.rows import RowsOfTable

NUMBERS = (1e-100, 1e100)
WEIGHTS = (1e-30, 1e30)
VARIABLE = "MLCLI_MEMORY"
COPIES = 4
"""How many copies of its training rows a method holds unless it processes them in blocks."""


def refuse_unlearnable(data: RowsOfTable) -> None:
    """Refuse training rows that no method can learn from."""
    if len(data) == 0:
        raise FitError("there are no training rows")
    if data.weight is not None:
        if not (data.weight > 0).any():
            raise FitError("every training row has weight 0")
        _refuse("the weights", float(data.weight.max()), WEIGHTS)
    refuse_extremes(data.table, data.weights)


def memory() -> int:
    """How many bytes of memory may be used: by the environment variable, else all of the machine."""
    stated = os.environ.get(VARIABLE, "").strip()
    if not stated:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 1 << 33
    result = bytes_in(f"{stated}B" if number_in(stated) else stated)
    if result is None:
        raise UsageError(f"{VARIABLE} is no amount of memory: '{stated}'", hint="such as 4GiB or 800 MB")
    return result


def refuse_beyond_memory(model: Model, table: Table, bytes_per_pair: float) -> None:
    """Refuse a table if its copies, or its pairs of rows, would not fit into memory."""
    pairs = bytes_per_pair * len(table) ** 2
    hint = "learn from fewer rows: the step sample-rows takes a share of them"
    refuse_size(f"{model.name} needs about {{}} of memory for the pairs of {len(table):,} rows", pairs, hint)
    refuse_copies(model.name, table, 1 if model.accepts.large else COPIES)


def refuse_copies(who: str, table: Table, copies: int) -> None:
    """Refuse this many copies of a table if memory does not hold them."""
    what = f"{who} copies its {len(table):,} rows, and needs about {{}} of memory for that"
    from mlcli.core.abilities import methods_for_large_tables

    needed = copies * (table.numbers.nbytes + table.codes.nbytes)
    if needed > memory():
        methods = ", ".join(methods_for_large_tables())
        hint = f"learn from fewer rows, or use a method that takes them in blocks: {methods}"
        refuse_size(what, needed, hint)


def refuse_size(what: str, needed: float, hint: str) -> None:
    """Refuse to use more memory than there is; ``what`` has braces for the size."""
    if needed > (there := memory()):
        message = f"{what.format(size(needed))}; there are {size(there)} ({VARIABLE} may say otherwise)"
        raise FitError(message, hint=hint)


def refuse_extremes(table: Table, weights: Array) -> None:
    """Refuse a table whose columns have absolute maxima beyond the limits; rows of weight 0 are ignored."""
    if _plainly_moderate(table.numbers, weights):
        return
    low, high = extent(table.numbers, weights)
    for column, largest in zip(table.number_columns, np.maximum(np.abs(low), np.abs(high)).tolist(), strict=True):
        _refuse(f"column '{column.name}'", largest, NUMBERS)


def refuse_unanswerable(missing: Flags) -> None:
    """Refuse rows (n × anything) with missing values that a model has no answer for."""
    if missing.any():
        indices = np.flatnonzero(missing.reshape(len(missing), -1).any(axis=1))
        rows = ", ".join(str(row + 1) for row in indices[:10])
        which = f"{len(indices)} of {len(missing)} rows, the first of them: {rows}"
        what = f"the model has no answer for {which if len(missing) > 1 else 'the row'}"
        raise DataError(what, hint="fill their empty cells, or train with a step that does: steps: [impute]")


def _plainly_moderate(numbers: Array, weights: Array) -> bool:
    """Whether a quick check rules out columns beyond the limits: the sum of squares, and a few rows."""
    least, most = NUMBERS
    flat = numbers.reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.dot(flat, flat) <= most**2:
            return False
    subset = numbers[np.flatnonzero(weights[:8] > 0)]  # mostly enough for a number that is not too small
    return bool((np.abs(subset).max(axis=0, initial=0.0) >= least).all())


def refuse_extreme_target(name: str, y: Array, weights: Array) -> None:
    """Refuse a target that is beyond the limits."""
    if _plainly_moderate(y[:, None], weights):
        return
    low, high = extent(y[:, None], weights)
    _refuse(f"the target '{name}'", float(max(abs(low[0]), abs(high[0]))), NUMBERS)


def _refuse(what: str, size: float, limits: Iterable[float]) -> None:
    least, most = limits
    if size != 0 and not least <= size <= most:
        verb = "go" if what == "the weights" else "goes"
        raise FitError(
            f"{what} {verb} up to {size:.3g}, too far from 1 to be multiplied",
            hint=f"choose a unit in which the largest is between {least:g} and {most:g}",
        )


def all_moderate(data: RowsOfTable) -> bool:
    """Whether every selection of the rows is within the limits."""
    target = np.asarray(getattr(data, "y", ()), np.float64)
    checked = ((data.table.numbers, NUMBERS), (data.weights, WEIGHTS), (target, NUMBERS))
    return all(_moderate(values, limits) for values, limits in checked)


def _moderate(values: Array, limits: tuple[float, float]) -> bool:
    sizes = np.abs(values)
    least, most = limits
    if sizes.size and least <= sizes.min() and sizes.max() <= most:  # no number is 0 or missing
        return True
    smallest = np.min(sizes, where=sizes > 0, initial=np.inf)
    return bool(smallest >= least) and not bool((sizes > most).any())
