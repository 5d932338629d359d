"""Anomaly detection: rows that are learned from without labels, a score for each row, and rows flagged by it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, TypeVar

import numpy as np

from mlcli.core.abilities import DecidesByRule, ExplainsTask
from mlcli.core.answers import ClassAnswers
from mlcli.core.errors import MlcliWarning
from mlcli.core.findings import Explanation, Lines
from mlcli.core.model import Model, refuse_impossible
from mlcli.core.params import learned
from mlcli.core.rows import SplitInfo
from mlcli.core.schema import Column, Schema
from mlcli.core.tables import Array, Codes, Flags, Rows, Table
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
from mlcli.tasks.sequence_windows import numbered_by_appearance, sequence_windows, uncut_pieces
from mlcli.tasks.unsupervised import UNKNOWN, UnlabelledRows, UnsupervisedTask

C = TypeVar("C", Array, Codes)

GOOD, ANOMALY = 0, 1
"""The labels."""
REASONS = 3
"""How many columns are named for a row."""
NO_REASON = -1


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoreAnswers(ClassAnswers):
    """Anomaly scores, higher for odder rows, the threshold from which rows are flagged, and reasons.

    The class of an anomaly is 1, that of a good row 0; without labels there are no classes.
    """

    score: Array
    columns: tuple[str, ...]
    """The columns that the method saw."""
    reasons: Codes
    """For rows with high scores the columns (n × 3) that contribute most, in descending order; -1 for none."""
    shares: Array
    """The contribution of each of these, as a share of the score; negative if the cell is lower than usual."""
    threshold: Array | None = None
    """The lowest score that is flagged, the same for all rows of a split; None if there is none."""
    threshold_from: str = ""
    """How the threshold was chosen."""

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
    """Scores rows: the higher the score, the odder the row. A method implements ``fit`` and ``score_rows``."""

    decide: Decision | None = decision_param(
        "which rows are flagged: own, threshold, top, share or p < 0.05; none: by labels, without them own"
    )

    learns_labels: ClassVar[bool] = False
    """Whether the method learns from known labels, as few detectors do."""

    threshold_: float | None = learned()
    """The lowest score that a kept model flags."""
    threshold_from_: str = learned()
    typical_: Array = learned()
    """The median of each numeric column, and the most frequent code of each other one."""

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Learn from rows, most of which are good."""
        super().fit(data, rng)

    @property
    def in_sequence(self) -> bool:
        """Whether the score of a row depends on its neighbours; sequences are then scored one by one."""
        return False

    def own_limit(self) -> tuple[float, str] | None:
        """The score above which the method itself calls a row an anomaly, and why; None if it has none.

        By default the score that one of 100 good rows exceeds, if the distribution of good scores is known.
        """
        limit = self.limit_at(0.01)
        return None if limit is None else (limit, "p = 0.01 by the distribution of good rows")

    def far_out(self, lower: float, upper: float) -> tuple[float, str]:
        """The score above which a row is far out, given the quartiles of the training scores (Tukey 1977).

        A method with bounded scores computes it on an unbounded scale, and names the scale.
        """
        return upper + FAR_OUT * (upper - lower), ""

    def limit_at(self, p: float) -> float | None:
        """The score that good rows exceed with probability p; None if their distribution is unknown."""
        return None

    def decision_in_words(self) -> str:
        """Which rows are flagged; empty if there is no threshold."""
        if self.threshold_ is None:
            return ""
        least = threshold_in_words(self.threshold_)
        return f"flagged: rows that score {least}; this threshold is {self.threshold_from_}"

    def explain_task(self) -> Explanation:
        """Which rows are flagged."""
        sentence = self.decision_in_words().removeprefix("flagged: ")
        return (Lines("Which rows are flagged", (sentence,)),) if sentence else ()

    def check_learned(self) -> None:
        """A threshold, where there is one, is a number."""
        if not isinstance(self.threshold_, float | None) or not math.isfinite(self.threshold_ or 0.0):
            raise ValueError("the threshold of the model is no number")

    def score_rows(self, table: Table) -> Array:
        """The score of each row."""
        raise TypeError(f"{type(self).__name__} does not say how it scores rows")

    def deviations(self, table: Table) -> Array:
        """The contribution of each number to the score of its row, negative if it is lower than usual.

        By default how far the score falls when the cell is replaced by a typical value.
        """
        usual = self.typical_[: table.numbers.shape[1]]
        return occlusion(lambda X: self.score_rows(replace(table, numbers=X)), table.numbers, usual)

    def reasons(self, table: Table) -> tuple[tuple[str, ...], Array]:
        """The names of the columns, and the contribution of each to the score of each row."""
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
        known = [cells[~np.isnan(cells)] for cells in rows.table.numbers.T]
        medians = [np.median(cells) if len(cells) else 0.0 for cells in known]
        frequent = [np.bincount(codes[codes >= 0], minlength=1).argmax() for codes in rows.table.codes.T]
        model.typical_ = np.array([*medians, *frequent], np.float64)

    def predict_rows(self, model: Detector, rows: ScreenedRows) -> ScoreAnswers:
        """The score of each row, and for the oddest ones the columns that made them so."""
        scored = ScoredRows.of(model, rows.table, rows.sequence_windows)
        refuse_impossible(model, scored.score, (len(rows),))
        columns, reasons, shares = scored.top_reasons(1000)  # each reason costs a score of its row
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
            flagged = {}
            for part, judged in answers.items():
                scores = partial(LearnedScores, judged.score, judged.weights, "judged together")
                flagged[part] = judged.flagged_from(limit_by_rule(model, model.decide, scores))
            return flagged

        def learned_scores() -> LearnedScores:
            same = next((part for part in answers if np.array_equal(parts[part], train)), None)
            learned = answers[same] if same else predict(train)
            return LearnedScores(learned.score, learned.weights)

        validation = answers.get("validation")
        best = None if validation is None or model.decide else highest_f1(validation)
        if validation is not None and best is not None:
            if best <= validation.score.min():
                text = "flags every validation row: scores do not tell anomalies from good rows"
                warnings.warn(f"the threshold with the highest F1 {text}", MlcliWarning, stacklevel=2)
            limit = Limit(best, "the one with the highest F1 on validation rows")
        elif model.threshold_ is not None:
            return answers
        else:
            limit = limit_by_rule(model, model.decide, learned_scores)
        return {part: judged.flagged_from(limit) for part, judged in answers.items()}

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
    """Rows of which some may be anomalies: label 1 for an anomaly, 0 for a good row, -1 if unknown."""

    kind = "anomaly"
    task = ANOMALY_DETECTION
    by_row = (*UnlabelledRows.by_row, "sequence", "piece")

    sequence: Codes | None = None
    """The sequence of each row, if a column has that role."""
    piece: Codes | None = None
    """If splits may cut sequences, the piece of each row, numbered along the sequences."""

    @classmethod
    def columns_of(cls, schema: Schema) -> tuple[Column, ...]:
        """Features, and columns of context, which few detectors use."""
        return tuple(field.column for field in schema if field.role in ("feature", "sensitive", "context"))

    @classmethod
    def from_table(cls, table: Table, schema: Schema) -> ScreenedRows:
        """Every row of a dataset; a target with two levels gives the labels, the second level is the anomaly.

        Splits keep sequences whole unless there are groups; too few sequences are cut into pieces.
        """
        rows = super().from_table(table, schema)
        if len(rows.classes) not in (0, 2):
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
        """The rows of each sequence in their order; a sequence with missing pieces gives several windows."""
        whole = sequence_windows(len(self), self.sequence, self.order)
        if self.piece is None:
            return whole
        gaps = [np.flatnonzero(np.diff(self.piece[rows]) > 1) + 1 for rows in whole]
        return [window for rows, ends in zip(whole, gaps, strict=True) for window in np.split(rows, ends)]

    def to_learn_from(self) -> ScreenedRows:
        """The rows that are known to be good; all rows if there are none."""
        good = np.flatnonzero(self.labels == GOOD)
        return self.take(good) if len(good) else self

    def split_info(self) -> SplitInfo:
        """Labels are the strata, if any are known."""
        known = bool((self.labels != UNKNOWN).any())
        return replace(super().split_info(), strata=self.labels if known else None)


def highest_f1(answers: ScoreAnswers) -> float | None:
    """The threshold with the highest F1 on labelled rows; None if none of them is an anomaly."""
    known = answers.truth != UNKNOWN
    return threshold_by_f1(answers.score[known], answers.truth[known] == ANOMALY, answers.weights[known])


def occlusion(score: Callable[[C], Array], cells: C, typical: Array | Codes) -> Array:
    """How far the score of a row falls if a cell is replaced by a typical one, with the sign of the deviation."""
    whole, added = score(cells), np.empty(cells.shape)
    for column, value in enumerate(typical):
        replaced = cells.copy()
        replaced[:, column] = value
        added[:, column] = np.maximum(whole - score(replaced), 0.0)
    return np.asarray(np.sign(np.nan_to_num(cells) - typical) * added)


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """The scores of rows by a model, with the windows of a model that scores rows in sequence."""

    model: Detector
    table: Table
    windows: list[Rows]
    score: Array

    @classmethod
    def of(cls, model: Detector, table: Table, windows: Callable[[], list[Rows]]) -> ScoredRows:
        """Score the rows, window by window if the model looks at neighbours in the sequence."""
        if not model.in_sequence:
            return cls(model, table, [], model.score_rows(table))
        score, parts = np.empty(len(table)), windows()
        for rows in parts:
            score[rows] = model.score_rows(table.take(rows))
        return cls(model, table, parts, score)

    def top_reasons(self, count: int) -> tuple[tuple[str, ...], Codes, Array]:
        """Names of columns, and for the rows with the highest scores the main columns with their signed shares."""
        reasons = np.full((len(self.table), REASONS), NO_REASON, dtype=np.int32)
        shares = np.zeros((len(self.table), REASONS))
        rows = np.argsort(-self.score, kind="stable")[:count]
        columns, added = self._contributions(rows)
        size = np.abs(added)
        total = size.sum(axis=1, keepdims=True)
        first = np.argsort(-size, axis=1, kind="stable")[:, :REASONS]
        share = np.divide(added, total, out=np.zeros_like(added), where=total > 0)
        share = np.take_along_axis(share, first, axis=1)
        reasons[rows, : first.shape[1]] = np.where(share == 0, NO_REASON, first)
        shares[rows, : first.shape[1]] = share
        return columns, reasons, shares

    def _contributions(self, requested: Rows) -> tuple[tuple[str, ...], Array]:
        """The names of the columns, and the contribution of each to the score of some rows."""
        if not self.model.in_sequence:
            return self.model.reasons(self.table.take(requested))
        parts = [self.model.reasons(self.table.take(rows)) for rows in self.windows if len(rows)]
        if not parts:
            return (), np.empty((0, 0))
        columns, added = parts[0][0], np.concatenate([part[1] for part in parts])
        return columns, added[np.argsort(np.concatenate(self.windows))][requested]


def main_reasons(columns: Sequence[str], reasons: Codes, shares: Array) -> list[tuple[str, float]]:
    """The columns that contribute at least 5 % to the score of a row, with their signed shares."""
    pairs = zip(reasons.tolist(), shares.tolist(), strict=True)
    return [(columns[index], share) for index, share in pairs if index != NO_REASON and abs(share) >= 0.05]
