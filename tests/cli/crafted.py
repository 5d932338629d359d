"""Model files that an attacker could write: changed content with a valid checksum."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save

from mlcli.experiment.saved import model_file

INTRUDER = """
from pathlib import Path
Path("intruded").touch()
class Intruder:
    _estimator_type = "classifier"
    def fit(self, X, y=None): return self
    def predict(self, X): return [0] * len(X)
    def get_params(self, deep=True): return {}
"""
"""A module that leaves a file where it is imported."""


def changed_model(source: Path, target: Path, change: Callable[[Any], Any]) -> None:
    """Write a model file again with its structure changed and a valid checksum."""
    content = source.read_bytes()
    about, arrays = model_file._about(source, content), model_file._arrays(source, content)
    structure = json.loads(about["structure"])
    change(structure)
    text = json.dumps(structure)
    head = {"format": about["format"], "version": about["version"], "structure": text}
    plain = {name: np.ascontiguousarray(array).reshape(array.shape) for name, array in arrays.items()}
    target.write_bytes(save(plain, head | {"sha256": model_file._digest(text, arrays)}))


def model_node(structure: Any) -> Any:
    """The id and parameters of the model in the structure of a file."""
    return structure["dict"]["pipeline"]["pipeline"]["dict"]["model"]["model"]
