"""Validation inside the training rows: for choosing values, models, columns, prunings, thresholds and weights.

Rows are split once more, with the share of each class in every part and groups kept whole. A model is fitted to
some rows and predicts the others: ``held_out_outputs`` returns the predictions, ``mean_loss`` their loss, and an
``InnerEvaluation`` scores many candidates by a metric. Candidates share what they have in common: steps are fitted
once for all that have the same, models that differ in their number of stages are one fit, and fits to the same
rows share what depends on the rows alone (``SharesWork``).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mlcli.core.abilities import SharesWork, Staged, stage_name
from mlcli.core.answers import Answers
from mlcli.core.configuration import described_as
from mlcli.core.errors import MlcliError
from mlcli.core.model import Model
from mlcli.core.params import settings
from mlcli.core.pipeline import fit_steps
from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.engines.ensemble import fitted, outputs
from mlcli.engines.tuning.space import Values
from mlcli.metrics.base import Metric, Undefined
from mlcli.metrics.pooling import joined
from mlcli.protocols._base import Split, by_class_if_any
from mlcli.protocols.holdout import held_out
from mlcli.protocols.k_fold import dealt
from mlcli.tasks.supervised import SupervisedRows

FAILURES = (MlcliError, np.linalg.LinAlgError, FloatingPointError)
"""What ends a candidate, not the search."""
BADNESS = {"high": -1.0, "low": 1.0}
Part = tuple[Rows, Rows]
"""The rows to learn from and the rows to predict."""


def inner_folds(data: SupervisedRows, folds: int, rng: np.random.Generator) -> Codes:
    """The fold of each row; as many folds as there are rows, or groups, where these are fewer."""
    units = by_class_if_any(data.split_info())
    return dealt(units, min(folds, len(units)), rng)[units.of_row]


def inner_holdout(data: SupervisedRows, share: float, rng: np.random.Generator) -> Flags:
    """Which rows are held out; none where there is a single row, or group."""
    units = by_class_if_any(data.split_info())
    if len(units) < 2:
        return np.zeros(len(data), bool)
    return np.asarray(held_out(units, share, rng)[units.of_row] == 0)


def parts_of_folds(folds: Codes) -> list[Part]:
    """The rows outside and inside each fold; nothing where there is only one fold."""
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
    """A configured model behind the steps that it needs, and the values that make it."""

    values: Values
    model: Model
    name: str = ""
    """What it is called where it is no combination of values."""


@dataclass(frozen=True, eq=False)
class InnerScore:
    """What came of a candidate: its mean inner score with its standard error, or why there is none."""

    candidate: Candidate
    score: float = np.nan
    error: float = np.nan
    why: str = ""
    effort: float = 1.0
    """The share of rows, or stages, that it had."""
    infinite: int = 0
    """In how many splits its score is infinite: where that of all candidates is, fewer are better."""

    def badness(self, metric: Metric) -> float:
        """Smaller for a better score; infinite without one."""
        if self.why or np.isnan(self.score):
            return float("inf")
        return abs(self.score) if metric.better == "zero" else BADNESS[metric.better] * self.score


@dataclass(frozen=True, eq=False)
class InnerEvaluation:
    """Rows with the inner splits in which every candidate is judged, all by the same random numbers."""

    data: Any
    splits: Sequence[Split]
    metric: Metric
    seed: int
    pooled: bool = False
    effort: float = 1.0

    def trials(self, candidates: Sequence[Candidate]) -> list[InnerScore]:
        """What comes of each candidate."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the model that is chosen is fitted again, and warns then
            results = self._answers(candidates)
        return [self._scored(candidate, of) for candidate, of in zip(candidates, results, strict=True)]

    def _scored(self, candidate: Candidate, result: CandidateAnswers) -> InnerScore:
        if result.why:
            return InnerScore(candidate, why=result.why, effort=self.effort)
        score, error, why = scored(self.metric, result.answers, self.pooled)
        values = [] if np.isfinite(score) or why else [self.metric.compute(answer) for answer in result.answers]
        return InnerScore(candidate, score, error, why, self.effort, values.count(np.inf))

    def _answers(self, candidates: Sequence[Candidate]) -> list[CandidateAnswers]:
        """The answers of each candidate in every split; those with the same steps are fitted together."""
        results = [CandidateAnswers() for _ in candidates]
        groups: dict[str, list[int]] = {}
        for index, candidate in enumerate(candidates):
            steps = [(step.id, settings(step)) for step in candidate.model.all_steps()]
            groups.setdefault(repr(steps), []).append(index)
        for number, split in enumerate(self.splits):
            for group in groups.values():
                models, seed = [candidates[index].model for index in group], self.seed + number
                answers = PreparedSplit.answers_to(models, self.data, split.train, split.test, seed)
                for index, of_split in zip(group, answers, strict=True):
                    results[index].add(of_split)
        return results


@dataclass(eq=False)
class CandidateAnswers:
    """The answers of a candidate so far, or why it has none."""

    answers: list[Answers] = field(default_factory=list)
    why: str = ""

    def add(self, one: Answers | str) -> None:
        """Those of one more split, or why there are none."""
        if isinstance(one, str):
            self.why = self.why or one
        else:
            self.answers.append(one)


@dataclass(frozen=True, eq=False)
class PreparedSplit:
    """The rows of a split as steps have prepared them, and a memory that fits to them share."""

    train: Any
    test: Any
    given: Any
    """The training rows as they were before the steps."""
    steps: tuple[Any, ...]
    seed: int
    memory: dict[Any, Any] = field(default_factory=dict)

    @staticmethod
    def answers_to(models: Sequence[Model], data: Any, train: Rows, test: Rows, seed: int) -> list[Answers | str]:
        """What each of some models with the same steps says of the rows that are judged, or why it cannot."""
        first = models[0].fresh()
        try:
            given = data.task.training_view(first, data.take(train))
            prepared = fit_steps(first, given, np.random.default_rng(seed))
            asked = data.take(test)
            asked = asked.with_table(first.prepared(asked.table))
        except FAILURES as problem:
            return [_first_line(problem)] * len(models)
        split = PreparedSplit(prepared, asked, given, first.all_steps(), seed)
        return split.answers([model.final for model in models])

    def answers(self, models: Sequence[Model]) -> list[Answers | str]:
        """What each says; those that are one fit with more or fewer stages are fitted once."""
        result: list[Answers | str] = [""] * len(models)
        for alike_but_for_stage in _alike_but_for_stages(models):
            for place, staged_answer in zip(
                alike_but_for_stage,
                self._staged_answers([models[place] for place in alike_but_for_stage]),
                strict=True,
            ):
                result[place] = staged_answer
        return result

    def _staged_answers(self, models: Sequence[Model]) -> list[Answers | str]:
        """The answers of models that differ in their number of stages alone."""
        counts = [getattr(model, stage_name(model)) for model in models] if len(models) > 1 else [1]
        longest = models[int(np.argmax(counts))].fresh()
        try:
            self._learn(longest)
            last = self.test.task.predict_rows(longest, self.test)
            if len(models) == 1 or not isinstance(longest, Staged):
                return [last] * len(models)
            rows, at = self.test, sorted({count for count in counts if count < longest.stages()})
            predictions = longest.staged(rows.table, at) if at else iter(())
            staged = {
                count: rows.task.answers_with(longest, rows, prediction)
                for count, prediction in zip(at, predictions, strict=True)
            }
        except FAILURES as problem:
            return [_first_line(problem)] * len(models)
        return [staged.get(count, last) for count in counts]

    def _learn(self, model: Model) -> None:
        task = self.train.task
        if isinstance(model, SharesWork):
            model.share_with(self.memory)
        task.learn(model, task.training_view(model, self.train), np.random.default_rng(self.seed))
        task.annotate(model, self.train, self.given, self.steps)


def scored(metric: Metric, answers: Sequence[Answers], pooled: bool) -> tuple[float, float, str]:
    """The mean of a metric over splits and its standard error; over all answers where splits are few or small."""
    values = [metric.compute(answer) for answer in answers]
    numbers = np.array([value for value in values if not isinstance(value, Undefined)])
    if not pooled and len(numbers) == len(values) > 1:
        spread = float(numbers.std(ddof=1)) / np.sqrt(len(numbers)) if np.isfinite(numbers).all() else np.nan
        return float(numbers.mean()), float(spread), ""
    together = joined(answers)
    value = metric.compute(together)
    if isinstance(value, Undefined):
        return np.nan, np.nan, value.why
    return float(value), _error_over_rows(metric, together), ""


def _error_over_rows(metric: Metric, answers: Answers) -> float:
    if metric.per_row is None or len(answers) < 2:
        return np.nan
    rows: Array = metric.per_row(answers)
    if not np.isfinite(rows).all():
        return np.nan
    return float(rows.std(ddof=1) / np.sqrt(len(rows)))


def _alike_but_for_stages(models: Sequence[Model]) -> Iterator[list[int]]:
    """The places of models that are one but for their number of stages, line by line."""
    lines: dict[str, list[int]] = {}
    for index, model in enumerate(models):
        plain = described_as(model)
        stages = stage_name(model)
        count = plain["params"].get(stages) if stages else None
        others = {name: value for name, value in plain["params"].items() if name != stages}
        key = repr((model.id, others)) if isinstance(count, int) else str(index)
        lines.setdefault(key, []).append(index)
    yield from lines.values()


def _first_line(problem: BaseException) -> str:
    return str(problem).partition("\n")[0] or type(problem).__name__
