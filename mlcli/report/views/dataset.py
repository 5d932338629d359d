"""Datasets: the profile of one, a plot of its columns, and two files beside each other."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import DataError, UsageError
from mlcli.core.findings import Bars, Entry, Finding, Points
from mlcli.core.names import counted, did_you_mean, listed
from mlcli.core.schema import Column
from mlcli.core.serialise import rng_for
from mlcli.core.tables import Array, Flags, Rows
from mlcli.data.dataset import Dataset
from mlcli.data.profile import ColumnProfile, Profile, bin_edges
from mlcli.report.document import (
    Content,
    Document,
    Element,
    GridCell,
    Heading,
    Sentence,
    explained,
    grid,
    lined_up,
    notes,
    share,
    short,
    strong,
)
from mlcli.scoring.files import differing_columns
from mlcli.scoring.plots import histogram_of, pairs

if TYPE_CHECKING:
    from mlcli.data.join import JoinedTable, Key
    from mlcli.experiment.drift import Drift

MOST_POINTS = 1_000
"""If there are more rows, this many are drawn at random: a terminal shows no more points."""


def shipped_datasets_of(shipped: Mapping[str, str]) -> Document:
    """The shipped datasets, one line each."""
    table = grid(["", ""], ([strong(name), summary] for name, summary in shipped.items()))
    return table, notes("mlcli data NAME shows the columns of one; any CSV file works as well: mlcli data my.csv")


def profile_of(profile: Profile, tables: Sequence[Finding] = ()) -> Document:
    """The whole profile, with tables that explain the warnings."""
    return tuple(_profile_elements(profile, tables))


def _profile_elements(profile: Profile, tables: Sequence[Finding]) -> Iterator[Element]:
    task = " of ".join(part for part in (profile.task, profile.target) if part) or "no target"
    yield Heading(profile.name, 1)
    yield Sentence(f"{counted(profile.rows, 'row')}, {counted(len(profile.columns), 'column')}; {task}")
    rows = [_column_cells(column) for column in profile.columns]
    yield grid(["column", "role", "kind", "missing", "values", "distribution"], rows, right=[3])
    if profile.classes:
        total = sum(label.count for label in profile.classes)
        shares = tuple(share(label.count, total) for label in profile.classes)
        labels = tuple(label.level for label in profile.classes)
        counts = tuple(label.count for label in profile.classes)
        yield from explained(
            [Bars(f"Classes of {profile.target}", ("class", "rows", "share"), labels, counts, (shares,))]
        )
    reasons: dict[str, list[str]] = {}
    for column in profile.columns:
        reasons.setdefault(f"{column.source}, {column.why}" if column.why else column.source, []).append(
            column.name
        )
    sources = [
        f"all columns: {reason}" if len(reasons) == 1 else f"{', '.join(names)}: {reason}"
        for reason, names in reasons.items()
    ]
    for title, sentences in (
        ("How kinds and roles were found", sources),
        ("Remarks on reading the file", profile.notes),
        ("Warnings", profile.warnings),
    ):
        if sentences:
            yield Heading(title)
            yield notes(*sentences, mark="-")
    yield from explained(tables)
    yield from _about_elements(profile.about)


def _column_cells(column: ColumnProfile) -> list[Content]:
    missing = f"{column.missing} ({100 * column.missing_share:.1f} %)" if column.missing else "0"
    role: Content = GridCell(column.role, "best") if column.role == "target" else column.role
    cells: list[Content] = [strong(column.name), role, column.kind, missing]
    if (numbers := column.numbers) is not None:
        kind = "whole numbers, " if numbers.discrete else ""
        values = f"{kind}{short(numbers.low)} to {short(numbers.high)}, mean {short(numbers.mean)}"
        return [*cells, values, _small_histogram(numbers.counts)]
    if column.levels is None or not column.levels.used:
        return [*cells, "none", ""]
    levels, most, longest = column.levels, 4, 40  # whole texts would make the table unreadable
    texts = []
    for top in levels.top[:most]:
        name = top.level if len(top.level) <= longest else f"{top.level[: longest - 1]}…"
        texts.append(f"{name} {top.count}")
    more = f" and {counted(levels.used - most, 'more level')}" if levels.used > most else ""
    unused = f" ({levels.levels - levels.used} unused)" if levels.levels > levels.used else ""
    return [*cells, f"{', '.join(texts)}{more}{unused}", _small_histogram([top.count for top in levels.top])]


def _small_histogram(counts: Sequence[int]) -> GridCell:
    highest = max(counts, default=0)
    return GridCell("", heights=tuple(count / highest if count else math.nan for count in counts))


def _about_elements(about: Mapping[str, object]) -> Iterator[Element]:
    """Source, licence and the like; tables come below them."""
    tables: dict[str, list[dict[str, object]]] = {
        key: value
        for key, value in about.items()
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value)
    }
    facts = [[key, _in_words(value)] for key, value in about.items() if value and key not in tables]
    if facts:
        yield grid(["", ""], facts)
    for key, rows in tables.items():
        names = list(dict.fromkeys(name for row in rows for name in row))
        # A value that all rows share is shown once, below the table.
        shared = [name for name in names if len(rows) > 1 and len({_in_words(row.get(name)) for row in rows}) == 1]
        shown = [name for name in names if name not in shared]
        columns: list[list[str]] = []
        numeric: list[int] = []
        for index, name in enumerate(shown):
            cells = [row.get(name) for row in rows]
            numbers = [float(cell) for cell in cells if isinstance(cell, int | float)]
            if len(numbers) == len(cells):
                numeric.append(index)
            columns.append(lined_up(numbers) if len(numbers) == len(cells) else list(map(_in_words, cells)))
        yield Heading(key.capitalize())
        yield grid(shown, zip(*columns, strict=True), right=numeric)
        yield notes(*(f"{name}: {_in_words(rows[0][name])}" for name in shared))


def _in_words(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_in_words(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(_in_words, value))
    return "" if value is None else str(value)


def plot_of(dataset: Dataset, names: Sequence[str]) -> Finding:
    """The plot of one column, of two, or of two in the groups of a third; else in those of the classes."""
    if not 1 <= len(names) <= 3:
        raise UsageError("a picture is of one, two or three columns", hint="such as --plot age --plot income")
    by_name = {field.column.name: field.column for field in dataset.schema}
    for name in names:
        if name not in by_name:
            hint = did_you_mean(name, list(by_name), "columns")
            raise DataError(f"there is no column '{name}'", where=dataset.name, hint=hint)
    columns = [by_name[name] for name in names]
    grouping = columns[2] if len(columns) == 3 else dataset.schema.the("target")
    grouping = grouping if grouping is not None and grouping.name not in names[:2] else None
    all_rows = np.arange(len(dataset))
    first = columns[0]
    if len(columns) == 1:
        return _distribution_of(dataset, first, _row_groups(dataset, grouping, all_rows))
    second = columns[1]
    if first.coded and second.coded:
        return _contingency_table(dataset, first, second)
    if first.coded or second.coded:  # the levels are the groups of the numbers
        numeric, nominal = (second, first) if first.coded else (first, second)
        return _distribution_of(dataset, numeric, _row_groups(dataset, nominal, all_rows))
    rows, note = all_rows, ""
    if len(dataset) > MOST_POINTS:
        rows = np.sort(rng_for("plot", dataset.content).choice(len(dataset), MOST_POINTS, replace=False))
        note = f"{len(rows):,} of {len(dataset):,} rows, drawn at random"
    x, y = _numbers_of(dataset, first)[rows], _numbers_of(dataset, second)[rows]
    groups = _row_groups(dataset, grouping, rows)
    points = tuple((name, pairs(x[members], y[members])) for name, members in groups.items())
    return Points(f"{second.name} by {first.name}", first.name, second.name, points, note=note)


def _numbers_of(dataset: Dataset, column: Column) -> Array:
    cells = dataset.table.cells(column.name).astype(np.float64)
    return np.where(cells < 0, np.nan, cells) if column.coded else cells


def _row_groups(dataset: Dataset, column: Column | None, rows: Rows) -> dict[str, Flags]:
    """The rows of each of the six most frequent levels, or of the lower, middle and upper third of numbers."""
    if column is None:
        return {"rows": np.ones(len(rows), bool)}
    cells = _numbers_of(dataset, column)[rows]
    if not column.coded:
        low, high = np.nanquantile(cells, [1 / 3, 2 / 3])
        middle = (cells > low) & (cells <= high)
        return {f"{column.name} to {low:.4g}": cells <= low, f"to {high:.4g}": middle, "above": cells > high}
    codes, counts = np.unique(cells[~np.isnan(cells)], return_counts=True)
    shown = np.sort(codes[np.argsort(-counts, kind="stable")][:6])
    groups = {column.levels[int(code)]: cells == code for code in shown}
    others = ~np.isin(cells, shown) & ~np.isnan(cells)
    return groups | ({"others": others} if others.any() else {})


def _distribution_of(dataset: Dataset, column: Column, groups: dict[str, Flags]) -> Finding:
    """The numbers of a column in bins, or its levels as bars."""
    cells = _numbers_of(dataset, column)
    present = cells[~np.isnan(cells)]
    title = f"{column.name}: {len(present):,} of {len(cells):,} rows"
    if column.coded:
        counts = np.bincount(present.astype(np.intp), minlength=len(column.levels)).tolist()
        shares = tuple(f"{count / max(1, len(present)):.1%}" for count in counts)
        return Bars(title, (column.name, "rows", "share"), column.levels, tuple(map(float, counts)), (shares,))
    if not len(present) or not np.isfinite(np.ptp(present)):
        raise DataError(f"column '{column.name}' holds nothing to draw", where=dataset.name)
    edges = bin_edges(present, min(20, max(1, len(np.unique(present)))))
    by_group = {
        name: np.histogram(cells[members & ~np.isnan(cells)], edges)[0] for name, members in groups.items()
    }
    return histogram_of(title, column.name, edges, by_group)


def _contingency_table(dataset: Dataset, first: Column, second: Column) -> findings.Table:
    a, b = _numbers_of(dataset, first), _numbers_of(dataset, second)
    present = ~(np.isnan(a) | np.isnan(b))
    counts = np.zeros((len(first.levels), len(second.levels)), np.intp)
    np.add.at(counts, (a[present].astype(np.intp), b[present].astype(np.intp)), 1)
    rows: list[tuple[Entry, ...]] = [
        (level, *line) for level, line in zip(first.levels, counts.tolist(), strict=True)
    ]
    return findings.Table(f"{first.name} and {second.name}", (first.name, *second.levels), tuple(rows))


def joined_of(joined: JoinedTable, a: str, b: str) -> Document:
    """How a join went: rows without a match, empty or repeated keys, columns with new names."""
    header = ("file", "rows", "without a match", "with an empty key", "keys there twice or more")
    files = ((a, joined.a), (b, joined.b))
    rows = tuple((name, keys.rows, keys.unmatched, keys.empty, len(keys.doubled)) for name, keys in files)
    return (
        Heading(f"{a} with {b}", 1),
        Sentence(f"{counted(len(joined), 'row')} of {counted(len(joined.columns), 'column')}."),
        *explained([findings.Table("Keys", header, rows)]),
        *map(Sentence, remarks_on_join(joined, a, b)),
    )


def remarks_on_join(joined: JoinedTable, a: str, b: str) -> Iterator[str]:
    """Remarks on a join, a sentence each; the first gives the number of rows with a match."""

    def keys_text(keys: Sequence[Key]) -> str:
        return listed([" ".join(key) for key in keys], 5)

    yield f"{joined.matched} of {counted(joined.a.rows, 'row')} of {a} have a match in {b}."
    for name, keys in ((a, joined.a), (b, joined.b)):
        if keys.unmatched:
            yield f"{name}: {counted(keys.unmatched, 'row')} without a match, such as {keys_text(keys.examples)}."
        if keys.empty:
            yield f"{name}: {counted(keys.empty, 'row')} with an empty key, which match nothing."
        if keys.doubled:
            yield f"{name}: keys that stand there more than once: {keys_text(tuple(keys.doubled))}."
    for before, after in joined.renamed.items():
        yield f"Both files have a column '{before}': that of {b} is called '{after}'."


def drift_of(drift: Drift) -> Document:
    """How alike two files are: each column in both, how well a model tells them apart, and the verdict."""
    a, b = drift.names
    reading = (
        "distance: D of numbers, Cramér's V of levels; 0 is alike. p is corrected by Holm over the columns. "
        "PSI: below 0.1 little has moved, above 0.25 much has"
    )
    ranked = sorted(drift.columns, key=lambda column: (column.corrected, -column.distance))
    rows = tuple(
        (
            column.name,
            column.test,
            column.distance,
            f"{column.corrected:.2g}",
            column.psi,
            column.in_a,
            column.in_b,
        )
        for column in ranked
    )
    header = ("column", "test", "distance", "p", "PSI", "in A", "in B")
    low, high = drift.interval.low, drift.interval.high
    interval = f" (95 % interval {low:.3f} to {high:.3f})" if low is not None and high is not None else ""
    only = {"Columns of A that B lacks": drift.only_a, "Columns that only B has, not compared": drift.only_b}
    return (
        Heading(f"Is {b} like {a}?", 1),
        Sentence(f"A: {a}, {counted(drift.rows[0], 'row')}; B: {b}, {counted(drift.rows[1], 'row')}"),
        *explained([findings.Table("Column by column", header, rows, note=reading)]),
        Heading("Classifier two-sample test"),
        Sentence(
            f"AUC {drift.auc:.3f}{interval}: a random forest, scored on unseen rows, "
            f"{counted(drift.seen, 'row')} in all; up to 0.5 is chance, 1 tells every row."
        ),
        *(Sentence(f"{which}: {listed(columns)}.") for which, columns in only.items() if columns),
        Sentence(_drift_verdict(drift)),
        notes("a model learned from A is safe on B only as far as B is like A"),
    )


def _drift_verdict(drift: Drift) -> str:
    differing = differing_columns(drift)
    if differing:
        verdict = "the model tells them apart" if drift.are_separable else "the model cannot tell them apart"
        columns = f"{counted(len(differing), 'column')} of {len(drift.columns)}"
        differ = "differs" if len(differing) == 1 else "differ"
        return f"B is not like A: {columns} {differ} more than by chance ({listed(differing)}), and {verdict}."
    if drift.are_separable:
        return "B is not like A: no single column differs more than by chance, but the model tells them apart."
    return (
        "Nothing speaks against B being like A: no column differs more than by chance, and the model cannot tell."
    )
