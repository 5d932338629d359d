"""Anomaly detection: rows that are learned from without labels, a score for each row, and rows flagged by it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mlcli.core.abilities import DecidesByRule, ExplainsTask
from mlcli.core.answers import Answers
from mlcli.core.errors import MlcliWarning
from mlcli.core.findings import Explanation, Lines
from mlcli.core.model import Model
from mlcli.core.params import learned
from mlcli.core.rows import SplitInfo
from mlcli.core.schema import Column, Schema
from mlcli.core.tables import Array, Codes, Flags, Rows, Table
from mlcli.core.task import refuse_impossible
from mlcli.tasks.anomaly_thresholds import (
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
from mlcli.tasks.sequence_windows import numbered_by_appearance, sequence_windows, uncut_pieces
from mlcli.tasks.unsupervised import UNKNOWN, UnlabelledRows, UnsupervisedTask

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
class Detector(Model, DecidesByRule, ExplainsTask):
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

    def decision_in_words(self) -> str:
        """Which rows are flagged; nothing for a model that flags none."""
        if self.threshold_ is None:
            return ""
        least = threshold_in_words(self.threshold_)
        return f"flagged: rows that score {least}; this threshold is {self.threshold_from_}"

    def explain_task(self) -> Explanation:
        """Which rows are flagged, where a threshold was chosen."""
        sentence = self.decision_in_words().removeprefix("flagged: ")
        return (Lines("Which rows are flagged", (sentence,)),) if sentence else ()

    def check_learned(self) -> None:
        """A threshold, where there is one, is a number."""
        if not isinstance(self.threshold_, float | None) or not math.isfinite(self.threshold_ or 0.0):
            raise ValueError("the threshold of the model is no number")

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


class AnomalyDetection(UnsupervisedTask[Detector, "ScreenedRows", ScoreAnswers]):
    """Score how odd each row is, and flag the oddest."""

    base = Detector

    def training_view(self, model: Model, rows: ScreenedRows) -> ScreenedRows:
        """The rows without their labels, unless the detector learns from labels."""
        unlabelled, final = super().training_view(model, rows), model.final
        return rows if isinstance(final, Detector) and final.learns_labels else unlabelled

    def rows_to_keep(self, model: Detector, rows: ScreenedRows) -> ScreenedRows:
        """The rows that are known to be good; all if there are none, or if the detector learns from labels."""
        return rows if model.learns_labels else super().rows_to_keep(model, rows)

    def learn(self, model: Detector, rows: ScreenedRows, rng: np.random.Generator) -> None:
        """Fit the model, and store what is typical of the rows, from which reasons are told."""
        super().learn(model, rows, rng)
        model.typical_ = typical_of(rows.table)

    def predict_rows(self, model: Detector, rows: ScreenedRows) -> ScoreAnswers:
        """The score of each row, and for the oddest ones the columns that made them so."""
        scored = ScoredRows.about(model, rows.table, rows.sequence_windows)
        refuse_impossible(model, scored.score, (len(rows),))
        columns, reasons, shares = scored.top_reasons(EXPLAINED_ROWS)
        return ScoreAnswers(
            header=rows.header(),
            score=scored.score,
            truth=rows.labels,
            classes=rows.classes,
            columns=columns,
            reasons=reasons,
            shares=shares,
            threshold=None if model.threshold_ is None else np.full(len(scored.score), model.threshold_),
            threshold_from=model.threshold_from_ or "",
        )

    def predict_parts(
        self,
        model: Detector,
        predict: Callable[[Rows], ScoreAnswers],
        parts: Mapping[str, Rows],
        train: Rows,
    ) -> dict[str, ScoreAnswers]:
        """The scores of each part that has rows, with a threshold from validation rows, a rule, or the method."""
        answers = {part: predict(rows) for part, rows in parts.items() if len(rows)}
        if model.decide is not None and model.decide.of_judged_rows and model.threshold_ is None:
            return {part: _decided_among(model, of_part) for part, of_part in answers.items()}

        def learned_scores() -> LearnedScores:
            same = next((part for part in answers if np.array_equal(parts[part], train)), None)
            learned = answers[same] if same else predict(train)
            return LearnedScores(learned.score, learned.weights)

        validation = answers.get("validation")
        best = None if validation is None or model.decide else highest_f1(validation)
        if validation is not None and best is not None:
            if best <= validation.score.min():
                warnings.warn(FLAGS_ALL, MlcliWarning, stacklevel=2)
            limit = Limit(best, BY_VALIDATION)
        elif model.threshold_ is not None:
            return answers
        else:
            limit = limit_by_rule(model, model.decide, learned_scores)
        return {part: of_part.flagged_from(limit) for part, of_part in answers.items()}

    def set_threshold(
        self,
        model: Detector,
        predict: Callable[[ScreenedRows], ScoreAnswers],
        learned: ScreenedRows,
        rows: ScreenedRows,
    ) -> None:
        """Choose the threshold by the rule of ``decide``; without one by F1 if some rows are anomalies."""
        own = predict(learned)
        others = rows.take(np.flatnonzero((rows.labels == ANOMALY) & ~np.isin(rows.rows, learned.rows)))
        if len(others) and model.decide is None:
            good, anomaly = rows.classes
            which = f"{len(learned):,} rows that are '{good}' and {len(others):,} that are '{anomaly}'"
            model.threshold_ = highest_f1(ScoreAnswers.pooled([own, predict(others)]))
            model.threshold_from_ = f"the one with the highest F1 on {which} (only the former were learned from)"
        else:
            limit = limit_by_rule(model, model.decide, lambda: LearnedScores(own.score, own.weights))
            model.threshold_, model.threshold_from_ = limit.threshold, limit.why

    def outputs_of(self, model: Detector, table: Table) -> Array:
        """The score."""
        return model.score_rows(table)[:, None]

    def output_names(self, model: Detector) -> tuple[str, ...]:
        """What the number is."""
        return ("score",)


ANOMALY_DETECTION = AnomalyDetection()


@dataclass(frozen=True, eq=False, kw_only=True)
class ScreenedRows(UnlabelledRows):
    """Rows among which some may be anomalies: label 1 an anomaly, 0 a good row, -1 not known."""

    kind = "anomaly"
    task = ANOMALY_DETECTION
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
        piece = uncut_pieces(rows.sequence_windows(), rows.labels == GOOD, rows.labels == ANOMALY)
        return rows if piece is None else replace(rows, piece=piece, groups=piece)

    def sequence_windows(self) -> list[Rows]:
        """The rows of each sequence in their order, ended where a piece is missing."""
        found = sequence_windows(len(self), self.sequence, self.order)
        if self.piece is None:
            return found
        missing = [np.flatnonzero(np.diff(self.piece[rows]) > 1) + 1 for rows in found]
        return [rows for whole, ends in zip(found, missing, strict=True) for rows in np.split(whole, ends)]

    def to_learn_from(self) -> ScreenedRows:
        """The rows that are known to be good; all where there are none."""
        good = np.flatnonzero(self.labels == GOOD)
        return self.take(good) if len(good) else self

    def split_info(self) -> SplitInfo:
        """Labels are the strata, where any are known."""
        known = bool((self.labels != UNKNOWN).any())
        return replace(super().split_info(), strata=self.labels if known else None)


def highest_f1(answers: ScoreAnswers) -> float | None:
    """The score from which on flagging rows gives the highest F1; None where no labelled row is an anomaly."""
    known = answers.truth != UNKNOWN
    return threshold_by_f1(answers.score[known], answers.truth[known] == ANOMALY, answers.weights[known])


def _decided_among(model: Detector, answers: ScoreAnswers) -> ScoreAnswers:
    """The answers with the rows flagged that are the oddest among themselves."""
    limit = limit_by_rule(
        model, model.decide, lambda: LearnedScores(answers.score, answers.weights, "judged together")
    )
    return answers.flagged_from(limit)
