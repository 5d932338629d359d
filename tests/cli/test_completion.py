"""Completion: what the shell offers behind a line, and that bash and zsh get it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mlcli.cli._app import app
from tests.support.shell import typed

OFFERED = [
    ("mlcli ev", ["eval"]),
    ("mlcli eval --mo", ["--model"]),
    ("mlcli data wea", ["weather_nominal", "weather_numeric"]),
    ("mlcli eval my", ["my.csv"]),
    ("mlcli eval iris --protocol leave-one", ["leave-one-out"]),
    ("mlcli eval my.csv --target ", ["a", "b", "class"]),
    ("mlcli train my.csv -m knn --drop cl", ["class"]),
    ("mlcli data iris --plot petal", ["petal_length", "petal_width"]),
    ("mlcli eval iris --task cl", ["classification", "clustering"]),
    ("mlcli eval iris --metric f1", ["f1", "f1-macro", "f1-micro", "f1-weighted"]),
    ("mlcli eval iris --task regression --metric m", ["mae", "mean-residual", "median-absolute-error", "mse"]),
    ("mlcli eval iris -m knn -p k", ["k=5"]),
    ("mlcli train iris -m knn -p weights=i", ["weights=inverse", "weights=inverse-linear"]),
    ("mlcli train iris -m knn -p k = 3 -p weights = i", ["inverse", "inverse-linear"]),
    ("mlcli train iris -m knn -p weights = inverse -p k =", ["5"]),
    ("mlcli eval my.csv --target = cl", ["class"]),
    ("mlcli runs show --store runs.db ", ["1"]),
    ("mlcli runs ver", ["verify"]),
    ("mlcli eval nowhere.csv --target ", []),
]
SCRIPTS = {
    "bash": 'eval "$(_MLCLI_COMPLETE=source_bash mlcli)"; COMP_WORDS=({line}); COMP_CWORD={last};'
    ' _mlcli_completion mlcli; printf "%s\\n" "${{COMPREPLY[@]}}"',
    "zsh": 'compdef() {{ : }}; _arguments() {{ print -r -- "$@" }}; eval "$(_MLCLI_COMPLETE=source_zsh mlcli)";'
    " words=({line}); CURRENT={next}; _mlcli_completion",
}
"""What a shell does when Tab is pressed; zsh hands the words on to a function of its own."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("my.csv").write_text("a;b;class\n1;2;x\n")
    return tmp_path


@pytest.mark.parametrize(("line", "offered"), OFFERED, ids=[line for line, _ in OFFERED])
def test_a_line_is_completed(folder: Path, line: str, offered: list[str]) -> None:
    if "runs.db" in line:
        assert typed("eval", "weather_nominal", "-m", "one-r", "--store", "runs.db").exit_code == 0
    env = {
        "_MLCLI_COMPLETE": "complete_bash",
        "COMP_WORDS": line.replace(" ", "\n"),
        "COMP_CWORD": str(line.count(" ")),
    }
    result = CliRunner(env=env).invoke(app, [], prog_name="mlcli")
    assert result.stdout.split() == offered


@pytest.mark.parametrize("shell", [name for name in SCRIPTS if shutil.which(name)])
def test_shells_complete_by_what_is_installed_into_them(folder: Path, shell: str) -> None:
    line = "mlcli eval my.csv --target cl"
    script = SCRIPTS[shell].format(line=line, last=line.count(" "), next=line.count(" ") + 1)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [shell, "-c", script], env={**os.environ, "PATH": path}, capture_output=True, text=True, check=False
    )
    assert "class" in done.stdout, done.stderr
    assert "a" not in done.stdout.split()
