"""Active learning: a model begins with few labels and asks for those it would learn most from, batch after batch.

Computed:
    In each repeat a share of the rows is held out (of each class, where there are classes), which tests and is
    never queried. Of the others ``start`` rows are labelled at first, one of each class at least; the rest is
    the pool. Again and again the model is fitted to the labelled rows, scored, and the ``batch`` rows of the pool
    that the strategy ranks first get their class or value, until ``budget`` rows have one. Strategies:
    least-confidence 1 − P(y₁ | x); margin P(y₁ | x) − P(y₂ | x), the smallest first; entropy −Σ P ln P; committee:
    C models, each fitted to a bootstrap sample of the labelled rows, rank by vote entropy −Σ V/C ln V/C of
    classes, or by the standard deviation of the values that they predict; random, which the others have to beat.
    A target of values has committee and random only, as nothing says how sure one model is of a value. All
    strategies of a repeat have the same first labels, the same pool and the same test rows. Among equals the
    order of the pool decides, which is random.

    The score of a model is that with the whole budget, averaged over strategies; the curve shows each strategy by
    the labels spent.

Cost:
    repeats × strategies × (budget − start) / batch fits, and ``members`` times more of a committee.
"""

from __future__ import annotations

import typing
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
from mlcli.core.rows import RowsOfTable, SplitInfo
from mlcli.core.serialise import rng_for
from mlcli.core.tables import Array, Rows
from mlcli.protocols._base import MOST_REPEATS, Protocol, Split, problems_with_list
from mlcli.protocols.holdout import Holdout, StratifiedHoldout
from mlcli.tasks.supervised import SupervisedRows


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
FOR_CLASSES, FOR_VALUES = ("random", *UNSURE), ("random", "committee")
"""The default strategies by target; those for values need no probabilities of classes."""


@dataclass(frozen=True)
class Queries:
    """How targets are asked for: by which strategy, how many at a time, up to how many labels in all."""

    strategy: str
    batch: int
    budget: int
    members: int
    """Of the committee."""


class Learner(typing.Protocol):
    """What fits a pipeline to rows."""

    @property
    def content(self) -> str:
        """The hash of the dataset."""

    @property
    def seed(self) -> int:
        """The seed of the experiment."""

    def fitted(self, rows: RowsOfTable, split: int | str) -> Pipeline:
        """A pipeline fitted to the training rows of a split."""


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
        choices=(*FOR_CLASSES, "committee"),
        if_given=True,
        default_means=lambda protocol, task: FOR_VALUES if task == "regressor" else FOR_CLASSES,
    )
    start: int = param(10, "how many rows are labelled at first", ge=1)
    batch: int = param(10, "how many labels are asked for at a time", ge=1)
    budget: int = param(100, "how many labels there are in the end, the first ones included", ge=1)
    members: int = param(5, "how many models a committee has", ge=2, matters_when={"strategies": "committee"})
    test_share: float = param(0.3, "the share of rows (of groups, where there are any) that is tested", gt=0, lt=1)
    repeats: int = param(5, "how often rows are held out anew", ge=1, le=MOST_REPEATS)

    def conflicts(self) -> list[str]:
        """No strategy, one twice, or a budget that is spent at the start."""
        result = [] if self.strategies is None else problems_with_list("strategies", "strategy", self.strategies)
        if self.budget <= self.start:
            result.append(f"budget {self.budget} leaves nothing to ask for after the first {self.start} labels")
        return result

    def problems_with_rows(self, info: SplitInfo) -> list[Problem]:
        """Fewer than two rows, or strategies that need probabilities of classes where there are none."""
        problems = super().problems_with_rows(info)
        misplaced = [name for name in self.strategies or () if name in UNSURE]
        if info.strata is None and misplaced:
            named = f"{self.id}: {', '.join(misplaced)}"
            what = f"{named} ranks rows by probabilities of classes, and the target has values"
            hint = "strategies for values: random, and committee, by how far models of bootstrap samples are apart"
            problems.append(Problem(what, hint=hint))
        return problems

    def divided(self, info: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """For each repeat a split of every strategy."""
        cls = Holdout if info.strata is None else StratifiedHoldout
        holdout = cls(test_share=self.test_share, repeats=self.repeats)
        classes = np.zeros(info.rows) if info.strata is None else info.strata
        strategies = self.strategies or (FOR_VALUES if info.strata is None else FOR_CLASSES)
        splits: list[Split] = []
        for index, fold in enumerate(holdout.splits(info, rng), start=1):
            # Of the rows in random order the first of each class, then the very first, are labelled at the start.
            order = rng.permutation(fold.train)
            of_class = np.unique(classes[order], return_index=True)[1]
            others = np.setdiff1d(np.arange(len(order)), of_class)
            first = np.concatenate([of_class, others])[: max(self.start, len(of_class))]
            labelled, pool = np.sort(order[first]), np.delete(order, first)
            for strategy in strategies:
                split = Split(
                    train=labelled,
                    test=fold.test,
                    label=f"{strategy}, repeat {index}",
                    hidden=pool,
                    coordinate=Coordinate("labels spent", float(self.budget), strategy),
                    queries=Queries(strategy, self.batch, self.budget, self.members),
                )
                splits.append(split)
        least = min(len(split.train) + len(split.hidden) for split in splits)
        if least < self.budget:
            warn(f"the budget is {self.budget} labels, but only {least} rows can be labelled: all of them are")
        return splits


def judged_by_labels(
    learner: Learner, rows: SupervisedRows, split: Split, index: int
) -> tuple[Pipeline, SupervisedRows, list[tuple[Coordinate, Answers]]]:
    """The last model, its labelled rows, and the answers of each model about the test rows."""
    assert split.coordinate is not None
    test_rows, stages = rows.take(split.test), []
    for labelled, pipeline in models_by_batch(learner, rows, split, index):
        coordinate = Coordinate(split.coordinate.name, float(len(labelled)), split.coordinate.line)
        stages.append((coordinate, predict_rows(pipeline, test_rows)))
    return pipeline, rows.take(labelled), stages


def models_by_batch(
    learner: Learner, rows: SupervisedRows, split: Split, index: int
) -> Iterator[tuple[Rows, Pipeline]]:
    """The rows whose target is known, and the model that has learned from them, after each batch of labels."""
    queries, labelled, pool = split.queries, split.train, split.hidden
    assert queries is not None
    while True:
        pipeline = learner.fitted(rows.hiding(labelled, pool), index)
        yield labelled, pipeline
        count = min(queries.batch, queries.budget - len(labelled), len(pool))
        if count <= 0:
            return
        value = informativeness(queries, learner, pipeline, rows, labelled, pool, index)
        chosen = most_informative(value, count)
        labelled, pool = np.sort(np.concatenate([labelled, pool[chosen]])), np.delete(pool, chosen)


def informativeness(
    queries: Queries,
    learner: Learner,
    pipeline: Pipeline,
    rows: SupervisedRows,
    labelled: Rows,
    pool: Rows,
    index: int,
) -> Array:
    """How much each row of the pool is worth asking about."""
    if queries.strategy == "random":
        return np.zeros(len(pool))
    pool_rows = rows.take(pool)
    answers: Any
    if queries.strategy != "committee":
        answers = predict_rows(pipeline, pool_rows)
        return UNSURE[queries.strategy](answers.probabilities)
    predicted = []
    for member in range(queries.members):
        seed = f"{index}, {len(labelled)} labels, member {member}"
        sample = rng_for("committee", learner.content, learner.seed, seed).choice(labelled, len(labelled))
        answers = predict_rows(learner.fitted(rows.take(np.sort(sample)), seed), pool_rows)
        predicted.append(answers.predicted)
    return rows.disagreement(np.column_stack(predicted))


def most_informative(value: Array, count: int) -> Rows:
    """The indices of the ``count`` largest values; of equal ones the first."""
    return np.argsort(-np.round(value, 12), kind="stable")[:count]
