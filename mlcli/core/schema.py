"""What the columns of a dataset are, and which of them a configured method accepts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise

COLUMN_KINDS = ("numeric", "nominal", "ordinal", "boolean")


@dataclass(frozen=True)
class Column:
    """One column: ``levels`` are the values of a coded column, ``missing`` says that some cells are empty.

    ``often_missing`` says that so many levels are empty that being empty may be a level, too.
    ``sensitive`` columns say by which groups predictions are compared; models do not see them unless you say so.
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


@dataclass(frozen=True)
class Accepts:
    """What a configured method accepts as input; steps are inserted for the rest."""

    numbers: bool = True
    """Columns of numbers; methods without it ignore them or refuse them by name."""
    nominal: bool = False
    """Coded columns (nominal, ordinal, boolean), not only numbers."""
    missing: bool = False
    """Missing cells."""
    weights: bool = False
    """Weighted rows."""
    unlabelled: bool = False
    """Rows without a target beside those with one."""
    levels_only: bool = False
    """Coded columns only: numbers are discretised."""
    sensitive: bool = False
    """Uses sensitive columns, which other methods do not see."""
    context: bool = False
    """Uses context columns, which other methods do not see."""
    letters: bool = False
    """Uses the characters of levels, so that unseen levels carry information."""
    large: bool = False
    """Tables that fit into memory only once: it processes them in blocks of rows."""
    prefers_scaled: bool = False
    """Learns better if numbers are on one scale, but runs without."""

    @staticmethod
    def by_all(parts: Sequence[Accepts]) -> Accepts:
        """What several methods accept together: what all of them do; needs and preferences are those of any."""
        of_any = ("levels_only", "sensitive", "context", "prefers_scaled")
        values = {field.name: [getattr(part, field.name) for part in parts] for field in fields(Accepts)}
        return Accepts(**{name: any(value) if name in of_any else all(value) for name, value in values.items()})
