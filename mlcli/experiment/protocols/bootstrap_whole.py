"""Bootstrap, asked as a whole: a model learns from rows drawn with replacement, and is asked about all rows.

Computed:
    Each sample draws as many rows as there are, any row any number of times (of rows in groups, whole groups); the
    model that learns from it places all rows. `stability` compares what the samples make of the same rows; other
    scores are averaged. About 63 % of the rows are in a sample, so scores are not of unseen rows. For kinds that
    learn without labels only.

Cost:
    One fit for each sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.containers import Strata
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.tables import Rows
from mlcli.experiment.protocols._base import Protocol, Split
from mlcli.experiment.protocols._units import Units, all_alike


@register("bootstrap-whole", reference="Ben-Hur, Elisseeff & Guyon 2002; Hennig 2007, Cluster-wise assessment")
@dataclass(kw_only=True, eq=False)
class BootstrapWhole(Protocol):
    """Samples with replacement to learn from, all rows to be asked about."""

    samples: int = param(20, "how many samples are learned from", ge=2)

    def splits(self, strata: Strata, rng: np.random.Generator) -> Sequence[Split]:
        """One split for each sample."""
        units, every = all_alike(strata), np.arange(strata.rows)
        drawn = [_drawn(units, rng) for _ in range(self.samples)]
        return [Split(train=rows, test=every, label=f"sample {place + 1}") for place, rows in enumerate(drawn)]


def _drawn(units: Units, rng: np.random.Generator) -> Rows:
    """The rows of as many units as there are, drawn with replacement."""
    times = np.bincount(rng.integers(len(units), size=len(units)), minlength=len(units))
    return np.repeat(np.arange(len(units.of_row)), times[units.of_row])
