"""Bootstrap, asked as a whole: a model learns from rows drawn with replacement, and is asked about all rows.

Computed:
    Each sample draws as many rows as there are, any row any number of times (of rows in groups, whole groups); the
    model that learns from it places all rows. `stability` compares what the samples make of the same rows; other
    scores are averaged. About 63 % of the rows are in a sample, so scores are not of unseen rows. With
    `asked: drawn` a model is asked about the rows of its own sample only, each once, and `stability` compares two
    samples by the rows that both have, about 40 % of all: a method without a rule for new rows can be judged, too.
    For kinds that learn without labels only.

Cost:
    One fit for each sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.rows import SplitInfo
from mlcli.core.tables import Rows
from mlcli.protocols._base import Protocol, Split, Units, all_alike, drawn


@register("bootstrap-whole", reference="Ben-Hur, Elisseeff & Guyon 2002; Hennig 2007, Cluster-wise assessment")
class BootstrapWhole(Protocol):
    """Samples with replacement to learn from, all rows to be asked about, or those drawn."""

    kinds: ClassVar[tuple[str, ...]] = ("clustering",)
    fewest: ClassVar[int] = 0

    samples: int = param(20, "how many samples are learned from", ge=2)
    asked: str = param("all", "which rows each sample is asked about", choices=("all", "drawn"))

    def divided(self, strata: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """One split for each sample."""
        units, every = all_alike(strata), np.arange(strata.rows)
        samples = [_rows_drawn(units, rng) for _ in range(self.samples)]
        asked = [np.unique(rows) if self.asks_only_learned_rows() else every for rows in samples]
        return [
            Split(train=rows, test=test, label=f"sample {index + 1}")
            for index, (rows, test) in enumerate(zip(samples, asked, strict=True))
        ]

    def asks_only_learned_rows(self) -> bool:
        """Where that is wished."""
        return self.asked == "drawn"


def _rows_drawn(units: Units, rng: np.random.Generator) -> Rows:
    """The rows of as many units as there are, drawn with replacement."""
    return np.repeat(np.arange(len(units.of_row)), drawn(units, rng)[units.of_row])
