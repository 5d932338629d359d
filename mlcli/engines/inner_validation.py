"""Validation inside the training rows, to choose values, models, columns, prunings, thresholds or weights.

Rows are split once more, with the share of each class in every part and groups kept whole. A model is fitted to
some rows and predicts the others: ``held_out_outputs`` returns the predictions, ``mean_loss`` their loss, and an
``InnerEvaluation`` scores many candidates by a metric. Candidates share what they have in common: steps are fitted
once for all that have the same, models that differ in their number of stages are one fit, and fits to the same
rows share what depends on the rows alone (``SharesWork``).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlcli.core.abilities import SharesWork, Staged, stage_name
from mlcli.core.answers import Answers
from mlcli.core.configuration import described_as
from mlcli.core.errors import MlcliError
from mlcli.core.model import Model
from mlcli.core.params import settings
from mlcli.core.pipeline import fit_steps
from mlcli.core.rows import RowsOfTable
from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.engines.ensemble import fitted, outputs
from mlcli.metrics.base import Metric, Undefined, joined
from mlcli.protocols._base import Split, by_class_if_any
from mlcli.protocols.holdout import held_out
from mlcli.protocols.k_fold import dealt
from mlcli.tasks.supervised import SupervisedRows

FAILURES = (MlcliError, np.linalg.LinAlgError, FloatingPointError)
"""Errors that end the evaluation of a candidate, but not the search."""
Part = tuple[Rows, Rows]
"""The rows to learn from and the rows to predict."""


def inner_folds(data: SupervisedRows, folds: int, rng: np.random.Generator) -> Codes:
    """The fold of each row; there are no more folds than rows or groups."""
    units = by_class_if_any(data.split_info())
    return dealt(units, min(folds, len(units)), rng)[units.of_row]


def inner_holdout(data: SupervisedRows, share: float, rng: np.random.Generator) -> Flags:
    """Which rows are held out; none if there is a single row or group."""
    units = by_class_if_any(data.split_info())
    if len(units) < 2:
        return np.zeros(len(data), bool)
    return np.asarray(held_out(units, share, rng)[units.of_row] == 0)


def parts_of_folds(folds: Codes) -> list[Part]:
    """The rows outside and inside each fold; nothing if there is only one fold."""
    numbers = np.unique(folds)
    if len(numbers) < 2:
        return []
    return [(np.flatnonzero(folds != number), np.flatnonzero(folds == number)) for number in numbers]


def held_out_outputs(model: Model, data: SupervisedRows, folds: Codes, rng: np.random.Generator) -> Array:
    """The outputs for the rows of each fold, of the model fitted to the other folds; 0 with a single fold."""
    result = np.zeros(data.outputs.shape)
    for (train, test), own in zip(parts_of_folds(folds), rng.spawn(int(folds.max()) + 1), strict=False):
        member = fitted(model, data.take(train), own)
        result[test] = outputs(member, data.table.take(test), data.task)
    return result


def row_losses(member: Model, rows: SupervisedRows) -> Array:
    """The loss of each row: the error of a class, the squared error of a value."""
    losses: Array = rows.task.losses(member.final, rows, outputs(member, rows.table, rows.task))
    return losses


def mean_loss(model: Model, data: SupervisedRows, parts: Sequence[Part], seed: int) -> float:
    """The weighted mean loss over the held-out rows of all parts, each predicted by a model of the other rows."""
    losses, weights = [], []
    for train, test in parts:
        judged = data.take(test)
        losses.append(row_losses(fitted(model, data.take(train), np.random.default_rng(seed)), judged))
        weights.append(judged.weights)
    return float(np.average(np.concatenate(losses), weights=np.concatenate(weights)))


@dataclass(frozen=True, eq=False)
class Candidate:
    """A configured model with the steps that it needs, and the values that define it."""

    values: dict[str, Any]
    model: Model
    name: str = ""
    """Its name if it is not defined by values."""


@dataclass(frozen=True, eq=False)
class InnerScore:
    """The mean inner score of a candidate with its standard error, or why there is none."""

    candidate: Candidate
    score: float = np.nan
    error: float = np.nan
    why: str = ""
    effort: float = 1.0
    """The share of rows, or stages, that it used."""
    infinite: int = 0
    """The splits in which its score is infinite: if all candidates have some, fewer are better."""

    def badness(self, metric: Metric) -> float:
        """Smaller for a better score; infinite without one."""
        if self.why or np.isnan(self.score):
            return float("inf")
        if metric.better == "zero":
            return abs(self.score)
        return -self.score if metric.better == "high" else self.score


@dataclass(frozen=True, eq=False)
class InnerEvaluation:
    """Rows with the inner splits in which every candidate is evaluated, all with the same random numbers."""

    data: RowsOfTable
    splits: Sequence[Split]
    metric: Metric
    seed: int
    pooled: bool = False
    effort: float = 1.0

    def trials(self, candidates: Sequence[Candidate]) -> list[InnerScore]:
        """The score of each candidate; those with the same steps are fitted together."""
        by_steps: dict[str, list[int]] = {}
        for index, candidate in enumerate(candidates):
            steps = [(step.id, settings(step)) for step in candidate.model.all_steps()]
            by_steps.setdefault(repr(steps), []).append(index)
        answers: list[list[Answers | str]] = [[] for _ in candidates]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the model that is chosen is fitted again, and warns then
            for number, split in enumerate(self.splits):
                for group in by_steps.values():
                    models = [candidates[index].model for index in group]
                    of_split = answers_of_split(models, self.data, split, self.seed + number)
                    for index, answer in zip(group, of_split, strict=True):
                        answers[index].append(answer)
        return [self._score(candidate, given) for candidate, given in zip(candidates, answers, strict=True)]

    def _score(self, candidate: Candidate, answers: Sequence[Answers | str]) -> InnerScore:
        why = next((answer for answer in answers if isinstance(answer, str) and answer), "")
        if why:
            return InnerScore(candidate, why=why, effort=self.effort)
        complete = [answer for answer in answers if not isinstance(answer, str)]
        score, error, why = mean_score(self.metric, complete, self.pooled)
        values = [] if np.isfinite(score) or why else [self.metric.compute(answer) for answer in complete]
        return InnerScore(candidate, score, error, why, self.effort, values.count(np.inf))


def answers_of_split(models: Sequence[Model], data: RowsOfTable, split: Split, seed: int) -> list[Answers | str]:
    """The answers of models with the same steps for the test rows of a split, or why there are none.

    Models that differ only in their number of stages are fitted once.
    """
    first = models[0].fresh()
    try:
        given = data.task.training_view(first, data.take(split.train))
        train = fit_steps(first, given, np.random.default_rng(seed))
        test = data.take(split.test)
        test = test.with_table(first.prepared(test.table))
    except FAILURES as problem:
        return [_first_line(problem)] * len(models)
    steps, finals = first.all_steps(), [model.final for model in models]
    memory: dict[Hashable, object] = {}

    def fit(model: Model) -> None:
        if isinstance(model, SharesWork):
            model.share_with(memory)
        task = train.task
        task.learn(model, task.training_view(model, train), np.random.default_rng(seed))
        task.annotate(model, train, given, steps)

    results: list[Answers | str] = [""] * len(models)
    for group in _alike_but_for_stages(finals):
        of_group = _answers_of_stages([finals[index] for index in group], test, fit)
        for index, answer in zip(group, of_group, strict=True):
            results[index] = answer
    return results


def _answers_of_stages(
    models: Sequence[Model], test: RowsOfTable, fit: Callable[[Model], None]
) -> list[Answers | str]:
    """The answers of models that differ only in their number of stages, by one fit of the longest."""
    counts = [getattr(model, stage_name(model)) for model in models] if len(models) > 1 else [1]
    longest, task = models[int(np.argmax(counts))].fresh(), test.task
    try:
        fit(longest)
        last: Answers = task.predict_rows(longest, test)
        if len(models) == 1 or not isinstance(longest, Staged):
            return [last] * len(models)
        at = sorted({count for count in counts if count < longest.stages()})
        predictions = longest.staged(test.table, at) if at else iter(())
        staged: dict[int, Answers] = {
            count: task.answers_with(longest, test, prediction)
            for count, prediction in zip(at, predictions, strict=True)
        }
    except FAILURES as problem:
        return [_first_line(problem)] * len(models)
    return [staged.get(count, last) for count in counts]


def mean_score(metric: Metric, answers: Sequence[Answers], pooled: bool) -> tuple[float, float, str]:
    """The mean of a metric over splits, its standard error, and why there is none.

    It is one score of all answers if they are ``pooled``, if there is one split, or if the metric is undefined in
    one.
    """
    values = [metric.compute(answer) for answer in answers]
    numbers = np.array([value for value in values if not isinstance(value, Undefined)])
    if not pooled and len(numbers) == len(values) > 1:
        error = float(numbers.std(ddof=1)) / np.sqrt(len(numbers)) if np.isfinite(numbers).all() else np.nan
        return float(numbers.mean()), float(error), ""
    together = joined(answers)
    value = metric.compute(together)
    if isinstance(value, Undefined):
        return np.nan, np.nan, value.why
    if metric.per_row is None or len(together) < 2:
        return float(value), np.nan, ""
    rows: Array = metric.per_row(together)
    error = rows.std(ddof=1) / np.sqrt(len(rows)) if np.isfinite(rows).all() else np.nan
    return float(value), float(error), ""


def _alike_but_for_stages(models: Sequence[Model]) -> Iterable[list[int]]:
    """The indices of models that are the same but for their number of stages."""
    groups: dict[str, list[int]] = {}
    for index, model in enumerate(models):
        plain = described_as(model)
        stages = stage_name(model)
        count = plain["params"].get(stages) if stages else None
        others = {name: value for name, value in plain["params"].items() if name != stages}
        key = repr((model.id, others)) if isinstance(count, int) else str(index)
        groups.setdefault(key, []).append(index)
    return groups.values()


def _first_line(problem: BaseException) -> str:
    return str(problem).partition("\n")[0] or type(problem).__name__
