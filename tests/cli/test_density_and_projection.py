"""Densities and projections in the shell: stated or implied by the models, judged, learned, saved and asked."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.support.shell import document, typed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place to save to."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("model", "kind"), [("gmm", "density"), ("gaussian", "density"), ("pca", "projection")])
def test_the_models_imply_the_kind(model: str, kind: str) -> None:
    cells = document(typed("eval", "iris", "-m", model, "--folds", "3", "--json"))["cells"]
    assert {cell["kind"] for cell in cells} == {kind}


def test_the_clusters_of_the_best_mixture_stand_below_the_table_in_the_units_of_the_file() -> None:
    shown = typed(
        "eval", "faithful", "--task", "density", "-m", "gmm", "-p", "components=2", "--protocol", "whole"
    )
    # R's faithful, mclust 6 with two components: 175 and 97 rows around (4.29, 79.97) and (2.04, 54.48).
    lines = shown.stdout[shown.stdout.index("Means of the clusters") :].splitlines()
    assert "cluster 0 (175 rows)  cluster 1 (97 rows)" in lines[1]
    assert [line.split()[:3] for line in lines[3:5]] == [
        ["eruptions", "4.29", "2.04"],
        ["waiting", "79.99", "54.49"],
    ]
    assert shown.stdout.count("Means of the clusters") == 1


def test_one_bell_has_no_clusters_to_show() -> None:
    assert "clusters" not in typed("eval", "faithful", "-m", "gaussian").stdout


def test_a_mixture_is_a_clustering_where_that_is_asked_for() -> None:
    cells = document(typed("eval", "iris", "-m", "gmm", "--task", "clustering", "--json"))["cells"]
    assert cells[-1]["model"] == "gmm"
    assert cells[-1]["metrics"]["adjusted-rand"]["mean"] > 0.8


def test_the_scale_of_the_columns_changes_no_log_likelihood() -> None:
    words = ("eval", "wine", "--task", "density", "--folds", "3", "--json", "-m")
    found = [
        document(typed(*words, f"{{use: gaussian, steps: {steps}}}"))
        for steps in ("[]", "[standardise]", "[min-max]")
    ]
    scores = [cells["cells"][-1]["metrics"]["log-likelihood"]["mean"] for cells in found]
    assert scores[1:] == pytest.approx(scores[:1] * 2, rel=1e-9)


def test_bic_of_all_rows_has_no_interval_and_says_why() -> None:
    cells = document(typed("eval", "faithful", "--task", "density", "--protocol", "whole", "--json"))["cells"]
    bic = cells[-1]["metrics"]["bic"]
    assert (bic["low"], bic["high"]) == (None, None)


def test_components_are_learned_saved_and_predicted(folder: Path) -> None:
    shown = typed("train", "iris", "-m", "pca", "-o", "two.mlcli")
    assert shown.exit_code == 0
    assert "2 of 4 components are kept, with 95.8 % of the variance" in shown.stdout
    rows = list(csv.DictReader(io.StringIO(typed("predict", "two.mlcli", "iris").stdout)))
    assert len(rows) == 150
    assert {"component_1", "component_2"} <= set(rows[0])
    # scikit-learn 1.9, PCA of the standardised irises.
    assert float(rows[0]["component_1"]) == pytest.approx(-2.2647028, abs=1e-6)


def test_a_scree_plot_is_drawn_once_for_models_with_the_same_axes() -> None:
    models = [word for count in (1, 3) for word in ("-m", f"{{use: pca, params: {{components: {count}}}}}")]
    shown = typed("eval", "iris", *models, "--folds", "3").stdout
    assert shown.count("scree") == 1
    assert "pca components=3: fold 1 of 3: scree" in shown
    assert "3 of 4 components are kept, with 99" in shown
    assert "component_3" in shown


def test_loadings_on_many_components_are_left_to_train() -> None:
    shown = typed("eval", "wine", "-m", "pca", "--protocol", "whole").stdout
    assert "pca: loadings" in shown
    assert "component_6" not in shown
    assert "3 more components: mlcli train shows them" in shown


def test_densities_are_saved_and_predicted_without_a_target(folder: Path) -> None:
    assert typed("train", "faithful", "-m", "gmm", "-p", "components=2", "-o", "geyser.mlcli").exit_code == 0
    rows = list(csv.DictReader(io.StringIO(typed("predict", "geyser.mlcli", "faithful").stdout)))
    # mclust, model VVV with 2 components: log-likelihood -1130.264.
    assert sum(float(row["log_density"]) for row in rows) == pytest.approx(-1130.264, abs=1e-3)
    judged = document(typed("eval", "faithful", "--task", "density", "-m", "geyser.mlcli", "--json"))["cells"]
    assert judged[-1]["metrics"]["log-likelihood"]["mean"] == pytest.approx(-1130.264 / 272, abs=1e-5)


def test_components_stand_before_any_model() -> None:
    model = "{use: naive-bayes, steps: [{use: pca, params: {components: 3}}]}"
    shown = typed("eval", "penguins", "-m", model, "--folds", "3").stdout
    assert "steps before naive-bayes: impute → one-hot → pca (components=3)" in shown


def test_a_density_of_fewer_columns_is_refused_in_words() -> None:
    shown = typed("eval", "iris", "--task", "density", "-m", "{use: gmm, steps: [pca]}", "--folds", "3")
    assert shown.exit_code == 5
    assert "components: none keeps all" in shown.stdout + shown.stderr


@pytest.mark.parametrize("step", ["random-projection", "factor-analysis"])
def test_a_density_of_other_columns_is_refused_in_words(step: str) -> None:
    shown = typed("eval", "iris", "--task", "density", "-m", f"{{use: gaussian, steps: [{step}]}}", "--folds", "3")
    assert shown.exit_code == 5
    assert f"{step} replaces the columns" in shown.stdout + shown.stderr


@pytest.mark.parametrize("step", ["pca", "lda-projection", "random-projection", "autoencoder"])
def test_a_saved_classifier_of_fewer_columns_answers(folder: Path, step: str) -> None:
    # Notes S0 6.1.2: principal components as a step of preparation.
    steps = f"[standardise, {{use: {step}, params: {{epochs: 5}}}}]" if step == "autoencoder" else f"[{step}]"
    assert typed("train", "iris", "-m", f"{{use: lda, steps: {steps}}}", "-o", "few.mlcli").exit_code == 0
    answered = typed("predict", "few.mlcli", "iris", "--probabilities")
    assert answered.stdout.startswith("row,species,prediction,p(setosa)"), answered.stderr
    refused = typed("predict", "few.mlcli", "iris", "--log-density")
    assert "a density" in refused.stderr
