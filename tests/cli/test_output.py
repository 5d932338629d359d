"""What ``-o`` may not name, by whatever path; and the formats in which verbs answer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from mlcli.cli._verbs import VERBS, verbs_with
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


def another_name(path: Path) -> Path:
    os.link(path, "twin")
    return Path("twin")


NAMED: dict[str, Callable[[Path], Path]] = {
    "as it was given": lambda path: path,
    "in full": lambda path: path.resolve(),
    "by another way": lambda path: Path("..") / path.resolve().parent.name / path,
    "by a link": linked,
    "by a link to a link": linked_from_afar,
    "as another name of the same file": another_name,
}


@pytest.mark.parametrize("how", NAMED)
@pytest.mark.parametrize("name", ["rows.csv", "rows.yaml", "model.mlcli"])
def test_predict_writes_over_nothing_that_it_reads(folder: Path, name: str, how: str) -> None:
    output = str(NAMED[how](Path(name)))
    before = contents(folder)
    result = typed("predict", "model.mlcli", "rows.csv", "-o", output)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{output} is " in result.stderr
    assert "name another file with -o FILE" in result.stderr
    assert contents(folder) == before


@pytest.mark.parametrize("how", NAMED)
@pytest.mark.parametrize("name", ["rows.csv", "rows.yaml"])
def test_train_writes_over_nothing_that_it_reads(folder: Path, name: str, how: str) -> None:
    output = str(NAMED[how](Path(name)))
    before = contents(folder)
    result = typed("train", "rows.csv", "-m", "one-r", "-o", output)
    assert (result.exit_code, result.stdout) == (2, "")
    assert contents(folder) == before


@pytest.mark.parametrize("name", ["bare.yaml", "bare.yml"])
def test_nothing_is_written_where_it_would_be_taken_for_a_sidecar(folder: Path, name: str) -> None:
    assert typed("predict", "model.mlcli", "bare.csv", "-o", name).exit_code == 2
    assert typed("train", "bare.csv", "-m", "one-r", "-o", name).exit_code == 2
    assert not Path(name).exists()


def test_the_file_that_comes_through_standard_input_is_not_written_over(folder: Path) -> None:
    words = [sys.executable, "-m", "mlcli", "predict", "model.mlcli", "-", "-o"]
    with Path("bare.csv").open("rb") as rows:
        done = subprocess.run([*words, "bare.csv"], stdin=rows, capture_output=True, check=False)
    assert (done.returncode, Path("bare.csv").read_text()) == (2, ROWS)
    with Path("bare.csv").open("rb") as rows:
        assert subprocess.run([*words, "out.csv"], stdin=rows, check=False).returncode == 0
    assert len(Path("out.csv").read_text().splitlines()) == 31


def test_earlier_answers_are_replaced_whole(folder: Path) -> None:
    Path("out.csv").write_text("row,y\n" + "something longer than the answers\n" * 100)
    before = {*contents(folder)}
    assert typed("predict", "model.mlcli", "rows.csv", "-o", "out.csv").exit_code == 0
    assert Path("out.csv").read_text() == typed("predict", "model.mlcli", "rows.csv").stdout
    assert {*contents(folder)} == before


@pytest.mark.parametrize("leads_to", ["answers.csv", "bare.csv", "nowhere.csv"])
def test_what_a_link_leads_to_is_replaced_on_demand_only(folder: Path, leads_to: str) -> None:
    Path("answers.csv").write_text("row,y\n")
    before = contents(folder)
    Path("link").symlink_to(leads_to)
    refused = typed("predict", "model.mlcli", "rows.csv", "-o", "link")
    assert (refused.exit_code, contents(folder).get(leads_to)) == (2, before.get(leads_to))
    assert "link to" in refused.stderr
    assert "--force" in refused.stderr
    assert typed("predict", "model.mlcli", "rows.csv", "-o", "link", "--force").exit_code == 0
    assert Path("link").is_symlink()
    assert Path(leads_to).read_text().startswith("row,")


def test_a_file_of_something_else_is_replaced_on_demand_only(folder: Path) -> None:
    Path("thesis.txt").write_text("ten years of work")
    refused = typed("predict", "model.mlcli", "rows.csv", "-o", "thesis.txt")
    assert (refused.exit_code, Path("thesis.txt").read_text()) == (2, "ten years of work")
    assert "holds no answers" in refused.stderr
    assert typed("predict", "model.mlcli", "rows.csv", "-o", "thesis.txt", "--force").exit_code == 0
    assert Path("thesis.txt").read_text() == typed("predict", "model.mlcli", "rows.csv").stdout


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (("data", "rows.csv", "--html", "page.html"), "page.html"),
        (("data", "rows.csv", "--plot", "a", "--pictures", "."), "01-a-30-of-30-rows.svg"),
        (("report", "model.mlcli", "-o", "page.html"), "page.html"),
    ],
)
def test_a_report_replaces_an_earlier_one_and_nothing_else(
    folder: Path, words: tuple[str, ...], file: str
) -> None:
    Path(file).write_text("<!DOCTYPE html><title>ten years of work</title>")
    before = contents(folder)
    refused = typed(*words)
    assert (refused.exit_code, contents(folder)) == (2, before)
    assert f"{file} exists and holds no p" in refused.stderr
    assert typed(*words, "--force").exit_code == 0
    assert {*contents(folder)} == {*before}
    assert typed(*words).exit_code == 0


def test_answers_may_go_to_a_device_behind_a_link(folder: Path) -> None:
    Path("link").symlink_to("/proc/self/fd/1")
    words = [sys.executable, "-m", "mlcli", "predict", "model.mlcli", "rows.csv", "-o", "link"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 31)


def test_every_verb_that_shows_something_does_so_in_every_format() -> None:
    without = {verb for verb in VERBS if verb not in verbs_with("--format")}
    assert without == {"runs", "schema", "new", "init"}  # the parts of runs have it; the others write files


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
    (problem,) = json.loads(typed("check", "bad.yaml", "--format", "json").stdout)
    assert (problem["where"], problem["advice"]) == ("bad.yaml:1:8", "did you mean 'iris'?")
