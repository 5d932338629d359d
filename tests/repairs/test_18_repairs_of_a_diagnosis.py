"""Every option that ``diagnose`` prints can be typed as it stands, runs, and gives the score that is promised."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from tests.cli.shell import document, typed

RESOLVED_BY_DROPPING = {"correlated-columns", "useless-columns", "misleading-importances"}
SUBJECTS = (
    *(("cpu", "ridge"), ("iris", "decision-tree"), ("labor", "naive-bayes"), ("ruspini", "k-means")),
    *(("penguins", "zero-r"), ("zoo", "{use: knn, tune: {k: [1, 2]}}")),
)


def diagnosed(name: str, *words: str) -> Any:
    result = typed("diagnose", name, *words, "--json")
    assert result.exit_code == 0, result.output
    return document(result)


@pytest.mark.parametrize(("name", "model"), SUBJECTS)
def test_every_option_of_a_diagnosis_can_be_typed(name: str, model: str) -> None:
    found = diagnosed(name, "-m", model)
    for issue in found["issues"]:
        for repair in issue["repairs"]:
            if repair["place"] != "option":
                continue
            text, _, promised = repair["text"].partition("  # ")
            words = shlex.split(text)
            if words[0] == "mlcli":
                assert typed(*words[1:], "--help").exit_code == 0
                assert "DATA" not in words
                continue
            own = () if "-m" in words else ("-m", model)
            command = ("eval", name, *own, *words, "--json")
            result = typed(*command)
            assert result.exit_code == 0, f"{issue['code']}: {text}\n{result.output}"
            if promised:
                metric, _, score = promised.partition(" ")
                cells = [cell for cell in document(result)["cells"] if cell["status"] == "done"]
                means = [cell["metrics"][metric]["mean"] for cell in cells]
                assert any(mean == pytest.approx(float(score), rel=1e-3) for mean in means)
            if issue["code"] in RESOLVED_BY_DROPPING:
                again = diagnosed(name, "-m", model, *words)["issues"]
                same = [one for one in again if one["code"] == issue["code"]]
                assert not any(set(one["columns"]) & set(issue["columns"]) for one in same)


@pytest.mark.parametrize(("name", "model"), [("travelmode", "naive-bayes"), ("arrests", "one-r")])
def test_a_method_that_can_be_tuned_is_tuned_by_the_option(name: str, model: str) -> None:
    """A ranking whose rows can be classified as well; a yardstick that is left out beside its tuned form."""
    result = typed("eval", name, "-m", model, "--tune", "--json")
    assert result.exit_code == 0, result.output
    assert f"{model} (tuned)" in {cell["label"] for cell in document(result)["cells"] if cell["status"] == "done"}
