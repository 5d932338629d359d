"""Output codes: the exhaustive code of Dietterich & Bakiri, and answers read from bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from mlcli.core.params import build
from mlcli.models.ensembles.output_codes import OutputCodes
from mlcli.models.trees.decision_tree import DecisionTree
from tests.golden.asking import answered, asked, fitted
from tests.golden.shipped import in_numbers
from tests.support.rows import labelled, table_of
from tests.support.shell import document, typed


def code_of(classes: int, **params: object) -> np.ndarray:
    return np.asarray(build(OutputCodes, params).code(classes, np.random.default_rng(0)), np.int64)


def test_the_exhaustive_code_of_five_classes() -> None:
    """Dietterich & Bakiri 1995, table 4: 15 columns; any two words differ in 8 bits."""
    code = code_of(5)
    assert code.shape == (5, 15)
    distances = (code[:, None] != code).sum(axis=2)
    assert set(distances[np.triu_indices(5, 1)]) == {8}


def asked_by_bits(classes: int, **params: object) -> Any:
    """A model of so many classes that is asked to read bits."""
    model = build(OutputCodes, params)
    model.code_ = code_of(classes).astype(np.int8)
    model.present_ = np.arange(classes, dtype=np.int32)
    model.class_totals_ = np.ones(classes)
    return model


@pytest.mark.parametrize("classes", [8, 26, 200])
def test_drawn_problems_differ(classes: int) -> None:
    code = code_of(classes)
    assert code.shape[1] == int(np.ceil(10 * np.log2(classes)))
    assert len(np.unique(np.abs(code.T @ code), axis=0)) == code.shape[1]
    assert (np.abs(code.T @ code) == classes).sum() == code.shape[1]  # no two alike or opposite


def test_bits_that_follow_from_probabilities_give_them_back() -> None:
    model = asked_by_bits(4)
    P = np.array([[0.5, 0.3, 0.15, 0.05], [0.0, 0.0, 1.0, 0.0]])
    assert model.shares(P @ (model.code_ > 0)) == pytest.approx(P, abs=1e-9)


def test_words_stand_up_to_wrong_bits() -> None:
    """Words at distance 8 are told apart with any three bits wrong."""
    model = asked_by_bits(5, decode="distance")
    rng = np.random.default_rng(1)
    for word in range(5):
        bits = (model.code_[word] > 0).astype(float)
        for _ in range(20):
            wrong = bits.copy()
            flipped = rng.choice(15, 3, replace=False)
            wrong[flipped] = 1 - wrong[flipped]
            assert model.shares(wrong[None, :]).argmax() == word


def test_each_problem_is_that_of_scikit_learn() -> None:
    data = in_numbers("wine")
    model = fitted(build(OutputCodes, {"base": {"use": "qda", "params": {"ddof": 0}, "steps": []}}), data)
    assert len(model.models_) == 3
    for member, side in zip(model.models_, model.code_.T, strict=True):
        oracle = QuadraticDiscriminantAnalysis().fit(data.table.numbers, side[data.y] > 0)
        ours = member.final.predict_proba(data.table)
        assert ours == pytest.approx(oracle.predict_proba(data.table.numbers), abs=1e-6)


def test_it_learns() -> None:
    answers = answered(build(OutputCodes, {"base": "decision-tree"}), in_numbers("glass"))
    assert np.mean(answers.predicted == answers.truth) > 0.95


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
