"""Numbers as pictures: histograms of parts of them on the same edges, Tukey's boxes, points of two columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.errors import DataError, UsageError
from mlcli.core.findings import Bars, Boxplots, Entry, Finding, Histogram, Points, Table
from mlcli.core.names import counted, did_you_mean
from mlcli.core.schema import Column
from mlcli.core.seeds import rng_for
from mlcli.core.tables import Array, Flags, Rows
from mlcli.data.dataset import Dataset
from mlcli.data.profile import ColumnProfile, LevelCount, LevelSummary, Profile, bin_edges
from mlcli.report.document import (
    Content,
    Document,
    Element,
    GridCell,
    Heading,
    Sentence,
    explained,
    grid,
    notes,
    strong,
)
from mlcli.report.numbers import lined_up, share, short

BINS = 8
WHISKER = 1.5

NamedNumbers = Sequence[tuple[str, Array]]
"""Numbers by what they are called."""


def histogram(title: str, measure: str, parts: NamedNumbers, bins: int = BINS) -> Histogram:
    """How many numbers of each part lie where."""
    edges = bin_edges(np.concatenate([part for _, part in parts]), bins)
    return histogram_of(title, measure, edges, {name: np.histogram(part, edges)[0] for name, part in parts})


def histogram_of(title: str, measure: str, edges: Array, counts: Mapping[str, NDArray[Any]]) -> Histogram:
    """A histogram of what was counted between some edges."""
    results = tuple((name, tuple(map(float, of_part))) for name, of_part in counts.items())
    return Histogram(title, measure, tuple(edges.tolist()), results)


def boxplots(title: str, measure: str, parts: NamedNumbers) -> Boxplots:
    """Tukey's box of each part."""
    boxes = tuple((name, *_box(part)) for name, part in parts)
    outside = tuple(beyond for *_, beyond in boxes)
    return Boxplots(title, measure, tuple((name, box) for name, box, _ in boxes), outside)


def _box(part: Array) -> tuple[tuple[float, ...], int]:
    """The whiskers, quartiles and median in ascending order, and how many values lie outside."""
    low, middle, high = np.quantile(part, [0.25, 0.5, 0.75])
    reach = WHISKER * (high - low)
    inside = part[(part >= low - reach) & (part <= high + reach)]
    box = (float(inside.min()), float(low), float(middle), float(high), float(inside.max()))
    return box, len(part) - len(inside)


def pairs(x: Array, y: Array) -> tuple[tuple[float, float], ...]:
    """Points of which both numbers are known."""
    known = np.isfinite(x) & np.isfinite(y)
    return tuple(zip(x[known].tolist(), y[known].tolist(), strict=True))


LEVELS_SHOWN = 4
LONGEST_LEVEL = 40
"""So many letters of a level are shown, so that cells of whole texts leave the table readable."""
MOST_BINS = 20
MOST_POINTS = 1_000
"""Of more rows so many are drawn at random: a terminal shows no more."""
MOST_GROUPS = 6
OTHERS = "others"


def profile_of(profile: Profile, tables: Sequence[Finding] = ()) -> Document:
    """The whole profile, with tables that say more of the warnings."""
    return tuple(_elements(profile, tables))


def shipped_datasets_of(shipped: Mapping[str, str]) -> Document:
    """The shipped datasets, one line each."""
    table = grid(["", ""], ([strong(name), summary] for name, summary in shipped.items()))
    return table, notes("mlcli data NAME shows the columns of one; any CSV file works as well: mlcli data my.csv")


def _elements(profile: Profile, tables: Sequence[Finding]) -> Iterator[Element]:
    task = " of ".join(part for part in (profile.task, profile.target) if part) or "no target"
    yield Heading(profile.name, 1)
    yield Sentence(f"{counted(profile.rows, 'row')}, {counted(len(profile.columns), 'column')}; {task}")
    rows = ([*_column_cells(column), *_values_cells(column)] for column in profile.columns)
    yield grid(["column", "role", "kind", "missing", "values", "distribution"], rows, right=[3])
    if profile.classes:
        yield from explained([_class_bars(str(profile.target), profile.classes)])
    yield from _list_elements("How kinds and roles were found", _sources_of_columns(profile.columns))
    yield from _list_elements("Remarks on reading the file", profile.notes)
    yield from _list_elements("Warnings", profile.warnings)
    yield from explained(tables)
    yield from _about_elements(profile.about)


def _column_cells(column: ColumnProfile) -> list[Content]:
    missing = f"{column.missing} ({100 * column.missing_share:.1f} %)" if column.missing else "0"
    role: GridCell | str = GridCell(column.role, "best") if column.role == "target" else column.role
    return [strong(column.name), role, column.kind, missing]


def _values_cells(column: ColumnProfile) -> list[Content]:
    if (numbers := column.numbers) is not None:
        kind = "whole numbers, " if numbers.discrete else ""
        values = f"{kind}{short(numbers.low)} to {short(numbers.high)}, mean {short(numbers.mean)}"
        return [values, _histogram(numbers.counts)]
    return _level_cells(column.levels) if column.levels is not None and column.levels.used else ["none", ""]


def _level_cells(levels: LevelSummary) -> list[Content]:
    shown = ", ".join(f"{_shortened(top.level)} {top.count}" for top in levels.top[:LEVELS_SHOWN])
    more = levels.used - LEVELS_SHOWN
    unused = levels.levels - levels.used
    text = shown + (f" and {counted(more, 'more level')}" if more > 0 else "")
    return [text + (f" ({unused} unused)" if unused else ""), _histogram([top.count for top in levels.top])]


def _shortened(level: str) -> str:
    return level if len(level) <= LONGEST_LEVEL else f"{level[: LONGEST_LEVEL - 1]}…"


def _histogram(counts: Sequence[int]) -> GridCell:
    highest = max(counts, default=0)
    return GridCell("", heights=tuple(count / highest if count else math.nan for count in counts))


def _sources_of_columns(columns: Sequence[ColumnProfile]) -> list[str]:
    """How kinds and roles were found, columns of one reason together."""
    reasons: dict[str, list[str]] = {}
    for column in columns:
        reason = f"{column.source}, {column.why}" if column.why else column.source
        reasons.setdefault(reason, []).append(column.name)
    if len(reasons) == 1:
        return [f"all columns: {reason}" for reason in reasons]
    return [f"{', '.join(names)}: {reason}" for reason, names in reasons.items()]


def _class_bars(target: str, classes: Sequence[LevelCount]) -> Bars:
    total = sum(label.count for label in classes)
    labels, counts = zip(*((label.level, label.count) for label in classes), strict=True)
    shares = tuple(share(count, total) for count in counts)
    return Bars(f"Classes of {target}", ("class", "rows", "share"), labels, counts, (shares,))


def _list_elements(title: str, sentences: Sequence[str]) -> Iterator[Element]:
    if sentences:
        yield Heading(title)
        yield notes(*sentences, mark="-")


def _about_elements(facts_by_name: Mapping[str, Any]) -> Iterator[Element]:
    """Source, licence and the like; what is itself a table stands below."""
    facts = [[key, _in_words(value)] for key, value in facts_by_name.items() if value and not _is_table(value)]
    if facts:
        yield grid(["", ""], facts)
    for key, value in facts_by_name.items():
        if _is_table(value):
            yield Heading(key.capitalize())
            yield from _table_of_mappings(value)


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _table_of_mappings(rows: Sequence[Mapping[str, Any]]) -> Iterator[Element]:
    """Rows by their keys; what is the same in all of several rows is said once."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    shared = [key for key in keys if len(rows) > 1 and len({_in_words(row.get(key)) for row in rows}) == 1]
    shown = [key for key in keys if key not in shared]
    numbers = [at for at, key in enumerate(shown) if all(isinstance(row.get(key), int | float) for row in rows)]
    columns = [
        lined_up([row[key] for row in rows]) if index in numbers else [_in_words(row.get(key)) for row in rows]
        for index, key in enumerate(shown)
    ]
    yield grid(shown, zip(*columns, strict=True), right=numbers)
    yield notes(*(f"{key}: {_in_words(rows[0][key])}" for key in shared))


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_in_words(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(_in_words, value))
    return "" if value is None else str(value)


def plot_of(dataset: Dataset, names: Sequence[str]) -> Finding:
    """The picture of one column, of two, or of two in the groups of a third; else in those of the classes."""
    if not 1 <= len(names) <= 3:
        raise UsageError("a picture is of one, two or three columns", hint="such as --plot age --plot income")
    columns = [_column(dataset, name) for name in names]
    rows, every = _sampled_rows(dataset), np.arange(len(dataset))
    by = columns[2] if len(columns) == 3 else dataset.schema.the("target")
    by = by if by is not None and by.name not in names[:2] else None
    note = f"{len(rows):,} of {len(dataset):,} rows, drawn at random" if len(rows) < len(dataset) else ""
    if len(columns) == 1:
        return _distribution_of(dataset, columns[0], _groups_by(dataset, by, every))
    return _two_columns(dataset, columns[0], columns[1], rows, _groups_by(dataset, by, rows), note)


def _column(dataset: Dataset, name: str) -> Column:
    known = {field.column.name: field.column for field in dataset.schema}
    if name not in known:
        hint = did_you_mean(name, list(known), "columns")
        raise DataError(f"there is no column '{name}'", where=dataset.name, hint=hint)
    return known[name]


def _sampled_rows(dataset: Dataset) -> Rows:
    if len(dataset) <= MOST_POINTS:
        return np.arange(len(dataset))
    return np.sort(rng_for("plot", dataset.content).choice(len(dataset), MOST_POINTS, replace=False))


def _numbers_of(dataset: Dataset, column: Column) -> Array:
    cells = dataset.table.cells(column.name).astype(np.float64)
    return np.where(cells < 0, np.nan, cells) if column.coded else cells


def _groups_by(dataset: Dataset, by: Column | None, rows: Rows) -> dict[str, Flags]:
    """The rows of each of the most frequent levels, or of the lower, middle and upper third of numbers."""
    if by is None:
        return {"rows": np.ones(len(rows), bool)}
    cells = _numbers_of(dataset, by)[rows]
    if not by.coded:
        low, high = np.nanquantile(cells, [1 / 3, 2 / 3])
        middle = (cells > low) & (cells <= high)
        return {f"{by.name} to {low:.4g}": cells <= low, f"to {high:.4g}": middle, "above": cells > high}
    codes, counts = np.unique(cells[~np.isnan(cells)], return_counts=True)
    shown = np.sort(codes[np.argsort(-counts, kind="stable")][:MOST_GROUPS])
    result = {by.levels[int(code)]: cells == code for code in shown}
    rest = ~np.isin(cells, shown) & ~np.isnan(cells)
    return result | ({OTHERS: rest} if rest.any() else {})


def _distribution_of(dataset: Dataset, column: Column, groups: dict[str, Flags]) -> Finding:
    """The numbers of a column in bins, or its levels as bars."""
    cells = _numbers_of(dataset, column)
    known = cells[~np.isnan(cells)]
    title = f"{column.name}: {len(known):,} of {len(cells):,} rows"
    if column.coded:
        counts = np.bincount(known.astype(np.intp), minlength=len(column.levels)).tolist()
        shares = tuple(f"{count / max(1, len(known)):.1%}" for count in counts)
        return Bars(title, (column.name, "rows", "share"), column.levels, tuple(map(float, counts)), (shares,))
    if not len(known) or not np.isfinite(np.ptp(known)):
        raise DataError(f"column '{column.name}' holds nothing to draw", where=dataset.name)
    edges = bin_edges(known, min(MOST_BINS, max(1, len(np.unique(known)))))
    counts = {name: np.histogram(cells[met & ~np.isnan(cells)], edges)[0] for name, met in groups.items()}
    return histogram_of(title, column.name, edges, counts)


def _two_columns(
    dataset: Dataset, across: Column, upwards: Column, rows: Rows, groups: dict[str, Flags], note: str
) -> Finding:
    """Two columns of numbers as points; where one holds levels, its levels are the groups; of levels a table."""
    if across.coded and upwards.coded:
        return _contingency_table(dataset, across, upwards)
    if across.coded or upwards.coded:
        numeric, coded = (upwards, across) if across.coded else (across, upwards)
        return _distribution_of(dataset, numeric, _groups_by(dataset, coded, np.arange(len(dataset))))
    x, y = (_numbers_of(dataset, column)[rows] for column in (across, upwards))
    points = tuple((name, pairs(x[met], y[met])) for name, met in groups.items())
    return Points(f"{upwards.name} by {across.name}", across.name, upwards.name, points, note=note)


def _contingency_table(dataset: Dataset, first: Column, second: Column) -> Table:
    a, b = (_numbers_of(dataset, column) for column in (first, second))
    known = ~(np.isnan(a) | np.isnan(b))
    counts = np.zeros((len(first.levels), len(second.levels)), np.intp)
    np.add.at(counts, (a[known].astype(np.intp), b[known].astype(np.intp)), 1)
    lines: Iterator[tuple[Entry, ...]] = zip(first.levels, *counts.T.tolist(), strict=True)
    return Table(f"{first.name} and {second.name}", (first.name, *second.levels), tuple(lines))
