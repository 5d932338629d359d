"""Compiled growing of whole trees: a node is searched and split, and its last child is next.

The order of every column is dealt on to the children (see ``tree_scans`` for how ``places`` hold them), and so are
the rows in their own order, which stands behind the columns: sums over it are those that NumPy makes, to the bit.
Without classes ``slot`` is None, and without nominal columns ``levels``: what is not there is not compiled.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Codes, Rows
from mlcli.kernels.tree_scans import (
    ALL,
    AMOUNT,
    LEFT,
    LOST,
    OUTPUT,
    RANK,
    ROW,
    ROW_WEIGHT,
    SQUARES,
    Places,
    bits,
    purity_of_left,
    scan_classes,
    scan_levels,
    scan_values,
)
from mlcli.kernels.without_counting import compiled, inlined

Nodes = NDArray[np.int64]

FEATURE, FIRST, CHILDREN, EMPTY, CODE, BEGIN, END, NEXT, BUFFER, DEPTH, WAITING = range(11)
"""Columns of ``nodes``: what a node asks, its first child, the child for missing cells, the level that leads to
the node, and its rows. WAITING is a stack of nodes beside them."""
THRESHOLD, WEIGHT, SPREAD, MEAN = range(4)
"""Columns of ``settled``: numbers about nodes; the means are the last ones."""
MISSING_RANK, CUT, SIDE = range(3)
"""Columns of ``columns``: the rank of missing cells or -1, where the best cut is, and whether they go left."""
GAIN, INFORMATION = range(2)
"""Columns of ``found``: what the best cut by each column gains, and the entropy of its branches."""
CRITERION, OF_SHARES, EACH, RATIO, GATED, WHOLE, MAX_DEPTH, MIN_SPLIT, LEAST, MIN_GAIN, PURITY = range(11)
"""What is in ``rules``: the impurity, and whether it is of shares; whether each level has a branch, gain ratios
are compared, only columns with the mean gain compete; whether squared sums of weights are exact; and limits."""
SMALLEST = (8 * 2.0**-52) ** 2
"""A spread is rounding if it is at most this times the squared mean."""


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
    node: int, parent: int, places: Places, slot: Rows | None, facts: Array, rules: Array, nodes: Nodes,
    settled: Array,
) -> bool:  # fmt: skip
    """Begin a node: sum up its rows, and tell whether it may be split."""
    nodes[node, FEATURE], nodes[node, FIRST], nodes[node, CHILDREN], nodes[node, EMPTY] = -1, -1, 0, -1
    nodes[node, BUFFER], nodes[node, DEPTH] = 1 - nodes[parent, BUFFER], nodes[parent, DEPTH] + 1
    rows, buffer, begin, end = places.shape[1] - 1, nodes[node, BUFFER], nodes[node, BEGIN], nodes[node, END]
    weight, squares, spread, largest = 0.0, 0.0, 0.0, 0.0
    for k in range(MEAN, settled.shape[1]):
        settled[node, k] = 0.0
    for place in range(begin, end):
        row = places[buffer, rows, place]
        weight += facts[row, ROW_WEIGHT]
        settled[node, MEAN if slot is None else MEAN + slot[row]] += facts[row, ROW_WEIGHT] * facts[row, OUTPUT]
    for k in range(MEAN, settled.shape[1]):
        mean = settled[node, k] / weight
        settled[node, k] = mean
        squares += mean * mean
        largest = mean if mean > largest else largest
    if rules[OF_SHARES] == 0.0:
        for place in range(begin, end):
            row = places[buffer, rows, place]
            own = settled[node, MEAN if slot is None else MEAN + slot[row]]
            away = facts[row, OUTPUT] - own
            spread += facts[row, ROW_WEIGHT] * (away * away + (squares - own * own))
        spread = spread / weight if spread / weight > SMALLEST * squares else 0.0
    settled[node, THRESHOLD], settled[node, WEIGHT], settled[node, SPREAD] = np.nan, weight, spread
    pure = largest >= rules[PURITY] if rules[OF_SHARES] else spread <= (1 - rules[PURITY]) * settled[0, SPREAD]
    return bool(not pure and weight >= rules[MIN_SPLIT] and nodes[node, DEPTH] < rules[MAX_DEPTH])


@inlined
def weigh_rows(
    node: int, places: Places, slot: Rows | None, facts: Array, nodes: Nodes, settled: Array, sums: Array
) -> None:
    """What each row of a node adds to its sum (a value is counted from the mean, to keep digits), and the sums."""
    rows, buffer = places.shape[1] - 1, nodes[node, BUFFER]
    for k in range(sums.shape[1]):
        sums[LEFT, k] = 0.0
    for place in range(nodes[node, BEGIN], nodes[node, END]):
        row = places[buffer, rows, place]
        centre = settled[node, MEAN] if slot is None else 0.0
        facts[row, AMOUNT] = facts[row, ROW_WEIGHT] * (facts[row, OUTPUT] - centre)
        sums[LEFT, 0 if slot is None else slot[row]] += facts[row, AMOUNT]
    for k in range(sums.shape[1]):
        sums[ALL, k] = sums[LEFT, k]


@inlined
def search(
    node: int, places: Places, slot: Rows | None, facts: Array, levels: Rows | None, columns: Rows, rules: Array,
    nodes: Nodes, settled: Array, sums: Array, found: Array,
) -> float:  # fmt: skip
    """Find the best cut by each column, with a gain of -inf where there is none; what rounding may add to it."""
    weight, least, criterion = settled[node, WEIGHT], rules[LEAST], rules[CRITERION]
    buffer, begin, end = nodes[node, BUFFER], nodes[node, BEGIN], nodes[node, END]
    before = purity_of_left(criterion, sums, weight)
    impurity = (1.0 if criterion == SQUARES else 0.0) - before / weight
    tolerance: float = 1e-12 * impurity + 1e-15 if rules[OF_SHARES] else 1e-12 * settled[node, SPREAD]
    slack = tolerance * weight
    for column in range(len(columns)):
        best, cut, left, on_left, known, lost = -np.inf, end - 1, 0.0, 0, end, 0.0
        each, sides = False, 1
        if levels is not None:
            each = rules[EACH] > 0.0 and levels[column] > 0
            if levels[column]:
                best, cut, left = scan_levels(
                    places, buffer, column, begin, end, slot, facts, sums, weight, least, slack, criterion,
                    rules[EACH],
                )  # fmt: skip
                sides = 0
        for k in range(sums.shape[1]):
            sums[LEFT, k] = sums[LOST, k] = 0.0
        while known > begin and places[buffer, column, known - 1] >> RANK == columns[column, MISSING_RANK]:
            known, sides = known - 1, 2
            row = places[buffer, column, known] & ROW
            sums[LOST, 0 if slot is None else slot[row]] += facts[row, AMOUNT]
            lost += facts[row, ROW_WEIGHT]
        for side in range(sides):
            stop = known - 1 if side or known == end else known
            if slot is None:
                purity, place, heavy = scan_values(
                    places, buffer, column, begin, stop, facts, sums, lost * side, weight, least, slack
                )
            else:
                purity, place, heavy = scan_classes(
                    places, buffer, column, begin, stop, slot, facts, sums, lost * side, weight, least, slack,
                    criterion, rules[WHOLE],
                )  # fmt: skip
            if purity > best + slack or (side and purity >= best - slack and place < cut):
                best, cut, left, on_left = purity, place, heavy, side
            for k in range(sums.shape[1]):
                sums[LEFT, k] = sums[LOST, k]
        share = left / weight if left < weight else 1.0
        found[column, GAIN] = (best - before) / weight
        found[column, INFORMATION] = left if each else -bits(share) - bits(1 - share)
        columns[column, CUT], columns[column, SIDE] = cut, on_left
    return tolerance


@inlined
def choose(found: Array, tolerance: float, rules: Array) -> int:
    """The first column with the best score among those that may compete, or -1."""
    total, possible, best, chosen = 0.0, 0, -np.inf, -1
    for column in range(len(found)):
        if found[column, GAIN] > -np.inf:
            total += found[column, GAIN]
            possible += 1
    if possible == 0:
        return -1
    bar = total / possible - tolerance if rules[GATED] else -np.inf
    for column in range(len(found)):
        gain, scale = found[column, GAIN], found[column, INFORMATION] if rules[RATIO] else 1.0
        if gain > -np.inf and gain >= bar:
            score = gain / scale if scale > 0.0 else 0.0
            best = score if score > best else best
    for column in range(len(found) - 1, -1, -1):
        gain, scale = found[column, GAIN], found[column, INFORMATION] if rules[RATIO] else 1.0
        if gain > -np.inf and gain >= bar:
            score = gain / scale + tolerance / scale if scale > 0.0 else 0.0
            chosen = column if score >= best else chosen
    return chosen if best > rules[MIN_GAIN] + tolerance else -1


@inlined
def branch_in_two(
    node: int, column: int, first: int, places: Places, cells: Array, columns: Rows, nominal: bool, nodes: Nodes,
    settled: Array, branch: Rows,
) -> int:  # fmt: skip
    """Ask for a threshold, or for one level: the branch of every row, and which rows the two children have."""
    buffer, begin, end, right = nodes[node, BUFFER], nodes[node, BEGIN], nodes[node, END], 0
    cut, side, missing_rank = columns[column, CUT], columns[column, SIDE], columns[column, MISSING_RANK]
    low = places[buffer, column, cut] >> RANK
    for place in range(begin, end):
        here = places[buffer, column, place]
        rank = here >> RANK
        above = side == 0 if rank == missing_rank else rank > low
        goes_right = rank != low if nominal else above
        branch[here & ROW] = goes_right
        right += goes_right
    nodes[first, BEGIN], nodes[first, END], nodes[first, CODE] = begin, end - right, low
    nodes[first + 1, BEGIN], nodes[first + 1, END], nodes[first + 1, CODE] = end - right, end, -1
    if nominal:
        return 2
    if places[buffer, column, end - 1] >> RANK == missing_rank:
        nodes[node, EMPTY] = first + 1 - side
    below, above_it = places[buffer, column, cut] & ROW, places[buffer, column, cut + 1]
    high = np.inf if above_it >> RANK == missing_rank else cells[column, above_it & ROW]
    middle = cells[column, below] / 2 + high / 2
    settled[node, THRESHOLD] = cells[column, below] if middle >= high and high < np.inf else middle
    return 2


@inlined
def branch_by_level(node: int, column: int, first: int, places: Places, nodes: Nodes, branch: Rows) -> int:
    """The same with a child for every level that the node holds; how many there are."""
    buffer, child, rank = nodes[node, BUFFER], first - 1, -1
    for place in range(nodes[node, BEGIN], nodes[node, END]):
        here = places[buffer, column, place]
        if here >> RANK != rank:
            rank, child = here >> RANK, child + 1
            nodes[child, CODE], nodes[child, BEGIN] = rank, place
        nodes[child, END] = place + 1
        branch[here & ROW] = child - first
    return child - first + 1


@inlined
def deal(node: int, column: int, first: int, children: int, places: Places, nodes: Nodes, branch: Rows) -> None:
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
    for child in range(first, first + children):
        nodes[child, NEXT] = nodes[child, BEGIN]
    for place in range(begin, end):
        here = places[buffer, column, place]
        child = first + branch[here & ROW]
        places[1 - buffer, column, nodes[child, NEXT]] = here
        nodes[child, NEXT] += 1


@compiled
def grow(
    roots: int, cells: Array, places: Places, slot: Rows | None, facts: Array, levels: Rows | None, columns: Rows,
    rules: Array, nodes: Nodes, settled: Array, branch: Rows, sums: Array, found: Array,
) -> int:  # fmt: skip
    """Grow a tree from each of the roots, with which ``nodes`` begins; how many nodes there are.

    At first the node behind the roots has all rows, and ``branch`` the root of each. What is called here, is
    called in one place: it is compiled once for each.
    """
    node, first, children, count, open_nodes = roots, roots - roots, roots, roots, 0
    while children:
        before = open_nodes
        for order in range(len(columns), -1, -1):
            deal(node, order, first, children, places, nodes, branch)
            for child in range(first, first + children if order == len(columns) else first):
                if settle(child, node, places, slot, facts, rules, nodes, settled):
                    nodes[open_nodes, WAITING] = child
                    open_nodes += 1
            if open_nodes == before:
                break
        children = 0
        while open_nodes and not children:
            open_nodes -= 1
            node, first, nominal = nodes[open_nodes, WAITING], count, False
            weigh_rows(node, places, slot, facts, nodes, settled, sums)
            tolerance = search(node, places, slot, facts, levels, columns, rules, nodes, settled, sums, found)
            column = choose(found, tolerance, rules)
            if column < 0:
                continue
            if levels is not None:
                nominal = levels[column] > 0
                if nominal and rules[EACH]:
                    children = branch_by_level(node, column, first, places, nodes, branch)
            if not children:
                children = branch_in_two(
                    node, column, first, places, cells, columns, nominal, nodes, settled, branch
                )
            nodes[node, FEATURE], nodes[node, FIRST], nodes[node, CHILDREN] = column, first, children
            count += children
    return count


@compiled
def number(roots: int, count: int, nodes: Nodes, levels: Rows, order: Rows, asked: Codes) -> int:
    """Number nodes level by level: fill ``order`` with them, and ``asked`` with their columns in a tree.

    These are the feature, the first child, how many children there are, the child for missing cells, and where the
    children of levels begin, of which there are as many as is returned.
    """
    filled, mapped = roots, 0
    for new in range(count):
        if new < roots:
            order[new] = new
        node = order[new]
        feature, first, children, empty = nodes[node, FEATURE], nodes[node, FIRST], nodes[node, CHILDREN], -1
        left, offset = -1, -1
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
