"""Something learned from training rows that changes a table: filling gaps, scaling, choosing columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, ClassVar, Self

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.errors import DataError, FitError, Problem, UsageError
from mlcli.core.findings import Explanation
from mlcli.core.leave_one_out import LeaveOneOutTable
from mlcli.core.names import did_you_mean, free_name
from mlcli.core.params import learned, param
from mlcli.core.schema import COLUMN_KINDS, Column
from mlcli.core.tables import Table, by_rows

Part = tuple[Column, Any]
"""A column with its cells."""


@dataclass(kw_only=True, eq=False)
class Step:
    """Something learned from training rows that changes a table, such as filling gaps or scaling.

    A pipeline calls ``learn``, ``apply`` and ``columns_left``, which show it the columns that it is for and leave
    the others alone; a step says ``fit``, ``transform`` and ``columns_after`` of the columns that it sees.
    """

    id: ClassVar[str]
    reference: ClassVar[str]
    revision: ClassVar[int]
    changes_rows: ClassVar[bool] = False
    """Whether it changes which rows are learned from, or how much they count."""
    gives_weights: ClassVar[bool] = False
    """Whether rows count more or less than one after it, so that what follows has to take weights."""
    scales: ClassVar[bool] = False
    """Whether it puts numbers on one scale, so that no scaler is inserted beside it."""
    merges_levels: ClassVar[bool] = False
    """Whether it settles how many levels the columns that it sees keep."""
    follows_scaling: ClassVar[bool] = False
    """Whether an inserted scaler stands before it, as before one-hot and each step that takes numbers only."""
    shows_sensitive: ClassVar[bool] = False
    """Whether what follows is to see sensitive columns."""
    kinds: ClassVar[tuple[str, ...]] = ()
    """The kinds of task whose rows it can learn from; empty: any."""

    columns: tuple[str, ...] | None = param(
        None,
        "the columns that it is for: names, kinds such as numeric, patterns such as len*; none: all",
        if_given=True,
    )

    columns_: tuple[Column, ...] = learned()
    """The columns that it has seen."""

    @property
    def accepts(self) -> Accepts:
        """What this configuration can take as it is; most steps leave alone what they cannot change."""
        return Accepts(nominal=True, missing=True, weights=True)

    def conflicts(self) -> list[str]:
        """Parameters that are legal one by one but not together."""
        return []

    def serving(self, model: Any) -> Self:
        """The step as it stands before a model: one that chooses columns for a model chooses them for this one."""
        return self

    def fit(self, data: Any, rng: np.random.Generator) -> None:
        """Learn from training rows."""
        raise TypeError(f"{type(self).__name__} does not say how it learns")

    def transform(self, table: Table) -> Table:
        """The table as the following steps and the model see it."""
        raise TypeError(f"{type(self).__name__} does not say how it changes a table")

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """What ``transform`` turns columns into; it follows from what they are, never from cells.

        A step that learns which columns to keep names all that it may keep.
        """
        return columns

    def seen_of(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The columns that it is for."""
        return columns if self.columns is None else chosen(columns, self.columns)

    def columns_left(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """All columns after it, the others included; names that no column has are refused."""
        if self.columns is None:
            return self.columns_after(columns)
        _refuse_unknown(self.id, columns, self.columns)
        seen = self.seen_of(columns)
        made = ((column, None) for column in self.columns_after(seen))
        return tuple(column for column, _ in put_back(((column, None) for column in columns), seen, made))

    def learn(self, data: Any, rng: np.random.Generator) -> None:
        """Fit it to the columns that it is for."""
        if self.kinds and data.kind not in self.kinds:
            raise FitError(f"{self.id} learns from {' or '.join(self.kinds)}, and this is {data.kind}")
        if self.columns is not None:
            data = data.transformed(self._seen_in)
        self.columns_ = data.table.columns
        self.fit(data, rng)

    def apply(self, table: Table) -> Table:
        """The table with what it makes of the columns that it is for."""
        return by_rows(table, self.transform if self.columns is None else self._transformed)

    def _transformed(self, table: Table) -> Table:
        made = self.transform(self._seen_in(table))
        return Table.of(put_back(table.parts(), self.seen_of(table.columns), made.parts()), len(table))

    def _seen_in(self, table: Table) -> Table:
        return table.select(column.name for column in self.seen_of(table.columns))

    def training_rows(self, data: Any, rng: np.random.Generator) -> Any:
        """The rows that what follows learns from; rows that are asked about never pass here."""
        return data

    def undone(self, table: Table, rng: np.random.Generator) -> Table:
        """Rows that were drawn as they are behind it, as they are in front of it; other columns stay."""
        present = {column.name for column in table.columns}
        made = [column for column in self.columns_after(self.columns_) if column.name in present]
        names = {column.name for column in made}
        drawn = Table.of(((column, table.cells(column.name)) for column in made), len(table))
        others = (part for part in table.parts() if part[0].name not in names)
        return Table.of([*self.inverse(drawn, rng).parts(), *others], len(table))

    def inverse(self, table: Table, rng: np.random.Generator) -> Table:
        """A table with the columns that it has seen, of one as it makes it; what it has left out is drawn."""
        hint = "leave it out; standardise, min-max, log, impute, one-hot, ordinal and discretise can be"
        what = f"the step {self.id} cannot be undone, so that no rows can be drawn in front of it"
        raise DataError(what, hint=hint)

    def log_stretch(self) -> float:
        """The logarithm of how many times larger it makes a volume; a density before it is that much higher."""
        return 0.0

    def explain(self) -> Explanation:
        """What was learned, for a person."""
        return ()

    def check_learned(self) -> None:
        """Refuse (ValueError) learned fields that the step could not have made; called after loading."""

    def without_each_row(self, seen: LeaveOneOutTable) -> LeaveOneOutTable | None:
        """What it makes of a complete table when it learns from all rows but one; None: only fits can tell."""
        return None

    def fresh(self) -> Self:
        """The same configuration with nothing learned."""
        return replace(self)


@dataclass(kw_only=True, eq=False)
class RowStep(Step):
    """A step that changes which rows are learned from, or how much they count, and no row that is asked about."""

    for_columns: ClassVar[bool] = False
    """Whether it changes some columns of the rows, which can then be chosen."""
    changes_rows: ClassVar[bool] = True
    follows_scaling: ClassVar[bool] = True
    kinds: ClassVar[tuple[str, ...]] = ("classification", "regression")

    def conflicts(self) -> list[str]:
        """Columns for what is done to whole rows."""
        misplaced = self.columns is not None and not self.for_columns
        return ["it is done to whole rows, so that it takes no 'columns'"] if misplaced else []

    def fit(self, data: Any, rng: np.random.Generator) -> None:
        """Nothing to learn."""

    def transform(self, table: Table) -> Table:
        """Rows that are asked about stay as they are."""
        return table

    def inverse(self, table: Table, rng: np.random.Generator) -> Table:
        """So do rows that are drawn."""
        return table

    def training_rows(self, data: Any, rng: np.random.Generator) -> Any:
        """The changed rows; those of weight 0 are left out."""
        return self.changed(data.counted(), rng)

    def changed(self, data: Any, rng: np.random.Generator) -> Any:
        """Other rows, or other weights, to learn from."""
        raise TypeError(f"{type(self).__name__} does not say how it changes rows")


def chosen(columns: Sequence[Column], wanted: Sequence[str]) -> tuple[Column, ...]:
    """The columns that some words mean, in the order of the table."""
    names = {column.name for word in wanted for column in _meant_by(word, columns)}
    return tuple(column for column in columns if column.name in names)


def _meant_by(word: str, columns: Sequence[Column]) -> list[Column]:
    """A name, or what one-hot has made of it; else all of a kind; else all that a pattern fits."""
    named = [column for column in columns if column.name == word or column.name.startswith(f"{word}=")]
    if named or word in COLUMN_KINDS:
        return named or [column for column in columns if column.kind == word]
    return [column for column in columns if fnmatchcase(column.name, word)]


def _refuse_unknown(whose: str, columns: Sequence[Column], wanted: Sequence[str]) -> None:
    """Refuse names and patterns that mean no column; a kind may be absent."""
    names = [column.name for column in columns]
    unknown = [word for word in wanted if word not in COLUMN_KINDS and not _meant_by(word, columns)]
    if unknown:
        hints = {word: did_you_mean(word, (*names, *COLUMN_KINDS), "columns and kinds") for word in unknown}
        found = {f"{whose}: there is no column '{word}' before it": hint for word, hint in hints.items()}
        raise UsageError(*(Problem(what, hint=hint) for what, hint in found.items()))


def put_back(parts: Iterable[Part], seen: Sequence[Column], made: Iterable[Part]) -> Iterator[Part]:
    """All columns after a step has seen some and made others of them.

    A column that is not seen stays as it is; one that keeps its name keeps its place; a new one follows what the
    step put before it, or stands where the first column that it has seen stood.
    """
    parts, names = list(parts), {column.name for column in seen}
    taken = {column.name for column, _ in parts} - names
    runs: dict[str | None, list[Part]] = {None: []}
    last: str | None = None
    for column, cells in made:
        if column.name in names:
            last = column.name
        runs.setdefault(last, []).append((replace(column, name=free_name(column.name, taken)), cells))
    for column, cells in parts:
        if column.name in names:
            yield from (*runs.pop(None, ()), *runs.pop(column.name, ()))
        else:
            yield column, cells
