"""All checks of data: each is a function whose name is its code and whose docstring begins with what it finds."""

from __future__ import annotations

from mlcli.checks.audit import AT_A_GLANCE
from mlcli.checks.context import AuditContext
from mlcli.checks.data import columns, missing, numbers, rows, spellings, splits
from mlcli.core.issues import Check

OF_DATA: tuple[Check[AuditContext], ...] = (
    *AT_A_GLANCE,
    splits.splitting,
    splits.rare_classes,
    splits.imbalance,
    rows.few_rows,
    rows.unlabelled,
    rows.scattered,
    rows.contradictions,
    columns.constant,
    columns.nearly_constant,
    columns.much_missing,
    columns.many_levels,
    numbers.stand_ins,
    numbers.disguised_zeros,
    numbers.outliers,
    numbers.dependent_columns,
    numbers.same_levels,
    numbers.far_from_gaussian,
    spellings.differ_in_case,
    spellings.near_spellings,
    spellings.odd_formats,
    spellings.words_among_numbers,
    spellings.stand_in_words,
    spellings.ordered_levels,
    missing.missing_by_rule,
    missing.missing_at_random,
    missing.imputing,
)
"""All checks of a dataset, in the order in which issues of the same gravity are listed."""
