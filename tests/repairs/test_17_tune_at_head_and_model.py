"""A model with a `tune` of its own takes the settings that it leaves out from the head of the experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import mlcli
from tests.cli.shell import document, typed

HEAD = "tune: {search: random, trials: 3, rule: one-standard-error}\ndata: [iris]\nprotocol: holdout\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def planned(entry: str, head: str = HEAD) -> dict[str, Any]:
    """The last cell of an experiment with one model."""
    Path("tune.yaml").write_text(f"{head}models: [{entry}]\n")
    cell: dict[str, Any] = document(typed("plan", "tune.yaml", "--json"))["cells"][-1]
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
    words = ("eval", "iris", "-m", entry, "--trials", "2", "--search", "random", "--protocol", "k-fold", "--json")
    cell = document(typed(*words))["cells"][-1]
    assert (cell["params"]["search"], cell["params"]["trials"]) == ("random", 2)
    settings = {"search": "random", "trials": 2}
    results = mlcli.eval("iris", {"use": "svm", "tune": {"C": [1, 2, 4]}}, tune=settings, protocol="k-fold")
    assert results.scored[-1].cell.model.params == cell["params"]
    trained = typed("train", "iris", "-m", entry, "--trials", "2", "--search", "random", "--json")
    assert document(trained)["params"]["trials"] == 2


def test_a_wrong_setting_at_the_head_is_told_once() -> None:
    Path("tune.yaml").write_text("tune: {serch: random}\ndata: [iris]\nmodels: [{use: svm, tune: true}]\n")
    result = typed("plan", "tune.yaml")
    assert result.exit_code == 3
    assert result.stderr.count("did you mean 'search'?") == 1
