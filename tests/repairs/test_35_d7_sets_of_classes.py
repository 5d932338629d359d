"""Sets of classes that a user sets against each other: [A, B] against [C, D, E]."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlcli.models.ensembles.output_codes import OutputCodes
from mlcli.models.trees.decision_tree import DecisionTree
from tests.cli.shell import document, typed
from tests.golden.asking import asked, fitted
from tests.rows import labelled, table_of

NUMBERS = table_of({"x": np.repeat(np.arange(5.0), 4).tolist()})
LETTERS = labelled(NUMBERS, sorted("ABCDE" * 4))
SETS: tuple[list[str], ...] = (["A", "B"], ["A", "C"], ["D"])


def coded(**settings: Any) -> OutputCodes:
    """Output codes around trees, which learn any set exactly."""
    return OutputCodes(base=DecisionTree(), **settings)


def test_each_set_is_a_column_of_the_code() -> None:
    """By hand: rows are the classes A to E, a column is 1 for the classes of its set."""
    model = fitted(coded(sets=SETS), LETTERS)
    assert model.code_.tolist() == [[1, 1, -1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1], [-1, -1, -1]]


@pytest.mark.parametrize("decode", ["least-squares", "distance"])
def test_sets_that_tell_all_classes_apart_answer_them(decode: str) -> None:
    model = fitted(coded(sets=SETS, decode=decode), LETTERS)
    assert asked(model, LETTERS).predicted.tolist() == LETTERS.y.tolist()


def test_classes_that_no_set_tells_apart_share_the_probability() -> None:
    """[A, B] against the rest: a row of A is of A or B, half each."""
    model = fitted(coded(sets=(["A", "B"],)), LETTERS)
    shares = asked(model, LETTERS).probabilities
    assert shares[0] == pytest.approx([0.5, 0.5, 0, 0, 0])
    assert shares[-1] == pytest.approx([0, 0, 1 / 3, 1 / 3, 1 / 3])


def test_sets_in_a_file_and_on_the_command_line_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "e.yaml").write_text(
        "data: [iris]\nmodels:\n  - {use: output-codes, params: {sets: [[setosa, versicolor], [setosa]]}}\n",
        encoding="utf-8",
    )
    run = typed("run", str(tmp_path / "e.yaml"), "--json", "--store", str(tmp_path / "a.db"))
    words = ("eval", "iris", "-m", "output-codes", "-p", "sets=[[setosa, versicolor], [setosa]]")
    judged = typed(*words, "--json", "--store", str(tmp_path / "b.db"))
    first, second = (
        next(cell for cell in document(result)["cells"] if cell["model"] == "output-codes")
        for result in (run, judged)
    )
    assert first["metrics"] == second["metrics"]


def test_an_unknown_class_is_named(tmp_path: Path) -> None:
    words = ("train", "iris", "-m", "output-codes", "-p", "sets=[[setsa]]", "-o", str(tmp_path / "m.mlcli"))
    assert "there is no class 'setsa'; did you mean 'setosa'?" in typed(*words).output.replace("\n  ", "; ")
