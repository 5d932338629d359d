"""K-fold cross-validation: with or without stratification, once or repeated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mlcli.core.errors import Problem
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.rows import SplitInfo
from mlcli.core.tables import Codes
from mlcli.protocols._base import (
    MOST_REPEATS,
    DealtSplits,
    Protocol,
    Split,
    Units,
    all_alike,
    by_class,
    split_labels,
    warn_of_rare_classes,
)


@register("k-fold", reference="Stone 1974, Cross-validatory choice and assessment of statistical predictions")
class KFold(Protocol):
    """K-fold: the shuffled rows are split into folds of equal size, and each fold is tested once.

    Computed:
        Fold sizes differ by at most one row. Groups are never cut: the largest group goes first, each to the fold
        with the fewest rows. ``repeats`` deals the rows anew that many times.

    Cost:
        folds × repeats fits, each on (folds - 1) / folds of the rows.
    """

    stratified: ClassVar[bool] = False
    """Whether every fold has its share of every class."""

    folds: int = param(10, "how many parts, each tested once", ge=2)
    repeats: int = param(1, "how often the rows are split anew", ge=1, le=MOST_REPEATS)

    def units(self, info: SplitInfo) -> Units:
        """The rows or groups that are dealt to folds."""
        return by_class(info) if self.stratified else all_alike(info)

    def problems_with_rows(self, info: SplitInfo) -> list[Problem]:
        """Fewer rows, or groups, than folds."""
        units = all_alike(info)
        count = len(units)
        if count < self.fewest or count >= self.folds:
            return super().problems_with_rows(info)
        what = f"{self.id}: {self.folds} folds need at least {self.folds} {units.noun}, there are {count}"
        return [Problem(what, hint=f"{count} folds or fewer would work")]

    def divided(self, info: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """The folds of every repeat."""
        units = self.units(info)
        rounds = [dealt(units, self.folds, rng)[units.of_row] for _ in range(self.repeats)]
        if self.stratified:
            warn_of_rare_classes(units, self.folds, "some folds have none to test")
        return DealtSplits(rounds, split_labels("fold", self.folds, self.repeats))


@register(
    "stratified-k-fold", reference="Kohavi 1995, A study of cross-validation and bootstrap for accuracy estimation"
)
class StratifiedKFold(KFold):
    """Stratified k-fold: k-fold in which every fold has its share of every class.

    Computed:
        The shuffled rows, sorted by class, are dealt one after another: fold sizes differ by at most one row, and
        so do the counts of each class. Groups are never cut: the largest group goes first, each to the fold where
        the shares that folds have of each class stay most alike (their summed variance grows least).

    Cost:
        folds × repeats fits, each on (folds - 1) / folds of the rows.
    """

    stratified: ClassVar[bool] = True


@register(
    "repeated-k-fold", reference="Bouckaert & Frank 2004, Evaluating the replicability of significance tests"
)
class RepeatedKFold(KFold):
    """Repeated k-fold: k-fold with the rows split anew ten times, which steadies the mean.

    Computed:
        As k-fold; the scores of all folds of all repeats are averaged. Folds of different repeats share rows, so
        that their spread understates what new data would show.

    Cost:
        folds × repeats fits.
    """

    repeats: int = param(10, "how often the rows are split anew", ge=1, le=MOST_REPEATS)


@register(
    "repeated-stratified-k-fold",
    reference="Bouckaert & Frank 2004, Evaluating the replicability of significance tests",
)
class RepeatedStratifiedKFold(StratifiedKFold):
    """Repeated stratified k-fold: stratified k-fold with the rows split anew ten times.

    Computed:
        As stratified k-fold; the scores of all folds of all repeats are averaged. Folds of different repeats
        share rows, so that their spread understates what new data would show.

    Cost:
        folds × repeats fits.
    """

    repeats: int = param(10, "how often the rows are split anew", ge=1, le=MOST_REPEATS)


def dealt(units: Units, folds: int, rng: np.random.Generator) -> Codes:
    """The fold of each row or group."""
    fold = np.empty(len(units), np.int32)
    order = units.shuffled_by_stratum(rng)
    if not units.grouped:
        # one after another, sorted by class: sizes and class counts differ by at most 1
        fold[order] = np.arange(len(units)) % folds
        return fold
    # Largest groups first, each to the fold where the shares of classes stay most alike, then to that with the
    # fewest rows. What a group adds to the summed variance of the shares differs between folds only in
    # Σ_k present_k · new_k / total_k².
    sizes = units.sizes
    order = order[np.argsort(-sizes[order], kind="stable")]
    counts = sizes[:, None] if units.rows_by_class is None else units.rows_by_class
    share = counts / np.maximum(counts.sum(axis=0), 1)
    present, rows = np.zeros((folds, counts.shape[1])), np.zeros(folds, np.int64)
    for unit in order:
        added_variance = (present @ share[unit]).round(12)
        chosen = np.lexsort((rows, added_variance))[0]
        fold[unit] = chosen
        present[chosen] += share[unit]
        rows[chosen] += sizes[unit]
    return fold
