"""Rows: contradicting one another, without a target, or too few; and their weights, unused or odd."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from mlcli.checks.audited import FEWEST_ROWS, Audited
from mlcli.checks.data.copies import numbered_by_content
from mlcli.checks.repairs import by_hand, step_before, with_role
from mlcli.core.issues import Issue, Repair
from mlcli.core.names import counted
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes

ROWS_PER_FEATURE = 5
MANY_CONTRADICTIONS = 0.05

WEIGHT_NAME = re.compile(
    r"(?i:(sample|instance|case|row|survey|person|final)[-_ ]?(weight|wt|wgt)s?|fnlwgt|pw(ei)?gt)"
)
MAYBE_WEIGHT = re.compile(r"(?i:weights?|wts?|wgt)")
"""Named so are the weights of persons and parts, too; weights of rows are 1 on average."""
COUNT_NAME = re.compile(r"(?i:freq(uency)?|counts?|n_?obs)")
"""Named so are other numbers, too; in a table of counts all other columns hold levels."""
FOLDS = 10
MOST_COUNTED = 1_000_000
"""Weights that add up to more, such as those of a survey, count people rather than rows."""


def contradictions(audited: Audited) -> Iterator[Issue]:
    """Rows that are equal in every feature and differ in the target, which no model can tell apart."""
    target = audited.target
    if target is None or not audited.features():
        return
    if audited.schema.the("weight") or audited.schema.the("count"):  # rows are counted cases, and may well differ
        return
    known = ~np.isnan(audited.cells(target))
    same, whole = (numbered_by_content(audited, with_target=with_it)[known] for with_it in (False, True))
    if not len(same):
        return
    variants = np.bincount(np.unique(np.stack([same, whole]), axis=1)[0])
    wrong = int(np.isin(same, np.flatnonzero(variants > 1)).sum())
    if wrong and target.coded:
        best = len(same) - _fewest_wrong(same, whole)
        many = wrong >= MANY_CONTRADICTIONS * len(same)
        yield Issue(
            "advice",
            f"{counted(wrong, 'row')} equal others in every feature and have another {target.name}",
            f"no model can be right about more than {best / len(same):.1%} of these rows",
            (by_hand("look at the labels; a feature that tells these rows apart may be missing"),) if many else (),
        )


def _fewest_wrong(same: Codes, whole: Codes) -> int:
    """How many rows are wrong where every set of equal rows gets its most frequent target."""
    pairs, counts = np.unique(np.stack([same, whole]), axis=1, return_counts=True)
    most = np.zeros(int(same.max()) + 1)
    np.maximum.at(most, pairs[0], counts)
    return int(len(same) - most.sum())


def unlabelled(audited: Audited) -> Iterator[Issue]:
    """Rows without a target."""
    missing = audited.dataset.unlabelled
    if missing and audited.target is not None:
        yield Issue(
            "warning" if missing > len(audited.dataset) / 2 else "advice",
            f"{missing} of {len(audited.dataset)} rows have no target; they judge nothing, "
            "and few methods use them",
            repairs=(Repair("option", "-m self-training"), by_hand("leave them out, or find their targets")),
        )


def few_rows(audited: Audited) -> Iterator[Issue]:
    """Fewer rows than the features call for."""
    rows, features = len(audited.dataset), len(audited.features())
    if rows < FEWEST_ROWS:
        what = f"only {counted(rows, 'row')}: no score of a model can be told from chance"
        yield Issue("warning", what, repairs=(by_hand("collect more rows"),))
    elif features and rows < ROWS_PER_FEATURE * features:
        keep = max(2, rows // 10)
        select = step_before(audited, "mutual-information", f"keep: {min(keep, features)}")
        yield Issue(
            "warning",
            f"few rows for so many features: {rows} rows, {features} features",
            f"{rows / features:.1f} rows for each feature; {ROWS_PER_FEATURE} are few",
            (select, by_hand("collect more rows")),
        )


def scattered(audited: Audited) -> Iterator[Issue]:
    """Sequences between whose rows others stand, where no column tells the order."""
    column = audited.schema.the("sequence")
    if column is None or audited.schema.the("order") is not None:
        return
    cells = audited.cells(column)
    if 1 + np.count_nonzero(cells[1:] != cells[:-1]) > len(np.unique(cells)):
        what = f"rows of one '{column.name}' stand apart and no column has the role order"
        numbered = [one.name for one in audited.numeric() if _numbers_rows_of_each(audited.cells(one), cells)]
        repairs = [with_role(audited, "order", name) for name in numbered[:1]]
        together = by_hand("put the rows of each sequence together, in their order")
        yield Issue("warning", f"{what}: they are taken as they stand", "", (*repairs, together), (column.name,))


def _numbers_rows_of_each(numbers: Array, sequences: Array) -> bool:
    """Whether numbers are whole, and different in all rows of a sequence."""
    whole = bool((numbers == np.floor(numbers)).all())
    return whole and np.unique(np.stack([sequences, numbers]), axis=1).shape[1] == len(numbers)


def unused_weights(audited: Audited) -> Iterator[Issue]:
    """A feature that is named like the weight of a row."""
    if audited.schema.the("weight") or audited.schema.the("count"):
        return
    for column in audited.numeric():
        cells = audited.present(column)
        positive = len(cells) == len(audited.dataset) and bool((cells >= 0).all()) and bool((cells > 0).any())
        roles = _weight_roles(audited, column, cells) if positive else ()
        if roles:
            yield Issue(
                "warning",
                f"column '{column.name}' is named like the weight of a row, and is a feature",
                f"{cells.min():g} to {cells.max():g}, {cells.sum():g} in all",
                tuple(with_role(audited, role, column.name) for role in roles),
                (column.name,),
            )


def odd_weights(audited: Audited) -> Iterator[Issue]:
    """Weights of which one row has as much as a fold, or that leave rows out."""
    column = audited.schema.the("weight")
    if column is None:
        return
    cells = audited.cells(column)
    if cells.max() > cells.sum() / FOLDS:
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
            (with_role(audited, "count", column.name),),
            (column.name,),
        )


def _weight_roles(audited: Audited, column: Column, cells: Array) -> tuple[str, ...]:
    """The roles that a feature may have instead, by its name and by what shows that it weighs rows."""
    others_are_levels = all(one.coded for one in audited.features() if one != column)
    if COUNT_NAME.fullmatch(column.name) and others_are_levels and _may_count(cells):
        return ("count", "weight")
    one_on_average = MAYBE_WEIGHT.fullmatch(column.name) and np.isclose(cells.mean(), 1, atol=0.01)
    return ("weight",) if WEIGHT_NAME.fullmatch(column.name) or one_on_average else ()


def _may_count(cells: Array) -> bool:
    """Whether numbers may say for how many rows each stands."""
    return bool((cells == np.floor(cells)).all()) and cells.sum() <= MOST_COUNTED
