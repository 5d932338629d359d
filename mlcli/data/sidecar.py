"""The sidecar of a CSV file: ``my.yaml`` beside ``my.csv`` says what the columns are; the rest is inferred."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mlcli.core.errors import DataError
from mlcli.core.located_values import Keys
from mlcli.core.schema import COLUMN_KINDS
from mlcli.core.strict_yaml import CONSTANTS, NOT_FINITE, Document, read
from mlcli.core.values import AnyText, Value
from mlcli.tasks.table import ROLES, kind_named

PLAIN_TEXT = re.compile(r"[A-Za-z_][\w./+-]*( [\w./+-]+)*", re.ASCII)
"""Text that needs no quotes in YAML, unless it is a constant or no finite number."""
SUFFIXES = (".yaml", ".yml")
PACKED = ".gz"
DISCRETE, CONTINUOUS = "discrete", "continuous"
"""Kinds of columns that are numeric, and say of which sort."""
ABOUT: Keys = {
    key: Value("kept for people, and not looked into")
    for key in ("summary", "source", "licence", "citation", "notes", "uses", "reference")
}
SIDECAR: Keys = {
    "name": Value("what tables call the dataset", (AnyText,)),
    "target": Value("the column to predict", (AnyText,)),
    "task": Value("the kinds of task that the rows are for, such as regression", (AnyText,), many=True),
    "anomaly": Value("the levels of the target that are anomalies", (AnyText,), many=True),
    "columns": Value("what columns are, such as {age: numeric}", (dict,)),
    "roles": Value("columns by their role, such as {id: [name]}", (dict,)),
    "missing": Value('words that stand for an empty cell, such as ["?"]', (AnyText,), many=True),
    "delimiter": Value("what stands between cells, such as semicolon", (AnyText,)),
    "encoding": Value("how letters are written, such as utf-8, latin-1, cp1252, utf-16", (AnyText,)),
    "header": Value("whether the first line holds names, even if they look like numbers", (bool,)),
    **ABOUT,
}
ROLE: Keys = {role: Value(f"columns, such as {role}: [name]", (AnyText,), many=True) for role in ROLES}
COLUMN: Keys = {
    "kind": Value("what its cells are", (str,), choices=(*COLUMN_KINDS, DISCRETE, CONTINUOUS)),
    "role": Value("what it is to models", (str,), choices=ROLES),
    "levels": Value("the levels, of an ordinal column the lowest first", (AnyText,), many=True),
    "missing": Value("words that stand for an empty cell of it", (AnyText,), many=True),
    "empty": Value("the level that an empty cell stands for", (AnyText,)),
    "range": Value("two numbers, such as [0, 100]", (int, float), many=True),
    "feature": Value("whether models see it although it is sensitive", (bool,)),
}


@dataclass(frozen=True)
class Declaration:
    """What is said of one column; what is None or empty was not said."""

    kind: str | None = None
    role: str | None = None
    levels: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    empty: str | None = None
    """The level that an empty cell stands for, where empty does not mean missing."""
    range: tuple[float, float] | None = None
    feature: bool = False
    """Whether models see it although it is sensitive."""
    numbers: str | None = None
    """Whether its numbers are discrete or continuous, where that is said."""


@dataclass(frozen=True)
class Sidecar:
    """What is said of a CSV file."""

    path: Path | None = None
    name: str | None = None
    target: str | None = None
    target_is_settled: bool = False
    """Whether the target is settled, be it that there is none."""
    tasks: tuple[str, ...] = ()
    """The kinds of task that the data are for; the first is taken."""
    anomaly: tuple[str, ...] = ()
    """The levels of the target that are anomalies, where anomalies are looked for."""
    anomaly_may_be_absent: bool = False
    """Whether a file without any anomaly is as good as one with some."""
    positive: str | None = None
    """The class that is looked for, and stands last."""
    columns: Mapping[str, Declaration] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    delimiter: str | None = None
    encoding: str | None = None
    header: bool | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    def of(self, column: str) -> Declaration:
        """What is said of a column, the tokens for missing cells of the whole file included."""
        declaration = self.columns.get(column, Declaration())
        return replace(declaration, missing=(*self.missing, *declaration.missing))

    def with_defaults(self, earlier: Sidecar, header: Collection[str]) -> Sidecar:
        """The same, and where it is silent on a column of the file, what was said of an earlier file."""
        has_target = earlier.target is not None and earlier.target in header
        is_same_task = has_target or any(kind_named(task).target != "needed" for task in earlier.tasks)
        return replace(
            self,
            target=earlier.target if has_target else self.target,
            target_is_settled=has_target or self.target_is_settled,
            tasks=earlier.tasks if is_same_task else self.tasks,
            anomaly=self.anomaly or earlier.anomaly,
            anomaly_may_be_absent=not self.anomaly,
            columns={**self.columns, **{name: self._merged(name, earlier.of(name)) for name in header}},
        )

    def _merged(self, name: str, earlier: Declaration) -> Declaration:
        own = self.columns.get(name, Declaration())
        return replace(
            own,
            kind=own.kind or earlier.kind,
            role=own.role or earlier.role,
            missing=(*own.missing, *earlier.missing),
            empty=own.empty or earlier.empty,
        )

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that are given to columns."""
        return tuple(declaration.role for declaration in self.columns.values() if declaration.role is not None)

    @property
    def task(self) -> str | None:
        """The kind of task that is taken where nobody asks for another."""
        return self.tasks[0] if self.tasks else None


def sidecar_places(path: Path) -> tuple[Path, ...]:
    """Where the sidecar of a file may be; ``my.yaml`` is that of ``my.csv.gz`` as well."""
    return tuple(path.with_name(stem_of(path) + suffix) for suffix in SUFFIXES)


def stem_of(path: Path) -> str:
    """The name of a file without what says how it is written and packed."""
    bare = path.with_suffix("") if path.suffix.lower() == PACKED else path
    return bare.stem


def sidecar_document(path: Path) -> Document | None:
    """The sidecar of a CSV file as YAML; an experiment file of the same name is not one."""
    found = next((sidecar_place for sidecar_place in sidecar_places(path) if sidecar_place.is_file()), None)
    document = read(found, DataError) if found is not None else None
    if document is None or _is_experiment(document.value):
        return None
    if not isinstance(document.value, dict | None):
        hint = f"keys: {', '.join(SIDECAR)}"
        raise DataError("a sidecar is a mapping, such as 'target: species'", where=document.place(), hint=hint)
    return document


def _is_experiment(value: Any) -> bool:
    return isinstance(value, dict) and "models" in value and not {"target", "columns", "roles"} & value.keys()


def yaml_scalar(text: str) -> str:
    """A text as a YAML value that is read back as it was written."""
    return text if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text) else yaml_key(text)


def yaml_key(text: str) -> str:
    """A text as a YAML key: quoted wherever a reader of YAML might take it for something else."""
    plain = PLAIN_TEXT.fullmatch(text) and text.lower() not in CONSTANTS and not NOT_FINITE.fullmatch(text)
    return text if plain else _quoted(text)


def yaml_list(texts: Iterable[str]) -> str:
    """A list of texts on one line."""
    return f"[{', '.join(map(yaml_scalar, texts))}]"


def _quoted(text: str) -> str:
    escaped = json.dumps(text, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else f"\\U{ord(sign):08X}" for sign in escaped)
