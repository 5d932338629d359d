"""Mixtures of answers under constraints of fairness: how far groups lie apart, and the mixture of least error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.groups import Groups
from mlcli.core.tables import Array, Flags
from mlcli.metrics.fairness import FEW

NOTHING = 1e-9
"""A smaller share of a mixture is none."""


@dataclass(frozen=True, eq=False)
class Mixture:
    """The share of each classifier, and what a unit of each constraint costs: upwards less downwards."""

    shares: Array
    prices: Array


def breaches(answers: Array, groups: Groups, events: Sequence[Flags], weights: Array) -> Array:
    """The share answered yes in each group less that of all, among the rows of each event (events × groups).

    A group of fewer than ten rows there says nothing, and breaks nothing.
    """
    found = np.zeros((len(events), len(groups.labels)))
    for place, event in enumerate(events):
        counted = np.where(event, weights, 0.0)
        totals = np.bincount(groups.codes, counted, len(groups.labels))
        yes = np.bincount(groups.codes, counted * answers, len(groups.labels))
        enough = np.bincount(groups.codes[event], minlength=len(groups.labels)) >= FEW
        if totals.sum() > 0:
            overall = yes.sum() / totals.sum()
            found[place] = np.where(enough, yes / np.where(enough, totals, 1.0) - overall, 0.0)
    return found


def best_mixture(wrong: Array, broken: Array, bound: float) -> Mixture:
    """The least error of a mixture whose breaches (answers × constraints) stay within a bound.

    Where no mixture stays within it, the largest excess costs 1 / bound for each unit.
    """
    from scipy.optimize import linprog

    both, count = np.vstack([broken.T, -broken.T]), broken.shape[1]
    found = linprog(
        np.append(wrong, 1 / bound),
        A_ub=np.hstack([both, np.full((len(both), 1), -1.0)]),
        b_ub=np.full(len(both), bound),
        A_eq=np.append(np.ones(len(wrong)), 0.0)[None],
        b_eq=[1.0],
        method="highs",
    )
    shares = np.where(found.x[:-1] > NOTHING, found.x[:-1], 0.0)
    costs = -np.asarray(found.ineqlin.marginals)
    return Mixture(shares / shares.sum(), costs[:count] - costs[count:])


def bounded(path: Array, bound: float) -> Array:
    """Prices of exponentiated gradient (upwards, downwards) as one, all together at most 1 / bound."""
    top = max(0.0, float(path.max()))
    grown = np.exp(path - top)
    upward, downward = grown / bound / (np.exp(-top) + grown.sum())
    return np.asarray(upward - downward, np.float64)
