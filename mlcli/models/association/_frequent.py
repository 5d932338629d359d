"""Frequent itemsets by FP-growth (Han, Pei & Yin 2000): in a tree, rows share the beginnings of their items."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.tables import Array, Flags
from mlcli.tasks.association import Itemset
from mlcli.tasks.classification import DECIMALS

MOST_SETS = 1_000_000
"""Frequent sets that are held; a support that gives more of them gives more rules than anyone can read."""
Path = tuple[Itemset, float]
"""Some items, the most frequent first, with the weight of the rows that have them."""


@dataclass(eq=False)
class Node:
    """An item on a path from the root, with the weight of the rows whose items begin like this path."""

    item: int
    parent: Node | None
    weight: float = 0.0
    children: dict[int, Node] = field(default_factory=dict)

    def path(self) -> Itemset:
        """The items above this one, from the root."""
        items: list[int] = []
        node = self.parent
        while node is not None and node.parent is not None:
            items.append(node.item)
            node = node.parent
        return tuple(reversed(items))


def frequent_itemsets(baskets: Flags, weights: Array, min_support: float, max_items: int) -> dict[Itemset, float]:
    """The support of each set of at most ``max_items`` items that enough rows have; the weights add up to 1."""
    rows, place = np.unique(baskets, axis=0, return_inverse=True)
    shares = np.bincount(place.ravel(), weights, len(rows)).tolist()
    paths = [(tuple(np.flatnonzero(row).tolist()), share) for row, share in zip(rows, shares, strict=True)]
    found: dict[Itemset, float] = {}
    for items, support in _grown(paths, (), min_support, max_items):
        if len(found) == MOST_SETS:
            what = f"more than {MOST_SETS:,} sets of items are in {min_support:g} of the rows or more"
            raise FitError(what, hint=f"ask for a higher min_support, or for less than {max_items} max_items")
        found[items] = support
    return found


def reaching(support: float, least: float) -> bool:
    """Whether a support is large enough, but for rounding."""
    return bool(support >= least * (1 - 10.0**-DECIMALS))


def _grown(
    paths: Iterable[Path], suffix: Itemset, min_support: float, max_items: int
) -> Iterator[tuple[Itemset, float]]:
    """Every frequent set that adds items of these paths to the suffix."""
    paths = list(paths)
    support = _supports(paths, min_support)
    for item, share in support.items():
        yield tuple(sorted((item, *suffix))), share
    if len(suffix) + 1 >= max_items:
        return
    nodes = _tree(paths, support)
    for item in support:
        below = [(node.path(), node.weight) for node in nodes[item]]
        yield from _grown(below, (item, *suffix), min_support, max_items)


def _supports(paths: Iterable[Path], min_support: float) -> dict[int, float]:
    """The frequent items, the most frequent first."""
    sums: dict[int, float] = defaultdict(float)
    for items, weight in paths:
        for item in items:
            sums[item] += weight
    frequent = [(item, share) for item, share in sums.items() if reaching(share, min_support)]
    return dict(sorted(frequent, key=lambda one: (-one[1], one[0])))


def _tree(paths: Iterable[Path], support: dict[int, float]) -> dict[int, list[Node]]:
    """The FP-tree of the frequent items of paths, as the nodes of each item."""
    rank = {item: place for place, item in enumerate(support)}
    root, nodes = Node(-1, None), defaultdict(list)
    for items, weight in paths:
        node = root
        for item in sorted((item for item in items if item in rank), key=rank.__getitem__):
            child = node.children.get(item)
            if child is None:
                child = node.children[item] = Node(item, node)
                nodes[item].append(child)
            child.weight += weight
            node = child
    return nodes
