"""compare: pairs of models on a dataset, ranks and tests over datasets, and scores of somebody else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tests.metrics.demsar import AREAS, MODELS
from tests.support.shell import document, typed

SPEC = """\
name: small
data: [iris, weather_nominal, weather_numeric, contact_lenses, labor]
models: [one-r, naive-bayes, {use: knn, params: {k: 3}}]
protocol: {folds: 3}
metrics: [accuracy, f1-macro]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "five.yaml").write_text(SPEC)
    rows = [
        f"{name},{model},{area}"
        for name, areas in AREAS.items()
        for model, area in zip(MODELS, areas, strict=True)
    ]
    (tmp_path / "scores.csv").write_text("\n".join(["dataset,model,auc", *rows]) + "\n")
    return tmp_path


def test_the_example_of_demsar_is_told_as_in_his_paper(folder: Path) -> None:
    told = typed("compare", "scores.csv").stdout
    assert "14 datasets: auc" in told
    assert "Best mean rank by auc: C4.5+m+cf with 1.96" in told
    assert "critical difference 1.254" in told
    assert ["C4.5+m+cf", "C4.5", "11", "1", "2"] in [line.split()[:5] for line in told.splitlines()]
    (over,) = document(typed("compare", "scores.csv", "--json"))["over_datasets"]
    assert over["mean_ranks"] == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    assert over["critical_difference"] == pytest.approx(1.25, abs=5e-3)
    assert over["groups"] == [["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]]
    assert over["pairs"][0]["models"] == ["C4.5+m+cf", "C4.5+m"]


def test_with_one_model_as_measure_fewer_tests_are_corrected_for(folder: Path) -> None:
    every = document(typed("compare", "scores.csv", "--json"))["over_datasets"][0]["pairs"]
    few = document(typed("compare", "scores.csv", "--against", "C4.5", "--json"))["over_datasets"][0]["pairs"]
    assert len(few) == 3
    assert all("C4.5" in pair["models"] for pair in few)
    corrected = {tuple(pair["models"]): pair["corrected_p"] for pair in every}
    assert all(pair["corrected_p"] <= corrected[tuple(pair["models"])] for pair in few)


def test_errors_are_better_when_lower(folder: Path) -> None:
    (over,) = document(typed("compare", "scores.csv", "--lower-is-better", "--json"))["over_datasets"]
    assert over["mean_ranks"] == pytest.approx([5 - 3.143, 3, 5 - 2.893, 5 - 1.964], abs=5e-4)


def test_a_run_is_compared_by_its_file_or_number(folder: Path) -> None:
    shown = typed("run", "five.yaml")
    assert shown.exit_code == 0, shown.output
    assert "5 datasets: accuracy" in shown.stdout
    assert "mean rank" in shown.stdout
    told = typed("compare", "five.yaml").stdout
    assert told == typed("compare", "1").stdout
    for part in (
        "95 % interval",
        "corrected p",
        "Holm correction for 6 comparisons",
        "Mean ranks",
        "alike",
        "in brackets",
    ):
        assert part in told
    found = document(typed("compare", "1", "--json", "--metric", "f1-macro"))
    assert [one["metric"] for one in found["datasets"]] == ["f1-macro"] * 5
    assert len(found["datasets"][0]["pairs"]) == 6
    assert found["over_datasets"][0]["models"] == ["one-r", "naive-bayes", "knn"]
    assert document(typed("runs", "show", "1", "--json"))["over_datasets"][0]["metric"] == "accuracy"
    every = document(typed("compare", "1", "--json", "--metric", "all"))
    assert [one["metric"] for one in every["over_datasets"]] == ["accuracy", "f1-macro"]
    two = typed("compare", "1", "--json", "--metric", "f1-macro", "--metric", "accuracy")
    assert {one["metric"] for one in document(two)["datasets"]} == {"accuracy", "f1-macro"}


def test_two_runs_are_compared_as_one(folder: Path) -> None:
    for name, k in (("a", 1), ("b", 7)):
        (folder / f"{name}.yaml").write_text(
            f"data: [iris]\nmodels: [{{use: knn, params: {{k: {k}}}, as: near}}]\n"
        )
        assert typed("run", f"{name}.yaml").exit_code == 0
    (pairs,) = (one["pairs"] for one in document(typed("compare", "1", "2", "--json"))["datasets"])
    assert {name for pair in pairs for name in pair["models"]} == {"zero-r", "near", "near (run 2)"}


def test_few_datasets_are_told_but_not_tested(folder: Path) -> None:
    rows = ["dataset,model,score", "a,x,0.9", "a,y,0.8", "b,x,0.7", "b,y,0.9", "c,x,0.7"]
    (folder / "few.csv").write_text("\n".join(rows) + "\n")
    told = typed("compare", "few.csv").stdout
    assert "no test over 2 datasets: at least 5 are needed" in told
    assert "c is left out: it has no score of y" in told
    assert "corrected p" not in told


def test_tests_on_request_are_asked_for_by_name(folder: Path) -> None:
    (folder / "one.yaml").write_text("data: [iris]\nmodels: [lda, {use: knn, params: {k: 3}}]\n")
    assert typed("run", "one.yaml").exit_code == 0
    (found,) = document(typed("compare", "1", "--test", "mcnemar", "--json"))["datasets"]
    assert {pair["test"] for pair in found["pairs"]} == {"exact McNemar over 150 rows"}
    unfit = typed("compare", "1", "--test", "5x2").stdout
    assert "needs five repeats of two folds" in unfit
    assert "Best by accuracy: lda; not tested against knn, zero-r." in unfit


def test_five_by_two_is_tested_where_rows_are_split_so(folder: Path) -> None:
    protocol = "{use: repeated-stratified-k-fold, folds: 2, repeats: 5}"
    (folder / "halves.yaml").write_text(f"data: [iris]\nmodels: [lda, naive-bayes]\nprotocol: {protocol}\n")
    assert typed("run", "halves.yaml").exit_code == 0
    (found,) = document(typed("compare", "1", "--test", "5x2", "--json"))["datasets"]
    assert {pair["test"] for pair in found["pairs"]} == {"5 × 2 t of Dietterich"}
    assert "repeats give several" in typed("compare", "1", "--test", "mcnemar").stdout


WRONG = [
    (2, ["compare", "nine"], "is no run"),
    (2, ["compare", "nowhere.yaml"], "there is no file"),
    (2, ["compare", "scores.csv", "--against", "C45"], "did you mean 'C4.5'"),
    (2, ["compare", "scores.csv", "--test", "mcnemar"], "needs the answers of runs"),
    (2, ["compare", "nine", "--test", "5x3"], "did you mean '5x2'"),
    (2, ["compare", "scores.csv", "scores.csv"], "one CSV of scores"),
    (4, ["compare", "scores.csv", "--metric", "aud"], "did you mean 'auc'"),
    (4, ["compare", "nowhere.csv"], "there is no file"),
    (4, ["compare", "odd.csv"], "odd.csv:3, column 'score': 'high' is no score"),
    (4, ["compare", "bare.csv"], "has no column 'model'"),
]


@pytest.mark.parametrize(("code", "words", "said"), WRONG, ids=lambda part: str(part))
def test_what_cannot_be_compared_is_told(folder: Path, code: int, words: list[str], said: str) -> None:
    (folder / "odd.csv").write_text("dataset,model,score\na,x,0.5\na,y,high\n")
    (folder / "bare.csv").write_text("dataset,score\na,0.5\n")
    result = typed(*words)
    assert result.exit_code == code, result.output
    assert said in result.stderr


def test_the_corrected_resampled_t_test_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nadeau & Bengio's formula with SciPy's t over ten folds, where rows would be tested otherwise."""
    monkeypatch.chdir(tmp_path)
    Path("one.yaml").write_text("data: [iris]\nmodels: [lda, {use: knn, params: {k: 40}}]\nmetrics: [accuracy]\n")
    cells = {cell["model"]: cell for cell in document(typed("run", "one.yaml", "--json", "-j", "1"))["cells"]}
    names = ["lda", next(name for name in cells if name.startswith("knn"))]
    splits = [np.array(cells[name]["metrics"]["accuracy"]["splits"]) for name in names]
    words = ("compare", "1", "--against", "lda", "--test", "corrected-t", "--json")
    pairs = document(typed(*words))["datasets"][0]["pairs"]
    (pair,) = (pair for pair in pairs if set(pair["models"]) == set(names))
    gains = splits[0] - splits[1]
    error = np.std(gains, ddof=1) * np.sqrt(1 / 10 + 15 / 135)
    assert pair["p"] == pytest.approx(2 * stats.t.sf(abs(gains.mean()) / error, 9))
    assert pair["test"] == "corrected resampled t over 10 splits"
