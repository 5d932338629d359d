"""Contextual: a row is odd when it behaves otherwise than the rows of a like context do.

Formula:
    The columns are parted in context c and behaviour b. N(x) are the k training rows whose context is nearest, and
    all as near as the k-th. z_j(x) = (b_j − mean_{o∈N} b_j(o)) / √(var_{o∈N} b_j(o) + (floor σ_j)²), with σ_j the
    standard deviation of column j over all training rows. The nested detector learns from z of the training rows,
    each left out of its own neighbours, and scores z(x).

Assumes:
    The context says what is usual: 25 degrees are odd in winter only. Context columns on one scale, so they are
    standardised unless steps are given. Behaviour is in numbers.

Cost:
    A search of nearest rows in the context columns for each row, to fit and to ask, and a fit of the detector.

Choices:
    ``context`` names columns, by default those whose role is context, which no other detector sees; a nominal
    column is named once for all its indicators. Rows of one level are at distance 0, so that a nominal context
    compares a row with all rows of its level, or more where these are fewer than k. ``floor`` keeps a context in
    which nothing varies from making any difference odd. Without a context all rows are the context of each.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from mlcli.core import findings
from mlcli.core.configuration import with_steps
from mlcli.core.errors import FitError
from mlcli.core.model import Model
from mlcli.core.names import did_you_mean
from mlcli.core.nested import model_param
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts, Column
from mlcli.core.tables import Array, Flags, Table
from mlcli.engines.ensemble import fitted, outputs
from mlcli.engines.neighbours.distances import DistinctRows
from mlcli.engines.neighbours.neighbourhoods import Neighbourhoods, same_rows
from mlcli.tasks.anomaly import ANOMALY_DETECTION, Detector, ScreenedRows


@register("contextual", reference="Song, Wu, Jermaine & Ranka 2007, Conditional anomaly detection", revision=3)
class Contextual(Detector):
    """A detector of how rows differ from those of a like context."""

    base: Model = model_param("mahalanobis", "the detector that scores the differences", of=(Detector,))
    context: tuple[str, ...] = param((), "the columns that say what is usual; none: those with the role context")
    neighbours: int = param(30, "how many rows of a like context are compared with", ge=2, tune=(10, 100))
    floor: float = param(0.1, "the least spread in a context, as a share of that of all rows", gt=0)

    base_: Model = learned(model="base")
    context_: Array = learned("rows", "context columns")
    """The context of the training rows."""
    behaviour_: Array = learned("rows", "judged")
    spread_: Array = learned("judged")

    @property
    def accepts(self) -> Accepts:
        """Numbers on one scale: the context is compared by distances."""
        return Accepts(prefers_scaled=True, context=True)

    def conflicts(self) -> list[str]:
        """Only the outer detector decides."""
        return ["base: decide belongs to contextual itself"] if getattr(self.base.final, "decide", None) else []

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Compare each row with its context, and let the detector learn from the differences."""
        X, is_context = data.table.numbers, self._context_columns(data.table.number_columns)
        if len(X) <= 2 or is_context.all():
            raise FitError("contextual needs at least three training rows, and a column that is no context")
        self.context_, self.behaviour_ = X[:, is_context], X[:, ~is_context]
        self.spread_ = self.behaviour_.std(axis=0)
        table = self._differences(data.table)
        self.base_ = fitted(with_steps(self.base, table.columns, []), data.with_table(table), rng)

    def _context_columns(self, columns: tuple[Column, ...]) -> Flags:
        """Which columns are context: those named, with all indicators of a nominal one."""
        if not self.context:
            return np.array([column.context for column in columns], dtype=bool)
        names = [column.name for column in columns]
        is_context = np.zeros(len(names), bool)
        for requested in self.context:
            matches = [name == requested or name.startswith(f"{requested}=") for name in names]
            if not any(matches):
                hint = did_you_mean(requested, names, "columns")
                raise FitError(f"contextual: there is no column '{requested}'", hint=hint)
            is_context |= matches
        return is_context

    def _differences(self, table: Table) -> Table:
        """How each row differs from those of a like context, in standard deviations."""
        is_context = self._context_columns(table.number_columns)
        behaviour = table.numbers[:, ~is_context]
        usual, variance = self._usual(table.numbers[:, is_context], behaviour)
        floor = np.where(self.spread_ > 0, self.floor * self.spread_, 1.0)
        z = (behaviour - usual) / np.sqrt(variance + floor**2)
        columns = [column for column, context in zip(table.number_columns, is_context, strict=True) if not context]
        return Table(tuple(columns), np.ascontiguousarray(z), np.empty((len(z), 0), np.int32))

    def _usual(self, context: Array, behaviour: Array) -> tuple[Array, Array]:
        """The mean and the variance of the behaviour in the context of each row."""
        if not context.size:
            return self.behaviour_.mean(axis=0), self.behaviour_.var(axis=0)
        # Training rows are left out of their own neighbours.
        within = same_rows(context, self.context_) and same_rows(behaviour, self.behaviour_)
        count = min(self.neighbours, len(self.context_) - within)
        # Values are centred, else the square of a large mean takes all digits of a variance.
        centre = self.behaviour_.mean(axis=0)
        behaviour, learned = behaviour - centre, self.behaviour_ - centre
        queries, stored = DistinctRows.of(context), DistinctRows.of(self.context_)
        sums, squares = np.zeros((2, len(stored.points), learned.shape[1]))
        np.add.at(sums, stored.point_of, learned)
        np.add.at(squares, stored.point_of, learned**2)
        blocks = []
        for near in Neighbourhoods(queries, stored, count + within, within=False):
            points, begins = near.pairs.stored, near.pairs.begins
            values = stored.counts.astype(np.float64), sums, squares
            blocks.append([np.add.reduceat(value[points], begins, axis=0) for value in values])
        total, first, second = (np.concatenate(parts)[queries.point_of] for parts in zip(*blocks, strict=True))
        if within:
            total, first, second = total - 1, first - behaviour, second - behaviour**2
        mean = first / total[:, None]
        return centre + mean, np.maximum(second / total[:, None] - mean**2, 0.0)

    def score_rows(self, table: Table) -> Array:
        """What the detector says of the differences."""
        return np.asarray(outputs(self.base_, self._differences(table), ANOMALY_DETECTION)[:, 0])

    def reasons(self, table: Table) -> tuple[tuple[str, ...], Array]:
        """Those of the detector, of the columns of behaviour."""
        return cast(Detector, self.base_.final).reasons(self.base_.prepared(self._differences(table)))

    def explain(self) -> findings.Explanation:
        """The context, then what the detector has learned."""
        given = dict.fromkeys(column.name.partition("=")[0] for column in self.columns_ if column.context)
        context = ", ".join(self.context or given) or "none: each row is compared with all others"
        lines = (f"context: {context}; up to {min(self.neighbours, len(self.context_) - 1)} rows of a like one",)
        return (findings.Lines("Contextual", lines), *self.base_.explain())
