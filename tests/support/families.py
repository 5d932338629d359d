"""Which tests are about a family of methods, or about one method: `make test ONLY=trees`, `make test ONLY=knn`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from mlcli.core.names import module_of, nearest
from mlcli.core.registry import MODELS

Test = TypeVar("Test")
ROOMS = ("kernels", "engines", "models")
"""Where what is named like a family belongs to it."""


def methods_of(word: str) -> set[str]:
    """The methods of a family, or the one method that is named."""
    families = {entry.family for entry in MODELS.entries()}
    found = {entry.name for entry in MODELS.entries() if word in (entry.family, entry.name)}
    if not found:
        near = nearest(word, [*families, *MODELS.names()])
        hint = f"did you mean '{near}'?" if near else f"families: {', '.join(sorted(families))}"
        raise LookupError(f"there is no family '{word}', and no method of that name: {hint}")
    return found


class About:
    """What a test must have to do with: a family with its methods."""

    def __init__(self, word: str) -> None:
        self.methods = methods_of(word)
        places = {f"{room}[./]{word}" for room in ROOMS} | {MODELS.entry(name).module for name in self.methods}
        self._mentions = re.compile(rf"\b({'|'.join(sorted(places))})\b")
        self._golden = {f"test_{module_of(name)}.py" for name in self.methods}

    def has(self, path: Path, params: dict[str, Any]) -> bool:
        """Whether a test is about it: by one of its parameters, where these name methods, else by its file."""
        named = {name for value in params.values() if (name := method_in(value))}
        return bool(named & self.methods) if named else path.name in self._golden or self._is_mentioned(path)

    def _is_mentioned(self, path: Path) -> bool:
        """Whether a file imports what belongs to the family, or lies where its tests do."""
        return bool(self._mentions.search(path.as_posix()) or self._mentions.search(text_of(path)))


def shared_out(tests: Sequence[Test], belonging: Sequence[str], workers: int) -> list[Test]:
    """Tests in such an order that each worker begins with methods of its own: two would compile the same kernels.

    ``belonging`` says to which method a test belongs; empty: to none. Those come after a worker's own.
    """
    order = sorted(range(len(tests)), key=belonging.__getitem__)
    others = belonging.count("")
    parts = (order[others:], order[:others])
    shares = [
        part[len(part) * i // workers : len(part) * (i + 1) // workers] for i in range(workers) for part in parts
    ]
    return [tests[place] for share in shares for place in share]


def belonging_of(path: Path, params: dict[str, Any]) -> str:
    """Family and method of a test, by its parameters, or else by its file; empty where it is about none."""
    named = (name for value in params.values() if (name := method_in(value)))
    name = next(named, methods_by_file().get(path.name, ""))
    return f"{MODELS.entry(name).family} {name}" if name else ""


@cache
def methods_by_file() -> dict[str, str]:
    """The method of each golden case."""
    return {f"test_{module_of(name)}.py": name for name in MODELS.names()}


def method_in(value: Any) -> str | None:
    """The method that a parameter of a test names: a subject of the contract, an id, or the title of a canary."""
    word = str(getattr(value, "model", value)).removeprefix("model ").partition("[")[0]
    return word if word in MODELS.names() else None


@cache
def text_of(path: Path) -> str:
    """The text of a test file."""
    return path.read_text(encoding="utf-8")
