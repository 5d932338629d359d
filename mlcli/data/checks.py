"""What looks odd in a dataset: constant columns, gaps, stand-ins, rare classes; each check is a sentence."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

import numpy as np

from mlcli.core.names import listed
from mlcli.core.schema import Column
from mlcli.core.tables import Array
from mlcli.data.dataset import Dataset
from mlcli.tasks.table import kind_named

NEARLY_ALL = 0.99
MUCH_MISSING = 0.3
RARE_CLASS_SHARE = 0.2
"""A class is rare below this part of what it would have if all classes had the same number of rows."""
RARE_CLASS_ROWS = 10
ROWS_PER_FEATURE = 5
MANY_LEVELS = 100
ROWS_PER_LEVEL = 2
ROWS_TO_JUDGE = 20
NOTHING_TO_LEARN_FROM = "there is no feature, so no model can do more than the baseline"
NEGATIVE_STAND_INS = (-1.0, -9.0, -99.0, -999.0, -9999.0)
LARGE_STAND_INS = (99.0, 999.0, 9999.0, 99999.0)
STAND_IN_ROWS = 2
STAND_IN_WORDS = ("missing", "unknown", "nil")
"""Words that may be levels in their own right; others, such as "?", are asked about while reading."""


def table_warnings(dataset: Dataset) -> tuple[str, ...]:
    """Every warning, check by check."""
    return tuple(warning for check in CHECKS for warning in check(dataset))


def nearly_constant(dataset: Dataset) -> Iterator[str]:
    """Features with one value in nearly all rows."""
    found = []
    for column in dataset.schema.features():
        cells = _cells(dataset, column)
        if len(cells) and not is_constant(dataset, column):
            values, counts = np.unique(cells, return_counts=True)
            if counts.max() >= NEARLY_ALL * len(cells):
                value = _shown(column, values[counts.argmax()])
                found.append(f"{column.name} ({value} in {counts.max()} of {len(cells)})")
    if found:
        yield f"nearly constant: {listed(found)}"


def stand_ins(dataset: Dataset) -> Iterator[str]:
    """Numbers and words that often stand for a missing value."""
    for column in dataset.schema.features():
        cells = _cells(dataset, column)
        for value in _words(column, cells) if column.coded else _numbers(cells):
            code: float = column.levels.index(value) if isinstance(value, str) else value
            count = int((cells == code).sum())
            rows = "1 row" if count == 1 else f"{count} rows"
            yield (
                f"column '{column.name}': {_shown(column, code)} in {rows} may stand for a missing value; "
                f'if so, say missing: ["{_shown(column, code)}"] for it in the sidecar'
            )


def differ_in_case(dataset: Dataset) -> Iterator[str]:
    """Levels that differ in capitals only."""
    for column in dataset.schema.features():
        same = defaultdict(list)
        for level in column.levels:
            same[level.casefold()].append(level)
        for levels in same.values():
            if len(levels) > 1:
                yield f"column '{column.name}': the levels {', '.join(levels)} differ in capitals only"


def rare_classes(dataset: Dataset) -> Iterator[str]:
    """Classes with few rows, or with none."""
    target = dataset.schema.the("target")
    if target is None or not target.coded:
        return
    codes = _cells(dataset, target).astype(np.intp)
    counts = np.bincount(codes, minlength=len(target.levels)).tolist()
    few = max(RARE_CLASS_ROWS, RARE_CLASS_SHARE * len(codes) / len(target.levels))
    rare = [(level, count) for level, count in zip(target.levels, counts, strict=True) if count < few]
    if rare:
        yield f"classes with few rows: {listed([f'{level} ({count})' for level, count in rare])}"


def unlabelled(dataset: Dataset) -> Iterator[str]:
    """Rows without a target."""
    target = dataset.schema.the("target")
    missing = len(dataset) - len(_cells(dataset, target)) if target is not None else 0
    if missing:
        yield f"{missing} of {len(dataset)} rows have no target; they judge nothing, and few methods use them"


def duplicates(dataset: Dataset) -> Iterator[str]:
    """Rows that are the same in every feature, in the target, and in whom or what they are about."""
    places = [dataset.schema.the(role) for role in ("target", "sequence", "order", "user", "item")]
    names = {column.name for column in (*dataset.schema.features(), *places) if column}
    part = dataset.table.select(names)
    seen = Counter(
        numbers.tobytes() + codes.tobytes() for numbers, codes in zip(part.numbers, part.codes, strict=True)
    )
    again = len(dataset) - len(seen)
    if again and names:
        rows = "row repeats an earlier one" if again == 1 else "rows repeat earlier ones"
        yield f"{again} {rows}; a split may put one in training and its twin in the test"


def scattered(dataset: Dataset) -> Iterator[str]:
    """Sequences between whose rows others stand, where no column tells the order."""
    column = dataset.schema.the("sequence")
    if column is None or dataset.schema.the("order") is not None:
        return
    cells = dataset.table.cells(column.name)
    if 1 + np.count_nonzero(cells[1:] != cells[:-1]) > len(np.unique(cells)):
        what = f"rows of one '{column.name}' stand apart and no column has the role order"
        yield f"{what}: they are taken as they stand"


def few_rows(dataset: Dataset) -> Iterator[str]:
    """Fewer rows than the features call for."""
    features = len(dataset.schema.features())
    if features and len(dataset) < ROWS_PER_FEATURE * features:
        yield f"few rows for so many features: {len(dataset)} rows, {features} features"


def column_warnings(dataset: Dataset) -> tuple[str, ...]:
    """A sentence on having no features, and on those that are constant, have many gaps, or very many levels."""
    constant = [column.name for column in dataset.schema.features() if is_constant(dataset, column)]
    many = [
        f"{column.name} ({len(column.levels)})"
        for column in dataset.schema.features()
        if has_many_levels(column, len(dataset))
    ]
    empty = list(_with_many_gaps(dataset)) if len(dataset) >= ROWS_TO_JUDGE else []
    notes = [] if _seen(dataset) else [NOTHING_TO_LEARN_FROM]
    if constant:
        notes.append(f"the same in every row, so nothing can be learned from it: {listed(constant)}")
    if empty:
        notes.append(f"more than {100 * MUCH_MISSING:.0f} % of the cells are missing: {listed(empty)}")
    if many:
        notes.append(f"very many levels for {len(dataset)} rows: {listed(many)}")
    return tuple(notes)


def _with_many_gaps(dataset: Dataset) -> Iterator[str]:
    """The features whose fillings decide much, and how much of them is empty."""
    for column in dataset.schema.features():
        share = 1 - len(_cells(dataset, column)) / len(dataset)
        if share > MUCH_MISSING:
            yield f"{column.name} ({share:.0%})"


def _seen(dataset: Dataset) -> bool:
    """Whether models see any column: features, or those by whose roles the task is known."""
    return bool(dataset.schema.features() or (dataset.task and kind_named(dataset.task).marked_by))


def is_constant(dataset: Dataset, column: Column) -> bool:
    """Whether a column has one value in all rows that have any."""
    cells = _cells(dataset, column)
    return len(cells) > 0 and bool((cells == cells[0]).all())


def has_many_levels(column: Column, rows: int) -> bool:
    """Whether a coded column has so many levels that each is rare."""
    crowded = rows >= ROWS_TO_JUDGE and rows < ROWS_PER_LEVEL * len(column.levels)
    return column.coded and (len(column.levels) > MANY_LEVELS or crowded)


CHECKS: tuple[Callable[[Dataset], Iterator[str]], ...] = (
    nearly_constant,
    stand_ins,
    differ_in_case,
    rare_classes,
    unlabelled,
    duplicates,
    scattered,
    few_rows,
)


def _cells(dataset: Dataset, column: Column) -> Array:
    """The cells of a column that are not missing; codes as numbers."""
    cells = dataset.table.cells(column.name).astype(np.float64)
    return cells[cells >= 0] if column.coded else cells[~np.isnan(cells)]


def _shown(column: Column, value: float) -> str:
    return column.levels[int(value)] if column.coded else f"{value:g}"


def _words(column: Column, cells: Array) -> Iterator[str]:
    used = set(np.unique(cells).tolist())
    for code, level in enumerate(column.levels):
        if code in used and level.lower() in STAND_IN_WORDS:
            yield level


def _numbers(cells: Array) -> Iterator[float]:
    """A negative stand-in among numbers that are not negative; a large one far above all others."""
    values, counts = np.unique(cells, return_counts=True)
    if len(values) < 3:
        return
    if values[0] in NEGATIVE_STAND_INS and values[1] >= 0 and counts[0] >= STAND_IN_ROWS:
        yield float(values[0])
    gap, spread = values[-1] - values[-2], values[-2] - values[0]
    if values[-1] in LARGE_STAND_INS and gap > spread and counts[-1] >= STAND_IN_ROWS:
        yield float(values[-1])
