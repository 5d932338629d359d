"""FP-growth: sets of items that often stand together, and the rules that follow from them.

Formula:
    support(A) = share of the rows that have every item of A; a set is frequent when it reaches `min_support`. Each
    frequent set of two items or more is cut into A → B in every way, and kept when
    confidence = support(A ∪ B) / support(A) reaches `min_confidence`. lift = confidence / support(B);
    conviction = (1 − support(B)) / (1 − confidence).

    The frequent items of a row, the most frequent first, are a path in a tree that rows with the same beginning
    share; the sets that end in an item are found in the smaller tree of the paths that lead to it, and so on.

Assumes:
    Nothing about the rows; but of very many rules some hold by chance: check them on rows that did not make
    them.

Cost:
    Grows with the number of frequent sets, which explodes with a low `min_support`; `max_items` bounds their
    size. More than a million sets are refused.

Choices:
    Of the rules that qualify, `most` are kept, the best by `order` first; of equals, the one with more support,
    then the shorter one, then by the order of the columns. Weighted rows count with their share of the weight.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import nsmallest
from itertools import chain, combinations

import numpy as np

from mlcli.core import DECIMALS
from mlcli.core.errors import FitError
from mlcli.core.findings import Explanation, Table
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Flags
from mlcli.tasks.association import Associator, Itemset, Rule, items_in_words, padded

MOST_SETS = 1_000_000
"""The most frequent sets; with more there are more rules than anyone can read."""
Path = tuple[Itemset, float]
"""Some items, the most frequent first, with the weight of the rows that have them."""


@register("fp-growth", reference="Han, Pei & Yin 2000, Mining frequent patterns without candidate generation")
class FPGrowth(Associator):
    """Rules from frequent sets of items."""

    min_support: float = param(0.1, "minimum share of rows that have all items of a rule", gt=0.0, le=1.0)
    min_confidence: float = param(
        0.6, "minimum share of the rows with the condition for which the rule holds", ge=0.0, le=1.0
    )
    max_items: int = param(4, "maximum number of items of a rule, both sides together", ge=2)
    most: int = param(100, "maximum number of rules, the best first", ge=1)
    order: str = param("lift", "measure by which rules are sorted", choices=("lift", "confidence", "support"))

    itemsets_: Codes = learned("itemsets", "longest")
    """The frequent sets with most support, filled up with -1."""
    supports_: Array = learned("itemsets")
    found_: int = learned()
    """How many sets are frequent."""

    def mined(self, baskets: Flags, weights: Array) -> list[Rule]:
        """The best rules of all frequent sets."""
        supports = frequent_itemsets(baskets, weights, self.min_support, self.max_items)
        best = nsmallest(30, supports, key=lambda items: (-round(supports[items], DECIMALS), len(items), items))
        self.itemsets_, self.supports_ = padded(best), np.array([supports[items] for items in best])
        self.found_ = len(supports)

        def rules() -> Iterator[Rule]:
            """Every way to cut a set into a condition and what follows that holds often enough."""
            for items, support in supports.items():
                for when in chain.from_iterable(combinations(items, size) for size in range(1, len(items))):
                    if reaching(support, self.min_confidence * supports[when]):
                        then = tuple(item for item in items if item not in when)
                        yield Rule(when, then, support, supports[when], supports[then])

        def rank(rule: Rule) -> tuple[float, float, int, Itemset, Itemset]:
            quality = {"lift": rule.lift, "confidence": rule.confidence, "support": rule.support}[self.order]
            size = len(rule.when) + len(rule.then)
            return -round(quality, DECIMALS), -round(rule.support, DECIMALS), size, rule.when, rule.then

        return nsmallest(self.most, rules(), key=rank)

    def explain(self) -> Explanation:
        """The rules, then the frequent sets."""
        names = self.item_names()
        sets = (tuple(int(item) for item in row if item >= 0) for row in self.itemsets_)
        pairs = zip(sets, self.supports_.tolist(), strict=True)
        rows = tuple((items_in_words(items, names), len(items), support) for items, support in pairs)
        left_out = self.found_ - len(rows)
        note = f"the {len(rows)} with most support are shown" if left_out else ""
        title = f"Frequent sets of items: {self.found_}"
        frequent = (Table(title, ("items", "size", "support"), rows, note=note),) if rows else ()
        return (*super().explain(), *frequent)

    def check_learned(self) -> None:
        """Sets of items that there are."""
        super().check_learned()
        if ((self.itemsets_ < -1) | (self.itemsets_ >= len(self.item_names()))).any():
            raise ValueError("a set names an item that there is not")


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
    rows, index = np.unique(baskets, axis=0, return_inverse=True)
    shares = np.bincount(index.ravel(), weights, len(rows)).tolist()
    paths = [(tuple(np.flatnonzero(row).tolist()), share) for row, share in zip(rows, shares, strict=True)]
    result: dict[Itemset, float] = {}
    for items, support in _grow(paths, (), min_support, max_items):
        if len(result) == MOST_SETS:
            message = f"more than {MOST_SETS:,} sets of items are in {min_support:g} of the rows or more"
            raise FitError(message, hint=f"ask for a higher min_support, or for less than {max_items} max_items")
        result[items] = support
    return result


def reaching(support: float, least: float) -> bool:
    """Whether a support is large enough, but for rounding."""
    return bool(support >= least * (1 - 10.0**-DECIMALS))


def _grow(
    paths: list[Path], suffix: Itemset, min_support: float, max_items: int
) -> Iterator[tuple[Itemset, float]]:
    """Every frequent set that adds items of these paths to the suffix."""
    sums: dict[int, float] = defaultdict(float)
    for items, weight in paths:
        for item in items:
            sums[item] += weight
    frequent = [(item, share) for item, share in sums.items() if reaching(share, min_support)]
    supports = dict(sorted(frequent, key=lambda pair: (-pair[1], pair[0])))
    for item, share in supports.items():
        yield tuple(sorted((item, *suffix))), share
    if len(suffix) + 1 < max_items:
        nodes = _tree(paths, list(supports))
        for item in supports:
            conditional = [(node.path(), node.weight) for node in nodes[item]]
            yield from _grow(conditional, (item, *suffix), min_support, max_items)


def _tree(paths: list[Path], items_in_order: list[int]) -> dict[int, list[Node]]:
    """The FP-tree of the frequent items of paths, as the nodes of each item."""
    rank = {item: index for index, item in enumerate(items_in_order)}
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
