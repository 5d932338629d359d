"""Numbers: stand-ins for missing ones, outliers, columns that follow from others, and long tails."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.checks.context import FEWEST_ROWS, AuditContext, declared, number_text, step_before, with_role
from mlcli.checks.data.spellings import stand_in_issue
from mlcli.core.findings import Issue, Table
from mlcli.core.moments import quotient
from mlcli.core.names import listed
from mlcli.core.schema import Column
from mlcli.core.tables import Array
from mlcli.data.sidecar import DISCRETE, yaml_list

STAND_IN_ROWS = 2
"""A number that stands for a missing value stands there more than once."""
DISTINCT = 10
"""Columns with fewer distinct numbers are codes rather than measurements."""
MOST_COLUMNS = 10_000
"""Of more numeric columns, only the first are compared with one another."""
BLOCK_CELLS = 2_000_000
"""Correlations that are computed at once."""
MANY_COPIES = 10
"""More columns that say the same as one are named in one issue."""


def stand_ins(context: AuditContext) -> Iterator[Issue]:
    """Numbers that often stand for a missing value, such as -1 and 999."""
    for column in context.numeric():
        cells = context.present(column)
        for value in _stand_ins_among(cells):
            yield stand_in_issue(context, column, number_text(value), int((cells == value).sum()))


def _stand_ins_among(cells: Array) -> Iterator[float]:
    """Negative ones if no other number is negative, or far below all others, or far more frequent than any.

    Large ones far above all others.
    """
    values, counts = np.unique(cells, return_counts=True)
    may_stand_in = np.isin(values, (-1.0, -9.0, -99.0, -999.0, -9999.0)) & (counts >= STAND_IN_ROWS)
    others, most = values[~may_stand_in], counts[~may_stand_in].max(initial=0)
    if len(others) < 3:
        return
    spread = np.ptp(others)
    for value, count in zip(values[may_stand_in].tolist(), counts[may_stand_in].tolist(), strict=True):
        is_frequent = count >= max(0.01 * len(cells), 10 * most)
        if others[0] >= 0 or others[0] - value > spread or is_frequent:
            yield value
    gap, spread = values[-1] - values[-2], values[-2] - others[0]
    if values[-1] in (99.0, 999.0, 9999.0, 99999.0) and gap > spread and counts[-1] >= STAND_IN_ROWS:
        yield float(values[-1])


def disguised_zeros(context: AuditContext) -> Iterator[Issue]:
    """Zeros far below all other numbers of a column, such as a blood pressure of 0."""
    for column in context.numeric():
        cells = context.present(column)
        positive, zeros = cells[cells > 0], int((cells == 0).sum())
        if zeros < STAND_IN_ROWS or (cells < 0).any() or zeros > 0.4 * len(cells):
            continue
        low, high = np.percentile(positive, [25, 75])
        spread = high - low
        gap = positive.min() / spread if high > low else 0.0
        # 0 lies below the fence of 1.5 interquartile ranges (Tukey 1977), and apart from the least number
        if len(np.unique(positive)) >= DISTINCT and low - 1.5 * spread > 0 and gap > 0.5:
            yield Issue(
                "warning" if zeros <= 0.1 * len(cells) and gap > 1 else "advice",
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
        if above := _count_far_above(cells):
            yield _outlier_issue(context, column, cells[-above:], cells[:-above])
        if below := _count_far_above(-cells[::-1]):
            yield _outlier_issue(context, column, cells[:below], cells[below:])


def _count_far_above(cells: Array) -> int:
    """How many of the largest numbers lie further above the rest than these reach, in numbers and in ratios.

    At most 0.5 % of the rows or two; the largest such count, since one outlier hides another that is less far out.
    """
    for count in range(max(2, int(0.005 * len(cells))), 0, -1):
        rest, first = cells[:-count], cells[-count]
        reach, gap = rest[-1] - rest[0], first - rest[-1]
        if gap > reach > 0 and (rest[0] <= 0 or np.log(first / rest[-1]) > np.log(rest[-1] / rest[0]) / 2):
            return count
    return 0


def _outlier_issue(context: AuditContext, column: Column, outside: Array, inside: Array) -> Issue:
    values, counts = np.unique(outside, return_counts=True)
    missing = {column.name: {"missing": [number_text(value) for value in values]}}
    numbers = [
        f"{value:g} ({rows} rows)" if rows > 1 else f"{value:g}"
        for value, rows in zip(values, counts, strict=True)
    ]
    lie = "lies" if len(values) == 1 else "lie"
    winsorise = step_before(context, "winsorise", f"columns: {yaml_list([column.name])}")
    return Issue(
        "warning",
        f"column '{column.name}': {listed(numbers)} {lie} far outside all other numbers",
        f"the other {len(inside)} are {inside[0]:g} to {inside[-1]:g}",
        (declared(context, missing), winsorise),
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
    # rows x columns² is limited to 2e10, so of many columns fewer rows are compared, but at least 200
    rows = context.sample[: max(200, int(2e10 / len(columns) ** 2))]
    numbers = np.stack([context.cells(column)[rows] for column in columns], axis=1)
    counts = np.maximum((~np.isnan(numbers)).sum(axis=0), 1)
    numbers = numbers - np.nansum(numbers, axis=0) / counts
    spread = np.sqrt(np.nansum(numbers**2, axis=0) / counts)
    numbers = numbers / np.where(spread > 0, spread, np.nan)
    same_as = _first_same_columns(numbers)
    copies_of: dict[int, list[Column]] = {}
    for index, first in same_as.items():
        copies_of.setdefault(same_as.get(first, first), []).append(columns[index])
    for first, copies in copies_of.items():
        if len(copies) > MANY_COPIES:
            yield _many_copies_issue(context, columns[first], copies)
        else:
            yield from (_same_column_issue(context, columns[first], copy) for copy in copies)
    complete = np.flatnonzero(~np.isnan(numbers).any(axis=0))
    if same_as or len(complete) > len(numbers) // 2:
        return
    # nothing is left of such a column when multiples of those before it are taken away
    left = np.abs(np.diag(np.linalg.qr(numbers[:, complete], mode="r"))) ** 2 / len(numbers)
    for index in complete[np.flatnonzero(left < 1e-9)]:
        name = columns[index].name
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
        correlations = _correlations(numbers[:, start : start + step], numbers[:, start:])
        alike = np.abs(correlations) >= 1 - 1e-6  # one column in another unit
        for first, second in np.argwhere(np.triu(alike, 1)).tolist():
            same_as.setdefault(start + second, start + first)
    return same_as


def _correlations(subset: Array, others: Array) -> Array:
    """Correlations of standardised columns, each pair by the rows in which both are present; 0 for few rows."""
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


def same_levels(context: AuditContext) -> Iterator[Issue]:
    """Two columns of levels of which each follows from the other."""
    alike: dict[tuple[int, bytes], list[Column]] = {}
    for column in context.coded():
        if len(np.unique(context.present(column))) > 2:
            # levels numbered in the order in which they come are the same for columns that are one-to-one
            _, first_rows, which = np.unique(context.cells(column), return_index=True, return_inverse=True)
            pattern = np.argsort(np.argsort(first_rows)).astype(np.int32)[which].tobytes()
            alike.setdefault((len(column.levels), pattern), []).append(column)
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


def far_from_gaussian(context: AuditContext) -> Iterator[Issue]:
    """Columns of positive numbers with a long tail that a logarithm makes short."""
    rows = []
    for column in context.numeric():
        cells = context.present(column)
        if len(cells) < FEWEST_ROWS or cells.min() < 0 or len(np.unique(cells)) < DISTINCT:
            continue
        if context.dataset.sidecar.of(column.name).numbers == DISCRETE:
            continue
        k = 0.0 if cells.min() > 0 else 1.0
        before, after = skewness(cells), skewness(np.log(cells + k))
        if before > 2.0 and abs(after) < min(before / 2, 2.0):
            rows.append((column.name, before, k, after))
    if rows:
        names = tuple(name for name, *_ in rows)
        header = ("column", "now", "k", "of log(x + k)")
        yield Issue(
            "advice",
            f"right-skewed, with a long tail of large numbers: {listed(names)}",
            "log(x + k) makes the tails short, which linear models, distances and Gaussians like",
            (step_before(context, "log", f"columns: {yaml_list(names)}"),),
            names,
            (Table("Skewness (0 for a symmetric distribution)", header, tuple(rows)),),
        )


def skewness(cells: Array) -> float:
    """The third standardised moment."""
    spread = cells.std()
    return float((((cells - cells.mean()) / spread) ** 3).mean()) if spread > 0 else 0.0
