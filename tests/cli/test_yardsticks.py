"""One-R stands beside models that are named, to be looked at: it is never best, tested with them, or judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlcli.experiment.run.batch import run
from mlcli.experiment.spec.cells import DataSpec, Experiment, ModelSpec
from mlcli.experiment.spec.plan import plan
from mlcli.scoring.differences import differences_of
from mlcli.scoring.model_results import group_of, score_result
from tests.support.shell import document, typed

SHORT = ("--metric", "accuracy", "--folds", "3", "-j", "1")


@pytest.fixture
def one_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Classes that one column of nine tells, so that one-r is better than neighbours are."""
    monkeypatch.chdir(tmp_path)
    cells = np.random.default_rng(1).normal(size=(90, 9))
    rows = (f"{','.join(f'{cell:.3f}' for cell in row)},{'ab'[int(row[4] > 0)]}\n" for row in cells)
    Path("one.csv").write_text(",".join("pqrstuvwx") + ",y\n" + "".join(rows))
    return "one.csv"


def test_a_better_one_is_named_but_is_not_the_best_and_its_answers_are_not_drawn(one_column: str) -> None:
    shown = " ".join(typed("eval", one_column, "-m", "knn", *SHORT).stdout.split())
    assert "By accuracy: knn with" in shown
    assert shown.endswith("above the baseline zero-r; worse than: one-r.")
    assert "one-r true \\ predicted" not in shown
    (found,) = document(typed("eval", one_column, "-m", "knn", *SHORT, "--json"))["comparisons"]
    assert (found["best"], found["chosen_among"]) == ("knn", 2)
    assert ["one-r", "knn"] in [pair["models"] for pair in found["pairs"]]


def test_no_gate_is_about_it_but_one_that_names_it(one_column: str) -> None:
    words = ("eval", one_column, "-m", "knn", *SHORT, "--json", "--fail-under", "accuracy.mean=0.1")
    assert [gate["model"] for gate in document(typed(*words))["gates"]] == ["knn"]
    Path("named.yaml").write_text(f"data: [{one_column}]\nmodels: [knn]\nexpect: [{{model: knn, beats: one-r}}]\n")
    told = typed("run", "named.yaml", "--json")
    assert told.exit_code == 8
    assert "accuracy -" in document(told)["gates"][0]["found"]


def compared(yardsticks: bool) -> Any:
    models = (ModelSpec("knn"), ModelSpec("lda"), ModelSpec("naive-bayes"))
    cells = plan(Experiment((DataSpec("iris"),), models, yardsticks=yardsticks))
    group = group_of([score_result(result, ("accuracy",)) for result in run(cells, jobs=1)])
    found = differences_of(group, next(iter(group)).metrics[0])
    assert found is not None
    named = ((one.cell.label, test) for tests in (found.to_best, found.to_baseline) for one, test in tests.items())
    return list(named), [one.cell.label for one in found.beside]


def test_it_weakens_no_test_between_the_models() -> None:
    (with_it, beside), (without, nothing) = compared(True), compared(False)
    assert with_it == without
    assert (beside, nothing) == (["one-r"], [])


def test_runs_are_compared_and_ranked_over_datasets_without_it(tmp_path: Path) -> None:
    spec = tmp_path / "two.yaml"
    spec.write_text("data: [iris, wine]\nmodels: [lda, naive-bayes]\nmetrics: [accuracy]\nprotocol: {folds: 3}\n")
    found = document(typed("run", str(spec), "--json"))
    assert [cell.get("asked", True) for cell in found["cells"][:4]] == [True, False, True, True]
    assert found["over_datasets"][0]["models"] == ["lda", "naive-bayes"]
    pairs = document(typed("compare", str(spec), "--json"))["datasets"][0]["pairs"]
    assert {name for pair in pairs for name in pair["models"]} == {"zero-r", "lda", "naive-bayes"}
    against = document(typed("compare", str(spec), "--against", "one-r", "--json"))["datasets"][0]["pairs"]
    assert all("one-r" in pair["models"] for pair in against)


@pytest.mark.parametrize(
    ("words", "models"),
    [
        (("iris", "-m", "knn"), ["zero-r", "one-r", "knn"]),
        (("iris", "-m", "zero-r"), ["zero-r"]),
        (("iris", "-m", "knn", "-m", "{use: one-r, params: {min_bucket: 3}}"), ["zero-r", "knn", "one-r"]),
        (("iris", "-m", "{use: knn, as: one-r}"), ["zero-r", "knn"]),
        (("cpu", "-m", "knn"), ["zero-r", "knn"]),
        (("digits", "-m", "lda"), ["zero-r", "one-r", "lda"]),
        (("wine", "-m", "knn", "--protocol", "training-size"), ["zero-r", "knn"]),
    ],
)
def test_it_joins_models_of_classes_where_it_is_quick_and_nobody_asked(
    words: tuple[str, ...], models: list[str]
) -> None:
    found = document(typed("eval", *words, "--folds", "3", "-j", "1", "--json"))["cells"]
    assert [cell["model"] for cell in found] == models
