"""What the columns of a dataset are: name, kind, levels and role."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

COLUMN_KINDS = ("numeric", "nominal", "ordinal", "boolean")


@dataclass(frozen=True)
class Column:
    """One column: ``levels`` are the values of a coded column, ``missing`` says that some cells are empty.

    ``often_missing`` says that so many levels are empty that being empty may be a level, too.
    ``sensitive`` columns say by which groups answers are judged, and no model sees them unless it is asked for.
    ``context`` columns say under which circumstances a row came to be; only models that compare by them see them.
    """

    name: str
    kind: str = "numeric"
    levels: tuple[str, ...] = ()
    missing: bool = False
    often_missing: bool = False
    sensitive: bool = False
    context: bool = False
    bands: tuple[float, ...] = ()
    """Of a sensitive column of numbers, from where on the second band begins, and each further one."""

    @property
    def coded(self) -> bool:
        """Whether the cells are levels rather than numbers."""
        return self.kind != "numeric"

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups that it makes: its levels, or its bands."""
        if self.coded or not self.bands:
            return self.levels
        between = (f"{low:g} to below {high:g}" for low, high in pairwise(self.bands))
        return (f"below {self.bands[0]:g}", *between, f"{self.bands[-1]:g} and above")


@dataclass(frozen=True)
class SchemaField:
    """A column of a dataset in its role; ``source`` says who decided: declared, inferred or guessed."""

    column: Column
    role: str = "feature"
    source: str = "inferred"
    why: str = ""


@dataclass(frozen=True)
class Schema:
    """All columns of a dataset, in the order of the file."""

    fields: tuple[SchemaField, ...]

    def __iter__(self) -> Iterator[SchemaField]:
        return iter(self.fields)

    def with_role(self, role: str) -> tuple[SchemaField, ...]:
        """The fields of one role, in order."""
        return tuple(field for field in self.fields if field.role == role)

    def names(self) -> tuple[str, ...]:
        """Every column name, in order."""
        return tuple(field.column.name for field in self.fields)

    def features(self) -> tuple[Column, ...]:
        """The columns that models may see."""
        return tuple(field.column for field in self.fields if field.role in ("feature", "sensitive"))

    def the(self, role: str) -> Column | None:
        """The one column of a role, if there is one."""
        fields = self.with_role(role)
        return fields[0].column if fields else None

    def changed(self, name: str, **changes: object) -> Schema:
        """The same schema with one field changed."""
        return Schema(
            tuple(replace(field, **changes) if field.column.name == name else field for field in self.fields)  # type: ignore[arg-type]
        )
