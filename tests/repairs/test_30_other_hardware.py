"""Point 30: a run keeps its CPU and the kernel of BLAS; on others, `rerun` compares to a stated tolerance."""

from __future__ import annotations

import json
import platform
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from mlcli.experiment.run.split_results import SplitResult
from mlcli.experiment.store.codec import checksum, decoded, encoded
from mlcli.tasks.classification import LabelAnswers
from tests.cli.shell import document, in_shell, typed

STORE = ("--store", "runs.db")
OLD_KERNEL = {"OPENBLAS_CORETYPE": "Prescott"}
"""Every OpenBLAS for x86 has it, and chooses it for no CPU of this century."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_answers_of_another_kernel_are_close_and_that_is_said(folder: Path) -> None:
    words = ("eval", "cpu", "-m", "ridge", "-m", "kernel-ridge", "--protocol", "holdout", *STORE)
    assert in_shell(*words, folder=folder, **OLD_KERNEL).returncode == 0
    again = in_shell("rerun", "1", *STORE, folder=folder)
    assert again.returncode == 0, again.stdout
    if platform.machine() == "x86_64":
        assert " then, openblas " in again.stdout
        assert "numbers count as close up to 0.001 of their range" in again.stdout
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


def test_how_close_is_close_depends_on_the_hardware(folder: Path) -> None:
    assert typed("eval", "iris", "-m", "naive-bayes", *STORE).exit_code == 0
    change_answers(1e-4)
    told = typed("rerun", "1", *STORE)
    assert told.exit_code == 8
    assert "1 of 3 cells differ" in told.stdout
    pretend_another_cpu()
    told = typed("rerun", "1", *STORE)
    assert told.exit_code == 0
    assert "cpu another CPU then" in told.stdout
    found = document(typed("rerun", "1", *STORE, "--json"))
    assert (found["same"], found["agrees"]) == (False, True)
    change_answers(0.01)
    assert typed("rerun", "1", *STORE).exit_code == 8
