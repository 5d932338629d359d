"""K-fold: the shuffled rows are split into folds of equal size, and each fold is judged once.

Computed:
    Fold sizes differ by at most one row. Groups are never cut: the largest group goes first, each to the fold with
    the fewest rows. ``repeats`` deals the rows anew that many times.

Cost:
    folds × repeats fits, each on (folds - 1) / folds of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from mlcli.core.errors import Problem
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.rows import SplitInfo
from mlcli.core.tables import Codes
from mlcli.protocols._base import MOST_REPEATS, DealtSplits, Protocol, Split, Units, all_alike, split_labels


@register("k-fold", reference="Stone 1974, Cross-validatory choice and assessment of statistical predictions")
class KFold(Protocol):
    """The shuffled rows are dealt into folds of equal size, and each fold is judged once."""

    units: ClassVar[Callable[[SplitInfo], Units]] = staticmethod(all_alike)
    """What is dealt out; whether classes are balanced."""

    folds: int = param(10, "how many parts, each judged once", ge=2)
    repeats: int = param(1, "how often the rows are split anew", ge=1, le=MOST_REPEATS)

    def problems_with_rows(self, strata: SplitInfo) -> list[Problem]:
        """Fewer rows, or groups, than folds."""
        count, noun = len(all_alike(strata)), all_alike(strata).noun
        if count < self.fewest or count >= self.folds:
            return super().problems_with_rows(strata)
        what = f"{self.id}: {self.folds} folds need at least {self.folds} {noun}, there are {count}"
        return [Problem(what, hint=f"{count} folds or fewer would work")]

    def divided(self, strata: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """The folds of every repeat."""
        units = type(self).units(strata)
        rounds = [dealt(units, self.folds, rng)[units.of_row] for _ in range(self.repeats)]
        return DealtSplits(rounds, split_labels("fold", self.folds, self.repeats))


def dealt(units: Units, folds: int, rng: np.random.Generator) -> Codes:
    """The fold of each unit."""
    return (_dealt_groups if units.grouped else _dealt_rows)(units, folds, rng)


def _dealt_rows(units: Units, folds: int, rng: np.random.Generator) -> Codes:
    """The shuffled rows, sorted by class, one after another: sizes and class counts differ by at most 1."""
    fold = np.empty(len(units), np.int32)
    fold[units.shuffled_by_stratum(rng)] = np.arange(len(units)) % folds
    return fold


def _dealt_groups(units: Units, folds: int, rng: np.random.Generator) -> Codes:
    """Largest groups first, each to where the shares of classes stay most alike, then to the fewest rows.

    What a group adds to the summed variance of the shares differs between folds only in
    Σ_k held_k · new_k / total_k².
    """
    new = units.sizes[:, None] if units.rows_by_class is None else units.rows_by_class
    order = units.shuffled_by_stratum(rng)
    order = order[np.argsort(-units.sizes[order], kind="stable")]
    share = new / np.maximum(new.sum(axis=0), 1)
    held, rows = np.zeros((folds, new.shape[1])), np.zeros(folds, np.int64)
    fold = np.empty(len(units), np.int32)
    for unit in order:
        # sums of shares that differ by less are equal
        chosen = np.lexsort((rows, (held @ share[unit]).round(12)))[0]
        fold[unit] = chosen
        held[chosen] += share[unit]
        rows[chosen] += units.sizes[unit]
    return fold
