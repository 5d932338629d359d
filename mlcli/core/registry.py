"""Where methods are found: an id is a file name, its one-liner the first line, its module imported on use."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, TypeVar, dataclass_transform

from mlcli.core.errors import UsageError
from mlcli.core.names import LONGEST, did_you_mean, id_of, likely_names, module_of, shortened
from mlcli.core.plugins import (
    IMPORT_PATH,
    check_import,
    imported_module,
    module_name,
    plugin_files,
    registered_in,
)

T = TypeVar("T", bound=type)
CLASS_LINE = re.compile(r"^@register\(.*?^class (\w+)\(([^)]*)\)", re.MULTILINE | re.DOTALL)


@dataclass_transform(kw_only_default=True, eq_default=False)
def register(name: str, *, reference: str, revision: int = 1) -> Callable[[T], T]:
    """Make a class a dataclass with an id, its source, and a number to be raised whenever its answers change."""

    def mark(cls: T) -> T:
        if "__dataclass_fields__" not in vars(cls):
            dataclass(kw_only=True, eq=False)(cls)
        setattr(cls, "id", name)
        setattr(cls, "reference", reference)
        setattr(cls, "revision", revision)
        return cls

    return mark


@dataclass(frozen=True)
class Entry:
    """What is known of a registered thing before it is imported."""

    name: str
    module: str
    summary: str
    family: str = ""
    bases: tuple[str, ...] = ()
    distribution: str = "mlcli"
    version: str = ""
    """The version of the distribution that a plugin comes from."""
    attribute: str = ""
    noun: str = "model"

    def load(self) -> type:
        """Import the module and return the registered class."""
        ours = self.distribution == "mlcli"
        module = importlib.import_module(self.module) if ours else imported_module(self.module, self.module)
        if isinstance(named := getattr(module, self.attribute, None), type):
            return named
        for value in vars(module).values():
            own = isinstance(value, type) and value.__module__ == self.module
            if own and getattr(value, "id", "") == self.name:
                return value  # type: ignore[no-any-return]
        raise UsageError(f"{self.module} registers nothing named '{self.name}'")


def _typed_in_one(name: str, parts: list[str], ids: list[str]) -> str:
    """Several models, or a model with its parameters, that were typed as one word."""
    if len(ids) > 1:
        return f"several models are named one by one: {' '.join(f'-m {name}' for name in ids)}"
    values = re.findall(r"([A-Za-z_]\w*)\s*[=:]\s*([^\s,;)}]+)", name)
    if not values:
        return f"did you mean -m {parts[0]}?"
    return f"a parameter stands for itself: -m {parts[0]}" + "".join(f" -p {key}={value}" for key, value in values)


class ImportedEntry(Entry):
    """A class of another package by its import path; what stands for it here is made when it is used."""

    def __init__(
        self, path: str, summary: str, version: str, noun: str, bases: tuple[str, ...], make: Callable[[], type]
    ) -> None:
        super().__init__(path, path, summary, "", bases, version, version, noun=noun)
        self.__dict__["_made"] = lru_cache(maxsize=1)(make)

    def load(self) -> type:
        """The class that stands for it."""
        result: type = self.__dict__["_made"]()
        return result


class Catalogue:
    """All registered things of one noun: the files of a package, and plugins from entry points.

    A file whose name starts with an underscore is machinery, every other file is one registered thing.
    """

    def __init__(self, package: str, noun: str, base: str, imported_at: str = "") -> None:
        self.package = package
        self.noun = noun
        self.base = base
        """What its classes derive from, as "module:name"."""
        self.imported_at = imported_at
        """What makes an entry of an import path, such as sklearn.svm.SVC, as "module:name"."""
        self._heads: dict[str, Entry] = {}
        self._files: dict[str, list[Entry]] = {}

    @cached_property
    def folder(self) -> Path:
        """Where the package lies; found without importing it."""
        return Path(__file__).parent.parent.joinpath(*self.package.split(".")[1:])

    @cached_property
    def _shipped(self) -> dict[str, Path]:
        files = [*self.folder.glob("*.py"), *self.folder.glob("*/*.py")]
        return {id_of(path.stem): path for path in sorted(files) if not path.name.startswith("_")}

    @cached_property
    def _plugins(self) -> dict[str, Entry]:
        from importlib.metadata import entry_points

        result = {}
        for point in entry_points(group=self.package):
            whose, version = (point.dist.name, point.dist.version) if point.dist else ("unknown", "")
            about: dict[str, Any] = {"distribution": whose, "version": version, "noun": self.noun}
            result[point.name] = Entry(point.name, point.module, summary="", attribute=point.attr or "", **about)
        return result

    @property
    def _of_files(self) -> dict[str, Entry]:
        """What files of the user's own register."""
        result: dict[str, Entry] = {}
        for entry in (entry for file in plugin_files() for entry in self._entries_in(file)):
            if entry.name in result:
                both = f"{result[entry.name].distribution} and {entry.distribution}"
                raise UsageError(f"two plug-ins register the {self.noun} '{entry.name}': {both}")
            result[entry.name] = entry
        return result

    def _entries_in(self, file: Path) -> list[Entry]:
        module = module_name(file)
        if module not in self._files:
            self._files[module] = [self._entry_of(cls, file) for cls in registered_in(file) if self._is_one(cls)]
        return self._files[module]

    def _is_one(self, cls: type) -> bool:
        return any(f"{name.__module__}:{name.__name__}" == self.base for name in cls.__mro__)

    def _entry_of(self, cls: Any, file: Path) -> Entry:
        if cls.id in self._shipped:
            what = f"it registers the {self.noun} '{cls.id}', which mlcli has already"
            raise UsageError(what, where=str(file), hint="choose another id")
        summary = (sys.modules[cls.__module__].__doc__ or cls.__doc__ or "").strip().partition("\n")[0]
        bases = tuple(base.__name__ for base in cls.__bases__)
        about = {"bases": bases, "distribution": file.name, "attribute": cls.__name__, "noun": self.noun}
        return Entry(cls.id, cls.__module__, summary, **about)

    def names(self) -> list[str]:
        """Every id, shipped ones first."""
        return list(dict.fromkeys((*self._shipped, *self._of_files, *self._plugins)))

    def entries(self) -> Iterator[Entry]:
        """Every entry, read from the heads of files; no module is imported."""
        return (self.entry(name) for name in self.names())

    def entry(self, name: str) -> Entry:
        """The entry of one id."""
        if name in self._shipped:
            if name not in self._heads:
                self._heads[name] = self._read_head(self._shipped[name])
            return self._heads[name]
        if name in self._of_files:
            return self._of_files[name]
        if name in self._plugins:
            return self._plugins[name]
        if self._is_imported(name):
            return self._imported(name)
        raise UsageError(f"there is no {self.noun} '{shortened(name)}'", hint=self._advice(name))

    def _advice(self, name: str) -> str:
        """What may be meant by an unknown id: one with more behind it, a thing of another sort, or a near one."""
        if len(name) > LONGEST:
            return "names are shorter"
        if (spelt := "-".join(name.lower().split())) in self:
            return f"did you mean '{spelt}'?"
        parts = [part for part in re.split(r"[\s,;:({=]+", name.strip(" ,;:=")) if part]
        begins = parts[0] if parts and self.noun == "model" else ""
        if begins != name and begins in self:
            return _typed_in_one(name, parts, [part for part in parts if part in self])
        other = next((catalogue for catalogue in ALL if catalogue is not self and name in catalogue), None)
        if other is not None:
            return f"'{name}' is a {other.noun}: {HOW_TO_NAME[other.noun].replace('ID', name)}"
        if self.noun == "model" and name.lower() in ANY_MODEL:
            return "leave it out, and the methods of a panel are compared"
        names = self.names()
        if len(names) > MOST_LISTED and not likely_names(name, names):
            return f"mlcli {self.noun}s lists all {len(names)}"
        return did_you_mean(name, names, f"{self.noun}s")

    def __contains__(self, name: str) -> bool:
        own = name in self._shipped or name in self._of_files or name in self._plugins
        return own or self._is_imported(name)

    def _is_imported(self, name: str) -> bool:
        return bool(self.imported_at) and IMPORT_PATH.fullmatch(name) is not None

    def _imported(self, name: str) -> Entry:
        """The entry of a class of another package."""
        check_import(name)
        if name not in self._heads:
            module, _, function = self.imported_at.partition(":")
            self._heads[name] = getattr(importlib.import_module(module), function)(name)
        return self._heads[name]

    def forget(self, name: str) -> None:
        """Drop the entry of an import path, since its class has been defined again."""
        self._heads.pop(name, None)

    def load(self, name: str) -> type:
        """The class of an id, imported now."""
        return self.entry(name).load()

    def _read_head(self, path: Path) -> Entry:
        text = path.read_text(encoding="utf-8")
        summary = text.partition("\n")[0].strip().strip('"')
        match = CLASS_LINE.search(text)
        bases = tuple(base.strip() for base in match.group(2).split(",")) if match else ()
        family = path.parent.name if path.parent != self.folder else ""
        parts = (self.package, family, module_of(path.stem))
        module = ".".join(part for part in parts if part)
        return Entry(id_of(path.stem), module, summary, family=family, bases=bases, noun=self.noun)


MODELS = Catalogue("mlcli.models", "model", "mlcli.core.model:Model", "mlcli.models.wrappers._imported:entry_of")
STEPS = Catalogue("mlcli.prepare", "step", "mlcli.core.step:Step", "mlcli.prepare._imported:entry_of")
PROTOCOLS = Catalogue("mlcli.protocols", "protocol", "mlcli.protocols._base:Protocol")
ALL = (MODELS, STEPS, PROTOCOLS)
HOW_TO_NAME = {
    "model": "say -m ID",
    "step": "it stands before a model: -m '{use: knn, steps: [ID]}'",
    "protocol": "say --protocol ID",
}
ANY_MODEL = ("all", "any", "auto", "automl", "best", "default", "panel", "*")
MOST_LISTED = 50
"""Of more things nobody reads the list in a message."""
