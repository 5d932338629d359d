"""Compiled growing of whole trees: a node is searched and split, and its last child is next.

The order of every column is dealt on to the children (see ``tree_scans`` for how ``places`` hold them), and so are
the rows in their own order, which stands behind the columns: sums over it are those that NumPy makes, to the bit.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Codes, Rows
from mlcli.kernels.tree_scans import (
    ALL,
    ENTROPY,
    LEFT,
    LOST,
    RANK,
    ROW,
    SQUARES,
    Places,
    bits,
    part_with_missing,
    purity_of_left,
    scan_classes,
    scan_levels,
    scan_squares,
    scan_values,
)
from mlcli.kernels.without_counting import compiled, inlined

Nodes = NDArray[np.int64]

FEATURE, FIRST, CHILDREN, EMPTY, CODE, BEGIN, END, BUFFER, DEPTH = range(9)
"""Columns of ``nodes``: the first child, the one for missing cells, the level that leads to the node, its rows."""
THRESHOLD, WEIGHT, SPREAD = range(3)
"""Columns of ``facts``."""
GAIN, INFORMATION = range(2)
"""Columns of ``found``: what the best cut by each column gains, and the entropy of its branches."""
CUT, SIDE = range(2)
"""Columns of ``where``: the place of the cut, and whether missing rows go left."""
MAX_DEPTH, MIN_SPLIT, LEAST, MIN_GAIN, PURITY = range(5)
"""What is in ``limits``."""
CRITERION, OF_SHARES, EACH, RATIO, GATED, WHOLE = range(6)
"""What is in ``ways``: the impurity and whether it is of shares; whether each level has a branch, gain ratios are
compared, only columns with the mean gain compete; and whether weights are whole numbers."""
SMALLEST = (8 * np.finfo(np.float64).eps) ** 2


@compiled
def rank_rows(cells: Array, order: Rows, column: int, levels: int, places: Places, ends: Rows, ranks: Rows) -> int:
    """Fill the places of a column (a row of ``cells``) whose cells ascend in ``order``; the rank of missing ones.

    Equal cells stand in the order of rows. Where there are levels the rank is the code. Without missing cells: -1.
    """
    rank, missing = -1, -1
    for i in range(len(ends)):
        ends[i] = 0
    for i in range(len(ranks)):
        row = order[i]
        cell = cells[column, row]
        if levels:
            rank = int(cell)
        elif missing < 0 and (i == 0 or cell != cells[column, order[i - 1]]):
            rank += 1
            missing = rank if np.isnan(cell) else -1
        ranks[row] = rank
        ends[rank + 1] += 1
    for i in range(1, len(ends)):
        ends[i] += ends[i - 1]
    for row in range(len(ranks)):
        rank = ranks[row]
        places[0, column, ends[rank]] = (rank << RANK) | row
        ends[rank] += 1
    return missing


@inlined
def settle(
    node: int, places: Places, slot: Rows, output: Array, row_weight: Array, nodes: Nodes, facts: Array,
    means: Array, limits: Array, ways: Rows,
) -> bool:  # fmt: skip
    """Sum up the rows of a node, and tell whether it may be split."""
    rows, buffer, begin, end = places.shape[1] - 1, nodes[node, BUFFER], nodes[node, BEGIN], nodes[node, END]
    weight, squares, spread, largest = 0.0, 0.0, 0.0, 0.0
    for k in range(means.shape[1]):
        means[node, k] = 0.0
    for place in range(begin, end):
        row = places[buffer, rows, place]
        weight += row_weight[row]
        means[node, slot[row]] += row_weight[row] * output[row]
    for k in range(means.shape[1]):
        means[node, k] /= weight
        squares += means[node, k] * means[node, k]
        largest = max(largest, means[node, k])
    if not ways[OF_SHARES]:
        for place in range(begin, end):
            row = places[buffer, rows, place]
            own = means[node, slot[row]]
            rest = squares - own * own
            spread += row_weight[row] * ((output[row] - own) * (output[row] - own) + rest)
        spread /= weight
        spread = spread if spread > SMALLEST * squares else 0.0
    facts[node, WEIGHT], facts[node, SPREAD] = weight, spread
    impure = largest < limits[PURITY] if ways[OF_SHARES] else spread > (1 - limits[PURITY]) * facts[0, SPREAD]
    return bool(impure and weight >= limits[MIN_SPLIT] and nodes[node, DEPTH] < limits[MAX_DEPTH])


@inlined
def weigh_rows(
    node: int, places: Places, slot: Rows, output: Array, row_weight: Array, nodes: Nodes, means: Array,
    amount: Array, sums: Array,
) -> None:  # fmt: skip
    """What each row of a node adds to its sum (a value is counted from the mean, to keep digits), and the sums."""
    slots, rows, buffer = means.shape[1], places.shape[1] - 1, nodes[node, BUFFER]
    centre = means[node, 0] if slots == 1 else 0.0
    for k in range(slots):
        sums[ALL, k] = 0.0
    for place in range(nodes[node, BEGIN], nodes[node, END]):
        row = places[buffer, rows, place]
        amount[row] = row_weight[row] * (output[row] - centre)
        sums[ALL, slot[row]] += amount[row]
    for k in range(slots):
        sums[LEFT, k] = sums[ALL, k]


@inlined
def search(
    node: int, places: Places, slot: Rows, amount: Array, row_weight: Array, levels: Rows, missing_rank: Rows,
    nodes: Nodes, facts: Array, limits: Array, ways: Rows, sums: Array, found: Array, where: Rows,
) -> float:  # fmt: skip
    """Fill ``found`` and ``where`` with the best cut by each column; tell how much rounding may add to a gain."""
    weight, least, criterion = facts[node, WEIGHT], limits[LEAST], ways[CRITERION]
    buffer, begin, end = nodes[node, BUFFER], nodes[node, BEGIN], nodes[node, END]
    before = purity_of_left(criterion, sums, weight)
    impurity = (1.0 if criterion == SQUARES else 0.0) - before / weight
    tolerance = 1e-12 * impurity + 1e-15 if ways[OF_SHARES] else 1e-12 * facts[node, SPREAD]
    slack = tolerance * weight
    for column in range(len(levels)):
        best, cut, left, on_left = -np.inf, 0, 0.0, 0
        known, lost = part_with_missing(
            places, buffer, column, begin, end, missing_rank[column], slot, amount, row_weight, sums
        )
        if levels[column]:
            best, cut, left = scan_levels(
                places, buffer, column, begin, end, slot, amount, row_weight, sums, weight, least, slack,
                criterion, ways[EACH],
            )  # fmt: skip
        for side in range(0 if levels[column] else 1 if known == end else 2):
            for k in range(sums.shape[1]):
                sums[LEFT, k] = sums[LOST, k] * side
            stop, heavy = known - 1 if side else min(known, end - 1), lost * side
            if sums.shape[1] == 1:
                purity, place, heavy = scan_values(
                    places, buffer, column, begin, stop, amount, row_weight, sums, heavy, weight, least, slack
                )
            elif ways[WHOLE] and criterion == SQUARES:
                purity, place, heavy = scan_squares(
                    places, buffer, column, begin, stop, slot, row_weight, sums, heavy, weight, least, slack
                )
            else:
                purity, place, heavy = scan_classes(
                    places, buffer, column, begin, stop, slot, row_weight, sums, heavy, weight, least, slack,
                    criterion,
                )  # fmt: skip
            if purity > best + slack or (side and purity >= best - slack and place < cut):
                best, cut, left, on_left = purity, place, heavy, side
        found[column, GAIN], found[column, INFORMATION] = (best - before) / weight, left
        if not (levels[column] and ways[EACH]):
            share = min(max(left / weight, 0.0), 1.0)
            found[column, INFORMATION] = -bits(share) - bits(1 - share)
        where[column, CUT], where[column, SIDE] = cut, on_left
    return tolerance


@inlined
def choose(found: Array, tolerance: float, limits: Array, ways: Rows) -> int:
    """The first column with the best score among those that may compete, or -1."""
    total, possible = 0.0, 0
    for column in range(len(found)):
        if found[column, GAIN] > -np.inf:
            total += found[column, GAIN]
            possible += 1
    bar = total / max(possible, 1) - tolerance if ways[GATED] else -np.inf
    best = -np.inf
    for column in range(len(found)):
        if found[column, GAIN] > -np.inf and found[column, GAIN] >= bar:
            best = max(best, scored(found, column, found[column, GAIN], ways))
    if not best > limits[MIN_GAIN] + tolerance:
        return -1
    for column in range(len(found)):
        if found[column, GAIN] > -np.inf and found[column, GAIN] >= bar:
            score = scored(found, column, found[column, GAIN], ways)
            if score + scored(found, column, tolerance, ways) >= best:
                return column
    return -1


@inlined
def scored(found: Array, column: int, gain: float, ways: Rows) -> float:
    """A gain, or its ratio to the information of the branches."""
    if not ways[RATIO]:
        return gain
    information = found[column, INFORMATION]
    return gain / information if information > 0.0 else 0.0


@inlined
def branch_in_two(
    node: int, column: int, where: Rows, missing_rank: int, levels: int, places: Places, nodes: Nodes,
    first: int, branch: Rows,
) -> int:  # fmt: skip
    """Fill the branch of every row of a node, and say which rows its children have, of which there are two."""
    buffer, begin, end = nodes[node, BUFFER], nodes[node, BEGIN], nodes[node, END]
    low, empty_right, right = places[buffer, column, where[column, CUT]] >> RANK, where[column, SIDE] == 0, 0
    for place in range(begin, end):
        here = places[buffer, column, place]
        rank = here >> RANK
        above = empty_right if rank == missing_rank else rank > low
        goes_right = rank != low if levels else above
        branch[here & ROW] = goes_right
        right += goes_right
    nodes[first, BEGIN], nodes[first, END], nodes[first, CODE] = begin, end - right, low
    nodes[first + 1, BEGIN], nodes[first + 1, END], nodes[first + 1, CODE] = end - right, end, -1
    return 2


@inlined
def branch_by_level(node: int, column: int, places: Places, nodes: Nodes, first: int, branch: Rows) -> int:
    """The same with a child for every level that the node holds."""
    buffer, begin, end = nodes[node, BUFFER], nodes[node, BEGIN], nodes[node, END]
    child, rank = first - 1, -1
    for place in range(begin, end):
        here = places[buffer, column, place]
        if here >> RANK != rank:
            rank, child = here >> RANK, child + 1
            nodes[child, CODE], nodes[child, BEGIN] = rank, place
        nodes[child, END] = place + 1
        branch[here & ROW] = child - first
    return child - first + 1


@inlined
def deal(
    node: int, column: int, places: Places, nodes: Nodes, first: int, children: int, branch: Rows, ends: Rows
) -> None:  # fmt: skip
    """Deal the rows of a node in the order of a column to its children, who have them in the other buffer."""
    buffer, begin, end = nodes[node, BUFFER], nodes[node, BEGIN], nodes[node, END]
    if children == 2:
        left, right = nodes[first, BEGIN], nodes[first + 1, BEGIN]
        for place in range(begin, end):
            here = places[buffer, column, place]
            other = branch[here & ROW]
            places[1 - buffer, column, right if other else left] = here
            right += other
            left += 1 - other
        return
    for child in range(children):
        ends[child] = nodes[first + child, BEGIN]
    for place in range(begin, end):
        here = places[buffer, column, place]
        child = branch[here & ROW]
        places[1 - buffer, column, ends[child]] = here
        ends[child] += 1


@inlined
def ask(
    node: int, column: int, where: Rows, levels: int, missing_rank: int, children: int, first: int, cells: Array,
    places: Places, nodes: Nodes, facts: Array,
) -> None:  # fmt: skip
    """Write down what a node asks, and how its children begin."""
    buffer, end = nodes[node, BUFFER], nodes[node, END]
    nodes[node, FEATURE], nodes[node, FIRST], nodes[node, CHILDREN] = column, first, children
    for child in range(first, first + children):
        nodes[child, FEATURE], nodes[child, FIRST], nodes[child, CHILDREN], nodes[child, EMPTY] = -1, -1, 0, -1
        nodes[child, BUFFER], nodes[child, DEPTH] = 1 - buffer, nodes[node, DEPTH] + 1
        facts[child, THRESHOLD] = np.nan
    if levels:
        return
    if places[buffer, column, end - 1] >> RANK == missing_rank:
        nodes[node, EMPTY] = first + 1 - where[column, SIDE]
    below, above = places[buffer, column, where[column, CUT]], places[buffer, column, where[column, CUT] + 1]
    if above >> RANK == missing_rank:
        facts[node, THRESHOLD] = np.inf
        return
    low, high = cells[column, below & ROW], cells[column, above & ROW]
    middle = low / 2 + high / 2
    facts[node, THRESHOLD] = low if middle >= high else middle


@compiled
def grow(
    roots: int, cells: Array, places: Places, slot: Rows, output: Array, row_weight: Array, levels: Rows,
    missing_rank: Rows, limits: Array, ways: Rows, nodes: Nodes, facts: Array, means: Array, amount: Array,
    branch: Rows, ends: Rows, sums: Array, found: Array, where: Rows, waiting: Rows,
) -> int:  # fmt: skip
    """Grow a tree from each of the roots, with which ``nodes`` begins; how many nodes there are.

    At first the node behind the roots has all rows, and ``branch`` the root of each. What is called here, is called
    in one place: it is compiled once for each.
    """
    node, first, children, count, open_nodes = roots, 0, roots, roots, 0
    while children:
        before = open_nodes
        for order in range(len(levels), -1, -1):
            deal(node, order, places, nodes, first, children, branch, ends)
            for child in range(first, first + children if order == len(levels) else first):
                if settle(child, places, slot, output, row_weight, nodes, facts, means, limits, ways):
                    waiting[open_nodes] = child
                    open_nodes += 1
            if open_nodes == before:
                break
        children = 0
        while open_nodes and not children:
            open_nodes -= 1
            node, first = waiting[open_nodes], count
            weigh_rows(node, places, slot, output, row_weight, nodes, means, amount, sums)
            tolerance = search(
                node, places, slot, amount, row_weight, levels, missing_rank, nodes, facts, limits, ways, sums,
                found, where,
            )  # fmt: skip
            column = choose(found, tolerance, limits, ways)
            if column < 0:
                continue
            if levels[column] and ways[EACH]:
                children = branch_by_level(node, column, places, nodes, first, branch)
            else:
                children = branch_in_two(
                    node, column, where, missing_rank[column], levels[column], places, nodes, first, branch
                )
            ask(node, column, where, levels[column], missing_rank[column], children, first, cells, places, nodes, facts)
            count += children
    return count


@compiled
def number(roots: int, count: int, nodes: Nodes, levels: Rows, order: Rows, asked: Codes) -> int:
    """Number nodes level by level: fill ``order`` with them, and ``asked`` with their columns in a tree.

    These are the feature, the first child, how many children there are, the child for missing cells, and where the
    children of levels begin, of which there are as many as is returned.
    """
    filled, mapped = roots, 0
    for root in range(roots):
        order[root] = root
    for new in range(count):
        node = order[new]
        feature, first, children, empty = nodes[node, FEATURE], nodes[node, FIRST], nodes[node, CHILDREN], -1
        offset, left = -1, -1
        if feature >= 0:
            left = filled
            empty = left + nodes[node, EMPTY] - first if nodes[node, EMPTY] >= 0 else -1
            for child in range(children):
                order[filled + child] = first + child
            filled += children
            if levels[feature]:
                offset = mapped
                mapped += levels[feature]
        asked[0, new], asked[1, new], asked[2, new], asked[3, new] = feature, left, children, empty
        asked[4, new] = offset
    return mapped


@compiled
def map_levels(nodes: Nodes, levels: Rows, order: Rows, asked: Codes, child_of: Codes) -> None:
    """Fill the child of every level: its own, that of the rest, or none (-1)."""
    for new in range(asked.shape[1]):
        left, children, offset = asked[1, new], asked[2, new], asked[4, new]
        if offset < 0:
            continue
        rest = left + 1 if nodes[order[left + 1], CODE] < 0 else -1
        for code in range(levels[asked[0, new]]):
            child_of[offset + code] = rest
        for child in range(left, left + children):
            if child != rest:
                child_of[offset + nodes[order[child], CODE]] = child
