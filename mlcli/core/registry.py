"""Where methods are found: files of mlcli, plug-ins, and classes of other packages that the user has named.

An id of mlcli is a file name; the first line of the file is its summary, and the module is imported on use.

Plug-ins are named by ``--plugin``, by ``plugins:`` in a file, or in ``MLCLI_PLUGINS``. A plug-in is a Python file;
the ids that it registers are found like those of mlcli. The paths are kept in the environment, so that worker
processes find them, too; a file is imported when an id is looked up.

A class of another package is imported only if the user has named its import path: in a model of the command line,
in ``--allow-import``, in an argument of the Python API, or in an experiment file that is run. Paths that only a
model file or a store names are not imported.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import TypeVar, dataclass_transform

from mlcli.core.errors import UsageError
from mlcli.core.names import LONGEST, did_you_mean, id_of, likely_names, module_of, shortened

T = TypeVar("T", bound=type)
PLUGIN_FILES = "MLCLI_PLUGINS"
ALLOWED_IMPORTS = "MLCLI_ALLOW_IMPORT"
"""The environment variables with the plug-ins, and with the import paths that the user has named."""
IMPORT_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\.[A-Z]\w*")
"""The import path of a class in a package: dots, and a capital after the last."""
PREFIX = "mlcli_plugin_"
"""The modules of plug-ins have names that no other module has."""
EXAMPLE = "mlcli new model my-method writes one to start from"
REGISTERED = re.compile(r'^@register\(\s*"([\w-]+)"', re.MULTILINE)
CLASS_LINE = re.compile(r"^@register\(.*?^class (\w+)\(([^)]*)\)", re.MULTILINE | re.DOTALL)


@dataclass_transform(kw_only_default=True, eq_default=False)
def register(name: str, *, reference: str, revision: int = 1, inserted_for: str = "") -> Callable[[T], T]:
    """Make a class a dataclass with an id, its source, and a number to be raised whenever its answers change.

    ``inserted_for`` is the purpose for which mlcli inserts a step by itself (see ``core/configuration.py``). It
    is read from the file, so that no step is imported to find the one for a purpose.
    """

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
    """What is known of a registered class before it is imported."""

    name: str
    module: str
    summary: str
    family: str = ""
    bases: tuple[str, ...] = ()
    distribution: str = "mlcli"
    version: str = ""
    """The version of the distribution that a plug-in comes from."""
    attribute: str = ""
    noun: str = "model"
    inserted_for: str = ""

    @property
    def documentation(self) -> str:
        """The docstring of the class if its file registers several, else that of the file."""
        cls = self.load()
        module = sys.modules[cls.__module__]
        described = cls if len(list(registered_in(module))) > 1 else module
        return inspect.cleandoc(described.__doc__ or "")

    def load(self) -> type:
        """Import the module and return the registered class."""
        if self.distribution == "mlcli":
            module = importlib.import_module(self.module)
        else:
            module = imported_module(self.module, self.module)
        if isinstance(cls := getattr(module, self.attribute, None), type):
            return cls
        for cls in registered_in(module):
            if getattr(cls, "id", "") == self.name:
                return cls
        raise UsageError(f"{self.module} registers nothing named '{self.name}'")


class ImportedEntry(Entry):
    """A class of another package by its import path; the class that stands for it here is made on use."""

    def __init__(
        self, path: str, summary: str, version: str, noun: str, bases: tuple[str, ...], make: Callable[[], type]
    ) -> None:
        super().__init__(path, path, summary, "", bases, version, version, noun=noun)
        self.__dict__["_make"] = lru_cache(maxsize=1)(make)

    def load(self) -> type:
        """The class that stands for it."""
        cls: type = self.__dict__["_make"]()
        return cls


class Catalogue:
    """All registered classes of one noun: the files of a package, plug-ins, and entry points.

    A file whose name starts with an underscore is machinery, every other file is one registered class; with
    ``several`` a file may register several, and is read to find them.
    """

    def __init__(
        self, package: str, noun: str, example: str, base: str, imported_at: str = "", *, several: bool = False
    ) -> None:
        self.package = package
        self.noun = noun
        self.example = example
        """An id for messages."""
        self.base = base
        """What its classes derive from, as "module:name"."""
        self.imported_at = imported_at
        """What makes an entry of an import path, such as sklearn.svm.SVC, as "module:name"."""
        self.several = several
        self._heads: dict[str, Entry] = {}
        self._files: dict[str, list[Entry]] = {}

    @cached_property
    def folder(self) -> Path:
        """The folder of the package; found without importing it."""
        return Path(__file__).parent.parent.joinpath(*self.package.split(".")[1:])

    @cached_property
    def _shipped(self) -> dict[str, Path]:
        files = [*self.folder.glob("*.py"), *self.folder.glob("*/*.py")]
        files = [path for path in sorted(files) if not path.name.startswith("_")]
        if not self.several:
            return {id_of(path.stem): path for path in files}
        ids = {name: path for path in files for name in REGISTERED.findall(path.read_text(encoding="utf-8"))}
        return dict(sorted(ids.items()))

    @cached_property
    def _entry_points(self) -> dict[str, Entry]:
        from importlib.metadata import entry_points

        entries = {}
        for point in entry_points(group=self.package):
            entries[point.name] = Entry(
                point.name,
                point.module,
                summary="",
                distribution=point.dist.name if point.dist else "unknown",
                version=point.dist.version if point.dist else "",
                attribute=point.attr or "",
                noun=self.noun,
            )
        return entries

    @property
    def _plugins(self) -> dict[str, Entry]:
        """What files of the user's own register."""
        entries: dict[str, Entry] = {}
        for entry in (entry for file in plugin_files() for entry in self._entries_in(file)):
            if entry.name in entries:
                files = f"{entries[entry.name].distribution} and {entry.distribution}"
                raise UsageError(f"two plug-ins register the {self.noun} '{entry.name}': {files}")
            entries[entry.name] = entry
        return entries

    def _entries_in(self, file: Path) -> list[Entry]:
        """The entries of a plug-in; read once, unless the file has changed."""
        name = module_name(file)
        if name in self._files:
            return self._files[name]
        entries = []
        for cls in registered_in(imported_module(name, file)):
            if not any(f"{base.__module__}:{base.__name__}" == self.base for base in cls.__mro__):
                continue
            id = getattr(cls, "id", "")
            if id in self._shipped:
                what = f"it registers the {self.noun} '{id}', which mlcli has already"
                raise UsageError(what, where=str(file), hint="choose another id")
            summary = (sys.modules[cls.__module__].__doc__ or cls.__doc__ or "").strip().partition("\n")[0]
            bases = tuple(base.__name__ for base in cls.__bases__)
            entries.append(
                Entry(
                    id,
                    cls.__module__,
                    summary,
                    bases=bases,
                    distribution=file.name,
                    attribute=cls.__name__,
                    noun=self.noun,
                )
            )
        self._files[name] = entries
        return entries

    def names(self) -> list[str]:
        """Every id, shipped ones first."""
        return list(dict.fromkeys((*self._shipped, *self._plugins, *self._entry_points)))

    def entries(self) -> Iterator[Entry]:
        """Every entry, read from the heads of files; no module of mlcli is imported."""
        return (self.entry(name) for name in self.names())

    def __contains__(self, name: str) -> bool:
        registered = name in self._shipped or name in self._plugins or name in self._entry_points
        return registered or self._is_import_path(name)

    def _is_import_path(self, name: str) -> bool:
        return bool(self.imported_at) and IMPORT_PATH.fullmatch(name) is not None

    def entry(self, name: str) -> Entry:
        """The entry of one id."""
        if name in self._shipped:
            if name not in self._heads:
                self._heads[name] = self._read_head(name, self._shipped[name])
            return self._heads[name]
        if name in self._plugins:
            return self._plugins[name]
        if name in self._entry_points:
            return self._entry_points[name]
        if self._is_import_path(name):
            check_import(name)
            if name not in self._heads:
                module, _, function = self.imported_at.partition(":")
                self._heads[name] = getattr(importlib.import_module(module), function)(name)
            return self._heads[name]
        raise UsageError(f"there is no {self.noun} '{shortened(name)}'", hint=self._advice(name))

    def _read_head(self, name: str, path: Path) -> Entry:
        text = path.read_text(encoding="utf-8")
        summary = text.partition("\n")[0].strip().strip('"')
        starts = {match[1]: match.start() for match in REGISTERED.finditer(text)} if self.several else {}
        if len(starts) > 1:
            text = text[starts[name] :]
            summary = text.partition('"""')[2].partition("\n")[0].strip()
        match = CLASS_LINE.search(text)
        bases = tuple(base.strip() for base in match.group(2).split(",")) if match else ()
        purpose = re.search(r'inserted_for="([^"]+)"', match.group()) if match else None
        family = path.parent.name if path.parent != self.folder else ""
        return Entry(
            name,
            ".".join(filter(None, (self.package, family, module_of(path.stem)))),
            summary,
            family=family,
            bases=bases,
            noun=self.noun,
            inserted_for=purpose[1] if purpose else "",
        )

    def inserted_for(self, purpose: str) -> type:
        """The class of mlcli that is inserted for a purpose."""
        return self.load(self._by_purpose[purpose])

    @cached_property
    def _by_purpose(self) -> dict[str, str]:
        return {self.entry(name).inserted_for: name for name in self._shipped}

    def _advice(self, name: str) -> str:
        """The hint for an unknown id: how it is spelt, how its parts are typed, or which ids are near."""
        if len(name) > LONGEST:
            return "names are shorter"
        if (spelt := "-".join(name.lower().split())) in self:
            return f"did you mean '{spelt}'?"
        parts = [part for part in re.split(r"[\s,;:({=]+", name.strip(" ,;:=")) if part]
        first = parts[0] if parts and self.noun == "model" else ""
        if first != name and first in self:
            return _typed_in_one(name, parts, [part for part in parts if part in self])
        for catalogue in ALL:
            if catalogue is not self and name in catalogue:
                how = {
                    "model": f"say -m {name}",
                    "step": f"it stands before a model: -m '{{use: knn, steps: [{name}]}}'",
                    "protocol": f"say --protocol {name}",
                }
                return f"'{name}' is a {catalogue.noun}: {how[catalogue.noun]}"
        any_model = ("all", "any", "auto", "automl", "best", "default", "panel", "*")
        if self.noun == "model" and name.lower() in any_model:
            return "leave it out, and the methods of a panel are compared"
        names = self.names()
        if len(names) > 50 and not likely_names(name, names):  # a longer list is not read in a message
            return f"mlcli {self.noun}s lists all {len(names)}"
        return did_you_mean(name, names, f"{self.noun}s")

    def forget(self, name: str) -> None:
        """Drop the entry of an import path, since its class has been defined again."""
        self._heads.pop(name, None)

    def load(self, name: str) -> type:
        """The class of an id, imported now."""
        return self.entry(name).load()


def _typed_in_one(name: str, parts: list[str], ids: list[str]) -> str:
    """The hint for several models, or a model with its parameters, that were typed as one word."""
    if len(ids) > 1:
        return f"several models are named one by one: {' '.join(f'-m {name}' for name in ids)}"
    values = re.findall(r"([A-Za-z_]\w*)\s*[=:]\s*([^\s,;)}]+)", name)
    if not values:
        return f"did you mean -m {parts[0]}?"
    return f"a parameter stands for itself: -m {parts[0]}" + "".join(f" -p {key}={value}" for key, value in values)


MODELS = Catalogue(
    "mlcli.models", "model", "knn", "mlcli.core.model:Model", "mlcli.models.wrappers._imported:entry_of"
)
STEPS = Catalogue(
    "mlcli.prepare", "step", "standardise", "mlcli.core.model:Step", "mlcli.prepare._imported:entry_of"
)
PROTOCOLS = Catalogue("mlcli.protocols", "protocol", "k-fold", "mlcli.protocols._base:Protocol", several=True)
ALL = (MODELS, STEPS, PROTOCOLS)


def add_plugins(files: Iterable[str | Path]) -> None:
    """Use these plug-ins, too; a file that is not there, or cannot be imported, is refused now."""
    for file in files:
        path = resolved_plugin(file)
        if not path.is_file():
            raise UsageError(f"there is no plug-in '{file}'", hint=f"a plug-in is a Python file; {EXAMPLE}")
        if path.suffix != ".py":
            raise UsageError(f"'{file}' is no Python file", hint=f"a plug-in ends in .py; {EXAMPLE}")
        if path in plugin_files():
            continue
        before = os.environ.get(PLUGIN_FILES, "")
        os.environ[PLUGIN_FILES] = os.pathsep.join(filter(None, (before, str(path))))
        try:
            if not list(registered_in(imported_module(module_name(path), path))):
                hint = f"a method has @register(...) above its class; {EXAMPLE}"
                raise UsageError("registers nothing", where=str(path), hint=hint)
        except UsageError:
            os.environ[PLUGIN_FILES] = before
            raise


def resolved_plugin(file: str | Path) -> Path:
    """The absolute path of a plug-in, which identifies it."""
    try:
        return Path(os.path.expanduser(file)).resolve()
    except (ValueError, RuntimeError) as problem:  # a null byte, or links that lead in a circle
        raise UsageError(f"there is no plug-in '{file}': {problem}") from None


def plugin_files() -> tuple[Path, ...]:
    """The plug-ins that are named so far."""
    return tuple(Path(word) for word in os.environ.get(PLUGIN_FILES, "").split(os.pathsep) if word)


def registered_in(module: ModuleType) -> Iterator[type]:
    """The classes that a module registers, in their order."""
    for value in vars(module).values():
        if isinstance(value, type) and value.__module__ == module.__name__ and "id" in vars(value):
            yield value


def imported_module(name: str, place: Path | str) -> ModuleType:
    """A module of somebody else; an error while it is imported is reported with its line."""
    try:
        return importlib.import_module(name)
    except UsageError:
        raise
    except (Exception, SystemExit) as problem:
        line = None
        if isinstance(problem, SyntaxError) and problem.filename == str(place):
            line = problem.lineno
        else:
            trace = problem.__traceback__
            while trace is not None:
                line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == str(place) else line
                trace = trace.tb_next
        where = f"{place}:{line}" if line else str(place)
        raise UsageError(f"cannot be imported: {type(problem).__name__}: {problem}", where=where) from problem


def module_name(path: Path) -> str:
    """The name of the module of a plug-in: the same in every process, another for each content of a file."""
    content = path.read_bytes() if path.is_file() else b""
    return f"{PREFIX}{path.stem}_{zlib.crc32(content, zlib.crc32(os.fsencode(path))):08x}"


class _PluginFinder:
    """Finds the modules of plug-ins by their names, in every process."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        if not name.startswith(PREFIX):
            return None
        file = next((file for file in plugin_files() if module_name(file) == name), None)
        return None if file is None else spec_from_file_location(name, file)


sys.meta_path.append(_PluginFinder)


def allow_imports(paths: Iterable[str]) -> None:
    """Let these classes be imported, here and in worker processes."""
    allowed = dict.fromkeys([*allowed_imports(), *paths])
    for path in allowed:
        if IMPORT_PATH.fullmatch(path) is None:
            raise UsageError(f"'{path}' is not an import path", hint="such as sklearn.svm.SVC")
    os.environ[ALLOWED_IMPORTS] = os.pathsep.join(allowed)


def allowed_imports() -> list[str]:
    """The import paths that the user has named."""
    return list(filter(None, os.environ.get(ALLOWED_IMPORTS, "").split(os.pathsep)))


def may_import(path: str) -> bool:
    """Whether the user has named an import path."""
    return path in allowed_imports()


def check_import(path: str) -> None:
    """Refuse to import a class that the user has not named."""
    if not may_import(path):
        what = f"{shortened(path)} is not imported: a file names it, and your command does not"
        raise UsageError(what, hint=f"if you trust its code: --allow-import {shortened(path)}")


def import_paths_in(value: object) -> Iterator[str]:
    """The import paths among plain values, such as those of a model with its parameters and steps."""
    if isinstance(value, str) and IMPORT_PATH.fullmatch(value):
        yield value
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    for item in items:
        yield from import_paths_in(item)


@contextmanager
def imports_for_now() -> Iterator[None]:
    """Forget, after the body, the plug-ins and import paths that are added in it."""
    before = {name: os.environ.get(name, "") for name in (PLUGIN_FILES, ALLOWED_IMPORTS)}
    try:
        yield
    finally:
        os.environ.update(before)
