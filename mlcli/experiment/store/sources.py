"""What the source of a module does and imports: read once for each text, and remembered beside the bytecode."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from typing import NamedTuple

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Where a statement holds other statements."""
MOST_REMEMBERED = 1000
"""How many texts are remembered before those of older sources are forgotten."""


class Source(NamedTuple):
    """A hash of what a module does, and the modules that its imports may mean."""

    does: str
    imports: tuple[str, ...]


class Sources:
    """Sources by the hash of their text: what is remembered of a text can never be out of date."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._met: dict[str, Source] = {}
        self._remembered: dict[str, list[object]] = {}
        with suppress(OSError, ValueError):
            found = json.loads(file.read_text(encoding="utf-8"))
            self._remembered = found if isinstance(found, dict) else {}
        self._is_news = False

    def read(self, text: bytes, package: str) -> Source:
        """What a module of some package does and imports."""
        name = hashlib.sha256(package.encode() + b"\n" + text).hexdigest()
        if name not in self._met:
            self._met[name] = self._recalled(name) or self._learned(text, package)
        return self._met[name]

    def keep(self) -> None:
        """Write down what is new; where nothing can be written it is read anew each time."""
        if not self._is_news or sys.dont_write_bytecode:
            return
        older = self._remembered if len(self._remembered) < MOST_REMEMBERED else {}
        mine = self._file.with_suffix(f".{os.getpid()}")
        with suppress(OSError):
            self._file.parent.mkdir(exist_ok=True)
            mine.write_text(json.dumps(older | self._met), encoding="utf-8")
            mine.replace(self._file)
        self._is_news = False

    def _recalled(self, name: str) -> Source | None:
        with suppress(KeyError, TypeError, ValueError):
            does, imports = self._remembered[name]
            return Source(str(does), tuple(str(one) for one in imports))  # type: ignore[attr-defined]
        return None

    def _learned(self, text: bytes, package: str) -> Source:
        self._is_news = True
        tree = ast.parse(text)
        imports = tuple(_imports(tree, package))  # before docstrings are cut out
        return Source(hashlib.sha256(_statements(tree).encode()).hexdigest(), imports)


@cache
def sources() -> Sources:
    """Those of this installation and this Python: another may write the same statements in another way."""
    bytecode = Path(cache_from_source(__file__))
    return Sources(bytecode.with_name(f"sources.{sys.hexversion:x}.json"))


def _walk(tree: ast.Module) -> Iterator[ast.AST]:
    """The module and every statement in it; most nodes are expressions, and nothing is sought in those."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        for block in BLOCKS:
            waiting += getattr(node, block, ())


def _statements(tree: ast.Module) -> str:
    """What a module does, as text, without its docstrings."""
    for node in _walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def _imports(tree: ast.Module, package: str) -> Iterator[str]:
    """Every module that the import statements of a module may mean, inner ones included."""
    for node in _walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, package)
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if not node.level:
        return node.module or ""
    parts = package.split(".")[: len(package.split(".")) - node.level + 1]
    return ".".join([*parts, *([node.module] if node.module else [])])
