"""Which role each column plays: as declared, else guessed for identifiers, empty columns and the target."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.errors import DataError, Problem, raise_all
from mlcli.core.names import did_you_mean
from mlcli.core.rows import looks_like_parts
from mlcli.core.tables import is_missing
from mlcli.data.columns import TypedColumn
from mlcli.data.records import Records
from mlcli.data.sidecar import Sidecar
from mlcli.data.target import guessed_target

UNNAMED = re.compile(r"Unnamed: 0(\.\d+)?")
"""What pandas calls the column of an index that it wrote without a name."""
ID_NAME = re.compile(r"(?i:id|index|row|rownames?|uuid|guid|__index_level_0__)|.*[-_. ](?i:id)|.*[a-z](Id|ID)")
ROWS_FOR_AN_ID = 10
"""In fewer rows, different texts in every cell say little."""
MANY_VALUES, TEXT_SHARE = 100, 0.9
"""A column of so many values or more is left out where at least this share of its cells has a value of its own."""
KEEP = "to keep it, give it the role feature in the sidecar"


@dataclass(frozen=True)
class AssignedRole:
    """The role of a column, and why where it was guessed."""

    role: str
    guessed: str = ""
    note: str = ""
    others: tuple[str, ...] = ()
    """Columns that may as well have the role, where that is in doubt."""


@dataclass(frozen=True)
class RequestedRoles:
    """What the user asks columns to be; it goes before the sidecar."""

    target: str | None = None
    sensitive: Sequence[str] = ()
    drop: Sequence[str] = ()


def assigned_roles(
    typed: Mapping[str, TypedColumn],
    sidecar: Sidecar,
    records: Records,
    asked: RequestedRoles,
    *,
    guess_target: bool,
    kinds: Collection[str] = (),
) -> dict[str, AssignedRole]:
    """The role of every column; a target that is guessed is of one of the ``kinds``, if there is such a column."""
    _refuse_absent((asked.target,) if asked.target is not None else (), typed, records, "the target")
    wanted = asked.target if asked.target is not None else sidecar.target
    roles = {name: _given(name, column, sidecar, wanted) for name, column in typed.items()}
    roles |= _further_parts(roles)
    free = [name for name, given in roles.items() if given.role in ("feature", "sensitive")]
    for names, role, word in ((asked.sensitive, "sensitive", "sensitive"), (asked.drop, "ignore", "dropped")):
        _refuse_absent(names, typed, records, word)
        _refuse_target(names, roles, records, word)
        roles |= {name: AssignedRole(role) for name in names}
    if guess_target and wanted is None and not sidecar.target_is_settled:
        guess = guessed_target(typed, free, kinds)
        if guess.name in asked.drop and not guess.others:
            hint = "choose another target with --target COLUMN, or a task without one with --task clustering"
            what = f"'{guess.name}' is the target, {guess.why}, so it cannot be dropped"
            raise DataError(what, where=records.name, hint=hint)
        guess = guessed_target(typed, [name for name in free if name not in asked.drop], kinds)
        unwanted = (*asked.sensitive, *asked.drop)
        _refuse_target(unwanted, {guess.name: AssignedRole("target")}, records, "dropped or sensitive")
        roles[guess.name] = AssignedRole("target", guess.why, guess.note, guess.others)
    return roles


def _further_parts(roles: Mapping[str, AssignedRole]) -> dict[str, AssignedRole]:
    """Guessed columns of parts beside the one that is used: they are left out, since a row is in one part."""
    parts = sorted(
        (name for name in roles if roles[name].role == "part"), key=lambda name: bool(roles[name].guessed)
    )
    why = f"it says which part each row is in, as '{parts[0]}' does" if parts else ""
    note = "column '{}' is left out: {}; to use it, give it the role part in the sidecar"
    return {name: AssignedRole("ignore", why, note.format(name, why)) for name in parts[1:] if roles[name].guessed}


def _refuse_absent(names: Iterable[str], typed: Mapping[str, TypedColumn], records: Records, word: str) -> None:
    for name in names:
        if name not in typed:
            several = all(part.strip() in typed for part in name.split(","))
            hint = "name columns one by one" if several else did_you_mean(name, typed, "columns")
            raise DataError(f"there is no column '{name}' to be {word}", where=records.name, hint=hint)


def _refuse_target(names: Iterable[str], roles: Mapping[str, AssignedRole], records: Records, word: str) -> None:
    for name in names:
        if name in roles and roles[name].role == "target":
            hint = "name another column, or choose another target with --target COLUMN"
            raise DataError(f"'{name}' is the target, so it cannot be {word}", where=records.name, hint=hint)


def refuse_unusable(typed: Mapping[str, TypedColumn], roles: Mapping[str, AssignedRole], records: Records) -> None:
    """Refuse weights that are not weights, and groups or sequences that are not said."""
    problems: list[Problem] = []
    for name, given in roles.items():
        for wrong, what, hint in CHECKS_OF_ROLES.get(given.role, ()):
            problems += _refused(typed[name], records, wrong, what, hint)
    raise_all(DataError, problems)


def _given(name: str, column: TypedColumn, sidecar: Sidecar, wanted: str | None) -> AssignedRole:
    if name == wanted:
        return AssignedRole("target")
    declaration = sidecar.of(name).role
    if declaration == "target":
        return AssignedRole("feature", note=f"'{name}', the target in the sidecar, is a feature here")
    if declaration is not None:
        return AssignedRole(declaration)
    numeric_gaps = column.column.missing and not column.column.coded and not column.declared
    if len(column.cells) and numeric_gaps and np.isnan(column.cells).all():
        return AssignedRole("ignore", "so it is left out", f"column '{name}' is left out: every cell is empty")
    if not column.declared and looks_like_parts(column.column, column.cells):
        why = "by its name and its values"
        note = f"column '{name}' is taken as the part that each row is in ({why}), for protocol: given; {KEEP}"
        return AssignedRole("part", why, note)
    if not column.declared and _is_free_text(column):
        levels = f"{len(column.column.levels)} different values in {int((column.cells >= 0).sum())} cells"
        why = f"{levels}, so that most stand in one row only"
        return AssignedRole("ignore", why, f"column '{name}' is left out: {why}; {KEEP}")
    why = "" if column.declared else _why_an_id(name, column)
    note = f"column '{name}' is taken as an identifier ({why}); {KEEP}"
    return AssignedRole("id", why, note) if why else AssignedRole("feature")


def _is_free_text(column: TypedColumn) -> bool:
    """Whether nearly every cell that is not empty has a value of its own, though not each row an identifier."""
    if not column.column.coded or len(column.column.levels) < MANY_VALUES:
        return False
    levels, present = len(column.column.levels), int((column.cells >= 0).sum())
    return TEXT_SHARE * present <= levels < len(column.cells)


def _why_an_id(name: str, column: TypedColumn) -> str:
    """Why a column looks like an identifier, or nothing."""
    rows, coded = len(column.cells), column.column.coded
    if column.column.missing or column.notes:
        return ""
    if UNNAMED.fullmatch(name) and not coded and bool((column.cells == np.floor(column.cells)).all()):
        return "it has no name and holds whole numbers, like an index that pandas writes"
    if not (coded or ID_NAME.fullmatch(name)):
        return ""
    if (coded and len(column.column.levels) < rows) or len(np.unique(column.cells)) < rows:
        return ""
    if coded:
        few = rows < ROWS_FOR_AN_ID and not _is_count(column.column.levels)
        return "" if few else "every cell is different"
    whole = bool((column.cells == np.floor(column.cells)).all())
    return "by its name, and every number is different" if whole else ""


def _is_count(levels: Sequence[str]) -> bool:
    """Whether they are one word with the numbers from 1 on, such as D1, D2, D3."""
    word = levels[0].rstrip("0123456789")
    return len(levels) > 2 and set(levels) == {f"{word}{index}" for index in range(1, len(levels) + 1)}


Wrong = Callable[[NDArray[Any]], NDArray[np.bool_]]


def _no_count(cells: NDArray[Any]) -> NDArray[np.bool_]:
    wrong: NDArray[np.bool_] = (cells < 0) | (cells != np.floor(cells))
    return wrong


CHECKS_OF_ROLES: dict[str, tuple[tuple[Wrong, str, str], ...]] = {
    "weight": (
        (is_missing, "a weight is missing", "give every row a weight; 0 leaves a row out"),
        (lambda cells: cells < 0, "a weight is below 0", "weights are 0 or more"),
    ),
    "count": (
        (is_missing, "a count is missing", "say for every row how many it stands for; 0 leaves a row out"),
        (_no_count, "a count is not a whole number from 0 on", "role: weight takes any number"),
    ),
    "group": ((is_missing, "the group is missing", "every row needs its group; a row of its own may be one"),),
    "sequence": ((is_missing, "the sequence is missing", "every row needs the sequence that it belongs to"),),
    "part": ((is_missing, "the part is missing", "every row needs its part, such as train or test"),),
    "domain": ((is_missing, "the domain is missing", "every row needs the domain that it comes from"),),
    "user": ((is_missing, "the user is missing", "every row needs its user"),),
    "item": ((is_missing, "the item is missing", "every row needs its item"),),
}
"""What the cells of a role must not be."""


def _refused(column: TypedColumn, records: Records, wrong: Wrong, what: str, hint: str) -> list[Problem]:
    rows = np.flatnonzero(wrong(column.cells))
    if not len(rows):
        return []
    more = f" (in {len(rows)} rows)" if len(rows) > 1 else ""
    return [Problem(what + more, where=records.place(int(rows[0]), column.column.name), hint=hint)]
