"""Labelled share: folds in which a model knows the class of only some training rows, for one share after another.

Computed:
    Every fold of a stratified k-fold is tested once for each of ``shares``. Of the training rows of each class
    round(rows × share) keep their class, at least one; the classes of the others are hidden. What keeps its class
    for a small share keeps it for a larger one, too. A model that does not accept unlabelled rows learns from the
    labelled ones alone. A fold counts once in intervals over splits and in tests, by its mean over the shares.

Cost:
    folds × repeats × shares fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mlcli.core.answers import Coordinate
from mlcli.core.errors import warn
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.rows import SplitInfo
from mlcli.core.tables import Array, Codes, Rows
from mlcli.protocols._base import Split, problems_with_list
from mlcli.protocols.k_fold import StratifiedKFold

SWEPT_OVER = "labelled share"


@register("labelled-share", reference="Chapelle, Schölkopf & Zien 2006, Semi-Supervised Learning, chapter 21")
class LabelledShare(StratifiedKFold):
    """Folds for one share of labelled training rows after another."""

    kinds: ClassVar[tuple[str, ...]] = ("classification",)

    folds: int = param(5, "how many parts, each tested once for each share", ge=2)
    shares: tuple[float, ...] = param(
        (0.05, 0.1, 0.2, 0.5, 1.0), "the shares of training rows whose class is known", gt=0, le=1
    )

    def conflicts(self) -> list[str]:
        """No share at all, or one twice."""
        return problems_with_list("shares", "share", self.shares)

    def divided(self, info: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """The folds of the first share, then those of the next."""
        assert info.strata is not None
        folds = super().divided(info, rng)
        smallest = [_smallest_labelled_share(info.strata[fold.train], rng) for fold in folds]
        # warn if a larger share labels the same rows as a smaller one in every fold
        shares_by_counts: dict[tuple[int, ...], list[float]] = {}
        for share in sorted(self.shares):
            counts = tuple(int((least <= share).sum()) for least in smallest)
            shares_by_counts.setdefault(counts, []).append(share)
        for alike in shares_by_counts.values():
            if len(alike) > 1:
                named = " and ".join(f"{100 * share:.6g} %" for share in alike)
                warn(f"there are so few rows that {named} label the same ones, at least one of each class")
        splits = []
        for share in self.shares:
            for fold, least in zip(folds, smallest, strict=True):
                split = Split(
                    train=fold.train[least <= share],
                    test=fold.test,
                    label=f"{100 * share:.6g} % labelled, {fold.label}",
                    hidden=fold.train[least > share],
                    coordinate=Coordinate(SWEPT_OVER, share),
                )
                splits.append(split)
        return splits


def _smallest_labelled_share(y: Codes, rng: np.random.Generator) -> Array:
    """The smallest share at which each row is labelled: the i-th of n shuffled rows of a class at (i - ½) / n."""
    smallest = np.empty(len(y))
    for code in np.unique(y):
        rows: Rows = rng.permutation(np.flatnonzero(y == code))
        smallest[rows] = (np.arange(len(rows)) + 0.5) / len(rows)
        smallest[rows[0]] = 0.0
    return smallest
