"""Reports as files: one page with every picture in it, pictures alone, and what is said where that cannot be."""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

from mlcli.cli._app import app
from tests.support.shell import typed

OUTSIDE = re.compile(r"<script|src=|href=\"(?!#|data:)|@import|url\((?!#)")
"""What would need a script or a network."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two datasets, its page, and a saved model."""
    place = tmp_path_factory.mktemp("report")
    (place / "two.yaml").write_text(
        "data: [labor, contact_lenses]\nmodels: [zero-r, one-r, {use: decision-tree, as: tree}]\n"
        "protocol: {use: stratified-k-fold, folds: 3}\nmetrics: [accuracy]\n",
        encoding="utf-8",
    )
    done = typed("run", str(place / "two.yaml"), "--html", str(place / "two.html"))
    assert done.exit_code == 0, done.output
    return place


def test_a_page_holds_all_and_needs_nothing(folder: Path) -> None:
    page = (folder / "two.html").read_text(encoding="utf-8")
    assert not OUTSIDE.search(page)
    titles = re.findall(r"<h1[^>]*>(.*?)</h1>", page)
    assert titles[0].startswith("2 datasets")
    assert titles[-2:] == ["How it was made", "How to cite"]
    for words in ("numpy", "models: [zero-r", "Breiman", "SHA-256", "ROC", "Calibration", "tree: Tree"):
        assert words in page, words


def test_pictures_of_a_page_share_no_id_and_are_well_formed(folder: Path) -> None:
    page = (folder / "two.html").read_text(encoding="utf-8")
    pictures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    ids = [found for picture in pictures for found in re.findall(r' id="([^"]+)"', picture)]
    assert len(pictures) > 3
    assert len(ids) == len(set(ids))
    for picture in pictures:
        ET.fromstring(picture.replace("xlink:", ""))


def test_a_stored_run_gives_the_page_that_its_run_gave(folder: Path) -> None:
    again = typed("report", str(folder / "two.yaml"), "-o", str(folder / "again.html"))
    assert again.exit_code == 0, again.output
    before, after = ((folder / name).read_text(encoding="utf-8") for name in ("two.html", "again.html"))
    known = re.compile(r"<h[12][^>]*>.*?</h[12]>")
    assert known.findall(before) == known.findall(after)


def test_a_stored_run_is_a_row_for_each_score_in_csv(folder: Path) -> None:
    shown = typed("runs", "show", "1", "--store", str(folder / ".mlcli" / "runs.db"), "--format", "csv").stdout
    rows = [row for row in csv.DictReader(shown.splitlines()) if row["metric"] == "accuracy"]
    assert [(row["dataset"], row["model"]) for row in rows] == [
        (dataset, model) for dataset in ("labor", "contact_lenses") for model in ("zero-r", "one-r", "tree")
    ]
    for row in rows:
        assert float(row["low"]) < float(row["value"]) < float(row["high"])
        assert row["status"] == "done"


@pytest.mark.parametrize(("suffix", "magic"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_pictures_are_files_named_by_what_they_show(suffix: str, magic: bytes, tmp_path: Path) -> None:
    model, page, folder = (tmp_path / name for name in ("tree.mlcli", "tree.html", "all"))
    assert typed("train", "weather_nominal", "-m", "decision-tree", "-o", str(model)).exit_code == 0
    words = ("report", str(model), "-o", str(page), "--pictures", str(folder), "--picture-format", suffix)
    assert typed(*words).exit_code == 0
    picture = min(folder.iterdir())
    assert picture.name.startswith("01-")
    assert picture.read_bytes().startswith(magic)


def test_pictures_of_a_profile_are_named_by_what_they_show(tmp_path: Path) -> None:
    words = ("data", "iris", "--plot", "petal_length", "--pictures", str(tmp_path / "all"))
    assert typed(*words).exit_code == 0
    assert [path.name for path in (tmp_path / "all").iterdir()] == ["01-petal-length-150-of-150-rows.svg"]


def test_a_saved_model_has_a_page_as_its_training_has(tmp_path: Path) -> None:
    model, trained, page = (tmp_path / name for name in ("tree.mlcli", "trained.html", "saved.html"))
    words = ("train", "weather_nominal", "-m", "decision-tree", "-o", str(model), "--html", str(trained))
    assert typed(*words).exit_code == 0
    assert typed("report", str(model), "-o", str(page)).exit_code == 0
    assert all("<svg" in one.read_text(encoding="utf-8") for one in (trained, page))


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--html", "nosuch/page.html"), 6, "there is no folder"),
        (("--pictures", "nosuch/all"), 6, "there is no folder"),
    ],
)
def test_what_cannot_be_written_is_said_before_anything_is_run(
    words: tuple[str, ...], code: int, said: str
) -> None:
    done = typed("eval", "iris", "-m", "knn", *words)
    assert (done.exit_code, done.stdout) == (code, "")
    assert said in done.stderr


def test_what_must_be_installed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)  # Python's own sign that there is no such module
    done = typed("eval", "iris", "-m", "knn", "--html", str(tmp_path / "page.html"))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "a report needs jinja2\n  pip install 'mlcli[report]'" in done.stderr


def test_short_results_leave_out_what_v_shows() -> None:
    short = typed("eval", "iris", "-m", "one-r", "-m", "naive-bayes").stdout
    long = typed("eval", "iris", "-m", "one-r", "-m", "naive-bayes", "-v").stdout
    assert short.count("true \\ predicted") == 1
    assert long.count("true \\ predicted") == 2
    assert "-v shows the predictions of 1 more model, how intervals were computed" in short
    assert "interval of accuracy" in long
    assert "interval of accuracy" not in short
    assert " seconds\n" in short


def printed_with(**env: str) -> str:
    return CliRunner(env=env).invoke(app, ["eval", "iris", "-m", "one-r"], prog_name="mlcli").stdout


def test_colour_is_forced_and_refused() -> None:
    shaded = printed_with(NO_COLOR="", FORCE_COLOR="1")
    assert "\x1b[30;42m" in shaded
    assert "\x1b[1;31m" in shaded
    assert "\x1b[" not in printed_with(NO_COLOR="1", FORCE_COLOR="1")


def test_prose_in_a_pipe_is_folded_and_tables_are_whole() -> None:
    lines = printed_with(COLUMNS="").splitlines()
    table = next(line for line in lines if line.startswith("model"))
    assert len(table) > 110
    assert max(len(line) for line in lines if "  " not in line.strip()) <= 110
