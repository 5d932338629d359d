"""The sidecar of a CSV file: ``my.yaml`` beside ``my.csv`` declares the columns; the rest is inferred.

Everything that is wrong with a sidecar is reported at once, with its place.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mlcli.core.errors import DataError, MlcliError, Problem, placed, raise_all
from mlcli.core.names import did_you_mean
from mlcli.core.params import AnyText, Value
from mlcli.core.schema import COLUMN_KINDS
from mlcli.core.strict_yaml import (
    CONSTANTS,
    NOT_FINITE,
    Document,
    Keys,
    YamlNode,
    indented_below,
    legal_parts,
    read,
)
from mlcli.tasks.table import ROLES, SINGLE_ROLES, kind_named

BLANK = " "
"""Never taken as a delimiter unless it is declared: names and words are full of blanks."""
DELIMITER_WORDS = {
    "comma": ",",
    "semicolon": ";",
    "tab": "\t",
    "pipe": "|",
    "caret": "^",
    "colon": ":",
    "space": BLANK,
}
DISCRETE = "discrete"
"""A numeric column whose numbers are whole."""
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
    "kind": Value("what its cells are", (str,), choices=(*COLUMN_KINDS, DISCRETE, "continuous")),
    "role": Value("what it is to models", (str,), choices=ROLES),
    "levels": Value("the levels, of an ordinal column the lowest first", (AnyText,), many=True),
    "missing": Value("words that stand for an empty cell of it", (AnyText,), many=True),
    "empty": Value("the level that an empty cell stands for", (AnyText,)),
    "range": Value("two numbers, such as [0, 100]", (int, float), many=True),
    "feature": Value("whether models see it although it is sensitive", (bool,)),
}


@dataclass(frozen=True)
class Declaration:
    """The declaration of one column; None or empty: not declared."""

    kind: str | None = None
    role: str | None = None
    levels: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Words that mean a missing cell."""
    empty: str | None = None
    """The level that an empty cell means, if it does not mean missing."""
    range: tuple[float, float] | None = None
    feature: bool = False
    """Whether models see it although it is sensitive."""
    numbers: str | None = None
    """Discrete or continuous, if declared."""

    def conflicts(self) -> Iterator[str]:
        """What does not fit together."""
        if self.kind == "ordinal" and not self.levels:
            yield "an ordinal column needs its levels, lowest first"
        if self.kind == "numeric" and self.levels:
            yield "a numeric column has no levels"
        if self.kind == "numeric" and self.empty is not None:
            yield "an empty cell of a numeric column cannot stand for a level"
        if self.range is not None and self.kind not in (None, "numeric"):
            yield "only a numeric column has a range"
        if self.kind == "boolean" and len(self.levels) not in (0, 2):
            yield "a boolean column has two levels, the one that means no first"
        if self.feature and self.role not in (None, "sensitive"):
            yield "only a sensitive column takes 'feature'; every other one is a feature by its role"
        if len(set(self.levels)) < len(self.levels):
            yield "a level stands here twice"
        if self.empty is not None and self.levels and self.empty not in self.levels:
            yield "the level that an empty cell stands for is not among the levels"
        if set(self.levels) & set(self.missing):
            yield "a level is also a token for missing cells"
        if "" in self.levels or self.empty == "":
            yield "a level cannot be empty"


@dataclass(frozen=True)
class Sidecar:
    """The declarations for a CSV file."""

    path: Path | None = None
    name: str | None = None
    target: str | None = None
    target_is_settled: bool = False
    """Whether the target is settled; that there is none is settled by ``target: null``."""
    tasks: tuple[str, ...] = ()
    """The kinds of task that the data are for; the first is the default."""
    anomaly: tuple[str, ...] = ()
    """The levels of the target that are anomalies, in anomaly detection."""
    anomaly_may_be_absent: bool = False
    """Whether a file without any anomaly is valid."""
    positive: str | None = None
    """The positive class, which becomes the last level of the target."""
    columns: Mapping[str, Declaration] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    delimiter: str | None = None
    encoding: str | None = None
    header: bool | None = None
    about: Mapping[str, Any] = field(default_factory=dict)

    def of(self, column: str) -> Declaration:
        """The declaration of a column, with the words for missing cells of the whole file."""
        declaration = self.columns.get(column, Declaration())
        return replace(declaration, missing=(*self.missing, *declaration.missing))

    def with_defaults(self, earlier: Sidecar, header: Collection[str]) -> Sidecar:
        """The same, completed by what was declared for an earlier file."""
        has_target = earlier.target is not None and earlier.target in header
        is_same_task = has_target or any(kind_named(task).target != "needed" for task in earlier.tasks)
        columns = dict(self.columns)
        for name in header:
            own, other = self.columns.get(name, Declaration()), earlier.of(name)
            columns[name] = replace(
                own,
                kind=own.kind or other.kind,
                role=own.role or other.role,
                missing=(*own.missing, *other.missing),
                empty=own.empty or other.empty,
            )
        return replace(
            self,
            target=earlier.target if has_target else self.target,
            target_is_settled=has_target or self.target_is_settled,
            tasks=earlier.tasks if is_same_task else self.tasks,
            anomaly=self.anomaly or earlier.anomaly,
            anomaly_may_be_absent=not self.anomaly,
            columns=columns,
        )

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that are given to columns."""
        return tuple(declaration.role for declaration in self.columns.values() if declaration.role is not None)

    @property
    def task(self) -> str | None:
        """The default kind of task."""
        return self.tasks[0] if self.tasks else None


def sidecar_places(path: Path) -> tuple[Path, ...]:
    """Where the sidecar of a file may be; ``my.yaml`` is that of ``my.csv.gz`` as well."""
    return tuple(path.with_name(stem_of(path) + suffix) for suffix in (".yaml", ".yml"))


def stem_of(path: Path) -> str:
    """The name of a file without the suffixes of its format and of gzip."""
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).stem


def sidecar_document(path: Path) -> Document | None:
    """The sidecar of a CSV file as YAML, if there is one; an experiment file with such a name is none."""
    sidecar = next((candidate for candidate in sidecar_places(path) if candidate.is_file()), None)
    if sidecar is None:
        return None
    document = read(sidecar, DataError)
    if document.value is None:
        return document
    if not isinstance(document.value, dict):
        hint = f"keys: {', '.join(SIDECAR)}"
        raise DataError("a sidecar is a mapping, such as 'target: species'", where=document.place(), hint=hint)
    is_experiment = "models" in document.value and not {"target", "columns", "roles"} & document.value.keys()
    return None if is_experiment else document


def read_sidecar(document: Document | None, header: Sequence[str]) -> Sidecar:
    """The declarations for a file with these column names; all problems are raised at once."""
    if document is None:
        return Sidecar()
    reader = _SidecarReader(document, tuple(header))
    sidecar = reader.sidecar()
    raise_all(DataError, reader.problems)
    return sidecar


class _SidecarReader:
    """One pass over a sidecar that collects what is wrong."""

    def __init__(self, document: Document, header: tuple[str, ...]) -> None:
        self.node = YamlNode(document.value or {}, document)
        self.path = Path(document.name)
        self.header = header
        self.problems: list[Problem] = []

    def sidecar(self) -> Sidecar:
        """The sidecar, as far as it is right."""
        parts = self._parts(SIDECAR, self.node)
        columns = self._columns(parts)
        target = self._target(parts, columns)
        tasks = []
        for name in _texts(parts, "task"):
            try:
                tasks.append(kind_named(name).name)
            except MlcliError as error:
                self.problems += placed(error.problems, parts["task"].where)
        delimiter, encoding, header = self._layout(parts)
        return Sidecar(
            path=self.path,
            name=_text(parts, "name"),
            target=target,
            target_is_settled=target is not None or "target" in self.node.value,
            tasks=tuple(tasks),
            anomaly=_texts(parts, "anomaly"),
            columns=columns,
            missing=_texts(parts, "missing"),
            delimiter=delimiter,
            encoding=encoding,
            header=header,
            about={key: self.node.value[key] for key in ABOUT if key in self.node.value},
        )

    def _parts(self, keys: Keys, node: YamlNode) -> dict[str, YamlNode]:
        """The valid parts of a mapping; a key without a value is ignored."""
        given = {key: value for key, value in node.value.items() if value is not None}
        return legal_parts(keys, replace(node, value=given), self.problems, elsewhere=indented_below(node.value))

    def _layout(self, parts: dict[str, YamlNode]) -> tuple[str | None, str | None, bool | None]:
        """Delimiter, encoding, and whether the first line holds names."""
        delimiter = _text(parts, "delimiter")
        if delimiter is not None and delimiter not in DELIMITER_WORDS.values():
            if delimiter not in DELIMITER_WORDS:
                hint = did_you_mean(delimiter, DELIMITER_WORDS, "delimiters")
                self.problems.append(parts["delimiter"].problem(f"there is no delimiter '{delimiter}'", hint))
            delimiter = DELIMITER_WORDS.get(delimiter)
        encoding = _text(parts, "encoding")
        if encoding:
            try:
                encoding = codecs.lookup(encoding).name
            except LookupError:
                hint = "such as utf-8, latin-1, cp1252, utf-16"
                self.problems.append(parts["encoding"].problem(f"there is no encoding '{encoding}'", hint))
                encoding = None
        header: bool | None = parts["header"].value if "header" in parts else None
        if header is False:
            hint = "a CSV file begins with a line of names; true says that they may look like numbers"
            self.problems.append(parts["header"].problem("'header' takes true, was given False", hint))
        return delimiter, encoding, header

    def _is_in_file(self, column: str, node: YamlNode) -> bool:
        if column not in self.header:
            hint = did_you_mean(column, self.header, "columns")
            self.problems.append(node.problem(f"the file has no column '{column}'", hint))
        return column in self.header

    def _columns(self, parts: dict[str, YamlNode]) -> dict[str, Declaration]:
        """Each declared column, with the role that ``roles`` gives it and the kind that its role needs."""
        nodes = {name: parts["columns"].at(name) for name in parts["columns"].value} if "columns" in parts else {}
        columns = {name: self._declaration(node) for name, node in nodes.items() if self._is_in_file(name, node)}
        for role, node in (self._parts(ROLE, parts["roles"]) if "roles" in parts else {}).items():
            for column in node.texts:
                if self._is_in_file(column, node):
                    declaration = columns.get(column, Declaration())
                    if declaration.role not in (None, role):
                        what = f"column '{column}' has the role {declaration.role} already"
                        self.problems.append(node.problem(what))
                    columns[column] = replace(declaration, role=role)
        kind_of_role = {"weight": "numeric", "count": "numeric"}
        kind_of_role |= dict.fromkeys(("sequence", "user", "item"), "nominal")
        for column, declaration in columns.items():
            kind = kind_of_role.get(declaration.role or "")
            if kind is not None and declaration.kind not in (None, kind):
                what = f"the {declaration.role} must be {kind}, and '{column}' is {declaration.kind}"
                self.problems.append(Problem(what, where=self.node.place("columns", column)))
            columns[column] = replace(declaration, kind=declaration.kind or kind)
        for role in SINGLE_ROLES:
            several = [column for column in self.header if column in columns and columns[column].role == role]
            if len(several) > 1:
                what = f"only one column can be the {role}, not {', '.join(several)}"
                self.problems.append(Problem(what, where=self.node.place("roles", role)))
        return columns

    def _declaration(self, node: YamlNode) -> Declaration:
        """The declaration of a column by keys, or by its kind alone."""
        by_keys = node if isinstance(node.value, dict) else replace(node, value={"kind": node.value})
        parts = self._parts(COLUMN, by_keys)
        kind = parts["kind"].value if "kind" in parts else None
        numbers = kind if kind in (DISCRETE, "continuous") else None
        levels, empty = _texts(parts, "levels"), _text(parts, "empty")
        if kind is None and (levels or empty is not None):
            kind = "nominal"
        declaration = Declaration(
            kind="numeric" if numbers else kind,
            numbers=numbers,
            role=parts["role"].value if "role" in parts else None,
            levels=levels,
            missing=_texts(parts, "missing"),
            empty=empty,
            range=self._range(parts["range"]) if "range" in parts else None,
            feature="feature" in parts and bool(parts["feature"].value),
        )
        self.problems += [node.problem(what) for what in declaration.conflicts()]
        return declaration

    def _range(self, node: YamlNode) -> tuple[float, float] | None:
        ends = node.value
        if not isinstance(ends, list) or len(ends) != 2:
            what = f"'range' takes two numbers, was given {node.given}"
            self.problems.append(node.problem(what, "such as [0, 100]"))
            return None
        if ends[0] > ends[1]:
            self.problems.append(node.problem("'range' takes the lower end first"))
        return float(ends[0]), float(ends[1])

    def _target(self, parts: dict[str, YamlNode], columns: dict[str, Declaration]) -> str | None:
        """The target by its key or by its role; the column gets the role either way."""
        by_role = next((column for column, declaration in columns.items() if declaration.role == "target"), None)
        target = _text(parts, "target")
        if target is None or not self._is_in_file(target, parts["target"]):
            return by_role
        declaration = columns.get(target, Declaration())
        other = ""
        if declaration.role not in (None, "target"):
            other = f"column '{target}' has the role {declaration.role}"
        elif by_role not in (None, target):
            other = f"'{by_role}' has the role target"
        if other:
            self.problems.append(parts["target"].problem(f"the target is '{target}', but {other}"))
        columns[target] = replace(declaration, role="target")
        return target


def _text(parts: dict[str, YamlNode], key: str) -> str | None:
    return parts[key].text if key in parts else None


def _texts(parts: dict[str, YamlNode], key: str) -> tuple[str, ...]:
    return parts[key].texts if key in parts else ()


def yaml_scalar(text: str) -> str:
    """A text as a YAML value that is read back as it was written."""
    return text if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text) else yaml_key(text)


def yaml_key(text: str) -> str:
    """A text as a YAML key: quoted wherever a reader of YAML might take it for something else."""
    is_plain = re.fullmatch(r"[A-Za-z_][\w./+-]*( [\w./+-]+)*", text, re.ASCII)
    if is_plain and text.lower() not in CONSTANTS and not NOT_FINITE.fullmatch(text):
        return text
    escaped = json.dumps(text, ensure_ascii=False)
    return "".join(sign if sign.isprintable() else f"\\U{ord(sign):08X}" for sign in escaped)


def yaml_list(texts: Iterable[str]) -> str:
    """A list of texts on one line."""
    return f"[{', '.join(map(yaml_scalar, texts))}]"
