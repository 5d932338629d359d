"""Which role each column plays: as declared, else guessed for identifiers, empty columns and the target."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.errors import DataError, Problem, raise_all
from mlcli.core.names import did_you_mean
from mlcli.core.split_columns import looks_like_parts
from mlcli.data.columns import Typed
from mlcli.data.records import Records
from mlcli.data.sidecar import Sidecar

ID_NAME = re.compile(
    r"(?i:id|index|row|rownames?|uuid|guid|unnamed: 0|__index_level_0__)|.*[-_. ](?i:id)|.*[a-z](Id|ID)"
)
ROWS_FOR_AN_ID = 10
"""In fewer rows, different texts in every cell say little."""
KEEP = "to keep it, give it the role feature in the sidecar"


@dataclass(frozen=True)
class Role:
    """The role of a column, and why where it was guessed."""

    role: str
    guessed: str = ""
    note: str = ""


def assigned_roles(
    typed: Mapping[str, Typed], sidecar: Sidecar, records: Records, target: str | None, *, guess_target: bool
) -> dict[str, Role]:
    """The role of every column; ``target`` is what the user asks for, and goes before the sidecar."""
    if target is not None and target not in typed:
        hint = did_you_mean(target, typed, "columns")
        raise DataError(f"there is no column '{target}' to be the target", where=records.name, hint=hint)
    wanted = target if target is not None else sidecar.target
    roles = {name: _given(name, column, sidecar, wanted) for name, column in typed.items()}
    if guess_target and wanted is None and not sidecar.target_is_settled:
        guessed = _last_feature(roles)
        why = "the last column" if guessed == list(roles)[-1] else "the last column that is a feature"
        note = f"the target was guessed: {why}, '{guessed}'; to choose another, say --target COLUMN"
        roles[guessed] = Role("target", why, note)
    return roles


def sensitive_roles(names: Sequence[str], roles: Mapping[str, Role], records: Records) -> dict[str, Role]:
    """The role of the columns that the user calls sensitive."""
    for name in names:
        if name not in roles:
            hint = did_you_mean(name, roles, "columns")
            raise DataError(f"there is no column '{name}' to be sensitive", where=records.name, hint=hint)
        if roles[name].role == "target":
            hint = "judge by another column, or choose another target with --target COLUMN"
            raise DataError(f"'{name}' is the target, so it cannot be sensitive", where=records.name, hint=hint)
    return {name: Role("sensitive") for name in names}


def refuse_unusable(typed: Mapping[str, Typed], roles: Mapping[str, Role], records: Records) -> None:
    """Refuse weights that are not weights, and groups or sequences that are not said."""
    problems: list[Problem] = []
    for name, given in roles.items():
        for wrong, what, hint in CHECKS_OF_ROLES.get(given.role, ()):
            problems += _refused(typed[name], records, wrong, what, hint)
    raise_all(DataError, problems)


def _given(name: str, column: Typed, sidecar: Sidecar, wanted: str | None) -> Role:
    if name == wanted:
        return Role("target")
    declaration = sidecar.of(name).role
    if declaration == "target":
        return Role("feature", note=f"'{name}', the target in the sidecar, is a feature here")
    if declaration is not None:
        return Role(declaration)
    if len(column.cells) and not column.declared and _is_empty(column):
        why = "every cell is empty"
        return Role("ignore", why, f"column '{name}' is left out: {why}")
    if not column.declared and looks_like_parts(column.column, column.cells):
        why = "by its name and its values"
        note = f"column '{name}' is taken as the part that each row is in ({why}), for protocol: given; {KEEP}"
        return Role("part", why, note)
    why = "" if column.declared else _why_an_id(name, column)
    return (
        Role("id", why, f"column '{name}' is taken as an identifier ({why}); {KEEP}") if why else Role("feature")
    )


def _is_empty(column: Typed) -> bool:
    return not column.column.coded and column.column.missing and bool(np.isnan(column.cells).all())


def _why_an_id(name: str, column: Typed) -> str:
    """Why a column looks like an identifier, or nothing."""
    rows, coded = len(column.cells), column.column.coded
    if column.column.missing or column.notes or not (coded or ID_NAME.fullmatch(name)):
        return ""
    if (coded and len(column.column.levels) < rows) or len(np.unique(column.cells)) < rows:
        return ""
    if coded:
        return "every cell is different" if rows >= ROWS_FOR_AN_ID else ""
    whole = bool((column.cells == np.floor(column.cells)).all())
    return "by its name, and every number is different" if whole else ""


def _last_feature(roles: Mapping[str, Role]) -> str:
    features = [name for name, given in roles.items() if given.role in ("feature", "sensitive")]
    return features[-1] if features else list(roles)[-1]


Wrong = Callable[[NDArray[Any]], NDArray[np.bool_]]


def _missing(cells: NDArray[Any]) -> NDArray[np.bool_]:
    absent: NDArray[np.bool_] = np.isnan(cells) if cells.dtype.kind == "f" else cells < 0
    return absent


def _negative(cells: NDArray[Any]) -> NDArray[np.bool_]:
    return cells < 0


def _no_count(cells: NDArray[Any]) -> NDArray[np.bool_]:
    wrong: NDArray[np.bool_] = (cells < 0) | (cells != np.floor(cells))
    return wrong


CHECKS_OF_ROLES: dict[str, tuple[tuple[Wrong, str, str], ...]] = {
    "weight": (
        (_missing, "a weight is missing", "give every row a weight; 0 leaves a row out"),
        (_negative, "a weight is below 0", "weights are 0 or more"),
    ),
    "count": (
        (_missing, "a count is missing", "say for every row how many it stands for; 0 leaves a row out"),
        (_no_count, "a count is not a whole number from 0 on", "role: weight takes any number"),
    ),
    "group": ((_missing, "the group is missing", "every row needs its group; a row of its own may be one"),),
    "sequence": ((_missing, "the sequence is missing", "every row needs the sequence that it belongs to"),),
    "part": ((_missing, "the part is missing", "every row needs its part, such as train or test"),),
    "domain": ((_missing, "the domain is missing", "every row needs the domain that it comes from"),),
    "user": ((_missing, "the user is missing", "every row needs its user"),),
    "item": ((_missing, "the item is missing", "every row needs its item"),),
}
"""What the cells of a role must not be."""


def _refused(column: Typed, records: Records, wrong: Wrong, what: str, hint: str) -> list[Problem]:
    rows = np.flatnonzero(wrong(column.cells))
    if not len(rows):
        return []
    more = f" (in {len(rows)} rows)" if len(rows) > 1 else ""
    return [Problem(what + more, where=records.place(int(rows[0]), column.column.name), hint=hint)]
