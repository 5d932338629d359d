"""Weights: a column that seems to hold some and is a feature; weights that one row rules, or that are 0."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from mlcli.checks.audited import Audited
from mlcli.checks.repairs import by_hand, with_role
from mlcli.core.issues import Issue
from mlcli.core.tables import Array
from mlcli.tasks.kind import ROLES

WEIGHT_NAME = re.compile(
    r"(?i:freq(uency)?|counts?|n_?obs|(sample|instance|case|row|survey|person|final)[-_ ]?(weight|wt|wgt)s?|"
    r"weights?|wts?|wgt|fnlwgt|pw(ei)?gt)"
)
FOLDS = 10
COUNT = "count"


def unused_weights(audited: Audited) -> Iterator[Issue]:
    """A feature that is named like the weight of a row."""
    if audited.schema.the("weight") or audited.schema.the("count"):
        return
    for column in audited.numeric():
        cells = audited.present(column)
        positive = len(cells) == len(audited.dataset) and bool((cells >= 0).all()) and bool((cells > 0).any())
        if positive and WEIGHT_NAME.fullmatch(column.name):
            yield Issue(
                "warning",
                f"column '{column.name}' is named like the weight of a row, and is a feature",
                f"{cells.min():g} to {cells.max():g}, {cells.sum():g} in all",
                tuple(with_role(audited.dataset, role, column.name) for role in _roles_for(cells)),
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
    if COUNT in ROLES and cells.max() > 1 and (cells == np.floor(cells)).all():
        yield Issue(
            "advice",
            f"the weights in '{column.name}' are whole numbers, and may count rows",
            "a row of weight 5 is then five rows, which a split may part",
            (with_role(audited.dataset, COUNT, column.name),),
            (column.name,),
        )


def _roles_for(cells: Array) -> tuple[str, ...]:
    counts = COUNT in ROLES and bool((cells == np.floor(cells)).all())
    return (COUNT, "weight") if counts else ("weight",)
