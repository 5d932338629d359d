"""Candidates judged on inner splits, so that what they have in common is done once.

The steps are fitted once for all candidates that have the same, those that differ in the number of stages are one
fit, and fits to the same prepared rows share what depends on the rows alone (``SharesWork``).
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
from mlcli.core.tables import Array, Rows
from mlcli.engines.tuning.space import Values
from mlcli.metrics.base import Metric, Undefined
from mlcli.metrics.pooling import joined
from mlcli.protocols._base import Split

FAILURES = (MlcliError, np.linalg.LinAlgError, FloatingPointError)
"""What ends a candidate, not the search."""
BADNESS = {"high": -1.0, "low": 1.0}


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
class Examination:
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
        values = [] if np.isfinite(score) or why else [self.metric.compute(one) for one in result.answers]
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
        found: list[Answers | str] = [""] * len(models)
        for places in _alike_but_for_stages(models):
            for place, one in zip(places, self._staged_answers([models[place] for place in places]), strict=True):
                found[place] = one
        return found

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
                count: rows.task.answers_with(longest, rows, one)
                for count, one in zip(at, predictions, strict=True)
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
    values = [metric.compute(one) for one in answers]
    numbers = np.array([one for one in values if not isinstance(one, Undefined)])
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
    for place, model in enumerate(models):
        plain = described_as(model)
        stages = stage_name(model)
        count = plain["params"].get(stages) if stages else None
        others = {name: value for name, value in plain["params"].items() if name != stages}
        key = repr((model.id, others)) if isinstance(count, int) else str(place)
        lines.setdefault(key, []).append(place)
    yield from lines.values()


def _first_line(problem: BaseException) -> str:
    return str(problem).partition("\n")[0] or type(problem).__name__
