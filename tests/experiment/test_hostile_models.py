"""Model files with right checksums and changed content: refused, or they answer with probabilities."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save

from mlcli.experiment.saved import model_file
from tests.cli.shell import typed

CHANGES = 25
CLASSES = ["p(setosa)", "p(versicolor)", "p(virginica)"]
OTHER_VALUES: tuple[Any, ...] = (None, True, -1, 0, 2**70, 1e308, "x", "", [], {})


def rewritten(path: Path, into: Path, seed: int) -> None:
    """The same file with one value or one array changed, and a checksum to go with it."""
    rng = random.Random(seed)
    content = path.read_bytes()
    about, arrays = model_file._about(path, content), model_file._arrays(path, content)
    structure = json.loads(about["structure"])
    if rng.random() < 0.5:
        change_a_value(structure, rng)
    else:
        change_an_array(arrays, rng)
    text = json.dumps(structure)
    plain = {name: np.ascontiguousarray(array).reshape(array.shape) for name, array in arrays.items()}
    said = {"format": about["format"], "version": about["version"], "structure": text}
    into.write_bytes(save(plain, said | {"sha256": model_file._digest(text, arrays)}))


def change_a_value(structure: Any, rng: random.Random) -> None:
    holder = structure
    while True:
        key = rng.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if not isinstance(holder[key], dict | list) or not holder[key] or rng.random() < 0.1:
            break
        holder = holder[key]
    holder[key] = rng.choice([*OTHER_VALUES, [holder[key]]])


def change_an_array(arrays: dict[str, Any], rng: random.Random) -> None:
    name = rng.choice([name for name, array in arrays.items() if array.size and array.ndim])
    array = arrays[name].copy()
    array.flat[rng.randrange(array.size)] = rng.choice(
        [np.nan, -7.0, 1e300] if array.dtype.kind == "f" else [0, 1]
    )
    arrays[name] = rng.choice([array, array[:-1], np.concatenate([array, array]), -array.astype(np.float32)])


@pytest.mark.parametrize("model", ["naive-bayes", "decision-tree", "knn", "logistic-regression", "one-r"])
def test_whatever_a_file_holds_it_is_refused_or_answers_possible_things(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert typed("train", "iris", "-m", model, "-o", "m.mlcli").exit_code == 0
    for seed in range(CHANGES):
        rewritten(Path("m.mlcli"), Path("changed.mlcli"), seed)
        result = typed("predict", "changed.mlcli", "iris", "--probabilities")
        assert result.exit_code in (0, 7), f"seed {seed}: {result.stderr}"
        if result.exit_code == 0:
            header, *lines = (line.split(",") for line in result.stdout.splitlines())
            assert header[-3:] == CLASSES
            shares = np.array([line[-3:] for line in lines], float)
            assert np.abs(shares.sum(axis=1) - 1).max() < 1e-5
            assert shares.min() >= 0
