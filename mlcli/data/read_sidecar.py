"""Reads a sidecar: what it says of the file and its columns, and everything that is wrong with it, with places."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mlcli.core.errors import DataError, MlcliError, Problem, placed, raise_all
from mlcli.core.located_values import Keys, YamlNode, indented_below, legal_parts
from mlcli.core.names import did_you_mean
from mlcli.core.strict_yaml import Document
from mlcli.data.records import DELIMITER_WORDS
from mlcli.data.sidecar import ABOUT, COLUMN, CONTINUOUS, DISCRETE, ROLE, SIDECAR, Declaration, Sidecar
from mlcli.tasks.table import SINGLE_ROLES, kind_named

KIND_OF_ROLE = {
    **dict.fromkeys(("weight", "count"), "numeric"),
    **dict.fromkeys(("sequence", "user", "item"), "nominal"),
}


def read_sidecar(document: Document | None, header: Sequence[str]) -> Sidecar:
    """What a sidecar says of a file with these column names; every problem in it is raised at once."""
    if document is None:
        return Sidecar()
    reading = _SidecarReader(YamlNode(document.value or {}, document), tuple(header))
    sidecar = reading.sidecar(Path(document.name))
    raise_all(DataError, reading.problems)
    return sidecar


class _SidecarReader:
    """One pass over a sidecar that collects what is wrong."""

    def __init__(self, written: YamlNode, header: tuple[str, ...]) -> None:
        self.written = written
        self.header = header
        self.problems: list[Problem] = []
        self.parts = self._parts_given(SIDECAR, written)

    def sidecar(self, path: Path) -> Sidecar:
        """The sidecar, as far as it is right."""
        columns = self._with_roles(self._columns())
        target = self._target(columns)
        return Sidecar(
            path=path,
            name=_text(self.parts, "name"),
            target=target,
            target_is_settled=target is not None or "target" in self.written.value,
            tasks=self._tasks(),
            anomaly=_texts(self.parts, "anomaly"),
            columns=columns,
            missing=_texts(self.parts, "missing"),
            delimiter=self._delimiter(),
            encoding=self._encoding(),
            header=self._header(),
            about={key: self.written.value[key] for key in ABOUT if key in self.written.value},
        )

    def _parts_given(self, keys: Keys, written: YamlNode) -> dict[str, YamlNode]:
        """The parts of a mapping that are as its keys say; a key with nothing behind it says nothing."""
        given = {key: value for key, value in written.value.items() if value is not None}
        hints = indented_below(written.value)
        return legal_parts(keys, replace(written, value=given), self.problems, elsewhere=hints)

    def _problem(self, written: YamlNode, what: str, hint: str = "") -> None:
        self.problems.append(written.problem(what, hint))

    def _header(self) -> bool | None:
        """True or nothing: a file without names cannot be read, whatever its sidecar says."""
        header: bool | None = _value(self.parts, "header")
        if header is False:
            hint = "a CSV file begins with a line of names; true says that they may look like numbers"
            self._problem(self.parts["header"], "'header' takes true, was given False", hint)
        return header

    def _delimiter(self) -> str | None:
        word = _text(self.parts, "delimiter")
        if word is None or word in DELIMITER_WORDS.values():
            return word
        if word not in DELIMITER_WORDS:
            hint = did_you_mean(word, DELIMITER_WORDS, "delimiters")
            self._problem(self.parts["delimiter"], f"there is no delimiter '{word}'", hint)
        return DELIMITER_WORDS.get(word)

    def _encoding(self) -> str | None:
        word = _text(self.parts, "encoding")
        try:
            return word and codecs.lookup(word).name
        except LookupError:
            hint = "such as utf-8, latin-1, cp1252, utf-16"
            self._problem(self.parts["encoding"], f"there is no encoding '{word}'", hint)
            return None

    def _tasks(self) -> tuple[str, ...]:
        matches = []
        for name in _texts(self.parts, "task"):
            try:
                matches.append(kind_named(name).name)
            except MlcliError as error:
                self.problems += placed(error.problems, self.parts["task"].where)
        return tuple(matches)

    def _known(self, column: str, written: YamlNode) -> bool:
        if column not in self.header:
            hint = did_you_mean(column, self.header, "columns")
            self._problem(written, f"the file has no column '{column}'", hint)
        return column in self.header

    def _columns(self) -> dict[str, Declaration]:
        if "columns" not in self.parts:
            return {}
        columns = self.parts["columns"]
        named = {name: columns.at(name) for name in columns.value}
        return {name: self._declaration(node) for name, node in named.items() if self._known(name, node)}

    def _declaration(self, written: YamlNode) -> Declaration:
        """What is said of a column by keys; its kind alone is short for that key."""
        alone = not isinstance(written.value, dict)
        parts = self._parts_given(COLUMN, replace(written, value={"kind": written.value}) if alone else written)
        kind = _value(parts, "kind")
        declaration = Declaration(
            kind="numeric" if kind in (DISCRETE, CONTINUOUS) else kind,
            numbers=kind if kind in (DISCRETE, CONTINUOUS) else None,
            role=_value(parts, "role"),
            levels=_texts(parts, "levels"),
            missing=_texts(parts, "missing"),
            empty=_text(parts, "empty"),
            range=self._range(parts["range"]) if "range" in parts else None,
            feature=bool(_value(parts, "feature")),
        )
        return self._checked(declaration, written)

    def _range(self, written: YamlNode) -> tuple[float, float] | None:
        ends = written.value
        if not isinstance(ends, list) or len(ends) != 2:
            self._problem(written, f"'range' takes two numbers, was given {written.given}", "such as [0, 100]")
            return None
        if ends[0] > ends[1]:
            self._problem(written, "'range' takes the lower end first")
        return float(ends[0]), float(ends[1])

    def _checked(self, declaration: Declaration, written: YamlNode) -> Declaration:
        """The declaration with the kind that its levels imply; what does not fit together is noted."""
        if declaration.kind is None and (declaration.levels or declaration.empty is not None):
            declaration = replace(declaration, kind="nominal")
        for what, wrong in CONFLICTS.items():
            if wrong(declaration):
                self._problem(written, what)
        return declaration

    def _with_roles(self, columns: dict[str, Declaration]) -> dict[str, Declaration]:
        roles = self._parts_given(ROLE, self.parts["roles"]) if "roles" in self.parts else {}
        for role, written in roles.items():
            for column in (name for name in written.texts if self._known(name, written)):
                columns[column] = self._with_role(columns.get(column, Declaration()), column, role, written)
        for column, declaration in columns.items():
            columns[column] = self._with_kind_of_role(declaration, column)
        for role in SINGLE_ROLES:
            several = [column for column in self.header if column in columns and columns[column].role == role]
            if len(several) > 1:
                what = f"only one column can be the {role}, not {', '.join(several)}"
                self.problems.append(Problem(what, where=self.written.place("roles", role)))
        return columns

    def _with_role(self, declaration: Declaration, column: str, role: str, written: YamlNode) -> Declaration:
        if declaration.role not in (None, role):
            self._problem(written, f"column '{column}' has the role {declaration.role} already")
        return replace(declaration, role=role)

    def _with_kind_of_role(self, declaration: Declaration, column: str) -> Declaration:
        needed = KIND_OF_ROLE.get(declaration.role or "")
        if needed is not None and declaration.kind not in (None, needed):
            what = f"the {declaration.role} must be {needed}, and '{column}' is {declaration.kind}"
            self.problems.append(Problem(what, where=self.written.place("columns", column)))
        return replace(declaration, kind=declaration.kind or needed)

    def _target(self, columns: dict[str, Declaration]) -> str | None:
        """The target by its key or by its role; the column gets the role either way."""
        by_role = next((column for column, declaration in columns.items() if declaration.role == "target"), None)
        target = _text(self.parts, "target")
        if target is None or not self._known(target, self.parts["target"]):
            return by_role
        declaration = columns.get(target, Declaration())
        if declaration.role not in (None, "target") or by_role not in (None, target):
            other = (
                f"column '{target}' has the role {declaration.role}"
                if declaration.role
                else f"'{by_role}' has the role target"
            )
            self._problem(self.parts["target"], f"the target is '{target}', but {other}")
        columns[target] = replace(declaration, role="target")
        return target


def _value(parts: dict[str, YamlNode], key: str) -> Any:
    return parts[key].value if key in parts else None


def _text(parts: dict[str, YamlNode], key: str) -> str | None:
    return parts[key].text if key in parts else None


def _texts(parts: dict[str, YamlNode], key: str) -> tuple[str, ...]:
    return parts[key].texts if key in parts else ()


CONFLICTS: dict[str, Callable[[Declaration], bool]] = {
    "an ordinal column needs its levels, lowest first": lambda declaration: (
        declaration.kind == "ordinal" and not declaration.levels
    ),
    "a numeric column has no levels": lambda declaration: (
        declaration.kind == "numeric" and bool(declaration.levels)
    ),
    "an empty cell of a numeric column cannot stand for a level": lambda declaration: (
        declaration.kind == "numeric" and declaration.empty is not None
    ),
    "only a numeric column has a range": lambda declaration: (
        declaration.range is not None and declaration.kind not in (None, "numeric")
    ),
    "a boolean column has two levels, the one that means no first": lambda declaration: (
        declaration.kind == "boolean" and len(declaration.levels) not in (0, 2)
    ),
    "only a sensitive column takes 'feature'; every other one is a feature by its role": lambda declaration: (
        declaration.feature and declaration.role not in (None, "sensitive")
    ),
    "a level stands here twice": lambda declaration: len(set(declaration.levels)) < len(declaration.levels),
    "the level that an empty cell stands for is not among the levels": lambda declaration: (
        declaration.empty is not None and bool(declaration.levels) and declaration.empty not in declaration.levels
    ),
    "a level is also a token for missing cells": lambda declaration: bool(
        set(declaration.levels) & set(declaration.missing)
    ),
    "a level cannot be empty": lambda declaration: "" in declaration.levels or declaration.empty == "",
}
