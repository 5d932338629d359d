"""Child processes import nothing from the working folder, however they are started."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlcli.core.processes import PORTABLE
from mlcli.experiment.run.batch import run
from tests.cli.shell import in_shell
from tests.experiment import toy

SHADOWED = ("joblib", "argparse", "numpy")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which files have the names of modules that children import."""
    for name in SHADOWED:
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a file of the working folder was run')")
    return tmp_path


def test_a_child_with_a_budget_imports_nothing_from_the_working_folder(folder: Path) -> None:
    (folder / "e.yaml").write_text(
        "data: [weather_nominal]\nmodels: [naive-bayes]\nprotocol: {folds: 2}\nbudget: 60s\n"
    )
    result = in_shell("run", "e.yaml", folder=folder)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "died" not in result.stdout


def test_a_new_process_of_the_portable_mode_does_not_either(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv(PORTABLE, "1")
    (result,) = run([toy.cell()], jobs=2, patience=0)
    assert result.status == "done", result.why
