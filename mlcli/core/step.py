"""Something learned from training rows that changes a table: filling gaps, scaling, choosing columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.findings import Explanation
from mlcli.core.params import learned
from mlcli.core.schema import Column
from mlcli.core.tables import Table


@dataclass(kw_only=True, eq=False)
class Step:
    """Something learned from training rows that changes a table, such as filling gaps or scaling."""

    id: ClassVar[str]
    reference: ClassVar[str]
    revision: ClassVar[int]

    columns_: tuple[Column, ...] = learned()

    @property
    def accepts(self) -> Accepts:
        """What this configuration can take as it is; most steps leave alone what they cannot change."""
        return Accepts(nominal=True, missing=True, weights=True)

    def conflicts(self) -> list[str]:
        """Parameters that are legal one by one but not together."""
        return []

    def fit(self, data: Any, rng: np.random.Generator) -> None:
        """Learn from training rows."""
        raise TypeError(f"{type(self).__name__} does not say how it learns")

    def transform(self, table: Table) -> Table:
        """The table as the following steps and the model see it."""
        raise TypeError(f"{type(self).__name__} does not say how it changes a table")

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """What ``transform`` turns columns into; it follows from what they are, never from cells."""
        return columns

    def log_stretch(self) -> float:
        """The logarithm of how many times larger it makes a volume; a density before it is that much higher."""
        return 0.0

    def explain(self) -> Explanation:
        """What was learned, for a person."""
        return ()

    def check_learned(self) -> None:
        """Refuse (ValueError) learned fields that the step could not have made; called after loading."""

    def in_sums(self, expansion: Any) -> Any:
        """How what the step learns follows from sums over the training rows (``core.expansion``); None: not so."""
        return None

    def from_sums(self, known: Any) -> Any:
        """What becomes of columns that are known by sums over training rows (``engines.linear_columns``).

        None: what the step learns does not follow from sums, or what it does to a row is not linear.
        """
        return None

    def fresh(self) -> Self:
        """The same configuration with nothing learned."""
        return replace(self)
