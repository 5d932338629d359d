"""Estimators whose class is defined in a script, a notebook or a file of your own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.shell import typed

CONSTANT = """
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

class Constant(ClassifierMixin, BaseEstimator):
    def __init__(self, code=0): self.code = code
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self
    def predict(self, X): return np.full(len(X), self.code)
"""
HEAD = f"""
import pandas as pd
import mlcli
{CONSTANT}
def accuracy(results):
    return results.table.set_index("model")["accuracy"].filter(like="Constant").round(6).tolist()
"""
FRAME = """
frame = pd.DataFrame({"x": range(40), "y": ["a"] * 10 + ["b"] * 30})
"""
"""A quarter of the rows is of class a, code 0, and three quarters of class b."""
WITH_A_BUDGET = """
def inside():
    class Local(Constant): pass
    return Local()

if __name__ == "__main__":
    frame.to_csv("f.csv", index=False)
    spec = {"data": ["f.csv"], "models": [Constant(1)], "metrics": ["accuracy"], "budget": "60s"}
    print(accuracy(mlcli.run(spec)))
    try:
        mlcli.eval(frame, inside(), target="y")
    except mlcli.MlcliError as error:
        print("top level" in str(error))
"""
EVALUATED = """
models = [Constant(), Constant(1)]
print(accuracy(mlcli.eval(frame, models, target="y", metrics=["accuracy"], store="s.db")))
"""


def python(folder: Path, *words: str, given: str = "", **env: str) -> list[str]:
    """Run Python, and return the lines that it prints, or the last line of its error."""
    shell = os.environ | {"PYTHONWARNINGS": "ignore"} | env
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=shell, input=given, capture_output=True, text=True, check=False
    )
    return done.stdout.splitlines() or done.stderr.splitlines()[-1:]


def test_a_class_of_a_script_works_in_a_new_process(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(HEAD + FRAME + WITH_A_BUDGET)
    assert python(tmp_path, "script.py", MLCLI_PORTABLE="1") == ["[0.75]", "True"]


def test_a_class_that_is_defined_again_is_evaluated_again(tmp_path: Path) -> None:
    changed = CONSTANT.replace("np.full(len(X), self.code)", "np.full(len(X), 1 - self.code)")
    lines = python(tmp_path, "-", given=HEAD + FRAME + EVALUATED + changed + EVALUATED)
    assert lines == ["[0.25, 0.75]", "[0.75, 0.25]"]


def test_a_class_of_a_file_that_no_package_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_constant.py").write_text(CONSTANT)
    monkeypatch.syspath_prepend(tmp_path)
    result = typed("eval", "weather_nominal", "-m", "own_constant.Constant", "--folds", "2")
    assert "own_constant.Constant" in result.stdout, result.output
