"""Missing cells: are they missing by chance, and what does filling them do?"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from mlcli.checks.association import ColumnCondition, best_condition
from mlcli.checks.audited import FEWEST_ROWS, Audited
from mlcli.checks.repairs import step_before
from mlcli.core.findings import Table
from mlcli.core.issues import Issue
from mlcli.core.names import listed
from mlcli.core.schema import Column
from mlcli.core.tables import Flags
from mlcli.data.write_sidecar import flow

FEWEST_EMPTY = 5
CHANCE = 3.0
"""How many standard errors beyond what the best of many rules reaches by chance a rule must be."""
STRONG = 0.8
"""From this correlation on, a rule is nearly the whole of it."""
SHRINKS = 0.1


def missing_by_rule(audited: Audited) -> Iterator[Issue]:
    """Cells that are not missing by chance, since other columns tell where."""
    rules: dict[str, ColumnCondition] = {}
    for column, empty in _columns_with_gaps(audited):
        rule = _best_condition_over_others(audited, column, empty)
        if rule is not None:
            rules[column.name] = rule
    if not rules:
        return
    strong = [name for name, rule in rules.items() if abs(rule.correlation) >= STRONG and not rule.is_of_gaps]
    columns = tuple(strong or rules)
    header = ("column", "where", "missing there", "missing elsewhere", "correlation")
    rows = tuple(
        (name, rule.words, f"{rule.inside:.0%} of {rule.rows}", f"{rule.outside:.0%}", abs(rule.correlation))
        for name, rule in rules.items()
    )
    own = f"columns: {flow(columns)}, numbers: own-value, levels: own-value"
    yield Issue(
        "warning" if strong else "advice",
        f"not missing by chance, since a rule over another column tells where: {listed(columns)}",
        "what fills such gaps is drawn from other cases; that a cell is empty may be learned from",
        (step_before(audited, "impute", own),),
        columns,
        (Table("Rules that tell where cells are missing", header, rows),),
    )


def imputing(audited: Audited) -> Iterator[Issue]:
    """What filling gaps does to the mean and the spread of a column."""
    rows = []
    for column, _ in _columns_with_gaps(audited):
        cells = audited.present(column)
        if column.coded or len(cells) < 2:
            continue
        share = len(cells) / len(audited.dataset)
        mean, median, spread = float(cells.mean()), float(np.median(cells)), float(cells.std())
        with_median = share * mean + (1 - share) * median
        rows.append((column.name, 1 - share, mean, with_median, spread, spread * math.sqrt(share)))
    shrunk = tuple(row[0] for row in rows if row[5] < (1 - SHRINKS) * row[4])
    if shrunk:
        header = ("column", "missing", "mean", "mean, median imputed", "sd", "sd, mean imputed")
        yield Issue(
            "advice",
            f"filling the gaps of {', '.join(shrunk)} lowers their standard deviation",
            "mean imputation leaves the mean as it is, and adds nothing to the variance",
            (step_before(audited, "impute", f"columns: {flow(shrunk)}, numbers: own-value"),),
            shrunk,
            (Table("Effect of imputation on mean and standard deviation", header, tuple(rows)),),
        )


def _columns_with_gaps(audited: Audited) -> Iterator[tuple[Column, Flags]]:
    """The features with enough empty cells to see a rule in."""
    for column in audited.features():
        if column.missing and len(audited.dataset) >= FEWEST_ROWS:
            empty = np.isnan(audited.cells(column))
            if FEWEST_EMPTY <= empty.sum() <= len(empty) - FEWEST_EMPTY:
                yield column, empty


def _best_condition_over_others(audited: Audited, column: Column, empty: Flags) -> ColumnCondition | None:
    """The best condition on another column, if chance alone does not make one as good."""
    others = [one for one in audited.features() if one.name != column.name]
    others += [audited.target] if audited.target is not None else []
    rows = audited.sample
    rules = (best_condition(empty[rows], audited.cells(one)[rows], one) for one in others)
    known = [rule for rule in rules if rule is not None]
    best = max(known, key=lambda rule: abs(rule.correlation), default=None)
    if best is None:
        return None
    tried = max(2, 20 * len(others))
    by_chance = (math.sqrt(2 * math.log(tried)) + CHANCE) / math.sqrt(len(rows))
    return best if abs(best.correlation) > by_chance else None
