"""An estimator whose class is defined in a script, a notebook or a file of one's own is judged like any other."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import numpy as np, pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
import mlcli

class Constant(ClassifierMixin, BaseEstimator):
    def __init__(self, code=0): self.code = code
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self
    def predict(self, X): return np.full(len(X), self.code)

def inside():
    class Local(Constant): pass
    return Local()

if __name__ == "__main__":
    frame = pd.DataFrame({"x": range(40), "y": ["a"] * 10 + ["b"] * 30})
    def scores(found): return found.table.set_index("model")["accuracy"].filter(like="Constant").round(6).tolist()
    print(scores(mlcli.eval(frame, [Constant(), Constant(1)], target="y", metrics=["accuracy"], store="s.db")))
    frame.to_csv("f.csv", index=False)
    spec = {"data": ["f.csv"], "models": [Constant(1)], "metrics": ["accuracy"], "budget": "60s"}
    print(scores(mlcli.run(spec)))
    try:
        mlcli.eval(frame, inside(), target="y")
    except mlcli.MlcliError as error:
        print("top level" in str(error))
"""
"""A quarter of the rows is of class a, code 0, and three quarters of class b."""
ONCE = SCRIPT.replace('frame.to_csv("f.csv", index=False)', "raise SystemExit")
EXPECTED = ["[0.25, 0.75]", "[0.75]", "True"]


def python(folder: Path, *words: str, given: str = "", **env: str) -> list[str]:
    """The lines that a Python process prints; its last error where it fails."""
    shell = os.environ | {"PYTHONWARNINGS": "ignore"} | env
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=shell, input=given, capture_output=True, text=True, check=False
    )
    return done.stdout.splitlines() or done.stderr.splitlines()[-1:]


def test_a_class_of_a_script_is_judged_in_new_processes(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    assert python(tmp_path, "script.py", MLCLI_PORTABLE="1") == EXPECTED


def test_a_class_that_is_typed_anew_is_judged_anew(tmp_path: Path) -> None:
    assert python(tmp_path, "-", given=ONCE) == EXPECTED[:1]
    changed = ONCE.replace("np.full(len(X), self.code)", "np.full(len(X), 1 - self.code)")
    assert python(tmp_path, "-", given=changed) == ["[0.75, 0.25]"]


def test_a_class_of_a_file_that_no_package_has_is_judged(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(SCRIPT)
    command = ("-m", "mlcli", "eval", "weather_nominal", "-m", "mine.Constant", "--folds", "2", "--store", "s.db")
    assert any("mine.Constant" in line for line in python(tmp_path, *command, PYTHONPATH=str(tmp_path)))
