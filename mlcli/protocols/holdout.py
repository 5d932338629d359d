"""Holdout: with or without stratification, once or repeated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

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


@register(
    "holdout", reference="Devroye & Wagner 1979, Distribution-free performance bounds for potential function rules"
)
class Holdout(Protocol):
    """Holdout: a random share of the rows is tested by a model that is fitted to the rest.

    Computed:
        round(rows × test_share) rows are tested, at least one and never all. Groups are never cut: where rows are
        grouped, the share is of groups.

    Cost:
        One fit for each repeat.
    """

    stratified: ClassVar[bool] = False
    """Whether every class keeps its share on both sides."""

    test_share: float = param(0.3, "the share of rows (of groups, where there are any) that is tested", gt=0, lt=1)
    repeats: int = param(1, "how often a new part is held out", ge=1, le=MOST_REPEATS)

    def divided(self, info: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """One split for each repeat."""
        units = by_class(info) if self.stratified else all_alike(info)
        rounds = [held_out(units, self.test_share, rng)[units.of_row] for _ in range(self.repeats)]
        if self.stratified:
            fewest = math.ceil(1 / min(self.test_share, 1 - self.test_share))
            warn_of_rare_classes(units, fewest, "they may be missing on one side of a split")
        return DealtSplits(rounds, split_labels("holdout", 1, self.repeats))


@register(
    "stratified-holdout",
    reference="Kohavi 1995, A study of cross-validation and bootstrap for accuracy estimation",
)
class StratifiedHoldout(Holdout):
    """Stratified holdout: holdout in which every class keeps its share on both sides.

    Computed:
        Of the shuffled rows, sorted by class, every (1/test_share)-th is tested, from a random start: each class
        gives its share, rounded up or down. Groups are never cut: the share is of groups, and a group counts for
        the class that most of its rows have.

    Cost:
        One fit for each repeat.
    """

    stratified: ClassVar[bool] = True


@register("repeated-holdout", reference="Picard & Cook 1984, Cross-validation of regression models")
class RepeatedHoldout(Holdout):
    """Repeated holdout: holdout with a new random part held out ten times.

    Computed:
        As holdout; the scores of all repeats are averaged. A row may be tested several times, or never.

    Cost:
        One fit for each repeat.
    """

    repeats: int = param(10, "how often a new part is held out", ge=1, le=MOST_REPEATS)


@register("repeated-stratified-holdout", reference="Picard & Cook 1984, Cross-validation of regression models")
class RepeatedStratifiedHoldout(StratifiedHoldout):
    """Repeated stratified holdout: stratified holdout with a new part held out ten times.

    Computed:
        As stratified holdout; the scores of all repeats are averaged. A row may be tested several times, or never.

    Cost:
        One fit for each repeat.
    """

    repeats: int = param(10, "how often a new part is held out", ge=1, le=MOST_REPEATS)


def held_out(units: Units, share: float, rng: np.random.Generator) -> Codes:
    """0 for the test rows or groups and -1 for the others.

    Of the shuffled units, sorted by class, every (1/share)-th is a test row, from a random start: the total is the
    share rounded, and of each class the share rounded up or down. Whole numbers keep both exact.
    """
    count = len(units)
    tested = min(max(round(count * share), 1), count - 1)
    passed = (np.arange(count + 1) * tested + rng.integers(count)) // count
    part = np.empty(count, np.int32)
    part[units.shuffled_by_stratum(rng)] = np.diff(passed) - 1
    return part
