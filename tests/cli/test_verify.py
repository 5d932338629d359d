"""verify and rerun: a run is what it was, and whoever changes something of it is found out."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from mlcli.experiment.results import SplitResult, checksum, decoded, encoded
from mlcli.tasks.supervised import LabelAnswers
from tests.support.shell import document, typed

SPEC = """\
data: [flowers.csv, weather_nominal]
models: [knn, lda, {use: random-forest, params: {trees: 5}}]
protocol: {use: leave-one-out}
"""
STORE = Path(".mlcli/runs.db")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{(7 * place) % 11},{place % 4},{'ab'[place * 3 % 5 > 2]}\n" for place in range(20))
    (tmp_path / "flowers.csv").write_text("x,z,kind\n" + rows)
    (tmp_path / "spec.yaml").write_text(SPEC)
    assert typed("run", "spec.yaml").exit_code == 0
    return tmp_path


def change(statement: str, *values: object) -> None:
    with sqlite3.connect(STORE) as connection:
        assert connection.execute(statement, values).rowcount
    connection.close()


def test_every_score_is_made_again(folder: Path) -> None:
    told = typed("runs", "verify", "spec.yaml")
    assert told.exit_code == 0, told.output
    assert "all as in run 1 (spec" in told.stdout
    assert "DIFFERS" not in told.stdout
    found = document(typed("runs", "verify", "1", "--json"))
    assert found["verified"]
    assert {cell["model"] for cell in found["cells"]} == {"zero-r", "one-r", "knn", "lda", "random-forest"}


def test_a_score_that_was_changed_is_found(folder: Path) -> None:
    with sqlite3.connect(STORE) as connection:
        (text,) = connection.execute("SELECT value FROM run_details WHERE name = 'scores'").fetchone()
    kept = json.loads(text)
    kept[1]["metrics"]["accuracy"][0] += 0.05
    change("UPDATE run_details SET value = ? WHERE name = 'scores'", json.dumps(kept))
    told = typed("runs", "verify", "1")
    assert told.exit_code == 6
    assert "flowers, one-r: accuracy mean: shown as" in told.stdout
    assert "1 difference from run 1" in told.stdout


def test_answers_that_were_changed_are_found_whatever_their_checksum_says(folder: Path) -> None:
    with sqlite3.connect(STORE) as connection:
        row = connection.execute("SELECT rowid, payload FROM blocks ORDER BY rowid DESC").fetchone()
    splits = decoded(row[1], LabelAnswers)
    first = splits[0]
    assert isinstance(first, SplitResult)
    first.answers["test"].predicted[:] = 1 - first.answers["test"].predicted  # type: ignore[attr-defined]
    payload = encoded([first, *splits[1:]])
    change("UPDATE blocks SET payload = ?, checksum = ? WHERE rowid = ?", payload, checksum(payload), row[0])
    told = typed("runs", "verify", "1")
    assert told.exit_code == 6
    assert "the answers are not those that were stored" in told.stdout
    again = typed("runs", "rerun", "1")
    assert again.exit_code == 8
    assert "1 split answered otherwise" in again.stdout


def test_a_damaged_block_is_told(folder: Path) -> None:
    change("UPDATE blocks SET checksum = 'wrong' WHERE cell = 2")
    told = typed("runs", "verify", "1")
    assert told.exit_code == 6
    assert "damaged in the store" in told.stdout


def test_a_run_that_kept_no_scores_is_not_called_verified(folder: Path) -> None:
    change("DELETE FROM run_details")
    told = typed("runs", "verify", "1")
    assert told.exit_code == 6
    assert "nothing was kept to compare with" in told.stdout
    assert "which versions the run was made with was not kept" in typed("runs", "rerun", "1").stdout


def test_the_same_answers_come_again(folder: Path) -> None:
    told = typed("runs", "rerun", "spec.yaml", "--jobs", "1")
    assert told.exit_code == 0, told.output
    assert "10 cells run again: the same answers to the bit as in run 1" in told.stdout
    assert "versions: the same of mlcli" in told.stdout
    found = document(typed("runs", "rerun", "1", "--json"))
    assert found["same"]
    assert all(cell["then"] == cell["now"] for cell in found["cells"])


def test_other_versions_are_told(folder: Path) -> None:
    with sqlite3.connect(STORE) as connection:
        (text,) = connection.execute("SELECT value FROM run_details WHERE name = 'versions'").fetchone()
    was = json.loads(text) | {"numpy": "1.0"}
    change("UPDATE run_details SET value = ? WHERE name = 'versions'", json.dumps(was))
    told = typed("runs", "rerun", "1")
    assert told.exit_code == 0
    assert "versions: numpy 1.0 then," in told.stdout


def test_data_that_have_changed_or_gone_are_no_proof(folder: Path) -> None:
    text = (folder / "flowers.csv").read_text()
    (folder / "flowers.csv").write_text(text.replace("\n0,", "\n1,"))
    told = typed("runs", "rerun", "1")
    assert told.exit_code == 8
    assert "flowers, knn: the data of flowers have changed since" in told.stdout
    assert "5 of 10 cells could not be run again, and 0 differ from run 1" in told.stdout
    (folder / "flowers.csv").unlink()
    assert "the data of flowers are not there any more" in typed("runs", "rerun", "1").stdout


def test_a_run_that_is_not_there_is_told(folder: Path) -> None:
    assert typed("runs", "verify", "9").exit_code == 2
    assert "is no run" in typed("runs", "rerun", "nine").stderr
