"""FP-growth: sets of items that often stand together, and the rules that follow from them.

Formula:
    support(A) = share of the rows that have every item of A; a set is frequent when it reaches `min_support`. Each
    frequent set of two items or more is cut into A → B in every way, and kept when
    confidence = support(A ∪ B) / support(A) reaches `min_confidence`. lift = confidence / support(B);
    conviction = (1 − support(B)) / (1 − confidence).

    The frequent items of a row, the most frequent first, are a path in a tree that rows with the same beginning
    share; the sets that end in an item are found in the smaller tree of the paths that lead to it, and so on.

Assumes:
    Nothing of the rows; but of very many rules that are tried some hold by chance: look at what is left of them on
    rows that did not make them.

Cost:
    Grows with the number of frequent sets, which a low `min_support` lets explode; `max_items` bounds their size.
    More than a million sets are refused.

Choices:
    Of the rules that qualify, `most` are kept, the best by `order` first; of equals, the one with more support,
    then the shorter one, then by the order of the columns. Weighted rows count with their share of the weight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import nsmallest
from itertools import combinations

from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Flags
from mlcli.models.association._frequent import frequent_itemsets, reaching
from mlcli.tasks.association import Associator, Itemset, Rule
from mlcli.tasks.classification import DECIMALS

ORDERS: dict[str, Callable[[Rule], float]] = {
    "lift": lambda rule: rule.lift,
    "confidence": lambda rule: rule.confidence,
    "support": lambda rule: rule.support,
}


@register("fp-growth", reference="Han, Pei & Yin 2000, Mining frequent patterns without candidate generation")
@dataclass(kw_only=True, eq=False)
class FPGrowth(Associator):
    """Rules from frequent sets of items."""

    min_support: float = param(0.1, "the share of rows that must have all items of a rule", gt=0.0, le=1.0)
    min_confidence: float = param(0.6, "how often the rule must hold where it applies", ge=0.0, le=1.0)
    max_items: int = param(4, "how many items a rule may have, both sides together", ge=2)
    most: int = param(100, "how many rules are kept, the best first", ge=1)
    order: str = param("lift", "what makes a rule better than another", choices=ORDERS)

    def mined(self, baskets: Flags, weights: Array) -> list[Rule]:
        """The best rules of all frequent sets."""
        supports = frequent_itemsets(baskets, weights, self.min_support, self.max_items)
        rules = (rule for items in supports for rule in self._rules_of(items, supports))
        return nsmallest(self.most, rules, key=self._worse)

    def _rules_of(self, items: Itemset, supports: dict[Itemset, float]) -> Iterator[Rule]:
        """Every way to cut a set into a condition and what follows that holds often enough."""
        support = supports[items]
        for size in range(1, len(items)):
            for when in combinations(items, size):
                if reaching(support, self.min_confidence * supports[when]):
                    then = tuple(item for item in items if item not in when)
                    yield Rule(when, then, support, supports[when], supports[then])

    def _worse(self, rule: Rule) -> tuple[float, float, int, Itemset, Itemset]:
        quality, support = (round(value, DECIMALS) for value in (ORDERS[self.order](rule), rule.support))
        return -quality, -support, len(rule.when) + len(rule.then), rule.when, rule.then
