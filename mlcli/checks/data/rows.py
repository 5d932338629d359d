"""Rows: contradicting one another, without a target, or too few."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.checks.audited import FEWEST_ROWS, Audited
from mlcli.checks.data.copies import numbered_by_content
from mlcli.checks.repairs import by_hand, step, with_role
from mlcli.core.issues import Issue, Repair
from mlcli.core.tables import Codes
from mlcli.report.numbers import counted

ROWS_PER_FEATURE = 5
MANY_CONTRADICTIONS = 0.05


def contradictions(audited: Audited) -> Iterator[Issue]:
    """Rows that are equal in every feature and differ in the target, which no model can tell apart."""
    target = audited.target
    if target is None or not audited.features():
        return
    if audited.schema.the("weight") or audited.schema.the("count"):  # rows are counted cases, and may well differ
        return
    same = numbered_by_content(audited, with_target=False)
    whole = numbered_by_content(audited, with_target=True)
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
    if features and rows < ROWS_PER_FEATURE * features:
        keep = max(2, rows // 10)
        select = step(audited.example, f"{{use: mutual-information, keep: {min(keep, features)}}}")
        yield Issue(
            "warning",
            f"few rows for so many features: {rows} rows, {features} features",
            f"{rows / features:.1f} rows for each feature; {ROWS_PER_FEATURE} are few",
            (select, by_hand("collect more rows")),
        )
    elif rows < FEWEST_ROWS:
        what = f"only {counted(rows, 'row')}: no score of a model can be told from chance"
        yield Issue("warning", what, repairs=(by_hand("collect more rows"),))


def scattered(audited: Audited) -> Iterator[Issue]:
    """Sequences between whose rows others stand, where no column tells the order."""
    column = audited.schema.the("sequence")
    if column is None or audited.schema.the("order") is not None:
        return
    cells = audited.cells(column)
    if 1 + np.count_nonzero(cells[1:] != cells[:-1]) > len(np.unique(cells)):
        what = f"rows of one '{column.name}' stand apart and no column has the role order"
        repair = with_role(audited.dataset, "order", "COLUMN")
        yield Issue("warning", f"{what}: they are taken as they stand", repairs=(repair,), columns=(column.name,))
