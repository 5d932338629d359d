"""``rerun`` repeats a run from any folder, and says which data, steps or hardware have changed since."""

from __future__ import annotations

import json
import platform
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mlcli
from mlcli.core.registry import PLUGIN_FILES
from mlcli.experiment.results import SplitResult, checksum, decoded, encoded
from mlcli.tasks.supervised import LabelAnswers
from tests.support.shell import document, in_shell, typed

STORE = "../kept/runs.db"
ROWS = "".join(
    f"{(7 * row) % 11},{row % 4},{'fm'[row % 3 > 0]},{'no' if row % 5 < 2 else 'yes'}\n" for row in range(30)
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("work", "kept", "elsewhere"):
        (tmp_path / name).mkdir()
    (tmp_path / "work/mine.csv").write_text("x,z,sex,buys\n" + ROWS)
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv(PLUGIN_FILES, "")
    return tmp_path


@pytest.mark.parametrize(
    "options",
    [
        ("--drop", "x", "-m", "zero-r"),
        ("--positive", "yes", "--sensitive", "sex", "-m", "zero-r"),
        ("--target", "sex", "--drop", "z", "-m", "zero-r"),
        ("--target", "z", "--task", "regression", "-m", "zero-r"),
        ("--task", "clustering", "-m", "k-means"),
    ],
)
def test_options_are_kept_and_a_run_is_made_again_from_any_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    assert typed("eval", "mine.csv", *options, "--store", STORE).exit_code == 0
    monkeypatch.chdir(folder / "elsewhere")
    again = typed("runs", "rerun", "1", "--store", STORE)
    assert again.exit_code == 0, again.output
    assert "the same answers to the bit" in again.stdout
    assert typed("runs", "verify", "1", "--store", STORE).exit_code == 0
    report = typed("report", "1", "--store", STORE, "--format", "markdown").stdout
    assert "left out, since" not in report
    assert " ".join(options[:-2]) in " ".join(report.split())


def test_a_sidecar_is_kept_and_what_changed_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, sidecar = folder / "work/mine.csv", folder / "work/mine.yaml"
    sidecar.write_text("target: buys\nmissing: ['0']\n")
    assert typed("eval", "mine.csv", "-m", "zero-r", "--store", STORE).exit_code == 0
    sidecar.write_text("target: sex\n")
    monkeypatch.chdir(folder / "elsewhere")
    assert typed("runs", "rerun", "1", "--store", STORE).exit_code == 0
    data.write_text(data.read_text().replace("\n0,", "\n1,"))
    changed = typed("runs", "rerun", "1", "--store", STORE)
    assert changed.exit_code == 8
    assert f"the data of mine have changed since: {data}" in changed.stdout
    data.unlink()
    assert (
        f"the data of mine are not there any more: {data}" in typed("runs", "rerun", "1", "--store", STORE).stdout
    )


def test_other_options_are_told_from_other_data(folder: Path) -> None:
    assert typed("eval", "mine.csv", "--drop", "x", "-m", "zero-r", "--store", STORE).exit_code == 0
    with sqlite3.connect(STORE) as connection:
        (text,) = connection.execute("SELECT facts FROM datasets").fetchone()
        facts = json.loads(text)
        facts["recipe"]["drop"] = []
        connection.execute("UPDATE datasets SET facts = ?", (json.dumps(facts),))
    told = typed("runs", "rerun", "1", "--store", STORE)
    assert told.exit_code == 8
    assert "the data of mine are the same, but are read differently now" in told.stdout


def test_an_experiment_and_a_saved_model_are_found_from_another_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "work/spec.yaml").write_text("data: [{path: mine.csv, drop: [x]}]\nmodels: [zero-r]\n")
    assert typed("run", "spec.yaml", "--store", STORE).exit_code == 0
    assert typed("train", "mine.csv", "-m", "zero-r", "-o", "saved.mlcli").exit_code == 0
    assert typed("eval", "mine.csv", "-m", "saved.mlcli", "--store", STORE).exit_code == 0
    monkeypatch.chdir(folder / "elsewhere")
    for run in ("1", "2"):
        again = typed("runs", "rerun", run, "--store", STORE)
        assert again.exit_code == 0, again.output
    assert "drop: [x]" in typed("report", "1", "--store", STORE, "--format", "text").stdout


def test_a_run_of_a_plugin_names_it_and_imports_it_on_request_only(folder: Path) -> None:
    elsewhere, plugin = folder / "elsewhere", folder / "work/my_mean.py"
    assert typed("new", "model", "my-mean").exit_code == 0
    kept = ("--store", STORE)
    assert in_shell("eval", "mine.csv", "-m", "my-mean", "--plugin", "my_mean.py", *kept).returncode == 0
    refused = in_shell("runs", "rerun", "1", *kept, folder=elsewhere)
    assert refused.returncode == 2
    assert f"--plugin {plugin}" in refused.stderr
    again = in_shell("runs", "rerun", "1", "--plugin", str(plugin), *kept, folder=elsewhere)
    assert again.returncode == 0, again.stdout + again.stderr
    page = ("report", "1", *kept, "--format", "text")
    without = in_shell(*page, folder=elsewhere)
    assert without.returncode == 0, without.stderr
    assert "left out, since" in without.stdout


def test_rows_from_memory_cannot_be_run_again(folder: Path) -> None:
    frame = pd.read_csv("mine.csv")
    mlcli.eval(frame, ["zero-r"], target="buys", store=STORE)
    again = typed("runs", "rerun", "1", "--store", STORE)
    assert again.exit_code == 8
    text = " ".join(again.stdout.split())
    assert "not run" in text
    assert "1 of 1 cell could not be run again, and 0 differ" in text
    assert "came from memory, and no run keeps rows" in text


IN_STORE = ("--store", "runs.db")

OLD_KERNEL = {"OPENBLAS_CORETYPE": "Prescott"}
"""Every OpenBLAS for x86 has it, and chooses it for no CPU of this century."""


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_answers_of_another_kernel_are_close_and_that_is_said(empty_folder: Path) -> None:
    words = ("eval", "cpu", "-m", "ridge", "-m", "kernel-ridge", "--protocol", "holdout", *IN_STORE)
    assert in_shell(*words, folder=empty_folder, **OLD_KERNEL).returncode == 0
    again = in_shell("runs", "rerun", "1", *IN_STORE, folder=empty_folder)
    assert again.returncode == 0, again.stdout
    if platform.machine() == "x86_64":
        assert " then, openblas " in again.stdout
        assert "numbers are called close up to 0.001 of their range" in again.stdout
        assert "to the bit, the others close to run 1" in again.stdout


def change_answers(by: float) -> None:
    """Move the probabilities of the first split of the last cell, and keep its checksum right."""
    with sqlite3.connect("runs.db") as connection:
        row, payload = connection.execute("SELECT rowid, payload FROM blocks ORDER BY rowid DESC").fetchone()
        splits = decoded(payload, LabelAnswers)
        assert isinstance(splits[0], SplitResult)
        splits[0].answers["test"].probabilities[:] += np.array([by, -by, 0.0])  # type: ignore[attr-defined]
        payload = encoded(splits)
        connection.execute(
            "UPDATE blocks SET payload = ?, checksum = ? WHERE rowid = ?", (payload, checksum(payload), row)
        )


def pretend_another_cpu() -> None:
    with sqlite3.connect("runs.db") as connection:
        (text,) = connection.execute("SELECT value FROM run_details WHERE name = 'versions'").fetchone()
        was = json.loads(text)
        assert was["cpu"]
        assert was["blas"]
        text = json.dumps({**was, "cpu": "another CPU"})
        connection.execute("UPDATE run_details SET value = ? WHERE name = 'versions'", (text,))


def test_how_close_is_close_depends_on_the_hardware(empty_folder: Path) -> None:
    assert typed("eval", "iris", "-m", "naive-bayes", *IN_STORE).exit_code == 0
    change_answers(1e-4)
    told = typed("runs", "rerun", "1", *IN_STORE)
    assert told.exit_code == 8
    assert "1 of 3 cells differ" in told.stdout
    pretend_another_cpu()
    told = typed("runs", "rerun", "1", *IN_STORE)
    assert told.exit_code == 0
    assert "cpu another CPU then" in told.stdout
    found = document(typed("runs", "rerun", "1", *IN_STORE, "--json"))
    assert (found["same"], found["agrees"]) == (False, True)
    change_answers(0.01)
    assert typed("runs", "rerun", "1", *IN_STORE).exit_code == 8
