"""Where methods are found: an id is a file name, its one-liner the first line, its module imported on use."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar, dataclass_transform

from mlcli.core.errors import UsageError
from mlcli.core.names import did_you_mean, id_of, module_of

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
        module = importlib.import_module(self.module)
        if self.attribute:
            return getattr(module, self.attribute)  # type: ignore[no-any-return]
        for value in vars(module).values():
            if (
                isinstance(value, type)
                and value.__module__ == self.module
                and getattr(value, "id", "") == self.name
            ):
                return value
        raise UsageError(f"{self.module} registers nothing named '{self.name}'")


class Catalogue:
    """All registered things of one noun: the files of a package, and plugins from entry points.

    A file whose name starts with an underscore is machinery, every other file is one registered thing.
    """

    def __init__(self, package: str, noun: str) -> None:
        self.package = package
        self.noun = noun
        self._heads: dict[str, Entry] = {}

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

        found = {}
        for point in entry_points(group=self.package):
            found[point.name] = Entry(
                name=point.name,
                module=point.module,
                summary="",
                distribution=point.dist.name if point.dist else "unknown",
                version=point.dist.version if point.dist else "",
                attribute=point.attr or "",
                noun=self.noun,
            )
        return found

    def names(self) -> list[str]:
        """Every id, shipped ones first."""
        return [*self._shipped, *(name for name in self._plugins if name not in self._shipped)]

    def entries(self) -> Iterator[Entry]:
        """Every entry, read from the heads of files; no module is imported."""
        return (self.entry(name) for name in self.names())

    def entry(self, name: str) -> Entry:
        """The entry of one id."""
        if name in self._shipped:
            if name not in self._heads:
                self._heads[name] = self._read_head(self._shipped[name])
            return self._heads[name]
        if name in self._plugins:
            return self._plugins[name]
        raise UsageError(
            f"there is no {self.noun} '{name}'", hint=did_you_mean(name, self.names(), f"{self.noun}s")
        )

    def __contains__(self, name: str) -> bool:
        return name in self._shipped or name in self._plugins

    def load(self, name: str) -> type:
        """The class of an id, imported now."""
        return self.entry(name).load()

    def _read_head(self, path: Path) -> Entry:
        text = path.read_text(encoding="utf-8")
        summary = text.partition("\n")[0].strip().strip('"')
        found = CLASS_LINE.search(text)
        bases = tuple(base.strip() for base in found.group(2).split(",")) if found else ()
        family = path.parent.name if path.parent != self.folder else ""
        parts = (self.package, family, module_of(path.stem))
        module = ".".join(part for part in parts if part)
        return Entry(id_of(path.stem), module, summary, family=family, bases=bases, noun=self.noun)


MODELS = Catalogue("mlcli.models", "model")
STEPS = Catalogue("mlcli.prepare", "step")
PROTOCOLS = Catalogue("mlcli.protocols", "protocol")
