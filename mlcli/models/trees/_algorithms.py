"""CART, ID3 and C4.5 as a table: how nominal columns branch, which impurity is theirs, and how columns compete."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Flags, Rows
from mlcli.models.trees._criteria import Criterion
from mlcli.models.trees._levels import Level
from mlcli.models.trees._runs import Cuts, one_against_the_rest, one_branch_each

NONE = -1
"""The feature of a node that no split suits."""


def by_gain(gain: Array, information: Array) -> Array:
    """The impurity that a split takes away."""
    return gain


def by_gain_ratio(gain: Array, information: Array) -> Array:
    """Gain / split information; 0 where the branches carry no information."""
    return np.divide(gain, information, out=np.zeros_like(gain), where=information > 0)


def open_gate(gain: Array, tolerance: Array) -> Flags:
    """Every split that is possible may compete."""
    possible: Flags = gain > -np.inf
    return possible


def mean_gain_gate(gain: Array, tolerance: Array) -> Flags:
    """Only splits that gain at least as much as the possible ones do on average."""
    possible = gain > -np.inf
    total = np.where(possible, gain, 0.0).sum(axis=1)
    mean = total / np.maximum(possible.sum(axis=1), 1)
    allowed: Flags = possible & (gain >= (mean - tolerance)[:, None])
    return allowed


GATES: dict[str, Callable[[Array, Array], Flags]] = {"mean-gain": mean_gain_gate, "none": open_gate}


def level_or_rest(code: Rows, low: Rows, levels: Rows) -> Rows:
    """The branch of the level itself, or the one past all levels."""
    return np.where(code == low, code, levels)


def its_own(code: Rows, low: Rows, levels: Rows) -> Rows:
    """The branch of each level is its code."""
    return code


@dataclass(frozen=True)
class Algorithm:
    """One way to grow a tree."""

    criterion: str
    nominal_cuts: Callable[[Level, int, Criterion, float], Cuts]
    nominal_branch: Callable[[Rows, Rows, Rows], Rows]
    """The branch of a code, given the code that was cut at and the number of levels."""
    score: Callable[[Array, Array], Array]
    each_level: bool = False
    """Whether every level of a nominal column has a branch; for compiled loops, as the next one."""
    by_ratio: bool = False
    gated: bool = False
    """Whether the gate decides who may compete."""

    def choose(self, cuts: Cuts, tolerance: Array, gate: str, min_gain: float) -> Rows:
        """Per node the first feature with the best score, or NONE if it is not above ``min_gain``."""
        nodes, width = cuts.gain.shape
        if width == 0:
            return np.full(nodes, NONE)
        allowed = GATES[gate if self.gated else "none"](cuts.gain, tolerance)
        score = np.where(allowed, self.score(cuts.gain, cuts.information), -np.inf)
        best = score.max(axis=1)
        rounding = self.score(np.repeat(tolerance[:, None], width, axis=1), cuts.information)
        first = np.argmax(score + rounding >= best[:, None], axis=1)
        return np.where(best > min_gain + tolerance, first, NONE)


ALGORITHMS = {
    "cart": Algorithm("gini", one_against_the_rest, level_or_rest, by_gain),
    "id3": Algorithm("entropy", one_branch_each, its_own, by_gain, each_level=True),
    "c45": Algorithm(
        "entropy", one_branch_each, its_own, by_gain_ratio, each_level=True, by_ratio=True, gated=True
    ),
}
