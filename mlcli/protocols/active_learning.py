"""Active learning: a model begins with few labels and asks for those it would learn most from, batch after batch.

Computed:
    In each repeat a share of the rows is held out (stratified), which judges and is never asked about. Of the
    others ``start`` rows are labelled at first, one of each class at least; the rest is the pool. Again and again
    the model is fitted to the labelled rows, judged, and the ``batch`` rows of the pool that the strategy ranks
    first get their class, until ``budget`` rows have one. Strategies: least-confidence 1 − P(y₁ | x); margin
    P(y₁ | x) − P(y₂ | x), the smallest first; entropy −Σ P ln P; committee: vote entropy −Σ V/C ln V/C of C
    models, each fitted to a bootstrap sample of the labelled rows; random, which the others have to beat. All
    strategies of a repeat have the same first labels, the same pool and the same judged rows. Among equals the
    order of the pool decides, which is random.

    The score of a model is that with the whole budget, averaged over strategies; the curve shows each strategy by
    the labels spent.

Cost:
    repeats × strategies × (budget − start) / batch fits, and ``members`` times more of a committee.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from mlcli.core.answers import Coordinate
from mlcli.core.errors import MlcliWarning
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.rows import Strata
from mlcli.core.tables import Codes, Rows
from mlcli.protocols._base import Split
from mlcli.protocols._queries import STRATEGIES, Queries
from mlcli.protocols.stratified_holdout import StratifiedHoldout

SPENT = "labels spent"


@register("active-learning", reference="Settles 2009, Active learning literature survey; Lewis & Gale 1994")
class ActiveLearning(StratifiedHoldout):
    """Holdouts in which labels are asked for, one strategy beside the other."""

    kinds: ClassVar[tuple[str, ...]] = ("classification",)

    strategies: tuple[str, ...] = param(
        ("random", "least-confidence", "margin", "entropy"), "what ranks the rows of the pool", choices=STRATEGIES
    )
    start: int = param(10, "how many rows are labelled at first", ge=1)
    batch: int = param(10, "how many labels are asked for at a time", ge=1)
    budget: int = param(100, "how many labels there are in the end, the first ones included", ge=1)
    members: int = param(5, "how many models a committee has", ge=2)
    repeats: int = param(5, "how often rows are held out anew", ge=1)

    def conflicts(self) -> list[str]:
        """No strategy, one twice, or a budget that is spent at the start."""
        found = [] if self.strategies else ["strategies takes one strategy or more"]
        if len(set(self.strategies)) < len(self.strategies):
            found.append("a strategy stands in strategies twice")
        if self.budget <= self.start:
            found.append(f"budget {self.budget} leaves nothing to ask for after the first {self.start} labels")
        return found

    def splits(self, strata: Strata, rng: np.random.Generator) -> Sequence[Split]:
        """For each repeat a split of every strategy."""
        assert strata.strata is not None
        found: list[Split] = []
        for place, fold in enumerate(super().splits(strata, rng), start=1):
            known, pool = _first_labels(fold.train, strata.strata, self.start, rng)
            found += self._by_strategy(fold, known, pool, f"repeat {place}")
        least = min(len(split.train) + len(split.hidden) for split in found)
        if least < self.budget:
            text = f"the budget is {self.budget} labels, but only {least} rows can be labelled: all of them are"
            warnings.warn(text, MlcliWarning, stacklevel=2)
        return found

    def _by_strategy(self, fold: Split, known: Rows, pool: Rows, label: str) -> Iterator[Split]:
        for strategy in self.strategies:
            yield Split(
                train=known,
                test=fold.test,
                label=f"{strategy}, {label}",
                hidden=pool,
                coordinate=Coordinate(SPENT, float(self.budget), strategy),
                queries=Queries(strategy, self.batch, self.budget, self.members),
            )


def _first_labels(train: Rows, y: Codes, start: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """The rows that are labelled at first, the first of each class among them; and the others in random order."""
    order = rng.permutation(train)
    of_class = np.unique(y[order], return_index=True)[1]
    first = np.concatenate([of_class, np.setdiff1d(np.arange(len(order)), of_class)])[: max(start, len(of_class))]
    return np.sort(order[first]), np.delete(order, first)
