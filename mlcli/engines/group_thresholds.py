"""Thresholds by group: what each reaches, and lots between two of them (Hardt, Price & Srebro 2016).

A group that draws lots reaches every point between those of its thresholds: of rates and right answers, those of
the upper hull are worth reaching. Where two rates are wanted alike, a group that could do better answers some rows
by a coin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Flags, Rows
from mlcli.metrics.fairness import CRITERIA
from mlcli.metrics.threshold_curves import ThresholdCounts, between


@dataclass(frozen=True, eq=False)
class GroupThresholds:
    """One group: its thresholds with the rates that they give, and the weight of right answers."""

    thresholds: Array
    rates: Array
    """Rates of the criterion × thresholds."""
    right: Array

    @classmethod
    def of(cls, counts: ThresholdCounts, criterion: str) -> GroupThresholds:
        """What the thresholds of a group give."""
        total = counts.positives + counts.negatives
        known = {
            "selected": (counts.true_positives + counts.false_positives) / total,
            "tpr": counts.recall,
            "fpr": counts.fpr,
            "precision": counts.precision,
        }
        rates = np.array([known[name] for name in CRITERIA[criterion]])
        return cls(between(counts.thresholds), rates, counts.accuracy * total)

    def best_near(self, wanted: Array, reach: float) -> tuple[int, float]:
        """The place of the best threshold with rates within reach, else of the nearest; how far it is off."""
        away = np.abs(self.rates - wanted[:, None]).max(axis=0)
        within = away <= max(reach, float(away.min())) + 1e-12
        place = int(np.flatnonzero(within)[self.right[within].argmax()])
        return place, float(away[place])


@dataclass(frozen=True)
class Lots:
    """``first`` is drawn with probability ``share``, else ``second``; of each row, or of all alike."""

    first: float | Array
    second: float | Array
    share: float | Array
    blind: float | Array = 0.0
    """The share of rows answered by the coin, whatever is known of them."""
    coin: float | Array = 0.0

    def answer(self, scores: Array, draw: Array, other_draw: Array) -> Flags:
        """Which rows are answered yes, by two draws for each."""
        by_score = scores >= np.where(draw < self.share, self.first, self.second)
        return np.asarray(np.where(other_draw < self.blind, draw < self.coin, by_score))


@dataclass(frozen=True, eq=False)
class RateCurve:
    """What the thresholds of a group reach: a rate ``x``, and ``y``, the higher the better."""

    thresholds: Array
    x: Array
    y: Array

    def hull(self) -> Rows:
        """The corners of the upper hull, from left to right."""
        order = np.lexsort((-self.y, self.x))
        corners = list[int]()
        for place in order.tolist():
            if corners and self.x[place] == self.x[corners[-1]]:
                continue
            while len(corners) > 1 and not self._bends_down(corners[-2], corners[-1], place):
                corners.pop()
            corners.append(place)
        return np.array(corners)

    def _bends_down(self, one: int, middle: int, other: int) -> bool:
        rise = (self.y[middle] - self.y[one]) * (self.x[other] - self.x[one])
        return bool(rise > (self.y[other] - self.y[one]) * (self.x[middle] - self.x[one]))

    def best_at(self, wanted: Array) -> Array:
        """The highest y at some rates; not a number beyond those that are reached."""
        hull = self.hull()
        return np.interp(wanted, self.x[hull], self.y[hull], left=np.nan, right=np.nan)

    def lots_at(self, wanted: float, lowered: float | None = None) -> Lots:
        """The lots that reach a rate; with ``lowered`` y is brought down to it by a coin of that rate."""
        hull = self.hull()
        right = min(max(int(np.searchsorted(self.x[hull], wanted)), 1), len(hull) - 1)
        left, right = hull[right - 1], hull[min(right, len(hull) - 1)]
        width = self.x[right] - self.x[left]
        share = float((self.x[right] - wanted) / width) if width > 0 else 1.0
        best = float(share * self.y[left] + (1 - share) * self.y[right])
        spare = best - wanted
        blind = 0.0 if lowered is None or spare <= 0 else min(max((best - lowered) / spare, 0.0), 1.0)
        return Lots(float(self.thresholds[left]), float(self.thresholds[right]), share, blind, wanted)


def equal_rates(groups: Sequence[RateCurve], grid: Array) -> tuple[tuple[float, ...], list[Lots]]:
    """The rate at which all groups together reach most, and the lots that bring each to it."""
    total = np.sum([group.best_at(grid) for group in groups], axis=0)
    wanted = float(grid[np.nanargmax(total)])
    return (wanted,), [group.lots_at(wanted) for group in groups]


def equalised_odds(
    groups: Sequence[RateCurve], positives: float, negatives: float, grid: Array
) -> tuple[tuple[float, ...], list[Lots]]:
    """The same where x and y are the false and the true positive rate, and both are to be the same."""
    lowest = np.min([group.best_at(grid) for group in groups], axis=0)
    place = int(np.nanargmax(positives * lowest - negatives * grid))
    x, y = float(grid[place]), float(lowest[place])
    return (y, x), [group.lots_at(x, y) for group in groups]
