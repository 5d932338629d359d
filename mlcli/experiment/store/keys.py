"""What a result depends on, as a key: data, splits, parameters, seed, and the declared revision of each method."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from mlcli.core.registry import MODELS, STEPS, Catalogue
from mlcli.core.seeds import digest
from mlcli.core.step import Step
from mlcli.experiment.run.preparation import ReadyCell
from mlcli.experiment.spec.cells import Cell
from mlcli.protocols._base import DealtSplits, Split

CORE_REVISION = 3
"""Raised when a change outside the methods, such as of seeds or of an engine, changes the answers of many."""

Revisions = dict[str, Any]
"""By noun and id, such as "model knn", the revision of a method."""


def cell_key(cell: Cell, ready: ReadyCell) -> str:
    """The key of a cell in the store."""
    splits = splits_digest(ready.splits)
    identity, revisions = ready.learner.identity(), revisions_of(ready.learner.parts())
    return digest(CORE_REVISION, cell.dataset.content, cell.kind, splits, identity, cell.seed, revisions)


def splits_digest(splits: Sequence[Split]) -> str:
    """A hash of the rows and labels of all splits, in order; parts say the same in far fewer numbers."""
    seen = hashlib.sha256()
    if isinstance(splits, DealtSplits):
        seen.update(digest(list(splits.labels), [len(values) for values in splits.rounds]).encode())
        for values in splits.rounds:
            seen.update(values.astype("<i4").tobytes())
        return seen.hexdigest()
    for split in splits:
        seen.update(f"{split.label}|{len(split.train)}|{len(split.test)}|".encode())
        for rows in (split.train, split.test, split.validation, split.hidden):
            seen.update(rows.astype("<i8").tobytes())
        if split.queries is not None:
            seen.update(repr(split.queries).encode())
    return seen.hexdigest()


def revisions_of(parts: Iterable[tuple[str, type]]) -> Revisions:
    """The revisions of models and steps by their ids and classes."""
    generator = ((STEPS if issubclass(cls, Step) else MODELS, name) for name, cls in parts)
    return {f"{catalogue.noun} {name}": _revision(catalogue, name) for catalogue, name in generator}


def _revision(catalogue: Catalogue, name: str) -> Any:
    """What a method declares; for one that is not mlcli's own also its version and a hash of its file."""
    entry = catalogue.entry(name)
    cls: Any = entry.load()
    if entry.module.partition(".")[0] == "mlcli":
        return cls.revision
    return [cls.revision, entry.version, hashlib.sha256(_source_of(cls)).hexdigest()]


def _source_of(cls: type) -> bytes:
    """The file of its module; of a class that was typed into a notebook, which has none, the class itself."""
    module = sys.modules[cls.__module__]
    file = Path(str(getattr(module, "__file__", "")))
    if file.is_file():
        return file.read_bytes()
    from joblib.externals.loky.backend.reduction import dumps

    return bytes(dumps(getattr(module, cls.__name__, cls)))
