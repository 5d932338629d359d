"""What a result depends on, as a key: data, splits, parameters, seed, and the source of the method itself."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import mlcli
from mlcli.core.registry import MODELS, STEPS, Catalogue, Entry
from mlcli.core.seeds import digest
from mlcli.experiment.run.preparation import ReadyCell
from mlcli.experiment.spec.cells import Cell
from mlcli.experiment.store.sources import sources
from mlcli.protocols._base import Split
from mlcli.protocols._parts import Parts

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
    sources().keep()
    return digest(dict(sorted(reached.items())))


def _reached(entry: Entry) -> dict[str, str]:
    """Hashes of what the modules that count for a method do: its own and, again and again, what they import."""
    reached: dict[str, str] = {}
    waiting = [entry.module]
    while waiting:
        module = waiting.pop()
        file = None if module in reached or not _counts(module, entry) else _file_of(module)
        if file is not None:
            package = module if file.name == "__init__.py" else module.rpartition(".")[0]
            source = sources().read(file.read_bytes(), package)
            reached[module] = source.does
            waiting += source.imports
    return reached


def _counts(module: str, entry: Entry) -> bool:
    """Whether a module is mlcli's, but for what core counts by its number, or the plugin's own."""
    package = module.partition(".")[0]
    room, _, name = module.rpartition(".")
    by_number = module == CORE or (room == CORE and name in COUNTED_BY_NUMBER)
    return package in ("mlcli", entry.module.partition(".")[0]) and not by_number


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
