"""Compiled choice among columns that may have a branch for each level, as ID3 and C4.5 make it."""

from __future__ import annotations

import numpy as np

from mlcli.kernels.trees.records import Binned, Branching, Grown, Ids, Nodes, Words, Workspace
from mlcli.kernels.trees.splits import ParentNode, best_split, entropy_of_sides, score_of_levels
from mlcli.kernels.trees.sums import add_up
from mlcli.kernels.without_counting import inlined


@inlined
def choose_column(
    columns: Binned, one: Nodes, rows: Ids, parent: ParentNode, before: float, space: Workspace,
    branching: Branching,
) -> None:  # fmt: skip
    """Note the first column with the best gain, or gain ratio, of those that gain as much as the average one."""
    splits, weight, count, total, best = branching.splits, float(one["weight"]), 0, 0.0, -np.inf
    tolerance, limits = parent.tolerance / weight, parent.limits
    for k in range(len(space.drawn)):
        score = split_in_branches(columns, space.drawn[k], rows, parent, weight, branching.sums, space, splits[k])
        splits[k]["gain"] = (score - before) / weight
        if score > -np.inf:
            count, total = count + 1, total + splits[k]["gain"]
    for k in range(len(space.drawn)):
        gain, unit = splits[k]["gain"], 1.0
        if limits.gated and gain < total / max(count, 1) - tolerance:
            gain = -np.inf
        elif limits.by_ratio and gain > -np.inf:
            unit = splits[k]["information"]
        splits[k]["ratio"] = gain / unit if unit > 0.0 else 0.0
        best = max(best, splits[k]["ratio"])
    if not best > limits.min_gain + tolerance:
        return
    for k in range(len(space.drawn)):
        split = splits[k]
        unit = split["information"] if limits.by_ratio else 1.0
        if split["ratio"] + (tolerance / unit if unit > 0.0 else 0.0) >= best:
            one["feature"], one["gain"], one["cut"] = space.drawn[k], split["gain"] * weight, np.nan
            one["low"], one["high"], one["side"] = split["low"], split["high"], split["side"]
            return


@inlined
def split_in_branches(
    columns: Binned, feature: int, rows: Ids, parent: ParentNode, weight: float, sums: Words,
    space: Workspace, found: Nodes,
) -> float:  # fmt: skip
    """The score of the best threshold of a column, or of a branch for each level, which is noted."""
    if columns.ordered[feature]:
        score, low, high, side = best_split(columns, feature, rows, parent, sums, space)
        found["information"] = entropy_of_sides(parent, weight, space) if score > -np.inf else 0.0
    else:
        add_up(columns, feature, rows, space, sums)
        score, found["information"], high = score_of_levels(sums, columns.known[feature], parent, weight, space)
        low, side = 0, 0
    found["low"], found["high"], found["side"] = low, high, side
    return score


@inlined
def partition_by_level(columns: Binned, node: int, made: int, grown: Grown, space: Workspace) -> int:
    """Deal the rows of a node to a child for each level that it holds; how many there are."""
    one, child, place, counts = grown.nodes[node], made, 0, space.bins
    column, rows = columns.bins[one["feature"]], space.rows[one["begin"] : one["end"]]
    levels = columns.known[one["feature"]] + 1
    for level in range(levels):
        counts[level] = 0
    for i in range(len(rows)):
        counts[column[rows[i]]] += 1
    for level in range(levels):
        held = counts[level]
        if held:
            branch = grown.nodes[child]
            branch["begin"], branch["end"] = one["begin"] + place, one["begin"] + place + held
            branch["depth"], branch["level"] = one["depth"] + 1, level
            counts[level], place, child = place, place + held, child + 1
    for i in range(len(rows)):
        level = column[rows[i]]
        space.right[counts[level]] = rows[i]
        counts[level] += 1
    for i in range(len(rows)):
        rows[i] = space.right[i]
    one["left"] = made
    return int(child - made)
