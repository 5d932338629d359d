"""Every kind of task goes through every verb, on shipped data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mlcli.tasks.table import BY_NAME
from tests.support.shell import document, typed

SHOWN = {
    "classification": ("weather_nominal", "naive-bayes"),
    "regression": ("cpu", "ridge"),
    "clustering": ("ruspini", "k-means"),
    "density": ("faithful", "gmm"),
    "anomaly": ("ionosphere", "z-score"),
    "sequence-labelling": ("cmudict_stress", "hmm"),
    "ranking": ("travelmode", "ranking-svm"),
    "projection": ("iris", "pca"),
    "recommendation": ("insteval_1200", "user-item-bias"),
    "association": ("vote", "fp-growth"),
}
"""A shipped dataset of each kind, and a method that is no baseline."""
EACH = pytest.mark.parametrize(("kind", "data", "method"), [(kind, *said) for kind, said in SHOWN.items()])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place to save to."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_no_kind_is_left_out() -> None:
    assert SHOWN.keys() == BY_NAME.keys()


@EACH
def test_it_is_planned_run_kept_and_shown_again(kind: str, data: str, method: str, folder: Path) -> None:
    experiment = {"data": [{"name": data, "task": kind}], "models": [method], "protocol": {"folds": 2}}
    if "k-fold" not in BY_NAME[kind].protocols[0]:
        experiment["protocol"] = BY_NAME[kind].protocols[0]
    Path("one.yaml").write_text(json.dumps(experiment))
    planned = typed("run", "one.yaml", "--dry-run")
    assert planned.exit_code == 0
    beside = len(BY_NAME[kind].baselines) + len(BY_NAME[kind].reference_models)
    assert f"{beside + 1} cells to run" in planned.stdout
    ran = typed("run", "one.yaml", "--jobs", "1")
    assert ran.exit_code == 0, ran.output
    assert typed("runs").stdout.splitlines()[2].split()[-1] == "one.yaml"
    assert typed("runs", "show", "1").stdout == ran.stdout
    cells = document(typed("runs", "show", "1", "--json"))["cells"]
    assert {(cell["kind"], cell["status"]) for cell in cells} == {(kind, "done")}
    assert "were in .mlcli/runs.db already" in typed("run", "one.yaml").stderr


@EACH
def test_it_is_learned_saved_and_asked(kind: str, data: str, method: str, folder: Path) -> None:
    learned = typed("train", data, "--task", kind, "-m", method, "-o", "one.mlcli")
    assert learned.exit_code == 0, learned.output
    assert learned.stdout.startswith(f"{method} on {data}: {kind}")
    answers = typed("predict", "one.mlcli", data)
    assert answers.exit_code == 0, answers.output
    assert answers.stdout.startswith("row,")
    refused = typed("predict", "one.mlcli", "zoo")
    assert refused.exit_code == 4
    assert "needed columns" in refused.stderr


@EACH
def test_it_is_listed_and_described(kind: str, data: str, method: str) -> None:
    for name in (method, *BY_NAME[kind].baselines, *BY_NAME[kind].panel):
        page = typed("models", name)
        assert page.exit_code == 0, name
        assert kind in page.stdout, name
        assert f"\n{name} " in typed("models").stdout, name
    assert typed("data", data).stdout.startswith(f"{data}\n")
    assert document(typed("data", data, "--json"))["name"] == data
