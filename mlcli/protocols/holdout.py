"""Holdout: a random share of the rows is judged by a model that has learned from the rest.

Computed:
    round(rows × test_share) rows are judged, at least one and never all. Groups are never cut: where rows are
    grouped, the share is of groups.

Cost:
    One fit for each repeat.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.rows import SplitInfo
from mlcli.core.tables import Codes
from mlcli.protocols._base import MOST_REPEATS, DealtSplits, Protocol, Split, Units, all_alike, split_labels


@register(
    "holdout", reference="Devroye & Wagner 1979, Distribution-free performance bounds for potential function rules"
)
class Holdout(Protocol):
    """A random share of the rows is judged by a model that has learned from the rest."""

    units: ClassVar[Callable[[SplitInfo], Units]] = staticmethod(all_alike)
    """What is held out; whether classes keep their shares."""

    test_share: float = param(0.3, "the share of rows (of groups, where there are any) that is judged", gt=0, lt=1)
    repeats: int = param(1, "how often a new part is held out", ge=1, le=MOST_REPEATS)

    def divided(self, strata: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """One split for each repeat."""
        units = type(self).units(strata)
        rounds = [held_out(units, self.test_share, rng)[units.of_row] for _ in range(self.repeats)]
        return DealtSplits(rounds, split_labels("holdout", 1, self.repeats))


def held_out(units: Units, share: float, rng: np.random.Generator) -> Codes:
    """0 for the units that are judged and -1 for the others.

    Of the shuffled units, sorted by class, every (1/share)-th is judged, from a random start: the total is the
    share rounded, and of each class the share rounded up or down. Whole numbers keep both exact.
    """
    count = len(units)
    judged = min(max(round(count * share), 1), count - 1)
    passed = (np.arange(count + 1) * judged + rng.integers(count)) // count
    part = np.empty(count, np.int32)
    part[units.shuffled_by_stratum(rng)] = np.diff(passed) - 1
    return part
