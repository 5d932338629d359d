"""What tells one run from another: digests of answers, how far two lie apart, versions that they were made by."""

from __future__ import annotations

import hashlib
import json
import math
import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from mlcli import __version__
from mlcli.core.answers import Answers
from mlcli.experiment.run.split_results import SplitResult

PACKAGES = ("numpy", "scipy", "numba")
"""That compute."""
SHOWN = 12
"""Characters of a digest that a person compares."""


@dataclass(frozen=True)
class Apart:
    """How the answers of two runs differ: in how many splits, and by how much at most where numbers can tell."""

    splits: int
    furthest: float


def answers_digest(splits: Iterable[SplitResult]) -> str:
    """A hash of all answers, in order; times, warnings and explanations are not in it."""
    seen = hashlib.sha256()
    for split in splits:
        seen.update(split_digest(split).encode())
    return seen.hexdigest()


def split_digest(split: SplitResult) -> str:
    """A hash of what a model answered in one split, and of which rows it was asked."""
    seen = hashlib.sha256(repr((split.index, split.label, split.train_rows, split.coordinate)).encode())
    for name, answers in _parts(split):
        seen.update(name.encode())
        seen.update(json.dumps(answers.facts(), sort_keys=True, default=str).encode())
        for key, array in sorted(answers.arrays().items()):
            seen.update(f"{key}{array.shape}".encode())
            seen.update(_plain(array).tobytes())
    return seen.hexdigest()


def apart(before: Sequence[SplitResult], after: Sequence[SplitResult]) -> Apart | None:
    """How far the answers of two runs of one cell lie apart; None where they are the same to the bit."""
    pairs = list(zip_longest(before, after))
    differing = [(a, b) for a, b in pairs if a is None or b is None or split_digest(a) != split_digest(b)]
    if not differing:
        return None
    distances = (_distance(a, b) for a, b in differing if a is not None and b is not None)
    return Apart(len(differing), max(distances, default=math.nan))


def versions() -> dict[str, str]:
    """The versions of mlcli, Python and the packages that compute."""
    from importlib.metadata import version

    computing = {name: version(name) for name in PACKAGES}
    return {"mlcli": __version__, "python": platform.python_version(), **computing, "machine": platform.machine()}


def _parts(split: SplitResult) -> Iterator[tuple[str, Answers]]:
    yield from split.answers.items()
    yield from ((f"{at.name}={at.value}", answers) for at, answers in split.stages)


def _plain(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same values in one width and order, which stored arrays may have changed."""
    wide = np.float64 if array.dtype.kind == "f" else np.int64 if array.dtype.kind in "iub" else array.dtype
    return np.ascontiguousarray(array, dtype=wide)


def _distance(before: SplitResult, after: SplitResult) -> float:
    """The largest difference of a number in both; NaN where they hold no numbers that can be compared."""
    one, other = (
        {(name, key): array for name, answers in _parts(split) for key, array in answers.arrays().items()}
        for split in (before, after)
    )
    floats = ((one[key], other[key]) for key in one.keys() & other.keys() if other[key].dtype.kind == "f")
    found = (float(np.nanmax(np.abs(a - b), initial=0.0)) for a, b in floats if a.shape == b.shape)
    return max(found, default=math.nan)
