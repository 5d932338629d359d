"""Numbers: stand-ins for missing ones, outliers, columns that follow from others, and long tails."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.checks.context import FEWEST_ROWS, AuditContext
from mlcli.checks.data.spellings import stand_in_issue
from mlcli.checks.repairs import declared, number_text, step_before, with_role
from mlcli.core.findings import Table
from mlcli.core.issues import Issue
from mlcli.core.moments import quotient
from mlcli.core.names import listed
from mlcli.core.schema import Column
from mlcli.core.tables import Array
from mlcli.data.sidecar import DISCRETE, yaml_list

NEGATIVE_STAND_INS = (-1.0, -9.0, -99.0, -999.0, -9999.0)
LARGE_STAND_INS = (99.0, 999.0, 9999.0, 99999.0)
STAND_IN_ROWS = 2
OFTEN, FAR_MORE_OFTEN = 0.01, 10
"""Among other negative numbers a stand-in has this share of the rows, and so many times those of any other."""
SOME_ZEROS, MANY_ZEROS = 0.1, 0.4
"""Few zeros far below all other numbers are doubted; more may be what was measured; most are."""
FAR_BELOW = 0.5
"""In interquartile ranges of the other numbers, how far the least of these must be from 0."""
DISTINCT = 10
FENCE = 1.5
"""Numbers so many interquartile ranges outside the quartiles are far out (Tukey 1977)."""
OUTLYING = 0.005
"""The share of rows that may lie outside together."""
SAME = 1 - 1e-6
"""Correlations from here on are those of one column with itself in another unit."""
MOST_COLUMNS = 10_000
"""Of more columns of numbers only the first are compared with one another."""
MOST_PRODUCTS, ROWS_OF_MANY = 2e10, 200
"""Rows × columns² at most, so that of many columns fewer rows are compared; and the fewest rows."""
BLOCK_CELLS = 2_000_000
"""Correlations that are held at once."""
MANY_COPIES = 10
"""More columns that say the same as one are named in one issue."""
FOLLOWS = 1 - 1e-9
SKEWED = 2.0
BETTER = 0.5


def stand_ins(context: AuditContext) -> Iterator[Issue]:
    """Numbers that often stand for a missing value, such as -1 and 999."""
    for column in context.numeric():
        cells = context.present(column)
        for value in _stand_ins_among(cells):
            yield stand_in_issue(context, column, number_text(value), int((cells == value).sum()))


def _stand_ins_among(cells: Array) -> Iterator[float]:
    """Negative ones where no other number is negative, or far below all others, or far more frequent than any.

    Large ones far above all others.
    """
    values, counts = np.unique(cells, return_counts=True)
    may_stand_in = np.isin(values, NEGATIVE_STAND_INS) & (counts >= STAND_IN_ROWS)
    others, most = values[~may_stand_in], counts[~may_stand_in].max(initial=0)
    if len(others) < 3:
        return
    spread = np.ptp(others)
    for value, count in zip(values[may_stand_in].tolist(), counts[may_stand_in].tolist(), strict=True):
        often = count >= max(OFTEN * len(cells), FAR_MORE_OFTEN * most)
        if others[0] >= 0 or others[0] - value > spread or often:
            yield value
    gap, spread = values[-1] - values[-2], values[-2] - others[0]
    if values[-1] in LARGE_STAND_INS and gap > spread and counts[-1] >= STAND_IN_ROWS:
        yield float(values[-1])


def disguised_zeros(context: AuditContext) -> Iterator[Issue]:
    """Zeros far below all other numbers of a column, such as a blood pressure of 0."""
    for column in context.numeric():
        cells = context.present(column)
        positive, zeros = cells[cells > 0], int((cells == 0).sum())
        if zeros < STAND_IN_ROWS or (cells < 0).any() or zeros > MANY_ZEROS * len(cells):
            continue
        low, high = np.percentile(positive, [25, 75])
        gap = positive.min() / (high - low) if high > low else 0.0
        if len(np.unique(positive)) >= DISTINCT and low - FENCE * (high - low) > 0 and gap > FAR_BELOW:
            yield Issue(
                "warning" if zeros <= SOME_ZEROS * len(cells) and gap > 1 else "advice",
                f"column '{column.name}': 0 in {zeros} rows lies far below all other numbers, and may be missing",
                f"the others are {positive.min():g} to {positive.max():g}, half of them {low:g} to {high:g}",
                (declared(context, {column.name: {"missing": ["0"]}}),),
                columns=(column.name,),
            )


def outliers(context: AuditContext) -> Iterator[Issue]:
    """Single numbers far outside all others, such as a blood pressure of 1200."""
    for column in context.numeric():
        cells = np.sort(context.present(column))
        if len(cells) < FEWEST_ROWS or len(np.unique(cells)) < DISTINCT:
            continue
        for far, near in ((_count_far_above(cells), cells), (_count_far_above(-cells[::-1]), -cells[::-1])):
            if far:
                sign = 1.0 if near is cells else -1.0
                inside = np.sort(sign * near[: len(near) - far])
                yield _outlier_issue(context, column, np.sort(sign * near[len(near) - far :]), inside)


def _count_far_above(cells: Array) -> int:
    """How many of the largest lie further above the rest than these reach, in numbers and in ratios.

    The largest such number, since one outlier hides another that is less far out.
    """
    most = max(2, int(OUTLYING * len(cells)))
    for count in range(most, 0, -1):
        rest, next_one = cells[:-count], cells[-count]
        reach, gap = rest[-1] - rest[0], next_one - rest[-1]
        if gap > reach > 0 and (rest[0] <= 0 or np.log(next_one / rest[-1]) > np.log(rest[-1] / rest[0]) / 2):
            return count
    return 0


def _outlier_issue(context: AuditContext, column: Column, outside: Array, inside: Array) -> Issue:
    values, counts = np.unique(outside, return_counts=True)
    empty = {column.name: {"missing": [number_text(value) for value in values]}}
    times = [
        f"{value:g} ({rows} rows)" if rows > 1 else f"{value:g}"
        for value, rows in zip(values, counts, strict=True)
    ]
    lie = "lies" if len(values) == 1 else "lie"
    moved = step_before(context, "winsorise", f"columns: {yaml_list([column.name])}")
    return Issue(
        "warning",
        f"column '{column.name}': {listed(times)} {lie} far outside all other numbers",
        f"the other {len(inside)} are {inside[0]:g} to {inside[-1]:g}",
        (declared(context, empty), moved),
        columns=(column.name,),
    )


def dependent_columns(context: AuditContext) -> Iterator[Issue]:
    """Columns that follow from others, such as inc2 = 2 x inc."""
    columns = [
        column
        for column in context.numeric()
        if len(context.present(column)) and np.ptp(context.present(column)) > 0
    ]
    if len(context.dataset) < FEWEST_ROWS or len(columns) < 2:
        return
    if len(columns) > MOST_COLUMNS:
        what = f"only the first {MOST_COLUMNS:,} of {len(columns):,} columns of numbers were compared with others"
        yield Issue("advice", what, "two of the others may say the same")
        columns = columns[:MOST_COLUMNS]
    rows = context.sample[: max(ROWS_OF_MANY, int(MOST_PRODUCTS / len(columns) ** 2))]
    numbers = np.stack([context.cells(column)[rows] for column in columns], axis=1)
    known = np.maximum((~np.isnan(numbers)).sum(axis=0), 1)
    numbers = numbers - np.nansum(numbers, axis=0) / known
    spread = np.sqrt(np.nansum(numbers**2, axis=0) / known)
    numbers = numbers / np.where(spread > 0, spread, np.nan)
    same_as = _first_same_columns(numbers)
    yield from _same_columns_issues(context, columns, same_as)
    whole = np.flatnonzero(~np.isnan(numbers).any(axis=0))
    follower = [] if same_as else _dependent_on_earlier(numbers[:, whole])
    for index in follower:
        name = columns[whole[index]].name
        what = f"column '{name}' follows from others of the columns before it, as a sum of multiples of them"
        repair = with_role(context, "ignore", name)
        yield Issue("advice", what, "coefficients of such columns mean nothing", (repair,), (name,))


def _first_same_columns(numbers: Array) -> dict[int, int]:
    """For each standardised column that says the same as an earlier one, the first of these.

    The matrix of all correlations would take gigabytes for many columns, so it is made block by block.
    """
    count = numbers.shape[1]
    same_as: dict[int, int] = {}
    step = max(1, BLOCK_CELLS // count)
    for start in range(0, count, step):
        alike = np.abs(_correlations(numbers[:, start : start + step], numbers[:, start:])) >= SAME
        for first, second in np.argwhere(np.triu(alike, 1)).tolist():
            same_as.setdefault(start + second, start + first)
    return same_as


def _correlations(subset: Array, others: Array) -> Array:
    """Correlations of standardised columns, each pair by the rows in which both are known; 0 of few."""
    if not np.isnan(others).any():
        covariance = subset.T @ others / len(others)
        return covariance if len(others) >= FEWEST_ROWS else np.zeros_like(covariance)
    known, others_known = ~np.isnan(subset) * 1.0, ~np.isnan(others) * 1.0
    filled, others_filled = np.nan_to_num(subset), np.nan_to_num(others)
    counts = known.T @ others_known
    rows = np.maximum(counts, 1)
    means, others_means = filled.T @ others_known / rows, known.T @ others_filled / rows
    squares, others_squares = filled.T**2 @ others_known / rows, known.T @ others_filled**2 / rows
    variances = np.maximum(squares - means**2, 0.0) * np.maximum(others_squares - others_means**2, 0.0)
    covariance = filled.T @ others_filled / rows - means * others_means
    return np.where(counts >= FEWEST_ROWS, quotient(covariance, np.sqrt(variances)), 0.0)


def _same_columns_issues(context: AuditContext, columns: list[Column], same_as: dict[int, int]) -> Iterator[Issue]:
    """An issue for each column that says the same as another, or one for many that do."""
    copies_of: dict[int, list[Column]] = {}
    for index, first in same_as.items():
        copies_of.setdefault(same_as.get(first, first), []).append(columns[index])
    for first, copies in copies_of.items():
        if len(copies) > MANY_COPIES:
            yield _many_copies_issue(context, columns[first], copies)
        else:
            yield from (_same_column_issue(context, columns[first], copy) for copy in copies)


def _many_copies_issue(context: AuditContext, first: Column, copies: list[Column]) -> Issue:
    names = [column.name for column in copies]
    return Issue(
        "warning",
        f"column '{first.name}' and {len(names):,} others say the same: {listed(names)}",
        "they share their importance, so that importances and coefficients of all mislead",
        (with_role(context, "ignore", *names),),
        columns=(first.name, *names),
    )


def _same_column_issue(context: AuditContext, first: Column, second: Column) -> Issue:
    both = np.stack([context.cells(first), context.cells(second)])
    x, y = both[:, ~np.isnan(both).any(axis=0)]
    slope = float(np.polyfit(x - x.mean(), y - y.mean(), 1)[0])
    intercept = float(y.mean() - slope * x.mean())
    plus = "" if abs(intercept) < 1e-6 * np.ptp(y) else f" {intercept:+.4g}"
    formula = f"{second.name} = {slope:.6g} x {first.name}{plus}"
    return Issue(
        "warning",
        f"columns '{first.name}' and '{second.name}' say the same: {formula}",
        "they share their importance, so that importances and coefficients of both mislead",
        (with_role(context, "ignore", second.name),),
        columns=(first.name, second.name),
    )


def _dependent_on_earlier(numbers: Array) -> list[int]:
    """The columns of which nothing is left when those before them are taken away."""
    if numbers.shape[1] > len(numbers) // 2:
        return []
    left = np.abs(np.diag(np.linalg.qr(numbers, mode="r"))) ** 2 / len(numbers)
    return np.flatnonzero(left < 1 - FOLLOWS).tolist()


def same_levels(context: AuditContext) -> Iterator[Issue]:
    """Two columns of levels of which each follows from the other."""
    alike: dict[tuple[int, bytes], list[Column]] = {}
    for column in context.coded():
        if len(np.unique(context.present(column))) > 2:
            alike.setdefault((len(column.levels), _pattern(context.cells(column))), []).append(column)
    for first, *copies in alike.values():
        if len(copies) > MANY_COPIES:
            yield _many_copies_issue(context, first, copies)
            continue
        for copy in copies:
            yield Issue(
                "warning",
                f"columns '{first.name}' and '{copy.name}' say the same in other words",
                f"each of the {len(first.levels)} levels of one stands beside one level of the other",
                (with_role(context, "ignore", copy.name),),
                columns=(first.name, copy.name),
            )


def _pattern(cells: Array) -> bytes:
    """Levels numbered in the order in which they come: the same for columns that are one-to-one."""
    _, first, which = np.unique(cells, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first)).astype(np.int32)[which].tobytes()


def far_from_gaussian(context: AuditContext) -> Iterator[Issue]:
    """Columns of positive numbers with a long tail that a logarithm makes short."""
    results = []
    for column in context.numeric():
        cells = context.present(column)
        if len(cells) < FEWEST_ROWS or cells.min() < 0 or len(np.unique(cells)) < DISTINCT:
            continue
        if context.dataset.sidecar.of(column.name).numbers == DISCRETE:
            continue
        k = 0.0 if cells.min() > 0 else 1.0
        before, after = skewness(cells), skewness(np.log(cells + k))
        if before > SKEWED and abs(after) < min(BETTER * before, SKEWED):
            results.append((column.name, before, k, after))
    if results:
        names = tuple(name for name, *_ in results)
        yield Issue(
            "advice",
            f"right-skewed, with a long tail of large numbers: {listed(names)}",
            "log(x + k) makes the tails short, which linear models, distances and Gaussians like",
            (step_before(context, "log", f"columns: {yaml_list(names)}"),),
            names,
            (
                Table(
                    "Skewness (0 for a symmetric distribution)",
                    ("column", "now", "k", "of log(x + k)"),
                    tuple(results),
                ),
            ),
        )


def skewness(cells: Array) -> float:
    """The third standardised moment."""
    spread = cells.std()
    return float((((cells - cells.mean()) / spread) ** 3).mean()) if spread > 0 else 0.0
