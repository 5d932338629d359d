"""What detectors that learn from labels share: known anomalies, and artificial ones drawn around the good rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.params import learned, param
from mlcli.core.tables import Array, Codes, Flags, Table
from mlcli.tasks.anomaly import ANOMALY, Detector, ScreenedRows

CLASSES = ("good", "anomaly")


@dataclass(kw_only=True, eq=False)
class LabelledDetector(Detector):
    """Learns from good rows and anomalies; where none is known, from artificial ones."""

    learns_labels = True

    artificial: float | None = param(
        None, "artificial anomalies for each good row; none: 1 where no anomaly is known, else 0", ge=0, le=100
    )
    margin: float = param(0.1, "how far they lie beyond the good rows at most, as a share of their range", ge=0)

    recall: float = param(0.9, "the share of anomalies that its own threshold finds", gt=0, le=1)

    limit_: float = learned()
    """The score that so many of them reach."""

    def own_limit(self) -> tuple[float, str]:
        """The threshold that finds enough anomalies."""
        words = f"it finds {100 * self.recall:g} % of the anomalies that were learned from"
        return float(np.nextafter(self.limit_, -np.inf)), words

    def score_reached(self, scores: Array) -> float:
        """The score that the wanted share of anomalies reaches."""
        found = np.sort(scores)
        return float(found[int((1 - self.recall) * len(found) + 1e-9)])

    def learned_from(self, data: Any) -> Any:
        """All rows."""
        return data

    def labelled(self, data: ScreenedRows, rng: np.random.Generator) -> tuple[ScreenedRows, Codes]:
        """Rows with the artificial ones behind them, and which are anomalies; unlabelled rows count as good."""
        y = (data.labels == ANOMALY).astype(np.int32)
        share = (0.0 if y.any() else 1.0) if self.artificial is None else self.artificial
        good = data.table.take(np.flatnonzero(y == 0))
        if not len(good):
            raise FitError(f"{self.id} needs rows that are no anomalies")
        table = artificial_rows(good, max(1, round(share * len(good))) if share else 0, self.margin, rng)
        if not y.any() and not len(table):
            raise FitError(f"{self.id}: no row is known to be an anomaly", hint="artificial: 1 draws some")
        y = np.concatenate([y, np.ones(len(table), np.int32)])
        weight = None if data.weight is None else np.concatenate([data.weight, np.ones(len(table))])
        joined = replace(
            data,
            table=data.table.joined(table),
            rows=np.concatenate([data.rows, np.arange(len(table)) + data.rows.max() + 1]),
            labels=y,
            weight=weight,
            groups=None,
            context=None,
            order=None,
            part=None,
            sequence=None,
        )
        return joined, y


def artificial_rows(good: Table, count: int, margin: float, rng: np.random.Generator) -> Table:
    """Rows drawn evenly from the box of the good rows, widened on each side; levels drawn evenly."""
    low, high = _range(good.numbers)
    wide = margin * (high - low)
    numbers = rng.uniform(low - wide, high + wide, (count, good.numbers.shape[1]))
    levels = [rng.integers(0, max(1, len(column.levels)), count) for column in good.code_columns]
    codes = np.column_stack(levels).astype(np.int32) if levels else np.empty((count, 0), np.int32)
    return Table(good.columns, numbers, codes)


def _range(numbers: Array) -> tuple[Array, Array]:
    known: Flags = np.isfinite(numbers)
    low = np.where(known, numbers, np.inf).min(axis=0, initial=np.inf)
    high = np.where(known, numbers, -np.inf).max(axis=0, initial=-np.inf)
    empty = low > high
    return np.where(empty, 0.0, low), np.where(empty, 0.0, high)


def plain_fields(data: ScreenedRows) -> dict[str, Any]:
    """What rows of any kind have in common."""
    return {"table": data.table, "rows": data.rows, "target": "anomaly", "weight": data.weight}
