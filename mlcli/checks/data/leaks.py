"""Leaks: a column that predicts the target by itself, better than anything known beforehand does."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.checks.association import share_explained, share_right
from mlcli.checks.audited import FEWEST_ROWS, Audited
from mlcli.checks.data.copies import numbered_by_content
from mlcli.checks.repairs import with_role
from mlcli.core.issues import Issue
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Rows

ALL_BUT = 0.01
LITTLE = 0.1
"""A leak is wrong for fewer of the rows than this, and for this part of those that the baseline is wrong for."""
EXPLAINED = 0.995
FEWEST_OF_CLASS = 5
"""Smaller classes stand at one end of a column by chance: two of twenty rows in one of ninety-five columns."""


def leaks(audited: Audited) -> Iterator[Issue]:
    """A column that predicts the target alone, be it by its values or by being empty."""
    target = audited.target
    if target is None or audited.planned is None or audited.planned.kind.target != "needed":
        return
    cells = audited.cells(target)[audited.sample]
    known = ~np.isnan(cells)
    if known.sum() < FEWEST_ROWS:
        return
    rows = _without_copies(audited, audited.sample[known])
    truth = audited.cells(target)[rows]
    for column in audited.features():
        strength = strength_text(audited.cells(column)[rows], truth, target)
        if strength is not None:
            yield Issue(
                "grave",
                f"column '{column.name}' predicts {target.name} by itself",
                f"{strength}; a column that is known only when {target.name} is, or is made from it, would do so",
                (with_role(audited, "ignore", column.name),),
                (column.name,),
            )


def _without_copies(audited: Audited, rows: Rows) -> Rows:
    """The rows, equal ones once, since any column tells the target of a row by its twin; all where few differ."""
    once = np.unique(numbered_by_content(audited, with_target=True)[rows], return_index=True)[1]
    return rows if len(once) < FEWEST_ROWS else rows[np.sort(once)]


def strength_text(cells: Array, truth: Array, target: Column) -> str | None:
    """How well a column tells the target, in words; nothing where it is not too good to be true."""
    if not target.coded:
        explained = max(share_explained(cells, truth), _linear_share_explained(cells, truth))
        return f"alone it explains {explained:.2%} of the variance" if explained > EXPLAINED else None
    classes = truth.astype(np.int32)
    right = 1.0 if _is_parted_by_thresholds(cells, classes) else share_right(cells, classes, len(target.levels))
    most = np.bincount(classes).max() / len(classes)
    if most == 1 or 1 - right > min(ALL_BUT, LITTLE * (1 - most)):
        return None
    return f"alone it is right about {right:.1%} of the rows (the most frequent class has {most:.1%})"


def _is_parted_by_thresholds(cells: Array, classes: Codes) -> bool:
    """Whether thresholds part the classes wholly, none so small that chance may have done it.

    The nearest values of the rows beside a threshold are of both classes, and do not tell.
    """
    order = np.lexsort((classes, cells))
    ascending, values = classes[order], cells[order]
    changes = ascending[1:] != ascending[:-1]
    sizes = np.bincount(classes)
    sizes = sizes[sizes > 0]
    apart = bool((values[1:] != values[:-1])[changes].all())
    return apart and int(changes.sum()) == len(sizes) - 1 and int(sizes.min()) >= FEWEST_OF_CLASS


def _linear_share_explained(cells: Array, values: Array) -> float:
    """R² of a straight line, which few rows tell better than nearest values; missing cells explain nothing."""
    known = ~np.isnan(cells)
    if known.sum() < FEWEST_ROWS or np.ptp(cells[known]) == 0 or np.ptp(values[known]) == 0:
        return 0.0
    return float(known.mean() * np.corrcoef(cells[known], values[known])[0, 1] ** 2)
