"""No file is replaced without ``--force``; and the formats in which commands print."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mlcli.cli._app import COMMANDS, options_of
from tests.support.shell import typed

ROWS = "a,b,y\n" + "".join(f"{place},{place % 5},{'yes' if place % 3 else 'no'}\n" for place in range(30))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("rows", "bare"):
        Path(f"{name}.csv").write_text(ROWS)
    Path("rows.yaml").write_text("target: y\n")
    assert typed("train", "rows.csv", "-m", "one-r", "-o", "model.mlcli").exit_code == 0
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def linked(path: Path) -> Path:
    Path("link").symlink_to(path)
    return Path("link")


def linked_from_afar(path: Path) -> Path:
    Path("far").symlink_to(path.resolve())
    return linked(Path("far"))


NAMED: dict[str, Callable[[Path], Path]] = {
    "as it was given": lambda path: path,
    "in full": lambda path: path.resolve(),
    "by a link": linked,
    "by a link to a link": linked_from_afar,
}


@pytest.mark.parametrize("how", NAMED)
@pytest.mark.parametrize("name", ["rows.csv", "rows.yaml", "model.mlcli", "notes.txt"])
@pytest.mark.parametrize(
    "words", [("predict", "model.mlcli", "rows.csv"), ("train", "rows.csv", "-m", "one-r"), ("init", "rows.csv")]
)
def test_no_existing_file_is_replaced(folder: Path, words: tuple[str, ...], name: str, how: str) -> None:
    Path("notes.txt").touch()
    output = str(NAMED[how](Path(name)))
    before = contents(folder)
    result = typed(*words, "-o", output)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{output} exists: it was left alone\n  name another file, or replace it with --force" in result.stderr
    assert contents(folder) == before


def test_the_file_that_comes_through_standard_input_is_not_written_over(folder: Path) -> None:
    words = [sys.executable, "-m", "mlcli", "predict", "model.mlcli", "-", "-o"]
    with Path("bare.csv").open("rb") as rows:
        done = subprocess.run([*words, "bare.csv"], stdin=rows, capture_output=True, check=False)
    assert (done.returncode, Path("bare.csv").read_text()) == (2, ROWS)
    with Path("bare.csv").open("rb") as rows:
        assert subprocess.run([*words, "out.csv"], stdin=rows, check=False).returncode == 0
    assert len(Path("out.csv").read_text().splitlines()) == 31


def test_predictions_replace_a_file_whole_with_force(folder: Path) -> None:
    Path("out.csv").write_text("row,y\n" + "something longer than the predictions\n" * 100)
    before = {*contents(folder)}
    assert typed("predict", "model.mlcli", "rows.csv", "-o", "out.csv", "--force").exit_code == 0
    assert Path("out.csv").read_text() == typed("predict", "model.mlcli", "rows.csv").stdout
    assert {*contents(folder)} == before


def test_with_force_what_a_link_leads_to_is_replaced(folder: Path) -> None:
    Path("link").symlink_to("bare.csv")
    assert typed("predict", "model.mlcli", "rows.csv", "-o", "link", "--force").exit_code == 0
    assert Path("link").is_symlink()
    assert Path("bare.csv").read_text().startswith("row,")


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (("data", "rows.csv", "--html", "page.html"), "page.html"),
        (("data", "rows.csv", "--plot", "a", "--pictures", "."), "01-a-30-of-30-rows.svg"),
        (("report", "model.mlcli", "-o", "page.html"), "page.html"),
    ],
)
def test_a_report_replaces_no_file_without_force(folder: Path, words: tuple[str, ...], file: str) -> None:
    Path(file).write_text("<!DOCTYPE html><title>ten years of work</title>")
    before = contents(folder)
    refused = typed(*words)
    assert (refused.exit_code, contents(folder)) == (2, before)
    assert f"{file} exists: it was left alone" in refused.stderr
    assert typed(*words, "--force").exit_code == 0
    assert {*contents(folder)} == {*before}


def test_answers_may_go_to_a_device_behind_a_link(folder: Path) -> None:
    Path("link").symlink_to("/proc/self/fd/1")
    words = [sys.executable, "-m", "mlcli", "predict", "model.mlcli", "rows.csv", "-o", "link"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 31)


def test_every_verb_that_shows_something_does_so_in_every_format() -> None:
    without = {verb for verb in COMMANDS if "--format" not in options_of(verb)}
    assert without == {"schema", "new", "init"}  # they write files


def test_rows_and_problems_are_given_in_every_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert typed("train", "iris", "-m", "lda", "-o", "lda.mlcli").exit_code == 0
    rows = json.loads(typed("predict", "lda.mlcli", "iris", "--format", "json").stdout)
    assert rows[0] == {"row": 1, "species": "setosa", "prediction": "setosa"}
    assert typed("predict", "lda.mlcli", "iris", "--format", "markdown").stdout.count("\n| ") == 151
    assert typed("predict", "lda.mlcli", "iris", "--format", "latex", "-o", "rows.tex").exit_code == 0
    assert r"\toprule" in Path("rows.tex").read_text(encoding="utf-8")
    assert json.loads(typed("report", "lda.mlcli", "--format", "json").stdout)["kind"] == "classification"
    Path("bad.yaml").write_text("data: [iriss]\n", encoding="utf-8")
    (problem,) = json.loads(typed("run", "bad.yaml", "--dry-run", "--json").stdout)["problems"]
    assert (problem["where"], problem["advice"]) == ("bad.yaml:1:8", "did you mean 'iris'?")
