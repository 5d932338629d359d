"""The checks of data: each a function whose name is its code and whose first line says what it looks for."""

from __future__ import annotations

from mlcli.checks.audited import Audited
from mlcli.checks.data import columns, copies, leaks, missing, numbers, rows, spellings, splits
from mlcli.core.issues import Check

AT_A_GLANCE: tuple[Check[Audited], ...] = (
    columns.nothing_to_learn_from,
    splits.one_class,
    splits.one_value,
    columns.identifiers,
    leaks.leaks,
    splits.groups_cut,
    splits.time_ignored,
    copies.duplicates,
    rows.unused_weights,
    rows.odd_weights,
    columns.given_parts,
)
"""What ``eval`` looks for, too: each takes no longer than reading the table."""

BEFORE_IT_RUNS: tuple[Check[Audited], ...] = (*AT_A_GLANCE, splits.splitting)
"""What ``plan`` says: beside these, what a protocol cannot do well."""

OF_DATA: tuple[Check[Audited], ...] = (
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
"""What is looked for in a dataset, in the order in which issues of one gravity are listed."""
