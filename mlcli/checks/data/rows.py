"""Rows: contradicting one another, without a target, or too few; and their weights, unused or odd."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from mlcli.checks.context import FEWEST_ROWS, AuditContext, by_hand, step_before, with_role
from mlcli.core.findings import Issue, Repair
from mlcli.core.names import counted
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Rows

WEIGHT_NAME = re.compile(
    r"(?i:(sample|instance|case|row|survey|person|final)[-_ ]?(weight|wt|wgt)s?|fnlwgt|pw(ei)?gt)"
)
MAYBE_WEIGHT = re.compile(r"(?i:weights?|wts?|wgt)")
"""Named so are the weights of persons and parts, too; weights of rows are 1 on average."""
COUNT_NAME = re.compile(r"(?i:freq(uency)?|counts?|n_?obs)")
"""Named so are other numbers, too; in a table of counts all other columns hold levels."""


def contradictions(context: AuditContext) -> Iterator[Issue]:
    """Rows that are equal in every feature and differ in the target, which no model can tell apart."""
    target = context.target
    if target is None or not context.features:
        return
    if context.schema.the("weight") or context.schema.the("count"):  # rows are counted cases, and may well differ
        return
    known = ~np.isnan(context.cells(target))
    same, whole = (numbered_by_content(context, with_target=with_it)[known] for with_it in (False, True))
    if not len(same):
        return
    variants = np.bincount(np.unique(np.stack([same, whole]), axis=1)[0])
    wrong = int(np.isin(same, np.flatnonzero(variants > 1)).sum())
    if wrong and target.coded:
        # the best a model can do is to predict the most frequent target of each set of equal rows
        pairs, counts = np.unique(np.stack([same, whole]), axis=1, return_counts=True)
        most = np.zeros(int(same.max()) + 1)
        np.maximum.at(most, pairs[0], counts)
        best = most.sum()
        many = wrong >= 0.05 * len(same)
        yield Issue(
            "advice",
            f"{counted(wrong, 'row')} equal others in every feature and have another {target.name}",
            f"no model can be right about more than {best / len(same):.1%} of these rows",
            (by_hand("look at the labels; a feature that tells these rows apart may be missing"),) if many else (),
        )


def unlabelled(context: AuditContext) -> Iterator[Issue]:
    """Rows without a target."""
    missing = context.dataset.unlabelled
    if missing and context.target is not None:
        yield Issue(
            "warning" if missing > len(context.dataset) / 2 else "advice",
            f"{missing} of {len(context.dataset)} rows have no target; they are not scored, "
            "and few methods use them",
            repairs=(Repair("option", "-m self-training"), by_hand("leave them out, or find their targets")),
        )


def few_rows(context: AuditContext) -> Iterator[Issue]:
    """Fewer rows than the features call for."""
    rows, features = len(context.dataset), len(context.features)
    if rows < FEWEST_ROWS:
        what = f"only {counted(rows, 'row')}: no score of a model can be told from chance"
        yield Issue("warning", what, repairs=(by_hand("collect more rows"),))
    elif features and rows < 5 * features:
        keep = max(2, rows // 10)
        select = step_before(context, "mutual-information", f"keep: {min(keep, features)}")
        yield Issue(
            "warning",
            f"few rows for so many features: {rows} rows, {features} features",
            f"{rows / features:.1f} rows for each feature; 5 are few",
            (select, by_hand("collect more rows")),
        )


def scattered(context: AuditContext) -> Iterator[Issue]:
    """Sequences between whose rows others stand, where no column tells the order."""
    column = context.schema.the("sequence")
    if column is None or context.schema.the("order") is not None:
        return
    cells = context.cells(column)
    if 1 + np.count_nonzero(cells[1:] != cells[:-1]) > len(np.unique(cells)):
        what = f"rows of one '{column.name}' stand apart and no column has the role order"
        repairs = []
        for numeric in context.numeric():  # whole numbers, all different within a sequence, may be the order
            numbers = context.cells(numeric)
            pairs = np.unique(np.stack([cells, numbers]), axis=1)
            if (numbers == np.floor(numbers)).all() and pairs.shape[1] == len(numbers):
                repairs = [with_role(context, "order", numeric.name)]
                break
        together = by_hand("put the rows of each sequence together, in their order")
        yield Issue("warning", f"{what}: they are taken as they stand", "", (*repairs, together), (column.name,))


def unused_weights(context: AuditContext) -> Iterator[Issue]:
    """A feature that is named like the weight of a row."""
    if context.schema.the("weight") or context.schema.the("count"):
        return
    for column in context.numeric():
        cells = context.present(column)
        positive = len(cells) == len(context.dataset) and bool((cells >= 0).all()) and bool((cells > 0).any())
        roles = _weight_roles(context, column, cells) if positive else ()
        if roles:
            yield Issue(
                "warning",
                f"column '{column.name}' is named like the weight of a row, and is a feature",
                f"{cells.min():g} to {cells.max():g}, {cells.sum():g} in all",
                tuple(with_role(context, role, column.name) for role in roles),
                (column.name,),
            )


def odd_weights(context: AuditContext) -> Iterator[Issue]:
    """Weights of which one row has as much as a fold, or that leave rows out."""
    column = context.schema.the("weight")
    if column is None:
        return
    cells = context.cells(column)
    if cells.max() > cells.sum() / 10:
        yield Issue(
            "warning",
            f"one row has {cells.max() / cells.sum():.0%} of all weight in '{column.name}', more than a fold",
            f"row {int(cells.argmax()) + 1} weighs {cells.max():g}, all {len(cells)} together {cells.sum():g}",
            (by_hand("check that row; write it as several rows if its weight is a count"),),
            (column.name,),
        )
    zeros = int((cells == 0).sum())
    if zeros:
        yield Issue(
            "advice",
            f"{zeros} of {len(cells)} rows have weight 0 in '{column.name}': they are left out",
            repairs=(by_hand("leave them out of the file, or give them a weight"),),
            columns=(column.name,),
        )
    if cells.max() > 1 and _may_count(cells) and not WEIGHT_NAME.fullmatch(column.name):
        yield Issue(
            "advice",
            f"the weights in '{column.name}' are whole numbers, and may count rows",
            "a row of weight 5 is then five rows, which a split may part",
            (with_role(context, "count", column.name),),
            (column.name,),
        )


def _weight_roles(context: AuditContext, column: Column, cells: Array) -> tuple[str, ...]:
    """The roles that a feature may have instead, by its name and by what shows that it weighs rows."""
    others_are_levels = all(feature.coded for feature in context.features if feature != column)
    if COUNT_NAME.fullmatch(column.name) and others_are_levels and _may_count(cells):
        return ("count", "weight")
    one_on_average = MAYBE_WEIGHT.fullmatch(column.name) and np.isclose(cells.mean(), 1, atol=0.01)
    return ("weight",) if WEIGHT_NAME.fullmatch(column.name) or one_on_average else ()


def _may_count(cells: Array) -> bool:
    """Whether numbers may be the counts of rows; a larger sum, as of a survey, counts people."""
    return bool((cells == np.floor(cells)).all()) and cells.sum() <= 1_000_000


NEARLY = 1e-6
"""Cells are nearly equal within this part of the median distance from their median."""


def duplicates(context: AuditContext) -> Iterator[Issue]:
    """Rows that repeat earlier ones, or nearly, so that a split may have them on both sides."""
    if context.schema.the("count") is not None:  # these copies are cases of their own
        return
    if context.splitter is not None and context.splitter.asks_only_learned_rows():
        return
    same = numbered_by_content(context, with_target=True)
    copies = _count_copies(same)
    if not copies:
        return
    share, expected = copies / len(same), _copies_by_chance(context, np.unique(same, return_index=True)[1])
    tested, parted = _parted_copies(context, same)
    if tested and not parted and not context.splits_at_random:  # groups, or given parts, keep copies together
        return
    # where no column has 20 values, different cases are often equal; then nearly all rows must be there twice
    is_fine = any(len(np.unique(context.present(column))) >= 20 for column in context.numeric())
    many = share >= (0.01 if is_fine else 0.45) and copies > 10 * expected
    sentence = "row repeats an earlier one" if copies == 1 else "rows repeat earlier ones"
    exact = _count_copies(numbered_by_content(context, with_target=True, nearly=0.0))
    nearly = ", or nearly" if copies > exact else ""
    in_training = f"; {parted} of {counted(tested, 'test row')} have a duplicate in training" if tested else ""
    numbers, counts = np.unique(same, return_counts=True)
    twins = np.flatnonzero(same == numbers[counts > 1][0])
    group = (
        "number equal rows alike in a column of their own, and give it the role group: no split parts duplicates"
    )
    yield Issue(
        "warning" if many else "advice",
        f"{copies} {sentence}{nearly}; a split may put one in training and its duplicate in the test",
        f"{share:.1%} of the rows, such as rows {twins[0] + 1} and {twins[1] + 1}{in_training}; "
        f"were columns independent, chance would make about {expected:.2g}",
        (by_hand("keep one of each, if they are copies and not equal cases"), by_hand(group)),
    )


def numbered_by_content(context: AuditContext, *, with_target: bool, nearly: float = NEARLY) -> Codes:
    """A number for each row, the same for equal rows: by features, target, and whom or what they are about.

    Rows are ordered by a random weighted sum of their cells, so that equal ones stand together.
    """
    roles = ["sequence", "order", "user", "item", "group", *(["target"] if with_target else [])]
    columns = [context.schema.the(role) for role in roles]
    names = {column.name for column in (*context.features, *columns) if column}
    part = context.dataset.table.select(names)
    if not names:
        return np.arange(len(part), dtype=np.int32)
    rng, along = np.random.default_rng(0), np.zeros(len(part))
    for column in part.columns:
        cells = context.cells(column)
        finite = np.where(np.isfinite(cells), cells, -3.0)
        along += finite * (rng.uniform(1, 2) / (np.abs(finite).max(initial=0.0) or 1.0))
    order = np.argsort(along, kind="stable")
    duplicates = np.arange(1, len(order))
    for column in part.columns:
        if not len(duplicates):
            break
        cells = context.cells(column)
        before, now = cells[order[duplicates - 1]], cells[order[duplicates]]
        alike = (before == now) | (np.isnan(before) & np.isnan(now))
        if not column.coded:
            alike |= np.abs(before - now) <= _tolerance(context, column, nearly)
        duplicates = duplicates[alike]
    new = np.ones(len(order), np.int32)
    new[duplicates] = 0
    which = np.empty(len(order), np.int32)
    which[order] = np.cumsum(new) - 1
    first = np.unique(which, return_index=True)[1]
    return np.argsort(np.argsort(first)).astype(np.int32)[which]


def _tolerance(context: AuditContext, column: Column, nearly: float) -> float:
    """How far cells may differ; not at all if they are whole numbers, which may be dates or keys."""
    cells = context.cells(column)[context.sample]
    finite = cells[np.isfinite(cells)]
    if column.coded or not nearly or (finite == np.round(finite)).all():
        return 0.0
    return nearly * float(np.median(np.abs(finite - np.median(finite))))


def _count_copies(same: Codes) -> int:
    return len(same) - int(same.max(initial=-1)) - 1


def _parted_copies(context: AuditContext, same: Codes) -> tuple[int, int]:
    """The number of test rows, and of those with a duplicate among the training rows."""
    if context.target is not None and context.dataset.unlabelled:
        same = same[~np.isnan(context.cells(context.target))]
    splits = context.some_splits
    if context.split_info is None or len(same) != context.split_info.rows:
        return 0, 0
    tested = sum(len(split.test) for split in splits)
    return tested, sum(int(np.isin(same[split.test], same[split.train]).sum()) for split in splits)


def _copies_by_chance(context: AuditContext, different: Rows) -> float:
    """The number of pairs of equal rows if the columns were independent, with the values of different rows."""
    chance, rows = 1.0, len(context.dataset)
    for column in (*context.features, *([context.target] if context.target else [])):
        cells, tolerance = context.cells(column)[different], _tolerance(context, column, NEARLY)
        present = np.sort(cells[~np.isnan(cells)])
        equal = np.searchsorted(present, present + tolerance, "right") - np.arange(1, len(present) + 1)
        empty = len(cells) - len(present)
        pairs = max(len(cells) * (len(cells) - 1), 1)
        chance *= float(2 * equal.sum() + empty * (empty - 1)) / pairs
    return rows * (rows - 1) / 2 * chance
