"""What a plan says of seconds and memory: learned from the store, and asked about before hours of work."""

from __future__ import annotations

import os
import pty
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.shell import document, typed

SEEN = "data: [small.csv, large.csv]\nmodels: [one-r]\nprotocol: {folds: 2}\n"
ASKED = "data: [larger.csv, small.csv]\nmodels: [one-r, knn]\nprotocol: {folds: 4}\nbudget: 30s\n"
ROWS = {"small": 20, "large": 40, "larger": 160}
SECONDS = {"small": 1.0, "large": 4.0}
MEMORY = {"small": 1100, "large": 1200}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store in which a split of twice as many rows takes four times as long, and memory is 1,000 and 5 a row."""
    monkeypatch.chdir(tmp_path)
    for name, count in ROWS.items():
        rows = "".join(f"{(7 * place) % 11},{'ab'[place * 3 % 5 > 2]}\n" for place in range(count))
        Path(f"{name}.csv").write_text("x,kind\n" + rows)
    Path("seen.yaml").write_text(SEEN)
    Path("asked.yaml").write_text(ASKED)
    assert typed("run", "seen.yaml").exit_code == 0
    with closing(sqlite3.connect(".mlcli/runs.db")) as other, other:
        for name in SECONDS:
            cells = "SELECT id FROM cells WHERE json_extract(facts, '$.dataset') = ?"
            other.execute(f"UPDATE blocks SET seconds = ? * count WHERE cell IN ({cells})", (SECONDS[name], name))
            other.execute(f"UPDATE cells SET memory = ? WHERE id IN ({cells})", (MEMORY[name], name))
    return tmp_path


def planned(*words: str) -> dict[tuple[str, str], Any]:
    cells = document(typed("run", "asked.yaml", "--dry-run", *words, "--json"))["cells"]
    return {(cell["dataset"], cell["model"]): cell.get("estimate") for cell in cells}


def test_growth_is_learned_from_tables_of_several_sizes(folder: Path) -> None:
    known = planned()
    larger = known["larger", "one-r"]
    assert larger["seconds"] == pytest.approx(4 * 4 * 16)
    assert larger["memory"] == pytest.approx(1000 + 5 * 160, abs=1)
    assert (larger["splits"], larger["stored"], larger["known_from"]) == (4, 0, "tables of 2 sizes")
    small = known["small", "one-r"]
    assert (small["seconds"], small["memory"], small["known_from"]) == (4.0, 1100, "the same table")
    assert known["larger", "knn"]["seconds"] is None


def test_the_plan_says_it_and_what_is_more_than_the_budget(folder: Path) -> None:
    shown = typed("run", "asked.yaml", "--dry-run").stdout
    assert "4 min 16 s" in shown
    assert "tables of 2 sizes, more than its budget" in shown
    assert "8 min 40 s of one core, at most 1.76 KiB of memory" in shown
    assert "of 2 cells the store has not seen the like" in shown
    assert "in the store" in typed("run", "seen.yaml", "--dry-run").stdout
    assert "seconds" not in typed("run", "asked.yaml", "--dry-run", "--store", "none.db").stdout


def test_what_is_stored_already_is_not_among_what_the_store_has_not_seen(folder: Path) -> None:
    """A run that was interrupted has not described its datasets."""
    with closing(sqlite3.connect(".mlcli/runs.db")) as other, other:
        other.execute("DELETE FROM datasets")
    shown = typed("run", "seen.yaml", "--dry-run").stdout
    assert "0 cells to run; in the store already: 4" in shown
    assert "has not seen the like" not in shown


def test_hours_of_work_are_asked_about_where_somebody_sits(folder: Path) -> None:
    with closing(sqlite3.connect(".mlcli/runs.db")) as other, other:
        other.execute("UPDATE blocks SET seconds = 100 * seconds")
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "mlcli", "run", "asked.yaml", "--jobs", "2"]
    with subprocess.Popen(words, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE) as process:
        os.close(theirs)
        said = b""
        while b"[y/N]" not in said:
            said += os.read(ours, 1000)
        os.write(ours, b"n\n")
        assert process.stdout is not None
        assert process.stdout.read() == b""
    os.close(ours)
    assert process.returncode == 0
    assert b"this will take about 7 h 13 min" in said
