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

from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.accepts import Accepts
from mlcli.core.configuration import with_steps
from mlcli.core.errors import FitError
from mlcli.core.model import Model
from mlcli.core.names import did_you_mean
from mlcli.core.nested import model_param
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Flags, Table
from mlcli.engines.ensemble import fitted, outputs
from mlcli.engines.neighbours.distances import DistinctRows
from mlcli.engines.neighbours.neighbourhoods import Neighbourhoods, Neighbours, same_rows
from mlcli.tasks.anomaly import ANOMALY_DETECTION, Detector, ScreenedRows


@register("contextual", reference="Song, Wu, Jermaine & Ranka 2007, Conditional anomaly detection", revision=3)
class Contextual(Detector):
    """A detector of how rows differ from those of a like context."""

    base: Model = model_param("mahalanobis", "the detector that scores the differences", of=(Detector,))
    context: tuple[str, ...] = param((), "the columns that say what is usual; none: those with the role context")
    neighbours: int = param(30, "how many rows of a like context are compared with", ge=2, tune=(10, 100))
    floor: float = param(0.1, "the least spread in a context, as a share of that of all rows", gt=0)

    base_: Any = learned(model="base")
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
        of_context, X = self._of_context(data.table.number_columns), data.table.numbers
        if len(X) <= 2 or of_context.all():
            raise FitError("contextual needs at least three training rows, and a column that is no context")
        self.context_, self.behaviour_ = X[:, of_context], X[:, ~of_context]
        self.spread_ = self.behaviour_.std(axis=0)
        table = self._differences(data.table)
        self.base_ = fitted(with_steps(self.base, table.columns, []), data.with_table(table), rng)

    def _of_context(self, columns: tuple[Column, ...]) -> Flags:
        """Which columns are context; a name that is none is refused."""
        names = [column.name for column in columns]
        for wanted in self.context:
            if not any(_is_of(name, wanted) for name in names):
                raise FitError(
                    f"contextual: there is no column '{wanted}'", hint=did_you_mean(wanted, names, "columns")
                )
        if not self.context:
            return np.array([column.context for column in columns], dtype=bool)
        return np.array([any(_is_of(name, wanted) for wanted in self.context) for name in names], dtype=bool)

    def _differences(self, table: Table) -> Table:
        """How each row differs from those of a like context, in standard deviations."""
        of_context = self._of_context(table.number_columns)
        usual, variance = self._usual(table.numbers[:, of_context], table.numbers[:, ~of_context])
        floor = np.where(self.spread_ > 0, self.floor * self.spread_, 1.0)
        z = (table.numbers[:, ~of_context] - usual) / np.sqrt(variance + floor**2)
        columns = [column for column, out in zip(table.number_columns, of_context, strict=True) if not out]
        return Table(tuple(columns), np.ascontiguousarray(z), np.empty((len(z), 0), np.int32))

    def _usual(self, context: Array, behaviour: Array) -> tuple[Array, Array]:
        """The mean and the variance of the behaviour in the context of each row."""
        within = same_rows(context, self.context_) and same_rows(behaviour, self.behaviour_)
        if not context.size:
            return self.behaviour_.mean(axis=0), self.behaviour_.var(axis=0)
        count = min(self.neighbours, len(self.context_) - within)
        queries, stored = DistinctRows.of(context), DistinctRows.of(self.context_)
        centre = self.behaviour_.mean(axis=0)  # else the square of a large mean takes all digits of a variance
        behaviour, learned = behaviour - centre, self.behaviour_ - centre
        sums = [_summed(stored, learned), _summed(stored, learned**2)]
        around = Neighbourhoods(queries, stored, count + within, within=False)
        weighed = stored.counts.astype(np.float64)
        found = [_of_neighbours(near, weighed, sums) for near in around]
        total, first, second = (np.concatenate(parts)[queries.point_of] for parts in zip(*found, strict=True))
        if within:
            total, first, second = total - 1, first - behaviour, second - behaviour**2
        mean = first / total[:, None]
        return centre + mean, np.maximum(second / total[:, None] - mean**2, 0.0)

    def score_rows(self, table: Table) -> Array:
        """What the detector says of the differences."""
        return np.asarray(outputs(self.base_, self._differences(table), ANOMALY_DETECTION)[:, 0])

    def reasons(self, table: Table) -> tuple[tuple[str, ...], Array]:
        """Those of the detector, of the columns of behaviour."""
        seen = self.base_.prepared(self._differences(table))
        result: tuple[tuple[str, ...], Array] = self.base_.final.reasons(seen)
        return result

    def explain(self) -> findings.Explanation:
        """The context, then what the detector has learned."""
        given = dict.fromkeys(column.name.partition("=")[0] for column in self.columns_ if column.context)
        context = ", ".join(self.context or given) or "none: each row is compared with all others"
        lines = (f"context: {context}; up to {min(self.neighbours, len(self.context_) - 1)} rows of a like one",)
        return (findings.Lines("Contextual", lines), *self.base_.explain())


def _is_of(name: str, wanted: str) -> bool:
    """Whether a column is the one that is named, or an indicator of it."""
    return name == wanted or name.startswith(f"{wanted}=")


def _summed(rows: DistinctRows, values: Array) -> Array:
    """The sum of values over the rows that each point stands for."""
    total = np.zeros((len(rows.points), values.shape[1]))
    np.add.at(total, rows.point_of, values)
    return total


def _of_neighbours(near: Neighbours, counts: Array, sums: list[Array]) -> tuple[Array, Array, Array]:
    """How many rows, and the sums of what is known of them, over the neighbours of each point."""
    begins = near.pairs.begins
    stored = near.pairs.stored
    first, second = (np.add.reduceat(values[stored], begins, axis=0) for values in sums)
    return np.add.reduceat(counts[stored], begins), first, second
