"""One level of a growing tree: the rows of its open nodes, grouped by node in the order of every feature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Rows
from mlcli.models.trees._presort import Presorted


def summed(amount: Array, place: Rows, places: int) -> Array:
    """The sum of the amounts that go to each place."""
    return np.bincount(place, weights=amount, minlength=places).astype(np.float64, copy=False)


@dataclass(frozen=True, eq=False)
class Targets:
    """What each row adds to its node: ``amount`` goes to the sum number ``slot``, ``weight`` to the weight.

    A row of class k adds its weight to the k-th sum; a row of value y adds weight × y to the only one.
    """

    slot: Rows
    output: Array
    weight: Array
    slots: int

    @staticmethod
    def of(outputs: Array, weight: Array) -> Targets:
        """From outputs of which each row has one that is not 0."""
        slot = np.abs(outputs).argmax(axis=1)
        return Targets(slot, outputs[np.arange(len(outputs)), slot], weight, outputs.shape[1])

    def sums(self, node: Rows, nodes: int, rows: Rows, amount: Array) -> Array:
        """The sums (nodes × K) of some rows' amounts."""
        return summed(amount, node * self.slots + self.slot[rows], nodes * self.slots).reshape(nodes, self.slots)


@dataclass(frozen=True, eq=False)
class NodeSums:
    """What is known of some nodes: weight, mean output, and mean squared distance of the outputs from it."""

    weight: Array
    mean: Array
    spread: Array


def node_sums(targets: Targets, node: Rows, nodes: int, rows: Rows) -> NodeSums:
    """Summed over ``rows``, whose nodes are ``node``; a spread that is only the mean's rounding is none."""
    weight, output = targets.weight[rows], targets.output[rows]
    total = summed(weight, node, nodes)
    mean = targets.sums(node, nodes, rows, weight * output) / total[:, None]
    own = mean[node, targets.slot[rows]]
    squares = np.cumsum(mean**2, axis=1)[:, -1]  # one after another, as compiled loops add
    rest = squares[node] - own**2
    spread = summed(weight * ((output - own) ** 2 + rest), node, nodes) / total
    rounding = (8 * np.finfo(float).eps) ** 2 * squares
    return NodeSums(total, mean, np.where(spread > rounding, spread, 0.0))


@dataclass(frozen=True, eq=False)
class Level:
    """The open nodes of one depth. Row r of the training part is in open node ``node[r]``, or in none (-1)."""

    data: Presorted
    targets: Targets
    node: Rows
    orders: Rows
    """F × n': the rows of open nodes, by node, then in ascending order of the feature."""
    starts: Rows
    """Where each node's rows begin in every order, and the end."""
    amount: Array
    """What each training row adds to its sum (with one output, counted from the node's mean to keep digits)."""
    sums: Array
    weight: Array
    tolerance: Array

    def __len__(self) -> int:
        return len(self.weight)

    @property
    def node_of_place(self) -> Rows:
        """The node of each place in the orders."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))


def level_of(
    data: Presorted, targets: Targets, node: Rows, orders: Rows, known: NodeSums, tolerance: Array
) -> Level:
    """The level whose open nodes hold ``orders``."""
    rows = np.flatnonzero(node >= 0)
    counts = np.bincount(node[rows], minlength=len(known.weight))
    centre = known.mean[:, 0] if targets.slots == 1 else np.zeros(len(known.weight))
    amount = np.zeros(len(node))
    amount[rows] = targets.weight[rows] * (targets.output[rows] - centre[node[rows]])
    return Level(
        data=data,
        targets=targets,
        node=node,
        orders=orders,
        starts=np.append(0, np.cumsum(counts)),
        amount=amount,
        sums=targets.sums(node[rows], len(known.weight), rows, amount[rows]),
        weight=known.weight,
        tolerance=tolerance,
    )


def descend(orders: Rows, node: Rows) -> Rows:
    """The orders of the next level: rows that are in an open node, grouped by it, otherwise as they were."""
    kept = int((node >= 0).sum())
    small = np.uint16 if kept < 2**16 else np.intp  # numpy sorts 16 bits by radix, in one pass
    inside = orders[node[orders] >= 0].reshape(len(orders), kept)
    return np.take_along_axis(inside, np.argsort(node[inside].astype(small), axis=1, kind="stable"), axis=1)
