"""What a result depends on, as a key: data, splits, parameters, seed, and the source of the method itself."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import mlcli
from mlcli.core.registry import MODELS, STEPS, Catalogue, Entry
from mlcli.core.seeds import digest
from mlcli.experiment.cells import Cell
from mlcli.experiment.preparation import ReadyCell
from mlcli.experiment.protocols._base import Split
from mlcli.experiment.protocols._parts import Parts

CORE_VERSION = 2
"""Raised when a change of ``core`` or of the engine changes results; a test compares canary answers with it."""

HOME = Path(mlcli.__file__).parent
CORE = "mlcli.core"
COUNTED_BY_NUMBER = frozenset(
    (
        *("answers", "bases", "containers", "errors", "explanation", "held_out", "kinds", "learning", "limits"),
        *(
            "moments",
            "names",
            "params",
            "pipeline",
            "registry",
            "schema",
            "seeds",
            "state",
            "strict_yaml",
            "tables",
            "threads",
        ),
    )
)
"""The modules of ``core`` on which everything rests; the others belong to a kind of task and count by source."""
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Where a statement holds other statements."""


def cell_key(cell: Cell, made: ReadyCell, splits: str) -> str:
    """The key of a cell in the store; ``splits`` is the digest of its splits."""
    identity = made.learner.identity()
    versions = [method_version(MODELS, identity["model"][0])]
    versions += [method_version(MODELS, name) for name in _named_within(identity["model"][1])]
    versions += [method_version(STEPS, name) for name, _ in identity["steps"]]
    return digest(CORE_VERSION, cell.dataset.content, cell.kind, splits, identity, cell.seed, versions)


def _named_within(params: Mapping[str, Any]) -> list[str]:
    """The methods that a method is built around, by their ids; a word that only looks like one does no harm."""
    return sorted({value for value in params.values() if isinstance(value, str) and value in MODELS})


def splits_digest(splits: Sequence[Split]) -> str:
    """A hash of the rows and labels of all splits, in order; parts say the same in far fewer numbers."""
    seen = hashlib.sha256()
    if isinstance(splits, Parts):
        seen.update(digest(list(splits.labels), [len(one) for one in splits.rounds]).encode())
        for one in splits.rounds:
            seen.update(one.astype("<i4").tobytes())
        return seen.hexdigest()
    for split in splits:
        seen.update(f"{split.label}|{len(split.train)}|{len(split.test)}|".encode())
        seen.update(split.train.astype("<i8").tobytes())
        seen.update(split.test.astype("<i8").tobytes())
        seen.update(split.validation.astype("<i8").tobytes())
        seen.update(split.hidden.astype("<i8").tobytes())
    return seen.hexdigest()


@cache
def method_version(catalogue: Catalogue, name: str) -> str:
    """A hash of the source of a method and of what it imports outside ``core``, found without importing it.

    Comments, docstrings and layout are left out: they change no result.
    """
    reached = _reached(catalogue.entry(name))
    return digest(dict(sorted(reached.items())))


def _reached(entry: Entry) -> dict[str, str]:
    """What the modules that count for a method do: its own and, again and again, what they import."""
    reached: dict[str, str] = {}
    waiting = [entry.module]
    while waiting:
        module = waiting.pop()
        file = None if module in reached or not _counts(module, entry) else _file_of(module)
        if file is not None:
            package = module if file.name == "__init__.py" else module.rpartition(".")[0]
            reached[module], imports = _read(file.read_bytes(), package)
            waiting += imports
    return reached


@cache
def _read(source: bytes, package: str) -> tuple[str, tuple[str, ...]]:
    """What a module does, as text, and what it imports; many methods share modules."""
    tree = ast.parse(source)
    imports = tuple(_imports(tree, package))  # before docstrings are cut out
    return _statements(tree), imports


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


def _counts(module: str, entry: Entry) -> bool:
    """Whether a module is mlcli's, but for what core counts by its number, or the plugin's own."""
    package = module.partition(".")[0]
    room, _, name = module.rpartition(".")
    by_number = module == CORE or (room == CORE and name in COUNTED_BY_NUMBER)
    return package in ("mlcli", entry.module.partition(".")[0]) and not by_number


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


def _file_of(module: str) -> Path | None:
    """The file of a module; None where there is none, as for a function named in an import."""
    if module.partition(".")[0] == "mlcli":
        path = HOME.joinpath(*module.split(".")[1:])
        candidates = (path.with_suffix(".py"), path / "__init__.py")
        return next((candidate for candidate in candidates if candidate.is_file()), None)
    return _file_of_plugin(module)


def _file_of_plugin(module: str) -> Path | None:
    from importlib.util import find_spec

    try:
        found: Any = find_spec(module)
    except (ImportError, AttributeError, ValueError):
        return None
    return Path(found.origin) if found is not None and str(found.origin).endswith(".py") else None
