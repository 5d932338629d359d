"""Active learning: a model begins with few labels and asks for those it would learn most from, batch after batch.

Computed:
    In each repeat a share of the rows is held out (of each class, where there are classes), which judges and is
    never asked about. Of the others ``start`` rows are labelled at first, one of each class at least; the rest is
    the pool. Again and again the model is fitted to the labelled rows, judged, and the ``batch`` rows of the pool
    that the strategy ranks first get their class or value, until ``budget`` rows have one. Strategies:
    least-confidence 1 − P(y₁ | x); margin P(y₁ | x) − P(y₂ | x), the smallest first; entropy −Σ P ln P; committee:
    C models, each fitted to a bootstrap sample of the labelled rows, rank by vote entropy −Σ V/C ln V/C of
    classes, or by the standard deviation of the values that they predict; random, which the others have to beat.
    A target of values has committee and random only, as nothing says how sure one model is of a value. All
    strategies of a repeat have the same first labels, the same pool and the same judged rows. Among equals the
    order of the pool decides, which is random.

    The score of a model is that with the whole budget, averaged over strategies; the curve shows each strategy by
    the labels spent.

Cost:
    repeats × strategies × (budget − start) / batch fits, and ``members`` times more of a committee.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mlcli.core.answers import Answers, Coordinate
from mlcli.core.errors import Problem, warn
from mlcli.core.moments import entropy
from mlcli.core.params import param
from mlcli.core.pipeline import Pipeline, predict_rows
from mlcli.core.registry import register
from mlcli.core.rows import SplitInfo
from mlcli.core.seeds import rng_for
from mlcli.core.tables import Array, Rows
from mlcli.protocols._base import MOST_REPEATS, Protocol, Split, problems_with_list
from mlcli.protocols.holdout import Holdout
from mlcli.protocols.stratified_holdout import StratifiedHoldout

SPENT = "labels spent"
Fit = Any
"""A learner: what is fitted to rows, by the split that they are of."""
RANDOM, COMMITTEE = "random", "committee"


def least_confidence(shares: Array) -> Array:
    """1 − P(y₁ | x): how improbable the most probable class is."""
    return np.asarray(1.0 - shares.max(axis=1))


def margin(shares: Array) -> Array:
    """P(y₂ | x) − P(y₁ | x): how near the second class comes to the first."""
    two = np.sort(shares, axis=1)[:, -2:]
    return np.asarray(two[:, 0] - two[:, -1])


UNSURE: dict[str, Callable[[Array], Array]] = {
    "least-confidence": least_confidence,
    "margin": margin,
    "entropy": entropy,
}
"""From the probabilities of classes (n × K), how unsure a model is of each row."""
FOR_VALUES = (RANDOM, COMMITTEE)
"""The strategies that need no probabilities of classes."""
STRATEGIES = (RANDOM, *UNSURE, COMMITTEE)


@dataclass(frozen=True)
class Queries:
    """How targets are asked for: by which strategy, how many at a time, up to how many labels in all."""

    strategy: str
    batch: int
    budget: int
    members: int
    """Of the committee."""


def most_informative(worth: Array, count: int) -> Rows:
    """The places of so many rows that are most worth asking about; of equals, the first."""
    return np.argsort(-np.round(worth, 12), kind="stable")[:count]


@register(
    "active-learning",
    reference="Settles 2009, Active learning literature survey; Lewis & Gale 1994; Burbidge et al. 2007",
)
class ActiveLearning(Protocol):
    """Holdouts in which labels are asked for, one strategy beside the other."""

    kinds: ClassVar[tuple[str, ...]] = ("classification", "regression")

    strategies: tuple[str, ...] | None = param(
        None,
        "what ranks the rows of the pool; none: all but committee for classes, random and committee for values",
        choices=STRATEGIES,
        if_given=True,
        default_means=lambda protocol, task: FOR_VALUES if task == "regressor" else (RANDOM, *UNSURE),
    )
    start: int = param(10, "how many rows are labelled at first", ge=1)
    batch: int = param(10, "how many labels are asked for at a time", ge=1)
    budget: int = param(100, "how many labels there are in the end, the first ones included", ge=1)
    members: int = param(5, "how many models a committee has", ge=2, matters_when={"strategies": "committee"})
    test_share: float = param(0.3, "the share of rows (of groups, where there are any) that is judged", gt=0, lt=1)
    repeats: int = param(5, "how often rows are held out anew", ge=1, le=MOST_REPEATS)

    def conflicts(self) -> list[str]:
        """No strategy, one twice, or a budget that is spent at the start."""
        result = [] if self.strategies is None else problems_with_list("strategies", "strategy", self.strategies)
        if self.budget <= self.start:
            result.append(f"budget {self.budget} leaves nothing to ask for after the first {self.start} labels")
        return result

    def problems_with_rows(self, strata: SplitInfo) -> list[Problem]:
        """Fewer than two rows, or strategies that need probabilities of classes where there are none."""
        misplaced = [name for name in self._strategies(strata) if strata.strata is None and name in UNSURE]
        named = f"{self.id}: {', '.join(misplaced)}"
        what = f"{named} ranks rows by probabilities of classes, and the target has values"
        hint = "strategies for values: random, and committee, by how far models of bootstrap samples are apart"
        return [*super().problems_with_rows(strata), *([Problem(what, hint=hint)] if misplaced else [])]

    def divided(self, strata: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """For each repeat a split of every strategy."""
        held_out = Holdout if strata.strata is None else StratifiedHoldout
        holdout = held_out(test_share=self.test_share, repeats=self.repeats)
        result: list[Split] = []
        for index, fold in enumerate(holdout.splits(strata, rng), start=1):
            # the rows that are labelled at first, the first of each class among them; and the others in random
            # order
            order = rng.permutation(fold.train)
            classes = np.zeros(strata.rows) if strata.strata is None else strata.strata
            of_class = np.unique(classes[order], return_index=True)[1]
            first = np.concatenate([of_class, np.setdiff1d(np.arange(len(order)), of_class)])[
                : max(self.start, len(of_class))
            ]
            known, pool = np.sort(order[first]), np.delete(order, first)
            result += self._by_strategy(strata, fold, known, pool, f"repeat {index}")
        least = min(len(split.train) + len(split.hidden) for split in result)
        if least < self.budget:
            text = f"the budget is {self.budget} labels, but only {least} rows can be labelled: all of them are"
            warn(text)
        return result

    def _strategies(self, strata: SplitInfo) -> tuple[str, ...]:
        """Those that were named, or those that the target allows."""
        if self.strategies is not None:
            return self.strategies
        return FOR_VALUES if strata.strata is None else (RANDOM, *UNSURE)

    def _by_strategy(self, strata: SplitInfo, fold: Split, known: Rows, pool: Rows, label: str) -> Iterator[Split]:
        for strategy in self._strategies(strata):
            yield Split(
                train=known,
                test=fold.test,
                label=f"{strategy}, {label}",
                hidden=pool,
                coordinate=Coordinate(SPENT, float(self.budget), strategy),
                queries=Queries(strategy, self.batch, self.budget, self.members),
            )


def models_by_batch(learner: Fit, rows: Any, split: Split, index: int) -> Iterator[tuple[Rows, Pipeline]]:
    """The rows whose target is known, and the model that has learned from them, after each batch of labels."""
    queries, known, pool = split.queries, split.train, split.hidden
    assert queries is not None
    while True:
        pipeline = learner.fitted(rows.hiding(known, pool), index)
        yield known, pipeline
        count = min(queries.batch, queries.budget - len(known), len(pool))
        if count <= 0:
            return
        chosen = most_informative(informativeness(queries, learner, pipeline, rows, known, pool, index), count)
        known, pool = np.sort(np.concatenate([known, pool[chosen]])), np.delete(pool, chosen)


def informativeness(
    queries: Queries, learner: Fit, pipeline: Pipeline, rows: Any, known: Rows, pool: Rows, index: int
) -> Array:
    """How much each row of the pool is worth asking about."""
    asked = rows.take(pool)
    if queries.strategy == RANDOM:
        return np.zeros(len(pool))
    if queries.strategy != COMMITTEE:
        answers: Any = predict_rows(pipeline, asked)
        return UNSURE[queries.strategy](answers.probabilities)
    predicted = []
    for member in range(queries.members):
        seed = f"{index}, {len(known)} labels, member {member}"
        drawn = rng_for("committee", learner.content, learner.seed, seed).choice(known, len(known))
        of_member: Any = predict_rows(learner.fitted(rows.take(np.sort(drawn)), seed), asked)
        predicted.append(of_member.predicted)
    return np.asarray(rows.disagreement(np.column_stack(predicted)))


def judged_by_labels(
    learner: Fit, rows: Any, split: Split, index: int
) -> tuple[Pipeline, Any, list[tuple[Coordinate, Answers]]]:
    """The last model, the rows that it has learned from, and what each model said of the judged rows."""
    assert split.coordinate is not None
    judged, stages = rows.take(split.test), []
    for known, pipeline in models_by_batch(learner, rows, split, index):
        at = Coordinate(split.coordinate.name, float(len(known)), split.coordinate.line)
        stages.append((at, predict_rows(pipeline, judged)))
    return pipeline, rows.take(known), stages
