"""K-fold: the shuffled rows are dealt into folds of equal size, and each fold is judged once.

Computed:
    Fold sizes differ by at most one row. Groups are never cut: the largest group goes first, each to the fold with
    the fewest rows. ``repeats`` deals the rows anew that many times.

Cost:
    folds × repeats fits, each on (folds - 1) / folds of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlcli.core.registry import register
from mlcli.protocols._folds import Folds


@register("k-fold", reference="Stone 1974, Cross-validatory choice and assessment of statistical predictions")
@dataclass(kw_only=True, eq=False)
class KFold(Folds):
    """The shuffled rows are dealt into folds of equal size, and each fold is judged once."""
