"""Reads a sidecar: what it says of the file and its columns, and everything that is wrong with it, with places."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mlcli.core.errors import DataError, Problem, raise_all
from mlcli.core.names import did_you_mean
from mlcli.core.schema import COLUMN_KINDS
from mlcli.core.strict_yaml import Document
from mlcli.data.sidecar import ABOUT, CONTINUOUS, DISCRETE, KEYS, Declaration, Sidecar
from mlcli.data.split_text import DELIMITER_WORDS
from mlcli.tasks.kind import ROLES, SINGLE_ROLES
from mlcli.tasks.table import BY_NAME

COLUMN_KEYS = ("kind", "role", "levels", "missing", "empty", "range", "feature")
KIND_OF_ROLE = {
    **dict.fromkeys(("weight", "count"), "numeric"),
    **dict.fromkeys(("sequence", "user", "item"), "nominal"),
}


def read_sidecar(document: Document | None, header: Sequence[str]) -> Sidecar:
    """What a sidecar says of a file with these column names; every problem in it is raised at once."""
    if document is None:
        return Sidecar()
    reading = _SidecarReader(document, tuple(header))
    sidecar = reading.sidecar()
    raise_all(DataError, reading.problems)
    return sidecar


class _SidecarReader:
    """One pass over a sidecar that collects what is wrong."""

    def __init__(self, document: Document, header: tuple[str, ...]) -> None:
        self.document = document
        self.value: dict[str, Any] = document.value or {}
        self.header = header
        self.problems: list[Problem] = []

    def sidecar(self) -> Sidecar:
        """The sidecar, as far as it is right."""
        self._only(KEYS, self.value)
        columns = self._with_roles(self._columns())
        target = self._target(columns)
        return Sidecar(
            path=Path(self.document.name),
            name=self._text("name"),
            target=target,
            target_is_settled=target is not None or "target" in self.value,
            tasks=self._tasks(),
            anomaly=self._texts("anomaly"),
            columns=columns,
            missing=self._texts("missing"),
            delimiter=self._delimiter(),
            encoding=self._encoding(),
            header=self._header(),
            about={key: self.value[key] for key in ABOUT if key in self.value},
        )

    def _problem(self, what: str, *keys: str | int, hint: str = "") -> None:
        self.problems.append(Problem(what, where=self.document.place(*keys), hint=hint))

    def _only(self, known: Sequence[str], value: Mapping[str, Any], *keys: str | int) -> None:
        for key in value:
            if key not in known and not key.startswith("x-"):
                hint = did_you_mean(key, known, "keys")
                self._problem(f"there is no key '{key}' here", *keys, key, hint=hint)

    def _one_of(self, word: Any, valid: Sequence[str], what: str, *keys: str | int) -> str | None:
        if word in valid:
            return str(word)
        self._problem(f"there is no {what} {word!r}", *keys, hint=did_you_mean(str(word), valid, f"{what}s"))
        return None

    def _get(self, keys: tuple[str | int, ...]) -> Any:
        value: Any = self.value
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else value[key]
        return value

    def _text(self, *keys: str | int) -> str | None:
        value = self._get(keys)
        if value is None:
            return None
        if isinstance(value, dict | list):
            self._problem(f"'{keys[-1]}' takes text", *keys)
            return None
        return self.document.text(*keys)

    def _texts(self, *keys: str | int) -> tuple[str, ...]:
        """A list of texts as they were written, or one text alone."""
        value = self._get(keys)
        if value is None:
            return ()
        if not isinstance(value, list):
            alone = self._text(*keys)
            return () if alone is None else (alone,)
        found = [self._item(item, *keys, place) for place, item in enumerate(value)]
        return tuple(text for text in found if text is not None)

    def _item(self, item: Any, *keys: str | int) -> str | None:
        if isinstance(item, dict | list):
            self._problem(f"'{keys[-2]}' takes a list of texts", *keys)
            return None
        return self.document.text(*keys)

    def _header(self) -> bool | None:
        """True or nothing: a file without names cannot be read, whatever its sidecar says."""
        value = self.value.get("header")
        if value is None or value is True:
            return value
        hint = "a CSV file begins with a line of names; true says that they may look like numbers"
        self._problem(f"'header' takes true, was given {value!r}", "header", hint=hint)
        return None

    def _delimiter(self) -> str | None:
        word = self._text("delimiter")
        if word is None or word in DELIMITER_WORDS.values():
            return word
        return DELIMITER_WORDS.get(self._one_of(word, tuple(DELIMITER_WORDS), "delimiter", "delimiter") or "")

    def _encoding(self) -> str | None:
        word = self._text("encoding")
        try:
            return word and codecs.lookup(word).name
        except LookupError:
            hint = "such as utf-8, latin-1, cp1252, utf-16"
            self._problem(f"there is no encoding '{word}'", "encoding", hint=hint)
            return None

    def _tasks(self) -> tuple[str, ...]:
        found = [self._one_of(task, tuple(BY_NAME), "kind of task", "task") for task in self._texts("task")]
        return tuple(task for task in found if task is not None)

    def _known(self, column: str, *keys: str | int) -> bool:
        if column not in self.header:
            hint = did_you_mean(column, self.header, "columns")
            self._problem(f"the file has no column '{column}'", *keys, hint=hint)
        return column in self.header

    def _mapping(self, key: str, example: str) -> dict[str, Any]:
        value = self.value.get(key)
        if isinstance(value, dict):
            return value
        if value is not None:
            self._problem(f"'{key}' takes a mapping, such as {example}", key)
        return {}

    def _columns(self) -> dict[str, Declaration]:
        columns = self._mapping("columns", "{age: numeric}")
        return {name: self._declaration(name) for name in columns if self._known(name, "columns", name)}

    def _declaration(self, name: str) -> Declaration:
        keys, value = ("columns", name), self.value["columns"][name]
        if not isinstance(value, dict):
            return self._checked(Declaration(**self._kind(value, *keys)), *keys)
        self._only(COLUMN_KEYS, value, *keys)
        role = value.get("role")
        declaration = Declaration(
            **self._kind(value.get("kind"), *keys, "kind"),
            role=None if role is None else self._one_of(role, ROLES, "role", *keys, "role"),
            levels=self._texts(*keys, "levels"),
            missing=self._texts(*keys, "missing"),
            empty=self._text(*keys, "empty"),
            range=self._range(*keys, "range"),
            feature=self._yes_or_no(*keys, "feature"),
        )
        return self._checked(declaration, *keys)

    def _kind(self, word: Any, *keys: str | int) -> dict[str, Any]:
        """The kind of a column, and of numeric ones of which sort they are, where that is said."""
        if word is None:
            return {}
        known = self._one_of(word, (*COLUMN_KINDS, DISCRETE, CONTINUOUS), "column kind", *keys)
        return {"kind": "numeric", "numbers": known} if known in (DISCRETE, CONTINUOUS) else {"kind": known}

    def _yes_or_no(self, *keys: str | int) -> bool:
        value = self._get(keys)
        if value is None or isinstance(value, bool):
            return bool(value)
        self._problem(f"'{keys[-1]}' takes true or false, was given {value!r}", *keys)
        return False

    def _range(self, *keys: str | int) -> tuple[float, float] | None:
        value = self._get(keys)
        if value is None:
            return None
        fits = isinstance(value, list) and len(value) == 2
        if not fits or not all(isinstance(end, int | float) and not isinstance(end, bool) for end in value):
            self._problem("'range' takes two numbers, such as [0, 100]", *keys)
            return None
        if value[0] > value[1]:
            self._problem("'range' takes the lower end first", *keys)
        return float(value[0]), float(value[1])

    def _checked(self, declaration: Declaration, *keys: str | int) -> Declaration:
        """The declaration with the kind that its levels imply; what does not fit together is noted."""
        if declaration.kind is None and (declaration.levels or declaration.empty is not None):
            declaration = replace(declaration, kind="nominal")
        for what, wrong in CONFLICTS.items():
            if wrong(declaration):
                self._problem(what, *keys)
        return declaration

    def _with_roles(self, columns: dict[str, Declaration]) -> dict[str, Declaration]:
        for role in self._mapping("roles", "{id: [name]}"):
            if self._one_of(role, ROLES, "role", "roles", role) is None:
                continue
            for column in self._texts("roles", role):
                if self._known(column, "roles", role):
                    columns[column] = self._with_role(columns.get(column, Declaration()), column, role)
        for column, declaration in columns.items():
            columns[column] = self._with_kind_of_role(declaration, column)
        for role in SINGLE_ROLES:
            several = [column for column in self.header if column in columns and columns[column].role == role]
            if len(several) > 1:
                self._problem(f"only one column can be the {role}, not {', '.join(several)}", "roles", role)
        return columns

    def _with_role(self, declaration: Declaration, column: str, role: str) -> Declaration:
        if declaration.role not in (None, role):
            self._problem(f"column '{column}' has the role {declaration.role} already", "roles", role)
        return replace(declaration, role=role)

    def _with_kind_of_role(self, declaration: Declaration, column: str) -> Declaration:
        needed = KIND_OF_ROLE.get(declaration.role or "")
        if needed is not None and declaration.kind not in (None, needed):
            what = f"the {declaration.role} must be {needed}, and '{column}' is {declaration.kind}"
            self._problem(what, "columns", column)
        return replace(declaration, kind=declaration.kind or needed)

    def _target(self, columns: dict[str, Declaration]) -> str | None:
        """The target by its key or by its role; the column gets the role either way."""
        by_role = next((column for column, declaration in columns.items() if declaration.role == "target"), None)
        target = self._text("target")
        if target is None or not self._known(target, "target"):
            return by_role
        declaration = columns.get(target, Declaration())
        if declaration.role not in (None, "target") or by_role not in (None, target):
            other = (
                f"column '{target}' has the role {declaration.role}"
                if declaration.role
                else f"'{by_role}' has the role target"
            )
            self._problem(f"the target is '{target}', but {other}", "target")
        columns[target] = replace(declaration, role="target")
        return target


CONFLICTS: dict[str, Callable[[Declaration], bool]] = {
    "an ordinal column needs its levels, lowest first": lambda one: one.kind == "ordinal" and not one.levels,
    "a numeric column has no levels": lambda one: one.kind == "numeric" and bool(one.levels),
    "an empty cell of a numeric column cannot stand for a level": lambda one: (
        one.kind == "numeric" and one.empty is not None
    ),
    "only a numeric column has a range": lambda one: one.range is not None and one.kind not in (None, "numeric"),
    "a boolean column has two levels, the one that means no first": lambda one: (
        one.kind == "boolean" and len(one.levels) not in (0, 2)
    ),
    "only a sensitive column takes 'feature'; every other one is a feature by its role": lambda one: (
        one.feature and one.role not in (None, "sensitive")
    ),
    "a level stands here twice": lambda one: len(set(one.levels)) < len(one.levels),
    "the level that an empty cell stands for is not among the levels": lambda one: (
        one.empty is not None and bool(one.levels) and one.empty not in one.levels
    ),
    "a level is also a token for missing cells": lambda one: bool(set(one.levels) & set(one.missing)),
    "a level cannot be empty": lambda one: "" in one.levels or one.empty == "",
}
