"""Tuning as a user meets it: tables of what was chosen, saved models, and that judged rows have no part in it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mlcli
from mlcli.experiment.run.evaluation import evaluate
from mlcli.experiment.run.preparation import prepare
from mlcli.experiment.spec.cells import SELECTED, TUNED, DataSpec, Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.plan import plan
from tests.support.shell import document, typed

RATINGS = "user,item,stars\n" + "".join(f"u{i % 7},i{i * i % 11},{1 + i % 5}\n" for i in range(60))
ROLES = "columns: {user: {role: user}, item: {role: item}, stars: {role: target, kind: numeric}}\n"
KNN = "{use: knn, tune: {k: [1, 5, 15]}}"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def text_of(*words: str) -> str:
    result = typed(*words)
    assert result.exit_code == 0, result.output
    return str(result.output)


def error_of(*words: str) -> str:
    result = typed(*words)
    assert result.exit_code != 0
    return str(result.output)


def test_a_table_says_what_each_split_chose() -> None:
    text = text_of("eval", "iris", "-m", KNN, "--folds", "3")
    assert "knn (tuned): chosen by inner splits" in text
    assert "fold 3" in text
    assert "inner accuracy" in text


def test_json_has_what_each_split_chose() -> None:
    (*_, cell) = json.loads(text_of("eval", "iris", "-m", KNN, "--folds", "3", "--format", "json"))["cells"]
    assert [one["split"] for one in cell["chosen"]] == ["fold 1", "fold 2", "fold 3"]
    assert all(one["chosen"]["k"] in (1, 5, 15) for one in cell["chosen"])
    assert all(0 < one["inner_score"] <= 1 for one in cell["chosen"])


def test_tune_alone_searches_what_the_method_declares() -> None:
    text = text_of("eval", "iris", "-m", "lda", "-m", "knn", "--tune", "--folds", "3")
    assert "lda (tuned)" in text
    assert "shrinkage" in text
    assert "knn (tuned)" in text


def test_densities_and_recommenders_are_tuned_and_clusterings_are_not(folder: Path) -> None:
    shape = "{use: gmm, steps: [], tune: {components: [1, 2]}}"
    assert "components=2 in 2" in text_of("eval", "faithful", "--task", "density", "-m", shape, "--folds", "2")
    folder.joinpath("ratings.csv").write_text(RATINGS)
    folder.joinpath("ratings.yaml").write_text(ROLES)
    penalty = "{use: matrix-factorisation, params: {factors: 1}, tune: {l2: [1, 100]}}"
    assert "inner rmse" in text_of("train", "ratings.csv", "-m", penalty, "-o", "m.mlcli")
    assert text_of("predict", "m.mlcli", "ratings.csv").count("\n") == RATINGS.count("\n")


def test_nested_judges_the_best_of_the_models() -> None:
    text = text_of("eval", "wine", "-m", "lda", "-m", "one-r", "--nested", "--folds", "3")
    assert "chosen: chosen by inner splits" in text
    assert "chosen most often, of 3 splits: model=lda in 3" in text
    assert "fewer than two models" in error_of("eval", "wine", "-m", "lda", "--nested")


def test_train_saves_the_model_that_was_chosen(folder: Path) -> None:
    text = text_of("train", "iris", "-m", "knn", "--search", "{search: grid, trials: 5}", "-o", "knn.mlcli")
    assert "Chosen by inner splits" in text
    assert "inner accuracy" in text
    assert text_of("predict", "knn.mlcli", "iris").count("setosa") > 50


def test_the_metric_that_decides_in_the_table_decides_in_inner_splits() -> None:
    text = text_of("eval", "wine", "-m", KNN, "--metric", "auc", "--folds", "3")
    assert "inner auc" in text


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("-m", "{use: knn, tune: {q: [1]}}"), "the path 'q' leads nowhere in knn"),
        (("-m", "{use: knn, tune: {k: [0]}}"), "k must be at least 1, was given 0"),
        (("-m", "{use: knn, tune: {serch: random}}"), "did you mean 'search'?"),
        (("-m", "{use: knn, tune: 3}"), "'tune' takes true"),
        (("-m", "{use: knn, tune: true, stages: true}"), "has no stages of its own"),
        (("-m", "linear-svm", "--tune", "--search", "gird"), "did you mean 'grid'?"),
        (("-m", "{use: knn, tune: {metric: rmse}}"), "'rmse' is a metric of regression, not of classification"),
        (("-m", "random", "--tune"), "no parameters that are tuned where none are named"),
        (("--task", "clustering", "-m", "k-means", "--tune"), "fits see no target"),
    ],
)
def test_what_is_wrong_is_said(words: tuple[str, ...], what: str) -> None:
    assert what in error_of("eval", "iris", *words)


def test_a_file_may_tune_all_its_models(folder: Path) -> None:
    lines = "data: [wine]\nmodels: [lda, {use: knn, tune: [k]}]\ntune: true\nnested: true\n"
    (folder / "tuned.yaml").write_text(lines + "protocol: {use: stratified-holdout}\n")
    text = text_of("run", "tuned.yaml")
    assert all(name in text for name in ("lda (tuned)", "knn (tuned)", "chosen"))


def test_what_was_chosen_is_read_back_from_the_store(folder: Path) -> None:
    words = ("eval", "iris", "-m", KNN, "--folds", "3", "--store", "answers.db")
    first, again = text_of(*words), text_of(*words)
    assert "were in answers.db already" in again
    assert first.split("knn (tuned): chosen")[1] in again


CHOOSING = [
    ModelSpec(TUNED, {"base": "knn", "ranges": {"k": [1, 5, 25]}}),
    ModelSpec(TUNED, {"base": {"use": "lda", "steps": ["pca"]}, "ranges": {"pca.components": [1, 2, 4]}}),
    ModelSpec(TUNED, {"base": "decision-tree", "search": "halving"}),
    ModelSpec(SELECTED, {"models": ["knn", "lda", "decision-tree"]}),
]


@pytest.mark.parametrize("model", CHOOSING, ids=lambda model: str(model.params.get("base", "selected")))
def test_labels_of_judged_rows_do_not_change_what_is_chosen(model: ModelSpec) -> None:
    """The canary: were the judged rows seen when something is chosen, other labels there would change it."""
    asked = Experiment((DataSpec("wine"),), (model,), ProtocolSpec("stratified-k-fold", {"folds": 3}))
    ready = prepare(plan(asked)[-1])
    split = ready.splits[0]

    def chosen(rows: np.ndarray[Any, Any]) -> Any:
        y = ready.rows.y.copy()
        y[rows] = (y[rows] + 1 + np.arange(len(rows)) % 2) % 3
        (result,) = evaluate(replace(ready, rows=replace(ready.rows, y=y)).block(0, 1)).results
        return result.explanation

    untouched = chosen(split.test[:0])
    assert chosen(split.test) == untouched
    assert chosen(split.train[::2]) != untouched


def test_a_model_with_nothing_to_tune_is_said_to_stay_as_it_is() -> None:
    result = typed("eval", "cpu", "-m", "linear-regression", "-m", "ridge", "--tune", "--folds", "2")
    assert result.exit_code == 0, result.output
    assert "nothing to tune: linear-regression" in result.stderr


def test_inner_splits_keep_the_gap_and_the_window_of_the_outer_ones() -> None:
    protocol = "{use: forward-chaining, folds: 2, gap: 3, window: 60}"
    result = typed("eval", "cpu", "-m", "ridge", "--tune", "--protocol", protocol, "--json")
    tuned = next(cell for cell in document(result)["cells"] if cell["model"] == "tuned")
    assert tuned["params"]["inner"] == {"use": "forward-chaining", "gap": 3, "window": 60}


HEAD = "tune: {search: random, trials: 3, rule: one-standard-error}\ndata: [iris]\nprotocol: holdout\n"


@pytest.fixture(autouse=True)
def in_a_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def planned(entry: str, head: str = HEAD) -> dict[str, Any]:
    """The last cell of an experiment with one model."""
    Path("tune.yaml").write_text(f"{head}models: [{entry}]\n")
    cell: dict[str, Any] = document(typed("run", "tune.yaml", "--dry-run", "--json"))["cells"][-1]
    return cell


@pytest.mark.parametrize(
    ("entry", "own"),
    [
        ("{use: svm, tune: true}", {"ranges": None, "trials": 3, "rule": "one-standard-error"}),
        ("{use: svm, tune: {C: [1, 2]}}", {"ranges": {"C": [1, 2]}, "trials": 3, "rule": "one-standard-error"}),
        ("{use: svm, tune: {ranges: {C: [1, 2]}, rule: best}}", {"trials": 3, "rule": "best"}),
        ("svm", {"ranges": None, "trials": 3, "rule": "one-standard-error"}),
    ],
)
def test_the_head_completes_the_settings_of_a_model(entry: str, own: dict[str, Any]) -> None:
    cell = planned(entry)
    assert cell["model"] == "tuned"
    assert {"search": "random", **own}.items() <= cell["params"].items()


def test_a_model_with_tune_false_is_not_tuned() -> None:
    assert planned("{use: svm, tune: false}")["model"] == "svm"


def test_a_decision_rule_around_a_tuned_model_is_not_tuned_again() -> None:
    cell = planned("{use: svm, tune: true, decide: {by: expected-cost}}")
    assert (cell["model"], cell["params"]["base"]["use"]) == ("decision-rule", "tuned")
    assert cell["params"]["base"]["params"]["trials"] == 3


def test_the_shell_and_python_share_settings_in_the_same_way() -> None:
    entry = "{use: svm, tune: {C: [1, 2, 4]}}"
    words = (
        "eval",
        "iris",
        "-m",
        entry,
        "--search",
        "{search: random, trials: 2}",
        "--protocol",
        "k-fold",
        "--json",
    )
    cell = document(typed(*words))["cells"][-1]
    assert (cell["params"]["search"], cell["params"]["trials"]) == ("random", 2)
    settings = {"search": "random", "trials": 2}
    results = mlcli.eval("iris", {"use": "svm", "tune": {"C": [1, 2, 4]}}, tune=settings, protocol="k-fold")
    assert results.scored[-1].cell.model.params == cell["params"]
    trained = typed("train", "iris", "-m", entry, "--search", "{search: random, trials: 2}", "--json")
    assert document(trained)["params"]["trials"] == 2


def test_a_wrong_setting_at_the_head_is_told_once() -> None:
    Path("tune.yaml").write_text("tune: {serch: random}\ndata: [iris]\nmodels: [{use: svm, tune: true}]\n")
    result = typed("run", "tune.yaml", "--dry-run")
    assert result.exit_code == 3
    assert result.stderr.count("did you mean 'search'?") == 1
