"""Control characters in names and cells: figures stay valid XML, and ``predict`` escapes them."""

from __future__ import annotations

import csv
import io
import random
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.support.shell import in_shell, typed

COLUMNS = ("a\x1b[31m", "b\x01", "=id", "class")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table of such names, and a model of it."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(1)
    with Path("c.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(COLUMNS)
        for place in range(40):
            label = ("p\x02q", "r\x1bs")[place % 2]
            writer.writerow(
                [rng.gauss(place % 2), rng.gauss(), ("=1+1\x07", "-2", "@x", "two\nlines")[place % 4], label]
            )
    Path("c.yaml").write_text('target: class\ncolumns:\n  "=id": {role: id}\n')
    assert typed("train", "c.csv", "-m", "decision-tree", "-o", "m.mlcli").exit_code == 0
    return tmp_path


def test_pictures_and_reports_stay_xml(folder: Path) -> None:
    Path("e.yaml").write_text("data: [c.csv]\nmodels: [decision-tree]\nprotocol: {folds: 2}\n")
    words = ("run", "e.yaml", "--show", "curves")
    result = typed(*words, "--html", "r.html", "--pictures", "p", "--junit", "j.xml")
    assert result.exit_code == 0, result.stderr
    for file in (*Path("p").glob("*.svg"), Path("j.xml")):
        ET.parse(file)
    page = Path("r.html").read_text(encoding="utf-8")
    assert not any(control in page for control in "\x01\x02\x07\x1b")


def rows_of(*words: str) -> list[dict[str, str]]:
    result = typed("predict", "m.mlcli", "c.csv", *words)
    assert result.exit_code == 0, result.stderr
    return list(csv.DictReader(io.StringIO(result.stdout)))


def test_predict_escapes_control_characters_and_nothing_else(folder: Path) -> None:
    rows = rows_of()
    assert {row["class"] for row in rows} == {"p\\x02q", "r\\x1bs"}
    assert [row["=id"] for row in rows[:4]] == ["=1+1\\x07", "-2", "@x", "two\nlines"]
    assert {row["prediction"] for row in rows} <= {"p\\x02q", "r\\x1bs"}


def test_safe_csv_holds_no_formulas(folder: Path) -> None:
    rows = rows_of("--safe-csv")
    assert [row["'=id"] for row in rows[:4]] == ["'=1+1\\x07", "-2", "'@x", "two\nlines"]
    assert typed("predict", "m.mlcli", "c.csv", "--safe-csv", "--format", "json").exit_code == 2


def test_equal_trainings_write_equal_files(folder: Path) -> None:
    files = []
    for seed in "12":  # of the hashes of Python, which differ between processes
        words = ("train", "iris", "-m", "naive-bayes", "-o", f"{seed}.mlcli")
        assert in_shell(*words, folder=folder, PYTHONHASHSEED=seed).returncode == 0
        files.append(Path(f"{seed}.mlcli").read_bytes())
    assert files[0] == files[1]
