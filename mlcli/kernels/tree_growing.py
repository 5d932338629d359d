"""Compiled growing of whole trees: a node is searched and split, and its last child is next.

The order of every column is dealt on to the children (see ``tree_scans`` for how ``places`` hold them), and so are
the rows in their own order, which stands behind the columns: sums over it are those that NumPy makes, to the bit.
On binned columns large nodes are searched by histograms, and their rows are dealt on in their own order alone.
Once they are few enough for ``places`` they are ordered there, and the tree below is grown before any other.
Without classes ``slot`` is None, without nominal columns ``levels``: what is not there is not compiled.
"""

from __future__ import annotations

from mlcli.core.tables import Array, Rows
from mlcli.kernels.tree_histograms import Bins, order_few, split_bins
from mlcli.kernels.tree_layout import (
    BEGIN,
    BUFFER,
    CHILDREN,
    DEPTH,
    EACH,
    EMPTY,
    END,
    FEATURE,
    FIRST,
    MAX_DEPTH,
    MEAN,
    MIN_SPLIT,
    NEXT,
    OF_SHARES,
    ORDERED,
    OUTPUT,
    PURITY,
    ROW,
    ROW_WEIGHT,
    SPREAD,
    WAITING,
    WEIGHT,
    Nodes,
    Places,
)
from mlcli.kernels.tree_search import branch_by_level, branch_in_two, choose, search, weigh_rows
from mlcli.kernels.without_counting import compiled, inlined

SMALLEST = (8 * 2.0**-52) ** 2
"""A spread is rounding if it is at most this times the squared mean."""


@inlined
def settle(
    node: int, parent: int, places: Places, slot: Rows | None, facts: Array, rules: Array, nodes: Nodes,
    settled: Array,
) -> bool:  # fmt: skip
    """Begin a node: sum up its rows, and tell whether it may be split."""
    nodes[node, FEATURE], nodes[node, FIRST], nodes[node, CHILDREN], nodes[node, EMPTY] = -1, -1, 0, -1
    nodes[node, BUFFER], nodes[node, DEPTH] = 1 - nodes[parent, BUFFER], nodes[parent, DEPTH] + 1
    nodes[node, ORDERED] = nodes[parent, ORDERED]
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
    settled[node, WEIGHT], settled[node, SPREAD] = weight, spread
    pure = largest >= rules[PURITY] if rules[OF_SHARES] else spread <= (1 - rules[PURITY]) * settled[0, SPREAD]
    return bool(not pure and weight >= rules[MIN_SPLIT] and nodes[node, DEPTH] < rules[MAX_DEPTH])


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


@inlined
def open_children(
    node: int, first: int, children: int, open_nodes: int, places: Places, slot: Rows | None, facts: Array,
    rules: Array, nodes: Nodes, settled: Array, branch: Rows,
) -> int:  # fmt: skip
    """Deal the rows of a node to its children, and put those on the stack that may be split; how high it is then.

    The order of columns is of no use where none may be.
    """
    before = open_nodes
    for order in range(places.shape[1] - 1, -1, -1):
        deal(node, order, first, children, places, nodes, branch)
        for child in range(first, first + children if order == places.shape[1] - 1 else first):
            if settle(child, node, places, slot, facts, rules, nodes, settled):
                nodes[open_nodes, WAITING] = child
                open_nodes += 1
        if open_nodes == before:
            break
    return open_nodes


@compiled
def grow(
    roots: int, places: Places, dealt: Places, bins: Bins | None, slot: Rows | None, facts: Array,
    levels: Rows | None, columns: Rows, rules: Array, nodes: Nodes, settled: Array, branch: Rows, sums: Array,
    found: Array, histogram: Array | None, used: Rows | None, counts: Rows | None,
) -> int:  # fmt: skip
    """Grow a tree from each of the roots, with which ``nodes`` begins; how many nodes there are.

    At first the node behind the roots has all rows, and ``branch`` the root of each. What is called here, is
    called in one place, never with a number written out: it is compiled once for each.
    """
    node, first, children, count, open_nodes = roots, roots - roots, roots, roots, roots - roots
    while children:
        here, count = places if nodes[node, ORDERED] else dealt, first + children
        open_nodes = open_children(
            node, first, children, open_nodes, here, slot, facts, rules, nodes, settled, branch
        )
        children = 0
        while open_nodes and not children:
            open_nodes -= 1
            node, first, nominal = nodes[open_nodes, WAITING], count, False
            if bins is not None:
                many = not nodes[node, ORDERED] and not order_few(node, places, dealt, bins, nodes, counts)
                if many:
                    children = split_bins(
                        node, first, dealt, bins, slot, facts, levels, columns, rules, nodes, settled, branch,
                        sums, found, histogram, used, counts,
                    )  # fmt: skip
                    continue
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
                children = branch_in_two(node, column, first, places, columns, nominal, nodes, branch)
            nodes[node, FEATURE], nodes[node, FIRST], nodes[node, CHILDREN] = column, first, children
    return count
