"""What a protocol is: parameters, and a function from strata to splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from mlcli.core.answers import Coordinate
from mlcli.core.errors import Problem
from mlcli.core.rows import Strata
from mlcli.core.tables import Rows


@dataclass(frozen=True, eq=False)
class Split:
    """Row positions: what is learned from, and what is judged; some protocols need more.

    ``validation`` rows choose a threshold; of ``hidden`` rows a model may learn everything but the class. A split
    of a sweep has the ``coordinate`` at which it lies.
    """

    train: Rows
    test: Rows
    label: str
    validation: Rows = field(default_factory=lambda: np.empty(0, np.intp))
    hidden: Rows = field(default_factory=lambda: np.empty(0, np.intp))
    coordinate: Coordinate | None = None


@dataclass(kw_only=True, eq=False)
class Protocol:
    """How rows are split; it sees counts, strata and groups, never cells."""

    id: ClassVar[str]
    reference: ClassVar[str]
    revision: ClassVar[int]
    kinds: ClassVar[tuple[str, ...]] = ()
    """The kinds of task that it was made for, beside those that name it in their row of ``tasks/table.py``."""
    pooled: ClassVar[bool] = False
    """Whether metrics are taken over the answers of all splits at once."""

    def problems_with_rows(self, strata: Strata) -> list[Problem]:
        """What keeps these rows from being split, found before anything runs."""
        return []

    def splits(self, strata: Strata, rng: np.random.Generator) -> Sequence[Split]:
        """Every split, in a fixed order; made on demand, since leave-one-out has as many as there are rows."""
        raise TypeError(f"{type(self).__name__} does not say how it splits")

    def asks_only_learned_rows(self) -> bool:
        """Whether every row that is judged has been learned from."""
        return False

    def conflicts(self) -> list[str]:
        """Parameters that are legal one by one but not together."""
        return []
