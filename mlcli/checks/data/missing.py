"""Missing cells: are they missing at random, and what does filling them do?"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from mlcli.checks.context import AuditContext, step_before
from mlcli.core.findings import Issue, Table
from mlcli.core.names import listed
from mlcli.data.sidecar import yaml_list
from mlcli.prepare.impute import OF_NUMBERS


def missing_by_rule(context: AuditContext) -> Iterator[Issue]:
    """Cells that are not missing at random, since other columns tell where."""
    gaps, looked_at = len(list(context.features_with_gaps())), len(context.missing_rules)
    if looked_at < gaps:
        what = f"rules of missing cells were sought for the first {looked_at} of {gaps:,} columns with gaps only"
        yield Issue("advice", what, "gaps of the others may not be at random either")
    rules = {name: rule for name, rule in context.missing_rules.items() if rule is not None}
    if not rules:
        return
    strong = [name for name, rule in rules.items() if abs(rule.correlation) >= 0.8 and not rule.is_of_gaps]
    columns = tuple(strong or rules)
    header = ("column", "where", "missing there", "missing elsewhere", "correlation")
    rows = tuple(
        (name, rule.words, f"{rule.inside:.0%} of {rule.rows}", f"{rule.outside:.0%}", abs(rule.correlation))
        for name, rule in rules.items()
    )
    own = f"columns: {yaml_list(columns)}, numbers: own-value, levels: own-value"
    yield Issue(
        "warning" if strong else "advice",
        f"not missing at random, since a rule over another column tells where: {listed(columns)}",
        "what fills such gaps is drawn from other cases; that a cell is empty may be learned from",
        (step_before(context, "impute", own),),
        columns,
        (Table("Rules that tell where cells are missing", header, rows),),
    )


def missing_at_random(context: AuditContext) -> Iterator[Issue]:
    """Cells that are missing at random, as far as a rule over another column can tell."""
    columns = [name for name, rule in context.missing_rules.items() if rule is None]
    if columns:
        yield Issue(
            "advice",
            "missing at random, as far as other columns tell "
            f"(tested with {len(context.sample):,} rows): {listed(columns)}",
            "no level or threshold of another column tells where cells are empty better than chance would; a "
            "reason that is in no column cannot be seen, nor a weak rule where few cells are empty",
            (step_before(context, "impute", f"columns: {yaml_list(columns)}"),),
            tuple(columns),
        )


def imputing(context: AuditContext) -> Iterator[Issue]:
    """What filling gaps does to the mean and the spread of a column."""
    rows, lowered = [], {}
    for column, _ in context.features_with_gaps():
        cells = context.present(column)
        if column.coded or len(cells) < 2:
            continue
        share, mean, spread = len(cells) / len(context.dataset), float(cells.mean()), float(cells.std())
        rows.append((column.name, "nothing", 1 - share, mean, spread))
        for filling in ("mean", "median", "most-frequent"):
            value = OF_NUMBERS[filling](cells, np.ones(len(cells)))
            variance = share * spread**2 + share * (1 - share) * (value - mean) ** 2
            rows.append((column.name, filling, 0.0, share * mean + (1 - share) * value, math.sqrt(variance)))
        if spread > 0:
            lowered[column.name] = 1 - math.sqrt(share)
    if not lowered:
        return
    much = [name for name, lost in lowered.items() if lost > 0.1]
    columns = tuple(much or lowered)
    header = ("column", "filled with", "missing", "mean", "standard deviation")
    yield Issue(
        "advice",
        f"filling gaps with the mean lowers the standard deviation of {listed(columns)} by "
        f"{'up to ' if len(columns) > 1 else ''}{max(lowered.values()):.1%}",
        "imputing the mean keeps the mean, and adds nothing to the variance; another number may raise it",
        (step_before(context, "impute", f"columns: {yaml_list(columns)}, numbers: own-value"),) if much else (),
        columns,
        (Table("Effect of imputation on mean and standard deviation", header, tuple(rows)),),
    )
