"""Tuning as a user meets it: tables of what was chosen, saved models, and that judged rows have no part in it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlcli.experiment.run.judge import judge
from mlcli.experiment.run.preparation import prepare
from mlcli.experiment.spec.cells import SELECTED, TUNED, DataSpec, Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.plan import plan
from tests.cli.shell import document, typed

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
    assert "there are no two models" in error_of("eval", "wine", "-m", "lda", "--nested")


def test_train_saves_the_model_that_was_chosen(folder: Path) -> None:
    text = text_of("train", "iris", "-m", "knn", "--tune", "--trials", "5", "-o", "knn.mlcli")
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
        (("--task", "clustering", "-m", "k-means", "--tune"), "fits see nothing that judges"),
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
        (result,) = judge(replace(ready, rows=replace(ready.rows, y=y)).block(0, 1)).results
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
