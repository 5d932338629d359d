"""Questions to a graph in the shell: train --ask."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.shell import typed

WET = "{wet: [rain, sprinkler], sprinkler: [cloudy], rain: [cloudy]}"
ROWS = ["yes,no,yes,yes", "no,yes,no,yes", "no,no,no,no", "yes,yes,no,no"]


@pytest.fixture
def grass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A few days of rain and sprinklers."""
    monkeypatch.chdir(tmp_path)
    lines = ["cloudy,sprinkler,rain,wet", *ROWS * 3]
    Path("grass.csv").write_text("\n".join(lines) + "\n")
    Path("grass.yaml").write_text("target: wet\ntask: classification\n")
    return "grass.csv"


def test_several_questions_are_answered_below_what_was_learned(grass: str) -> None:
    asked = ("--ask", "P(rain | wet=yes)", "--ask", "argmax | wet=yes", "--ask", "rain _||_ sprinkler | cloudy")
    result = typed("train", grass, "-m", "bayes-net", "-p", f"structure={WET}", *asked)
    assert result.exit_code == 0, result.output
    assert "P(wet | sprinkler, rain)" in result.stdout
    learned, _, answers = result.stdout.partition("P(rain | wet=yes)\n")
    assert "Arrows" in learned
    assert "yes: the graph separates them" in answers
    assert "the most probable together" in answers


def test_answers_are_findings_in_json(grass: str) -> None:
    words = ("train", grass, "-m", "mrf", "--ask", "P(wet=yes | rain=yes)", "--format", "json")
    document = json.loads(typed(*words).stdout)
    last = document["findings"][-1]
    assert last["title"] == "P(wet=yes | rain=yes)"
    assert last["rows"][0][0] == "yes"
    assert 0.5 < last["rows"][0][1] < 1


def test_a_method_without_a_graph_says_who_answers_questions(grass: str) -> None:
    result = typed("train", grass, "-m", "knn", "--ask", "P(wet)")
    assert result.exit_code == 4
    assert "knn answers no questions" in result.output
    assert "bayes-net" in result.output


def test_a_column_that_is_not_there_is_a_mistake_in_the_call(grass: str) -> None:
    result = typed("train", grass, "-m", "bayes-net", "--ask", "P(rian)")
    assert result.exit_code == 2
    assert "did you mean 'rain'" in result.output


def test_a_circle_of_arrows_is_refused_by_its_names(grass: str) -> None:
    result = typed("train", grass, "-m", "bayes-net", "-p", "structure={wet: [rain], rain: [wet]}")
    assert result.exit_code != 0
    assert "circle: rain -> wet -> rain" in result.output or "circle: wet -> rain -> wet" in result.output


def test_numbers_are_cut_into_bins_and_the_step_is_shown() -> None:
    result = typed("train", "iris", "-m", "bayes-net", "--ask", "P(species | petal_length=bin 1)")
    assert result.exit_code == 0, result.output
    assert "steps before it: discretise" in result.stdout
