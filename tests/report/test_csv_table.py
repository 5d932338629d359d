"""``--format csv`` is one rectangular table that pandas reads, with the numbers of ``--json``."""

from __future__ import annotations

import csv
from io import StringIO
from pathlib import Path

import pandas as pd
import pytest

import mlcli
from tests.support.shell import document, typed

WORDS = ("eval", "iris", "wine", "-m", "knn", "-m", "ridge", "--folds", "3", "-j", "1", "--show", "training")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(*words: str) -> pd.DataFrame:
    """The output of a command as pandas reads it."""
    return pd.read_csv(StringIO(typed(*words, "--format", "csv").stdout), keep_default_na=False, na_values=[""])


def test_every_score_is_a_row_with_the_numbers_of_json() -> None:
    scores = table(*WORDS)
    names = ["dataset", "model", "parameters", "metric", "value", "low", "high"]
    assert list(scores.columns[:7]) == names
    scored = scores[scores["status"] == "done"]
    keyed = scored.set_index(["dataset", "model", "part", "metric"])["value"]
    cells = [cell for cell in document(typed(*WORDS, "--json"))["cells"] if cell["status"] == "done"]
    expected = 0
    for cell in cells:
        for metric, summary in cell["metrics"].items():
            expected += 1
            if summary["mean"] is not None:
                assert keyed[cell["dataset"], cell["label"], "test", metric] == summary["mean"]
        for metric, mean in cell["training"].items():
            expected += 1
            if mean is not None:
                assert keyed[cell["dataset"], cell["label"], "training", metric] == mean
    assert len(scored) == expected
    (skipped,) = scores[scores["dataset"].eq("iris") & scores["model"].eq("ridge")].to_dict("records")
    assert skipped["status"] == "skipped"
    assert skipped["why"] == "ridge does regression; iris is classification"


def test_run_report_stored_runs_and_python_give_the_same_table(folder: Path) -> None:
    Path("one.yaml").write_text("data: [iris]\nmodels: [lda]\nprotocol: {folds: 3}\nexpect: [beats: zero-r]\n")
    run = table("run", "one.yaml")
    kept = run.drop(columns=["fit_seconds", "predict_seconds"])
    for words in (
        ("runs", "show", "1", "--store", ".mlcli/runs.db"),
        ("report", "1", "--store", ".mlcli/runs.db"),
    ):
        pd.testing.assert_frame_equal(table(*words), run)
    results = mlcli.run({"data": ["iris"], "models": ["lda"], "protocol": {"folds": 3}}).to("csv")
    frame = pd.read_csv(StringIO(results)).drop(columns=["fit_seconds", "predict_seconds"])
    pd.testing.assert_frame_equal(frame, kept)


def test_sweeps_have_a_row_for_each_point() -> None:
    learning = table("curve", "learning", "iris", "-m", "lda", "--sizes", "30,60", "--metric", "accuracy")
    assert learning["over"].unique().tolist() == ["training rows"]
    assert sorted(learning["at"].unique()) == [30, 60]
    validation = table("curve", "validation", "iris", "-m", "knn", "-p", "k=1,3", "--metric", "accuracy")
    judged = validation[validation["model"].str.startswith("knn") & validation["part"].eq("test")]
    assert judged[["over", "at"]].values.tolist() == [["k", 1], ["k", 3]]
    parts = table("curve", "bias-variance", "cpu", "-m", "ridge", "--repeats", "5").query("model == 'ridge'")
    value = parts.set_index("metric")["value"]
    assert value["squared loss"] == pytest.approx(value["bias²"] + value["variance"])


def test_compare_reads_the_table(folder: Path) -> None:
    names = ("iris", "wine", "penguins", "breast_cancer", "labor")
    words = ("eval", *names, "-m", "knn", "-m", "lda", "--folds", "3", "-j", "1")
    Path("scores.csv").write_text(typed(*words, "--format", "csv").stdout)
    compared = document(typed("compare", "scores.csv", "--metric", "accuracy", "--against", "lda", "--json"))
    assert "knn" in str(compared)
    refused = typed("compare", "scores.csv", "--metric", "acuracy")
    assert "did you mean 'accuracy'?" in refused.stderr


@pytest.mark.parametrize(
    "words", [("data", "iris"), ("models",), ("audit", "iris"), ("train", "iris", "-m", "lda"), ("doctor",)]
)
def test_other_commands_give_one_table_too(words: tuple[str, ...]) -> None:
    header, *rows = csv.reader(typed(*words, "--format", "csv").stdout.splitlines(), strict=True)
    assert rows
    assert {len(row) for row in rows} == {len(header)} == {len(set(header))}
