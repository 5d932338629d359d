"""Compiled search of a node of few rows, all of whose cells are known: sorted, with all scores side by side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.kernels.trees.sums import AMOUNT, FEW, WEIGHT, Here, Keys, Targets
from mlcli.kernels.without_counting import inlined


class Few(NamedTuple):
    """At most 64 rows of a node as they are, and room for sums and scores in the order of a column."""

    slots: Rows
    amounts: Array
    weights: Array
    totals: Array
    left: Array
    gathered: Array
    lefts: Array
    rights: Array
    scores: Array


@inlined
def lay_out(targets: Targets, here: Here, centre: int, few: Few) -> None:
    """Take few rows out of their words."""
    mask = (1 << targets.bits) - 1
    for k in range(len(few.totals)):
        few.totals[k] = 0.0
    for i in range(len(here.rows)):
        k = 0
        if targets.bits == 0:
            few.weights[i] = float(here.parts[WEIGHT, i])
            few.amounts[i] = float(here.parts[AMOUNT, i] - here.parts[WEIGHT, i] * centre)
        else:
            k = targets.slot[here.rows[i]]
            classes = 63 // targets.bits
            word = here.parts[k // classes, i] >> (targets.bits * (k % classes))
            few.weights[i] = few.amounts[i] = float(word & mask)
        few.slots[i] = k
        few.totals[k] += few.amounts[i]


@inlined
def sum_in_order(order: Keys, count: int, few: Few) -> None:
    """For every place in the order of rows: the weight up to it, and Σ S² of both sides."""
    sofar, squares, rest = 0.0, 0.0, 0.0
    for k in range(len(few.totals)):
        few.left[k] = 0.0
        rest += few.totals[k] * few.totals[k]
    if len(few.totals) == 1:
        amount, total = 0.0, few.totals[0]
        for place in range(count):
            i = order[place] & (FEW - 1)
            sofar += few.weights[i]
            amount += few.amounts[i]
            few.gathered[place], few.lefts[place] = sofar, amount * amount
            few.rights[place] = (total - amount) * (total - amount)
        return
    for place in range(count):
        i = order[place] & (FEW - 1)
        k, one = few.slots[i], few.amounts[i]
        squares += one * (2 * few.left[k] + one)
        rest -= one * (2 * (few.totals[k] - few.left[k]) - one)
        few.left[k] += one
        sofar += one
        few.gathered[place], few.lefts[place], few.rights[place] = sofar, squares, rest


@inlined
def best_threshold_of_few(
    order: Keys, count: int, few: Few, least: float, tolerance: float
) -> tuple[float, int, int, int]:
    """The first threshold, but for rounding, that scores most of squares."""
    sum_in_order(order, count, few)
    weight = few.gathered[count - 1]
    scores, lefts, rights, gathered = few.scores, few.lefts, few.rights, few.gathered
    most = -np.inf
    for place in range(count - 1):
        here, there = gathered[place], weight - gathered[place]
        score = (lefts[place] * there + rights[place] * here) / (here * there)
        apart = (order[place] // FEW != order[place + 1] // FEW) & (here >= least) & (there >= least)
        scores[place] = score if apart else -np.inf
    for place in range(count - 1):
        most = scores[place] if scores[place] > most else most
    if most == -np.inf:
        return most, 0, 0, 0
    place = 0
    while scores[place] < most - tolerance:
        place += 1
    return scores[place], int(order[place] // FEW), int(order[place + 1] // FEW), 0
