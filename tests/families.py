"""Which tests are about a family of methods, or about one method: `make test ONLY=trees`, `make test ONLY=knn`."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from mlcli.core.names import module_of, nearest
from mlcli.core.registry import MODELS

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


def method_in(value: Any) -> str | None:
    """The method that a parameter of a test names: a subject of the contract, an id, or the title of a canary."""
    word = str(getattr(value, "model", value)).removeprefix("model ").partition("[")[0]
    return word if word in MODELS else None


@cache
def text_of(path: Path) -> str:
    """The text of a test file."""
    return path.read_text(encoding="utf-8")
