"""The other verbs: what a person sees of data, methods, experiments, runs and saved models."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from mlcli.cli._app import COMMANDS, summary_of
from mlcli.core.registry import MODELS, STEPS
from tests.support.shell import document, in_shell, typed

SPEC = """\
data: [weather_nominal, {path: numbers.csv, target: y}]
models: [one-r, {use: knn, grid: {k: [1, 3]}}, linear-regression]
protocol: {folds: 3}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{place},{place % 5},{3 * place + place % 2}\n" for place in range(30))
    (tmp_path / "numbers.csv").write_text("x,noise,y\n" + rows)
    (tmp_path / "first.yaml").write_text(SPEC)
    return tmp_path


@pytest.mark.parametrize("verb", COMMANDS)
def test_every_verb_has_help_with_examples(verb: str) -> None:
    result = typed(verb, "--help")
    assert result.exit_code == 0
    assert summary_of(verb).rstrip(".").casefold()[:20] in " ".join(result.stdout.split()).casefold()
    assert f"mlcli {verb}" in result.stdout.partition("Examples:")[2]
    assert all(verb in typed("--help").stdout for verb in COMMANDS)


def test_the_version_is_that_of_the_package() -> None:
    import mlcli

    assert typed("--version").stdout == f"mlcli {mlcli.__version__}\n"


def test_all_methods_are_listed_with_their_kinds() -> None:
    text = typed("models").stdout
    for name in (*MODELS.names(), *STEPS.names()):
        assert f"\n{name} " in text
    assert {one["id"] for one in document(typed("models", "--json"))["steps"]} == set(STEPS.names())
    listed = document(typed("models", "--json"))["models"]
    assert {one["id"] for one in listed} == set(MODELS.names())
    assert next(one for one in listed if one["id"] == "knn")["kinds"] == ["classification", "regression"]


def test_a_step_has_a_page_too_behind_that_of_its_namesake() -> None:
    assert "columns " in typed("models", "standardise").stdout
    pages = document(typed("models", "pca", "--json"))["models"]
    assert [one["family"] for one in pages] == ["projection", "steps"]
    assert "did you mean 'standardise'" in typed("models", "standardize").stderr


def test_the_page_of_a_method_shows_its_declaration() -> None:
    text = typed("models", "knn").stdout
    for part in (
        "number of neighbours",
        "a whole number ≥ 1",
        "euclidean",
        "\nFormula\n",
        "Cover & Hart 1967",
    ):
        assert part in text


def test_scripts_learn_the_parameters_of_a_method() -> None:
    (knn,) = document(typed("models", "knn", "--json"))["models"]
    params = {one["name"]: one for one in knn["params"]}
    assert (params["k"]["default"], params["k"]["takes"]) == (5, "a whole number ≥ 1")
    for name in MODELS.names():
        assert document(typed("models", name, "--json"))["models"][0]["id"] == name


def test_shipped_datasets_are_listed_and_profiled() -> None:
    assert "\niris " in typed("data").stdout
    text = typed("data", "penguins").stdout
    for part in ("344 rows", "classification of species", "Adelie", "bill_length_mm", "missing"):
        assert part in text
    assert document(typed("data", "penguins", "--json"))["rows"] == 344


def test_a_sidecar_is_written_for_review_and_used(folder: Path) -> None:
    assert "guessed" in typed("data", "numbers.csv").stdout
    assert typed("data", "numbers.csv", "--write-sidecar").exit_code == 0
    assert (folder / "numbers.yaml").exists()
    assert "guessed" not in typed("data", "numbers.csv").stdout
    assert "--force" in typed("data", "numbers.csv", "--write-sidecar").stderr
    assert typed("data", "numbers.csv", "--write-sidecar", "--force").exit_code == 0


def test_a_plan_shows_cells_steps_and_what_is_skipped(folder: Path) -> None:
    text = typed("run", "first.yaml", "--dry-run").stdout
    assert "one-hot" in text
    assert "standardise" in text
    assert "one-r is skipped: one-r does classification; numbers is regression" in text
    assert "8 cells to run; 2 cannot be run" in text
    cells = document(typed("run", "first.yaml", "--dry-run", "--json"))["cells"]
    assert [cell["model"] for cell in cells if "skipped" in cell] == ["linear-regression", "one-r"]
    assert not (folder / ".mlcli").exists()


def test_views_of_classes_say_where_there_is_none(folder: Path) -> None:
    shown = typed(
        "eval", "ruspini", "-m", "k-means", "-p", "clusters=4", "--show", "classes", "--show", "curves"
    ).stdout
    assert "no rates of classes: no model here predicts classes" in shown
    assert "no curves: no model here predicts probabilities of classes" in shown


def test_a_run_is_stored_and_shown_again(folder: Path) -> None:
    first, second = typed("run", "first.yaml"), typed("run", "first.yaml")
    assert first.exit_code == 0, first.output
    assert second.stdout == first.stdout
    assert "8 of 8 cells were in" in second.stderr
    assert (
        "0 cells to run; in the store already: 8; 2 cannot be run"
        in typed("run", "first.yaml", "--dry-run").stdout
    )
    assert "did you mean 'dask'?" in typed("run", "first.yaml", "--backend", "dusk").stderr
    store = ".mlcli/runs.db"
    assert typed("runs", "show", "1", "--store", store).stdout == first.stdout
    listed = document(typed("runs", "--json"))["runs"]
    assert [(run["id"], run["title"], run["cells"]) for run in listed] == [(1, "first", 10), (2, "first", 10)]
    assert typed("runs", "show", "9").exit_code == 2


def test_what_is_stored_is_run_again_when_asked(folder: Path) -> None:
    failing = "data: [iris]\nmodels: [{use: one-r, params: {feature: nowhere}}]\n"
    (folder / "failing.yaml").write_text(failing)
    assert [typed("run", "failing.yaml", *how).exit_code for how in ([], ["--retry"], ["--fresh"])] == [5, 5, 5]
    assert "2 of 2 cells were in" in typed("run", "failing.yaml").stderr
    assert "1 of 2 cells were in" in typed("run", "failing.yaml", "--retry").stderr
    assert "cells were in" not in typed("run", "failing.yaml", "--fresh").stderr


def test_several_experiments_make_one_document(folder: Path) -> None:
    (folder / "second.yaml").write_text("data: [iris]\nmodels: [one-r]\n")
    cells = document(typed("run", "first.yaml", "second.yaml", "--store", "all.db", "--json"))["cells"]
    assert [cell["dataset"] for cell in cells] == ["weather_nominal"] * 5 + ["numbers"] * 5 + ["iris"] * 2
    assert {cell["status"] for cell in cells} == {"done", "skipped"}
    assert len(document(typed("runs", "--store", "all.db", "--json"))["runs"]) == 2


def test_a_cell_that_is_over_its_budget_says_so_and_the_others_finish(folder: Path) -> None:
    result = typed("run", "first.yaml", "--budget", "0.000001", "--json")
    assert result.exit_code == 5
    broken = [cell for cell in document(result)["cells"] if cell["status"] == "over-budget"]
    assert broken
    assert all(cell["why"] for cell in broken)
    assert "did not end well" in result.stderr


def test_the_schema_is_json(folder: Path) -> None:
    schema = document(typed("schema"))
    assert {"data", "models", "protocol", "metrics", "seed"} <= set(schema["properties"])
    assert typed("init", "numbers.csv", "-o", "begun.yaml").exit_code == 0
    first = Path("begun.yaml").read_text(encoding="utf-8").splitlines()[0]
    named = first.removeprefix("# yaml-language-server: $schema=")
    assert json.loads(Path(named).read_text(encoding="utf-8")) == schema


def test_a_first_experiment_can_be_run_as_it_is(folder: Path) -> None:
    assert typed("init", "numbers.csv").exit_code == 0
    assert typed("run", "experiment.yaml", "--dry-run").exit_code == 0
    assert typed("run", "experiment.yaml").exit_code == 0
    assert typed("init", "numbers.csv").exit_code == 2


def test_a_first_experiment_elsewhere_still_finds_its_data(folder: Path) -> None:
    (folder / "deep").mkdir()
    assert typed("init", "numbers.csv", "-o", "deep/one.yaml").exit_code == 0
    assert typed("run", "deep/one.yaml", "--dry-run").exit_code == 0


def test_training_prints_what_was_learned() -> None:
    text = typed("train", "weather_nominal", "-m", "naive-bayes").stdout
    assert "naive-bayes on weather_nominal: classification of play" in text
    assert "P(outlook | play)" in text
    # 9/14 and 5/14: SOURCES.md, section 1.2
    assert "0.6429" in text
    assert "0.3571" in text


def test_a_saved_model_predicts_with_probabilities(folder: Path) -> None:
    assert typed("train", "weather_nominal", "-m", "naive-bayes", "-o", "nb.mlcli").exit_code == 0
    result = typed("predict", "nb.mlcli", "weather_nominal", "--probabilities")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert list(rows[0]) == ["row", "play", "prediction", "p(yes)", "p(no)"]
    assert [row["row"] for row in rows] == [str(number) for number in range(1, 15)]
    # SOURCES.md, section 1.2: 13 of 14 in sample; sunny, hot, high, true is 0.162746 (row 2 of the file)
    assert sum(row["play"] == row["prediction"] for row in rows) == 13
    assert float(rows[1]["p(yes)"]) == pytest.approx(0.162746, abs=5e-7)
    assert all(float(row["p(yes)"]) + float(row["p(no)"]) == pytest.approx(1) for row in rows)


def test_a_saved_model_is_judged_like_any_other(folder: Path) -> None:
    typed("train", "weather_nominal", "-m", "naive-bayes", "-o", "nb.mlcli")
    result = typed("eval", "weather_nominal", "-m", "nb.mlcli", "--protocol", "holdout")
    assert result.exit_code == 0, result.output
    assert "nb.mlcli" in result.stdout
    assert "learned" in result.stdout


def test_rows_from_a_pipe_are_predicted_and_oddities_told(folder: Path) -> None:
    typed("train", "numbers.csv", "-m", "ridge", "-o", "line.mlcli")
    result = typed("predict", "line.mlcli", "-", given="name,x,noise\na,100,1\nb,2,2\n")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [(row["row"], row["name"]) for row in rows] == [("1", "a"), ("2", "b")]
    assert float(rows[0]["prediction"]) == pytest.approx(300, rel=0.05)
    assert "column 'x': cells outside the training range of 0 to 29" in result.stderr


def test_levels_that_were_not_there_in_training_are_told(folder: Path) -> None:
    typed("train", "weather_nominal", "-m", "naive-bayes", "-o", "nb.mlcli")
    given = "outlook,temperature,humidity,windy\nfoggy,hot,high,TRUE\n"
    result = typed("predict", "nb.mlcli", "-", given=given)
    assert result.exit_code == 0, result.output
    assert "column 'outlook': 'foggy' was not there in training" in result.stderr


def test_columns_that_are_not_copied_are_told(folder: Path) -> None:
    typed("train", "numbers.csv", "-m", "ridge", "-o", "line.mlcli")
    result = typed("predict", "line.mlcli", "-", given="row,prediction,x,noise\na,b,1,2\n")
    assert result.stdout.splitlines()[0] == "row,prediction"
    for name in ("row", "prediction"):
        assert f"column '{name}' of the file is not copied" in result.stderr


def test_predictions_go_to_a_file(folder: Path) -> None:
    typed("train", "numbers.csv", "-m", "ridge", "-o", "line.mlcli")
    result = typed("predict", "line.mlcli", "numbers.csv", "-o", "answers.csv")
    assert result.stdout == ""
    assert len((folder / "answers.csv").read_text().splitlines()) == 31


def test_a_terminal_without_unicode_gets_ascii() -> None:
    done = in_shell("eval", "iris", "-m", "one-r", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert done.stdout.isascii()
    assert "+/-" in done.stdout


def test_an_installed_command_and_the_module_are_one() -> None:
    assert in_shell("--version").stdout == typed("--version").stdout


def test_json_is_one_document_whatever_is_remarked(folder: Path) -> None:
    result = typed("eval", "numbers.csv", "--json")
    assert json.loads(result.stdout)["cells"][0]["notes"]
