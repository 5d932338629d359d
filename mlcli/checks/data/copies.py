"""Copies: rows that equal earlier ones, or nearly, so that a split may part duplicates.

Near rows come to stand beside one another where rows are sorted by a sum of all columns; no rounding parts them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.checks.audited import Audited
from mlcli.checks.repairs import by_hand
from mlcli.core.issues import Issue
from mlcli.core.names import counted
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Rows

MANY_COPIES = 0.01
"""The share of rows from which copies move a score by as much as is worth speaking of."""
BEYOND_CHANCE = 10
"""How many times as many copies as columns that have nothing to do with one another would make by chance."""
NEARLY_ALL_TWICE = 0.45
FINE = 20
"""With fewer values in each column, different cases are often equal."""
NEARLY = 1e-6
"""Cells are nearly equal within this part of the median distance from their median."""


def duplicates(audited: Audited) -> Iterator[Issue]:
    """Rows that repeat earlier ones, or nearly, so that a split may have them on both sides."""
    if audited.schema.the("count") is not None:  # these copies are cases of their own
        return
    if audited.splitter is not None and audited.splitter.asks_only_learned_rows():
        return
    same = numbered_by_content(audited, with_target=True)
    copies = _count_copies(same)
    if not copies:
        return
    share, expected = copies / len(same), _copies_by_chance(audited, np.unique(same, return_index=True)[1])
    judged, parted = _parted_copies(audited, same)
    if judged and not parted and not audited.deals_rows:  # groups, or given parts, keep copies together
        return
    least = MANY_COPIES if _is_fine(audited) else NEARLY_ALL_TWICE
    many = share >= least and copies > BEYOND_CHANCE * expected
    sentence = "row repeats an earlier one" if copies == 1 else "rows repeat earlier ones"
    nearly = ", or nearly" * (copies > _count_copies(numbered_by_content(audited, with_target=True, nearly=0.0)))
    what = f"{copies} {sentence}{nearly}; a split may put one in training and its duplicate in the test"
    in_training = f"; {parted} of {counted(judged, 'judged row')} have a duplicate in training" if judged else ""
    group = (
        "number equal rows alike in a column of their own, and give it the role group: no split parts duplicates"
    )
    yield Issue(
        "warning" if many else "advice",
        what,
        f"{share:.1%} of the rows, such as {_example_text(same)}{in_training}; "
        f"were columns independent, chance would make about {expected:.2g}",
        (by_hand("keep one of each, if they are copies and not equal cases"), by_hand(group)),
    )


def numbered_by_content(audited: Audited, *, with_target: bool, nearly: float = NEARLY) -> Codes:
    """A number for each row, the same for equal rows: by features, target, and whom or what they are about."""
    roles = ["sequence", "order", "user", "item", "group", *(["target"] if with_target else [])]
    places = [audited.schema.the(role) for role in roles]
    names = {column.name for column in (*audited.features(), *places) if column}
    part = audited.dataset.table.select(names)
    if not names:
        return np.arange(len(part), dtype=np.int32)
    rng, along = np.random.default_rng(0), np.zeros(len(part))
    for column in part.columns:
        cells = audited.cells(column)
        finite = np.where(np.isfinite(cells), cells, -3.0)
        along += finite * (rng.uniform(1, 2) / (np.abs(finite).max(initial=0.0) or 1.0))
    order = np.argsort(along, kind="stable")
    duplicates = np.arange(1, len(order))
    for column in part.columns:
        if not len(duplicates):
            break
        cells = audited.cells(column)
        before, now = cells[order[duplicates - 1]], cells[order[duplicates]]
        alike = (before == now) | (np.isnan(before) & np.isnan(now))
        if not column.coded:
            alike |= np.abs(before - now) <= _tolerance(audited, column, nearly)
        duplicates = duplicates[alike]
    new = np.ones(len(order), np.int32)
    new[duplicates] = 0
    which = np.empty(len(order), np.int32)
    which[order] = np.cumsum(new) - 1
    first = np.unique(which, return_index=True)[1]
    return np.argsort(np.argsort(first)).astype(np.int32)[which]


def _tolerance(audited: Audited, column: Column, nearly: float) -> float:
    """How far cells may differ; not at all where they are whole numbers, which may be dates or keys."""
    cells = audited.cells(column)[audited.sample]
    known = cells[np.isfinite(cells)]
    if column.coded or not nearly or (known == np.round(known)).all():
        return 0.0
    return nearly * float(np.median(np.abs(known - np.median(known))))


def _count_copies(same: Codes) -> int:
    return len(same) - int(same.max(initial=-1)) - 1


def _is_fine(audited: Audited) -> bool:
    """Whether some column is measured so finely that equal rows are the same case."""
    return any(len(np.unique(audited.present(column))) >= FINE for column in audited.numeric())


def _example_text(same: Codes) -> str:
    """Two rows that are the same, by their numbers in the file."""
    numbers, counts = np.unique(same, return_counts=True)
    rows = np.flatnonzero(same == numbers[counts > 1][0])
    return f"rows {rows[0] + 1} and {rows[1] + 1}"


def _parted_copies(audited: Audited, same: Codes) -> tuple[int, int]:
    """How many rows are judged, and how many of them have a duplicate among those that are learned from."""
    if audited.target is not None and audited.dataset.unlabelled:
        same = same[~np.isnan(audited.cells(audited.target))]
    splits = audited.some_splits
    if audited.strata is None or len(same) != audited.strata.rows:
        return 0, 0
    judged = sum(len(split.test) for split in splits)
    return judged, sum(int(np.isin(same[split.test], same[split.train]).sum()) for split in splits)


def _copies_by_chance(audited: Audited, different: Rows) -> float:
    """How many pairs of rows would be equal, were the columns independent; values occur as in rows that differ."""
    chance, columns = 1.0, [*audited.features(), *([audited.target] if audited.target else [])]
    for column in columns:
        chance *= _share_of_equal(audited.cells(column)[different], _tolerance(audited, column, NEARLY))
    rows = len(audited.dataset)
    return rows * (rows - 1) / 2 * chance


def _share_of_equal(cells: Array, tolerance: float) -> float:
    """The share of pairs of cells that are equal within a tolerance, or both empty."""
    known = np.sort(cells[~np.isnan(cells)])
    behind = np.searchsorted(known, known + tolerance, "right") - np.arange(1, len(known) + 1)
    empty = len(cells) - len(known)
    return float(2 * behind.sum() + empty * (empty - 1)) / max(len(cells) * (len(cells) - 1), 1)
