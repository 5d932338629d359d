"""Collective: rows are odd together when a window of consecutive rows is unlike other windows.

Formula:
    The windows W_t = (x_t, …, x_(t+w−1)) of the training rows, in their order, are rows of the nested
    detector: all w × p cells (``of: values``), or for each column mean, standard deviation, smallest, largest and
    slope (``of: summary``). s(x_t) is the mean score of the windows that x_t is in.

Assumes:
    The order of the rows is that of time, at even steps: that of a column with the role order, else of the file.
    No window reaches from one sequence (a column with the role sequence) into the next. Each row may be ordinary
    for itself: a count that is near zero is nothing odd, near zero for a while it is.

Cost:
    One fit of the nested detector to as many rows as there are windows.

Choices:
    Windows overlap, so that the nearest neighbour of a window is itself one step later: a nested detector that
    compares neighbours sees little. Of fewer rows than a window holds the last is repeated. With the protocol
    `whole` rows stay together; where rows have gaps this is warned of. A reason says that a column is higher or
    lower by its mean over the windows of a row beside the median of the training rows.
"""

from __future__ import annotations

import warnings
from typing import cast

import numpy as np

from mlcli.core import findings
from mlcli.core.configuration import with_steps
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.model import Model
from mlcli.core.nested import model_param
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts, Column
from mlcli.core.tables import Array, Table, joined
from mlcli.engines.ensemble import fitted, outputs
from mlcli.tasks.anomaly import ANOMALY_DETECTION, Detector, ScreenedRows


@register(
    "collective", reference="Chandola, Banerjee & Kumar 2009, Anomaly detection: a survey, section 8", revision=2
)
class Collective(Detector):
    """Scores windows of rows as one."""

    base: Model = model_param("isolation-forest", "the detector that scores windows", of=(Detector,))
    window: int = param(10, "how many rows are scored together", ge=2, tune=(2, 50))
    of: str = param("summary", "what is seen of a window", choices=("summary", "values"))

    base_: Model = learned(model="base")

    @property
    def in_sequence(self) -> bool:
        """Always."""
        return True

    @property
    def accepts(self) -> Accepts:
        """Numbers; the detector stands behind the steps that it needs."""
        return Accepts()

    def conflicts(self) -> list[str]:
        """Only the outer detector decides."""
        return ["base: decide belongs to collective itself"] if getattr(self.base.final, "decide", None) else []

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Let the detector learn from all windows."""
        warn_of_gaps(data, self.id)
        if len(data) <= self.window:
            raise FitError(f"collective needs more training rows than its window has, {self.window}")
        table = joined([self._windows(data.table.take(rows)) for rows in data.sequence_windows()])
        first = data.unlabelled().take(slice(0, len(table)))
        self.base_ = fitted(with_steps(self.base, table.columns), first.with_table(table), rng.spawn(1)[0])

    def _windows(self, table: Table) -> Table:
        """A row for each window."""
        if not len(table.number_columns):
            raise FitError("collective needs a column of numbers")
        windows = windows_of(table.numbers, self.window)
        if self.of == "values":
            seen = {f"row {index + 1}": windows[:, index] for index in range(windows.shape[1])}
        else:
            time = np.arange(self.window) - (self.window - 1) / 2
            seen = {
                "mean": windows.mean(axis=1),
                "deviation": windows.std(axis=1),
                "smallest": windows.min(axis=1),
                "largest": windows.max(axis=1),
                "slope": np.einsum("t,wtc->wc", time, windows) / (time**2).sum(),
            }
        columns = tuple(Column(f"{column.name} {what}") for what in seen for column in table.number_columns)
        cells = np.hstack(list(seen.values()))
        return Table(columns, cells, np.empty((len(cells), 0), np.int32))

    def score_rows(self, table: Table) -> Array:
        """The mean score of the windows that a row is in."""
        if not len(table):
            return np.empty(0)
        scores = outputs(self.base_, self._windows(table), ANOMALY_DETECTION)[:, 0]
        return mean_over_windows(scores, self.window, len(table))

    def deviations(self, table: Table) -> Array:
        """What each column adds to the windows that a row is in, below 0 where it is lower in them than usual."""
        windows, count = self._windows(table), table.numbers.shape[1]
        column_of = {column.name: index % count for index, column in enumerate(windows.columns)}
        names, added = cast(Detector, self.base_.final).reasons(self.base_.prepared(windows))
        size = np.zeros((len(windows), count))
        for name, part in zip(names, np.abs(added).T, strict=True):
            if name in column_of:
                size[:, column_of[name]] += part
        level = windows_of(table.numbers, self.window).mean(axis=1) - self.typical_[:count]
        mean_size, mean_level = (
            np.column_stack([mean_over_windows(column, self.window, len(table)) for column in values.T])
            for values in (size, level)
        )
        return np.copysign(mean_size, mean_level)

    def explain(self) -> findings.Explanation:
        """What is seen of a window, then what the detector has learned."""
        line = f"windows of {self.window} consecutive rows, seen by their {self.of}"
        return (findings.Lines("Collective", (line,)), *self.base_.explain())


def windows_of(X: Array, size: int) -> Array:
    """Every window of consecutive rows (windows × size × columns); of fewer rows one, its last repeated."""
    if len(X) < size:
        X = np.concatenate([X, np.repeat(X[-1:], size - len(X), axis=0)])
    result = np.lib.stride_tricks.sliding_window_view(X, size, axis=0)
    return np.ascontiguousarray(result.transpose(0, 2, 1))


def mean_over_windows(values: Array, size: int, rows: int) -> Array:
    """For each row the mean of the values of all windows that it is in."""
    counts, total = np.zeros(rows), np.zeros(rows)
    for first in range(min(size, rows)):
        ends = min(len(values), rows - first)
        counts[first : first + ends] += 1
        total[first : first + ends] += values[:ends]
    return np.asarray(total / np.maximum(counts, 1))


def warn_of_gaps(data: ScreenedRows, whose: str) -> None:
    """Say so where rows do not follow each other; sequences are never cut, and have no gaps."""
    rows = data.rows if data.order is None else np.sort(data.rows)
    if data.sequence is None and (np.diff(rows) != 1).any():
        text = f"{whose} takes rows as they follow each other, and these have gaps or another order"
        warnings.warn(f"{text}: protocol whole keeps them together", MlcliWarning, stacklevel=3)
