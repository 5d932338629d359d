"""A dataset: a typed table, its schema, how it was read from its file, and what looks odd about its columns.

Each column has a role: as declared, else guessed for identifiers, empty columns and the target. The checks of
``mlcli audit`` are in ``mlcli/checks``; they ask the same questions of a column.
"""

from __future__ import annotations

import hashlib
import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np

from mlcli.core.configuration import MOST_LEVELS, has_too_many_levels
from mlcli.core.errors import DataError, Problem, raise_all
from mlcli.core.names import did_you_mean, listed
from mlcli.core.rows import looks_like_parts
from mlcli.core.schema import Column, Schema
from mlcli.core.tables import Flags, Table, is_missing
from mlcli.data.columns import TypedColumn
from mlcli.data.records import Records
from mlcli.data.sidecar import Declaration, Sidecar
from mlcli.data.target import guessed_target
from mlcli.tasks.table import kind_named

MUCH_MISSING = 0.3
ENOUGH_ROWS = 20
"""In fewer rows, missing cells and rare levels are no surprise."""
NOTHING_TO_LEARN_FROM = "there is no feature, so no model can do more than the baseline"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Every column of a CSV file, typed; ``schema`` gives each its role."""

    name: str
    table: Table
    schema: Schema
    path: Path | None = None
    task: str | None = None
    """The kind of task that the sidecar or the user states, if any."""
    notes: tuple[str, ...] = ()
    """Sentences for the user on what was guessed or looks odd."""
    doubt: str = ""
    """Why the target may be another column, where that was guessed."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """Source, licence, citation and the like, from the sidecar."""
    sidecar: Sidecar = field(default_factory=Sidecar)
    """The declarations of the sidecar."""
    in_file: Dataset | None = None
    """The rows as the file holds them, where they were read in another form."""
    recipe: Recipe | None = None
    """How it was read from its file, if it was."""

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def unlabelled(self) -> int:
        """The number of rows without a target; they are not scored, and few methods learn from them."""
        target = self.schema.the("target")
        return 0 if target is None else int(is_missing(self.table.cells(target.name)).sum())

    @cached_property
    def content(self) -> str:
        """A hash of the typed cells with names, kinds, levels and roles: what results depend on."""
        seen = hashlib.sha256()
        for described in self.schema:
            column = described.column
            seen.update(repr((column.name, column.kind, column.levels, described.role)).encode())
        seen.update(np.ascontiguousarray(self.table.numbers).data)
        seen.update(np.ascontiguousarray(self.table.codes).data)
        return seen.hexdigest()


def column_warnings(dataset: Dataset) -> tuple[str, ...]:
    """A sentence on having no features, and on those that are constant, have many gaps, or very many levels."""
    features, rows = dataset.schema.features(), len(dataset)
    constant = [column.name for column in features if is_constant(dataset, column)]
    shares = {column.name: share_missing(dataset, column) for column in features}
    gaps = [f"{name} ({share:.0%})" for name, share in shares.items() if share > MUCH_MISSING]
    merged = [f"{feature.name} ({len(feature.levels)})" for feature in features if has_too_many_levels(feature)]
    rare = [f"{feature.name} ({len(feature.levels)})" for feature in features if has_many_levels(feature, rows)]
    warnings = [NOTHING_TO_LEARN_FROM] if shows_nothing(dataset) else []
    if constant:
        warnings.append(f"the same in every row, so nothing can be learned from it: {listed(constant)}")
    if gaps and rows >= ENOUGH_ROWS:
        warnings.append(f"more than {100 * MUCH_MISSING:.0f} % of the cells are missing: {listed(gaps)}")
    if merged:
        levels = f"the {MOST_LEVELS} most frequent levels and one for the rest"
        all_levels = "to keep all, name the step one-hot"
        warnings.append(f"models that need numbers see {levels}, of: {listed(merged)}; {all_levels}")
    if rare:
        warnings.append(f"very many levels for {rows} rows: {listed(rare)}")
    return tuple(warnings)


def shows_nothing(dataset: Dataset) -> bool:
    """Whether models see no column: no feature, no role that implies the task, and no sequence of tags."""
    is_marked = dataset.task and kind_named(dataset.task).marked_by
    return not (dataset.schema.features() or is_marked or dataset.schema.the("sequence"))


def share_missing(dataset: Dataset, column: Column) -> float:
    """The share of empty cells."""
    if not column.missing or not len(dataset):
        return 0.0
    return float(is_missing(dataset.table.cells(column.name)).sum()) / len(dataset)


def is_constant(dataset: Dataset, column: Column) -> bool:
    """Whether a column has one value in all rows; an empty cell is another value."""
    cells = dataset.table.cells(column.name)
    first = cells[:100]  # they mostly tell that a column varies
    if not len(cells) or is_missing(first).any() or (first != first[0]).any():
        return False
    return bool((cells == cells[0]).all())


def has_many_levels(column: Column, rows: int) -> bool:
    """Whether a coded column has so many levels that each is rare."""
    is_crowded = ENOUGH_ROWS <= rows < 2 * len(column.levels)
    return column.coded and (len(column.levels) > 100 or is_crowded)


@dataclass(frozen=True)
class Recipe:
    """A file, the text of its sidecar, and the options that override the sidecar."""

    path: Path
    """Absolute."""
    sidecar: str | None = None
    target: str | None = None
    task: str | None = None
    sensitive: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    positive: str | None = None
    earlier: Sidecar | None = None
    """How the training file of a saved model was read, if the model predicts this one."""

    @cached_property
    def file_hash(self) -> str:
        """The SHA-256 of the bytes of the file as it is now; empty if it cannot be read."""
        try:
            with self.path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            return ""

    @property
    def options(self) -> str:
        """The options as they are typed, such as --target price --drop id."""
        single = (("--target", self.target), ("--task", self.task), ("--positive", self.positive))
        pairs = [(option, value) for option, value in single if value is not None]
        pairs += [("--sensitive", column) for column in self.sensitive]
        pairs += [("--drop", column) for column in self.drop]
        return shlex.join(chain.from_iterable(pairs))

    def facts(self) -> dict[str, object]:
        """The recipe as plain values."""
        return {**asdict(self), "path": str(self.path)}

    @classmethod
    def from_facts(cls, facts: Mapping[str, Any]) -> Self:
        """The recipe that these plain values, with tuples for lists, describe."""
        earlier = facts["earlier"]
        if earlier is not None:
            columns = {name: Declaration(**values) for name, values in earlier["columns"].items()}
            earlier = Sidecar(**{**earlier, "columns": columns})
        return cls(**{**facts, "path": Path(facts["path"]), "earlier": earlier})


ID_NAME = re.compile(r"(?i:id|index|row|rownames?|uuid|guid|__index_level_0__)|.*[-_. ](?i:id)|.*[a-z](Id|ID)")


@dataclass(frozen=True)
class AssignedRole:
    """The role of a column, and the reason if it was guessed."""

    role: str
    guessed: str = ""
    note: str = ""
    others: tuple[str, ...] = ()
    """Columns that may be meant instead, if there is a doubt."""


@dataclass(frozen=True)
class RequestedRoles:
    """The roles that the user asks for; they override the sidecar."""

    target: str | None = None
    sensitive: Sequence[str] = ()
    drop: Sequence[str] = ()


def assigned_roles(
    typed: Mapping[str, TypedColumn],
    sidecar: Sidecar,
    records: Records,
    requested: RequestedRoles,
    *,
    guess_target: bool,
    kinds: Collection[str] = (),
) -> dict[str, AssignedRole]:
    """The role of every column; a guessed target is of one of the ``kinds``, if there is such a column."""
    _refuse_absent((requested.target,) if requested.target is not None else (), typed, records, "the target")
    target = requested.target if requested.target is not None else sidecar.target
    roles = {name: _role_of(name, column, sidecar, target) for name, column in typed.items()}
    parts = [name for name in roles if roles[name].role == "part"]
    parts.sort(key=lambda name: bool(roles[name].guessed))
    for name in parts[1:]:  # a row is in one part, so further guessed columns of parts are left out
        if roles[name].guessed:
            why = f"it says which part each row is in, as '{parts[0]}' does"
            note = f"column '{name}' is left out: {why}; to use it, give it the role part in the sidecar"
            roles[name] = AssignedRole("ignore", why, note)
    free = [name for name, given in roles.items() if given.role in ("feature", "sensitive")]
    targets = [name for name, given in roles.items() if given.role == "target"]
    for names, role, word in (
        (requested.sensitive, "sensitive", "sensitive"),
        (requested.drop, "ignore", "dropped"),
    ):
        _refuse_absent(names, typed, records, word)
        _refuse_target(names, targets, records, word)
        roles |= {name: AssignedRole(role) for name in names}
    if guess_target and target is None and not sidecar.target_is_settled:
        guess = guessed_target(typed, free, kinds)
        if guess.name in requested.drop and not guess.others:
            hint = "choose another target with --target COLUMN, or a task without one with --task clustering"
            what = f"'{guess.name}' is the target, {guess.why}, so it cannot be dropped"
            raise DataError(what, where=records.name, hint=hint)
        guess = guessed_target(typed, [name for name in free if name not in requested.drop], kinds)
        unwanted = (*requested.sensitive, *requested.drop)
        _refuse_target(unwanted, [guess.name], records, "dropped or sensitive")
        roles[guess.name] = AssignedRole("target", guess.why, guess.note, guess.others)
    return roles


def _refuse_absent(names: Iterable[str], typed: Mapping[str, TypedColumn], records: Records, word: str) -> None:
    for name in names:
        if name not in typed:
            several = all(part.strip() in typed for part in name.split(","))
            hint = "name columns one by one" if several else did_you_mean(name, typed, "columns")
            raise DataError(f"there is no column '{name}' to be {word}", where=records.name, hint=hint)


def _refuse_target(names: Iterable[str], targets: Collection[str], records: Records, word: str) -> None:
    for name in names:
        if name in targets:
            hint = "name another column, or choose another target with --target COLUMN"
            raise DataError(f"'{name}' is the target, so it cannot be {word}", where=records.name, hint=hint)


def _role_of(name: str, typed: TypedColumn, sidecar: Sidecar, target: str | None) -> AssignedRole:
    """The role of a column as declared, else guessed by its name and cells."""
    if name == target:
        return AssignedRole("target")
    role = sidecar.of(name).role
    if role == "target":
        return AssignedRole("feature", note=f"'{name}', the target in the sidecar, is a feature here")
    if role is not None or typed.declared:
        return AssignedRole(role or "feature")
    column, cells, rows = typed.column, typed.cells, len(typed.cells)
    if rows and column.missing and not column.coded and np.isnan(cells).all():
        return AssignedRole("ignore", "so it is left out", f"column '{name}' is left out: every cell is empty")
    keep = "to keep it, give it the role feature in the sidecar"
    if looks_like_parts(column, cells):
        why = "by its name and its values"
        note = f"column '{name}' is taken as the part that each row is in ({why}), for protocol: given; {keep}"
        return AssignedRole("part", why, note)
    present = int((cells >= 0).sum()) if column.coded else 0
    if len(column.levels) >= 100 and 0.9 * present <= len(column.levels) < rows:  # free text
        why = f"{len(column.levels)} different values in {present} cells, so that most stand in one row only"
        return AssignedRole("ignore", why, f"column '{name}' is left out: {why}; {keep}")
    why = _why_an_id(name, typed)
    note = f"column '{name}' is taken as an identifier ({why}); {keep}"
    return AssignedRole("id", why, note) if why else AssignedRole("feature")


def _why_an_id(name: str, typed: TypedColumn) -> str:
    """Why a column looks like an identifier, or nothing."""
    column, cells, rows = typed.column, typed.cells, len(typed.cells)
    if column.missing or typed.notes:
        return ""
    is_whole = not column.coded and bool((cells == np.floor(cells)).all())
    if is_whole and re.fullmatch(r"Unnamed: 0(\.\d+)?", name):
        return "it has no name and holds whole numbers, like an index that pandas writes"
    if column.coded:
        if len(column.levels) < rows or len(np.unique(cells)) < rows:
            return ""
        # in a few rows, distinct texts mean little unless they are numbered: D1, D2, D3
        word = column.levels[0].rstrip("0123456789")
        counts = len(column.levels) > 2 and set(column.levels) == {f"{word}{n}" for n in range(1, rows + 1)}
        return "every cell is different" if rows >= 10 or counts else ""
    if is_whole and ID_NAME.fullmatch(name) and len(np.unique(cells)) == rows:
        return "by its name, and every number is different"
    return ""


_EMPTY_CELL = {
    "group": ("the group is missing", "every row needs its group; a row of its own may be one"),
    "sequence": ("the sequence is missing", "every row needs the sequence that it belongs to"),
    "part": ("the part is missing", "every row needs its part, such as train or test"),
    "domain": ("the domain is missing", "every row needs the domain that it comes from"),
    "user": ("the user is missing", "every row needs its user"),
    "item": ("the item is missing", "every row needs its item"),
    "weight": ("a weight is missing", "give every row a weight; 0 leaves a row out"),
    "count": ("a count is missing", "say for every row how many it stands for; 0 leaves a row out"),
}
"""By role, what is wrong with an empty cell, and what to do."""


def refuse_unusable(typed: Mapping[str, TypedColumn], roles: Mapping[str, AssignedRole], records: Records) -> None:
    """Refuse invalid weights and counts, and empty cells if a role needs every cell."""
    problems: list[Problem] = []

    def refuse(name: str, wrong: Flags, what: str, hint: str) -> None:
        rows = np.flatnonzero(wrong)
        if len(rows):
            more = f" (in {len(rows)} rows)" if len(rows) > 1 else ""
            problems.append(Problem(what + more, where=records.place(int(rows[0]), name), hint=hint))

    for name, given in roles.items():
        cells = typed[name].cells
        if given.role in _EMPTY_CELL:
            refuse(name, is_missing(cells), *_EMPTY_CELL[given.role])
        if given.role == "weight":
            refuse(name, cells < 0, "a weight is below 0", "weights are 0 or more")
        if given.role == "count":
            wrong = (cells < 0) | (cells != np.floor(cells))
            refuse(name, wrong, "a count is not a whole number from 0 on", "role: weight takes any number")
    raise_all(DataError, problems)
