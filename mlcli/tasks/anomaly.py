"""Anomaly detection: rows that are learned from without labels, a score for each row, and rows flagged by it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.errors import MlcliWarning
from mlcli.core.findings import Explanation, Lines
from mlcli.core.model import Model, one_number, refuse_impossible
from mlcli.core.params import learned
from mlcli.core.rows import Strata
from mlcli.core.schema import Column, Schema
from mlcli.core.tables import Array, Codes, Flags, Rows, Table
from mlcli.tasks.deciding import (
    FAR_OUT,
    Decision,
    LearnedScores,
    Limit,
    decision_param,
    limit_by_rule,
    threshold_by_f1,
    threshold_in_words,
)
from mlcli.tasks.reasons import ScoredRows, occlusion, typical_of
from mlcli.tasks.stretches import numbered_by_appearance, stretches, uncut_pieces
from mlcli.tasks.unsupervised import UNKNOWN, UnlabelledRows, Unsupervised

GOOD, ANOMALY = 0, 1
"""The labels."""
LEVELS = 2
"""Good and anomalous: a target of more levels judges nothing."""
EXPLAINED_ROWS = 1000
"""Of the rows asked, how many of the oddest are told which columns made them so."""
BY_VALIDATION = "the one with the highest F1 on validation rows"
FLAGS_ALL = (
    "the threshold with the highest F1 flags every validation row: scores do not tell anomalies from good rows"
)
OWN_P = 0.01
"""Where a method knows how scores of good rows are distributed, those are odd that they exceed so rarely."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoreAnswers(Answers):
    """Anomaly: the score of each row, higher for odder ones, and from which score on it is flagged."""

    score: Array
    truth: Codes
    """1 an anomaly, 0 a good row, -1 not known."""
    classes: tuple[str, ...]
    """The names of label 0 and label 1, where there are labels."""
    columns: tuple[str, ...]
    """The columns as the method saw them."""
    reasons: Codes
    """For the oddest rows the columns (n × 3) that add most to the score, the first adding most; -1 for none."""
    shares: Array
    """What each of these adds, as a share of the whole; below 0 where the cell is lower than usual."""
    threshold: Array | None = None
    """The score from which on a row is flagged, the same for all rows of a split; None where none was chosen."""
    threshold_from: str = ""
    """How it was chosen."""

    @property
    def flagged(self) -> Flags:
        """The rows that score at least the threshold."""
        if self.threshold is None:
            return np.zeros(len(self), dtype=bool)
        return np.asarray(self.score >= self.threshold)

    def flagged_from(self, limit: Limit) -> ScoreAnswers:
        """The same, with rows flagged from a score on."""
        return replace(self, threshold=np.full(len(self), limit.threshold), threshold_from=limit.why)


@dataclass(kw_only=True, eq=False)
class Detector(Unsupervised):
    """Answers a score for each row: the higher, the odder."""

    decide: Decision | None = decision_param(
        "which rows are flagged: own, threshold, top, share or p < 0.05; none: by labels, without them own"
    )

    learns_labels: ClassVar[bool] = False
    """Whether it is one of the few that learn from labels where some are known."""

    threshold_: float | None = learned()
    """Where a model is kept: the score from which on it flags rows."""
    threshold_from_: str = learned()
    typical_: Array = learned()
    """The median of each numeric column, and the most frequent code of each other one."""

    @staticmethod
    def admitted(model: Any, data: Any) -> Any:
        """The rows without their labels, but for a detector that learns from these."""
        unlabelled = Unsupervised.admitted(model, data)
        return data if model.final.learns_labels else unlabelled

    @staticmethod
    def learn(model: Any, data: Any, rng: np.random.Generator) -> None:
        """Let it learn; what is typical of the rows is noted for reasons."""
        Model.learn(model, data, rng)
        model.typical_ = typical_of(data.table)

    @property
    def in_sequence(self) -> bool:
        """Whether a row is scored by those beside it; it is then asked about one sequence after another."""
        return False

    def own_limit(self) -> tuple[float, str] | None:
        """The score above which the method itself calls a row odd, and why; none where it has no such."""
        limit = self.limit_at(OWN_P)
        return None if limit is None else (limit, f"p = {OWN_P:g} by the distribution of good rows")

    def far_out(self, lower: float, upper: float) -> tuple[float, str]:
        """The score above which a row is far out, given the quartiles of the scores of training rows (Tukey 1977).

        A method whose scores cannot exceed a bound takes them on a scale that has none, and says which.
        """
        return upper + FAR_OUT * (upper - lower), ""

    def limit_at(self, p: float) -> float | None:
        """What scores of good rows exceed with a probability, where the method knows their distribution."""
        return None

    @classmethod
    def settle(cls, model: Any, ask: Callable[[Any], Any], learned: Any, data: Any) -> None:
        """Choose a threshold: as was asked, by F1 where there are anomalies, too, else by the method's own."""
        own = ask(learned)
        others = data.take(np.flatnonzero((data.labels == ANOMALY) & ~np.isin(data.rows, learned.rows)))
        if len(others) and model.decide is None:
            good, anomaly = data.classes
            known = f"{len(learned):,} rows that are '{good}' and {len(others):,} that are '{anomaly}'"
            model.threshold_ = highest_f1(ScoreAnswers.pooled([own, ask(others)]))
            model.threshold_from_ = f"the one with the highest F1 on {known} (only the former were learned from)"
        else:
            limit = limit_by_rule(model, model.decide, lambda: LearnedScores(own.score, own.weights))
            model.threshold_, model.threshold_from_ = limit.threshold, limit.why

    @staticmethod
    def ask(model: Any, data: Any) -> Answers:
        """The score of each row, and for the oddest ones the columns that made them so."""
        asked = ScoredRows.about(model, data.table, data.stretches)
        refuse_impossible(model, asked.score, (len(data),))
        columns, reasons, shares = asked.top_reasons(EXPLAINED_ROWS)
        return ScoreAnswers(
            header=data.header(),
            score=asked.score,
            truth=data.labels,
            classes=data.classes,
            columns=columns,
            reasons=reasons,
            shares=shares,
            threshold=None if model.threshold_ is None else np.full(len(asked.score), model.threshold_),
            threshold_from=model.threshold_from_ or "",
        )

    @classmethod
    def judged(
        cls, model: Any, ask: Callable[[Rows], Any], split: Any, parts: tuple[str, ...]
    ) -> dict[str, Answers]:
        """The scores of each part that has rows, with the threshold that validation rows or the method give."""
        asked = {part: ask(rows) for part in parts if len(rows := getattr(split, part))}
        if model.decide is not None and model.decide.of_judged_rows and model.threshold_ is None:
            return {part: _decided_among(model, answers) for part, answers in asked.items()}
        limit = cls._limit(model, ask, split, asked)
        return asked if limit is None else {part: answers.flagged_from(limit) for part, answers in asked.items()}

    @staticmethod
    def _limit(model: Any, ask: Callable[[Rows], Any], split: Any, asked: dict[str, Any]) -> Limit | None:
        """The threshold of a split; none where the model was kept with one and no validation row gives another."""
        validation = asked.get("validation")
        best = None if validation is None or model.decide else highest_f1(validation)
        if validation is not None and best is not None:
            if best <= validation.score.min():
                warnings.warn(FLAGS_ALL, MlcliWarning, stacklevel=2)
            return Limit(best, BY_VALIDATION)
        if model.threshold_ is not None:
            return None

        def learned() -> LearnedScores:
            same = next((part for part in asked if np.array_equal(getattr(split, part), split.train)), None)
            answers = asked[same] if same else ask(split.train)
            return LearnedScores(answers.score, answers.weights)

        return limit_by_rule(model, model.decide, learned)

    def reading(self) -> str:
        """Which rows are flagged; nothing for a model that flags none."""
        if self.threshold_ is None:
            return ""
        least = threshold_in_words(self.threshold_)
        return f"flagged: rows that score {least}; this threshold is {self.threshold_from_}"

    def explain_task(self) -> Explanation:
        """Which rows are flagged, where a threshold was chosen."""
        sentence = self.reading().removeprefix("flagged: ")
        return (Lines("Which rows are flagged", (sentence,)),) if sentence else ()

    def check_learned(self) -> None:
        """A threshold, where there is one, is a number."""
        if not isinstance(self.threshold_, float | None) or not math.isfinite(self.threshold_ or 0.0):
            raise ValueError("the threshold of the model is no number")

    outputs_of, output_names = one_number("score_rows", "score")

    def score_rows(self, table: Table) -> Array:
        """How odd each row is."""
        raise TypeError(f"{type(self).__name__} does not say how it scores rows")

    def deviations(self, table: Table) -> Array:
        """What each number of a row adds to its oddness, below 0 where it is lower than usual.

        Unless the method knows better, how far the score falls when the cell is typical.
        """
        usual = self.typical_[: table.numbers.shape[1]]
        return occlusion(lambda X: self.score_rows(replace(table, numbers=X)), table.numbers, usual)

    def reasons(self, table: Table) -> tuple[tuple[str, ...], Array]:
        """The names of the columns, and what each adds to the oddness of each row."""
        added = self.deviations(table)
        if table.codes.shape[1] and self.accepts.nominal:
            codes = self.typical_[table.numbers.shape[1] :].astype(np.int32)
            of_codes = occlusion(lambda cells: self.score_rows(replace(table, codes=cells)), table.codes, codes)
            added = np.hstack([added, np.abs(of_codes)])
        names = (*table.number_columns, *table.code_columns)[: added.shape[1]]
        return tuple(column.name for column in names), added


@dataclass(frozen=True, eq=False, kw_only=True)
class ScreenedRows(UnlabelledRows):
    """Rows among which some may be anomalies: label 1 an anomaly, 0 a good row, -1 not known."""

    kind = "anomaly"
    base = Detector
    by_row = (*UnlabelledRows.by_row, "sequence", "piece")

    sequence: Codes | None = None
    """The sequence that each row belongs to, where a column says."""
    piece: Codes | None = None
    """Where splits cut sequences, the piece that each row belongs to, numbered along them."""

    @classmethod
    def columns_of(cls, schema: Schema) -> tuple[Column, ...]:
        """Features and the columns of context, which few detectors see."""
        return tuple(field.column for field in schema if field.role in ("feature", "sensitive", "context"))

    @classmethod
    def from_table(cls, table: Table, schema: Schema) -> ScreenedRows:
        """Every row of a dataset; a target gives labels when it has two levels, the second being the anomaly.

        Splits keep sequences whole, unless there are groups, and cut those that are too few to deal out.
        """
        rows = super().from_table(table, schema)
        if len(rows.classes) not in (0, LEVELS):
            rows = rows.unlabelled()
        column = schema.the("sequence")
        if column is None:
            return rows
        rows = replace(rows, sequence=numbered_by_appearance(table.cells(column.name)))
        if rows.groups is not None:
            return rows
        piece = uncut_pieces(rows.stretches(), rows.labels == GOOD, rows.labels == ANOMALY)
        return rows if piece is None else replace(rows, piece=piece, groups=piece)

    def stretches(self) -> list[Rows]:
        """The rows of each sequence in their order, ended where a piece is missing."""
        found = stretches(len(self), self.sequence, self.order)
        if self.piece is None:
            return found
        missing = [np.flatnonzero(np.diff(self.piece[rows]) > 1) + 1 for rows in found]
        return [rows for whole, ends in zip(found, missing, strict=True) for rows in np.split(whole, ends)]

    def to_learn_from(self) -> ScreenedRows:
        """The rows that are known to be good; all where there are none."""
        good = np.flatnonzero(self.labels == GOOD)
        return self.take(good) if len(good) else self

    def strata(self) -> Strata:
        """Labels are the strata, where any are known."""
        known = bool((self.labels != UNKNOWN).any())
        return replace(super().strata(), strata=self.labels if known else None)


def highest_f1(answers: ScoreAnswers) -> float | None:
    """The score from which on flagging rows gives the highest F1; None where no labelled row is an anomaly."""
    known = answers.truth != UNKNOWN
    return threshold_by_f1(answers.score[known], answers.truth[known] == ANOMALY, answers.weights[known])


def _decided_among(model: Any, answers: ScoreAnswers) -> ScoreAnswers:
    """The answers with the rows flagged that are the oddest among themselves."""
    limit = limit_by_rule(
        model, model.decide, lambda: LearnedScores(answers.score, answers.weights, "judged together")
    )
    return answers.flagged_from(limit)
