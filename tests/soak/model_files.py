"""Saved models that are damaged, or changed with a checksum to match: refused, or they answer what is possible."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from safetensors.numpy import save

from mlcli.experiment.saved import model_file
from tests.soak.mutations import spoilt
from tests.soak.subject import BrokenPromiseError, answered

METHODS = (
    "naive-bayes",
    "decision-tree",
    "knn",
    "logistic-regression",
    "one-r",
    "random-forest",
    "mlp",
    "svm",
    "lda",
)
CLASSES = ["p(setosa)", "p(versicolor)", "p(virginica)"]
OTHER_VALUES: tuple[Any, ...] = (None, True, -1, 0, 2**70, 1e308, "x", "", [], {})
ROUNDING = 1e-5
REFUSED = 7


@dataclass
class DamagedModels:
    """Files that a disk or a network has spoilt."""

    promise: str = "A model file in which a byte is another, or that is cut short, is refused (exit 7)."

    def prepare(self, folder: Path) -> None:
        """A file of some methods."""
        for method in METHODS:
            answered("train", "iris", "-m", method, "-o", str(folder / f"{method}.mlcli"), codes=(0,))

    def attempt(self, folder: Path, rng: Random) -> None:
        """Damage one."""
        whole = (folder / f"{rng.choice(METHODS)}.mlcli").read_bytes()
        damaged = spoilt(whole, rng)
        (folder / "damaged.mlcli").write_bytes(damaged)
        answered("predict", str(folder / "damaged.mlcli"), "iris", codes=(REFUSED,) if damaged != whole else (0,))


@dataclass
class HostileModels:
    """Files that somebody has written to do harm."""

    promise: str = (
        "A model file with changed content and a checksum to go with it is refused (exit 7), or it answers with "
        "probabilities of its classes that sum to 1."
    )

    def prepare(self, folder: Path) -> None:
        """A file of some methods."""
        DamagedModels().prepare(folder)

    def attempt(self, folder: Path, rng: Random) -> None:
        """Change one."""
        changed = folder / "changed.mlcli"
        rewrite(folder / f"{rng.choice(METHODS)}.mlcli", changed, rng)
        self.hold(changed)

    def hold(self, file: Path) -> None:
        """Whether the promise holds for a file."""
        result = answered("predict", str(file), "iris", "--probabilities", codes=(0, REFUSED))
        if result.exit_code == 0:
            header, *lines = (line.split(",") for line in result.stdout.splitlines())
            shares = np.array([line[-len(CLASSES) :] for line in lines], float)
            if header[-len(CLASSES) :] != CLASSES or not shares.min() >= 0:
                raise BrokenPromiseError("no probabilities of the classes")
            if not np.abs(shares.sum(axis=1) - 1).max() < ROUNDING:
                raise BrokenPromiseError("probabilities do not sum to 1")


def rewrite(path: Path, into: Path, rng: Random) -> None:
    """The same file with one value or one array changed, and a checksum to go with it."""
    content = path.read_bytes()
    about, arrays = model_file._about(path, content), model_file._arrays(path, content)
    structure = json.loads(about["structure"])
    if rng.random() < 0.5:
        _change_a_value(structure, rng)
    else:
        _change_an_array(arrays, rng)
    text = json.dumps(structure)
    plain = {name: np.ascontiguousarray(array).reshape(array.shape) for name, array in arrays.items()}
    said = {"format": about["format"], "version": about["version"], "structure": text}
    into.write_bytes(save(plain, said | {"sha256": model_file._digest(text, arrays)}))


def _change_a_value(structure: Any, rng: Random) -> None:
    holder = structure
    while True:
        key = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if not isinstance(holder[key], dict | list) or not holder[key] or rng.random() < 0.1:
            break
        holder = holder[key]
    holder[key] = rng.choice([*OTHER_VALUES, [holder[key]]])


def _change_an_array(arrays: dict[str, Any], rng: Random) -> None:
    name = rng.choice([name for name, array in arrays.items() if array.size and array.ndim])
    array = arrays[name].copy()
    array.flat[rng.randrange(array.size)] = rng.choice(
        [np.nan, -7.0, 1e300] if array.dtype.kind == "f" else [0, 1]
    )
    with np.errstate(over="ignore"):
        narrow = -array.astype(np.float32)
    arrays[name] = rng.choice([array, array[:-1], np.concatenate([array, array]), narrow])
