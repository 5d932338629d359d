"""Steps that put a few numbered columns in the place of all that they see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from mlcli.core.accepts import Accepts
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Array, Table


@dataclass(kw_only=True, eq=False)
class Projection(Step):
    """Rows by their place along a few new columns."""

    made: ClassVar[str] = "component"
    """What the new columns are called, before their number."""

    accepts = Accepts(weights=True)

    def count(self, columns: tuple[Column, ...]) -> int:
        """How many there are, of so many columns."""
        found: int = getattr(self, f"{self.made}s")
        return found

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The new columns."""
        return self._named(self.count(columns))

    def _named(self, count: int) -> tuple[Column, ...]:
        return tuple(Column(f"{self.made}_{place}") for place in range(1, count + 1))

    def places(self, table: Table) -> Array:
        """The place of each row (rows × new columns)."""
        raise TypeError(f"{type(self).__name__} does not say where rows are placed")

    def transform(self, table: Table) -> Table:
        """The places instead of the columns."""
        places = self.places(table)
        return Table(self._named(places.shape[1]), places, table.codes)
