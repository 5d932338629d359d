"""Score ranking: scores are learned from pairs, so that each anomaly scores above each good row.

Formula:
    All rows are one group of a ranking problem, of relevance 1 for anomalies and 0 for good rows. The nested
    ranking model learns s from every pair of the two; its loss, pairs in the wrong order, is one minus the AUC.

Assumes:
    What ranks anomalies first is simple enough for the ranking model: `ranking-svm` has a weighted sum of the
    columns, so that their squares, measured from the middle of the good rows, stand beside them (``squares``).

Cost:
    One fit of the ranking model on (anomalies × good rows) pairs.

Choices:
    Where no anomaly is known, artificial ones are drawn around the good rows, as `supervised-detector` does.
    Rows whose label is not known count as good. Its own threshold is the highest score that the share
    ``recall`` of the anomalies reaches.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from mlcli.core import findings
from mlcli.core.configuration import with_steps
from mlcli.core.model import Model
from mlcli.core.nested import model_param
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts, Column
from mlcli.core.tables import Array, Table
from mlcli.engines.ensemble import fitted
from mlcli.models.anomaly.supervised_detector import LabelledDetector, plain_fields
from mlcli.tasks.anomaly import Detector, ScreenedRows
from mlcli.tasks.ranking import GroupedRows, Ranker


@register(
    "score-ranking", reference="Burges et al. 2005, Learning to rank; Pang et al. 2021, section 9.5", revision=2
)
class ScoreRanking(LabelledDetector, Detector):
    """The score of a ranking model."""

    base: Model = model_param("ranking-svm", "the ranking model", of=(Ranker,))
    squares: bool = param(True, "whether the squares of the columns stand beside them")

    base_: Model = learned(model="base")
    middle_: Array = learned("columns")
    pairs_: int = learned()

    @property
    def accepts(self) -> Accepts:
        """Numbers on one scale."""
        return Accepts(prefers_scaled=True)

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Put all anomalies before all good rows."""
        rows, y = self.labelled(data, rng)
        self.middle_ = rows.table.numbers[y == 0].mean(axis=0)
        self.pairs_ = int(y.sum()) * int((y == 0).sum())
        seen = self._seen(rows.table)
        grouped = GroupedRows(
            **plain_fields(rows.with_table(seen)),
            relevance=y.astype(np.float64),
            groups=np.zeros(len(y), np.int32),
            names=("all rows",),
        )
        self.base_ = fitted(with_steps(self.base, seen.columns), grouped, rng.spawn(1)[0])
        self.learn_limit(self.score_rows(rows.table), y)

    def _seen(self, table: Table) -> Table:
        """The columns, and their squares."""
        columns, X = table.number_columns, table.numbers - self.middle_
        if not self.squares:
            return Table(columns, X, np.empty((len(X), 0), np.int32))
        squares = tuple(Column(f"{column.name}²") for column in columns)
        return Table((*columns, *squares), np.hstack([X, X**2]), np.empty((len(X), 0), np.int32))

    def score_rows(self, table: Table) -> Array:
        """The score of the ranking model."""
        seen = self.base_.prepared(self._seen(table))
        return np.asarray(cast(Ranker, self.base_.final).score_rows(seen))

    def explain(self) -> findings.Explanation:
        """The pairs, then the ranking model."""
        line = f"{self.base_.final.id} has learned from {self.pairs_:,} pairs of an anomaly and a good row"
        return (findings.Lines("Score ranking", (line,)), *self.base_.explain())
