"""Rows drawn in the shell: the columns, levels and decimals of the file, the same for the same seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mlcli.data.load import load
from tests.support.shell import typed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place to save to."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_drawn_rows_can_be_read_as_the_file_was(folder: Path) -> None:
    typed("train", "penguins", "-m", "naive-bayes", "-o", "bayes.mlcli")
    shown = typed("sample", "bayes.mlcli", "-n", "200", "--seed", "3", "-o", "drawn.csv")
    assert "wrote 200 rows to drawn.csv" in shown.stderr
    drawn, given = load("drawn.csv", target="species"), load("penguins")
    assert drawn.schema.names() == given.schema.names()
    assert [field.column.kind for field in drawn.schema] == [field.column.kind for field in given.schema]
    assert "." not in "".join(Path("drawn.csv").read_text(encoding="utf-8").split("\n")[1].split(",")[4:6])
    again = typed("sample", "bayes.mlcli", "-n", "200", "--seed", "3").stdout
    assert again == Path("drawn.csv").read_text(encoding="utf-8")
    assert typed("sample", "bayes.mlcli", "-n", "200", "--seed", "4").stdout != again


def test_a_file_that_is_there_is_left_alone(folder: Path) -> None:
    typed("train", "iris", "-m", "lda", "-o", "lda.mlcli")
    Path("mine.csv").write_text("a\n1\n", encoding="utf-8")
    shown = typed("sample", "lda.mlcli", "-o", "mine.csv")
    assert shown.exit_code == 2
    assert Path("mine.csv").read_text(encoding="utf-8") == "a\n1\n"


def test_a_method_that_does_not_say_how_rows_come_about_is_refused_in_words(folder: Path) -> None:
    typed("train", "iris", "-m", "knn", "-o", "knn.mlcli")
    shown = typed("sample", "knn.mlcli")
    assert shown.exit_code == 4
    assert "knn is not a generative model" in shown.stderr


def test_a_step_that_cannot_be_undone_is_named(folder: Path) -> None:
    typed("train", "iris", "-m", "{use: lda, steps: [pca]}", "-o", "lda.mlcli")
    shown = typed("sample", "lda.mlcli")
    assert shown.exit_code == 4
    assert "the step pca cannot be undone" in shown.stderr


def test_numbers_in_bins_are_drawn_from_anywhere_in_their_bin(folder: Path) -> None:
    typed("train", "iris", "-m", "bayes-net", "-o", "net.mlcli")
    typed("sample", "net.mlcli", "-n", "400", "-o", "drawn.csv")
    drawn, given = load("drawn.csv", target="species"), load("iris")
    assert drawn.schema.names() == given.schema.names()
    found, known = (one.table.cells("petal_length") for one in (drawn, given))
    assert known.min() <= found.min() < found.max() <= known.max()
    assert len(set(found)) > 30
    assert found.mean() == pytest.approx(known.mean(), rel=0.1)


def test_sequences_are_drawn_whole_with_their_places(folder: Path) -> None:
    typed("train", "cmudict_stress", "-m", "hmm", "-o", "hmm.mlcli")
    lines = typed("sample", "hmm.mlcli", "-n", "2").stdout.splitlines()
    assert lines[0] == "word_id,position,phoneme,stress"
    assert {line.split(",")[0] for line in lines[1:]} == {"0", "1"}
    assert lines[1].split(",")[1] == "1"


@pytest.mark.parametrize(
    ("model", "dataset"), [("naive-bayes", "penguins"), ("qda", "iris"), ("hmm", "cmudict_stress")]
)
def test_predict_adds_how_probable_rows_are(model: str, dataset: str, folder: Path) -> None:
    typed("train", dataset, "-m", model, "-o", "model.mlcli")
    header, first, *_ = typed("predict", "model.mlcli", dataset, "--log-density").stdout.splitlines()
    assert header.endswith(",prediction,log p(x)")
    assert float(first.split(",")[-1]) < 5


def test_the_density_is_that_of_the_columns_of_the_file_whatever_the_steps(folder: Path) -> None:
    found = []
    for steps in ("[]", "[standardise]"):
        typed("train", "iris", "-m", f"{{use: qda, steps: {steps}}}", "-o", "qda.mlcli")
        line = typed("predict", "qda.mlcli", "iris", "--log-density").stdout.splitlines()[1]
        found.append(float(line.split(",")[-1]))
    assert found[1] == pytest.approx(found[0], abs=1e-9)


def test_predict_says_how_sure_it_is_as_uncertainty_sampling_asks(folder: Path) -> None:
    """SOURCES.md, 1.4: row 13 of the notes, the eighth of the file, is the least sure by all three."""
    typed("train", "weather_nominal", "-m", "naive-bayes", "-o", "days.mlcli")
    lines = typed("predict", "days.mlcli", "weather_nominal", "--confidence").stdout.splitlines()
    assert lines[0] == "row,play,prediction,confidence,margin,entropy"
    numbers = np.array([list(map(float, line.split(",")[3:])) for line in lines[1:]])
    assert numbers[7] == pytest.approx([0.569501, 0.139002, 0.986017], abs=1e-6)
    assert (*numbers[:, :2].argmin(axis=0), numbers[:, 2].argmax()) == (7, 7, 7)
    typed("train", "cpu", "-m", "knn", "-o", "values.mlcli")
    assert "leave out --confidence" in typed("predict", "values.mlcli", "cpu", "--confidence").stderr


def test_a_mixture_answers_responsibilities(folder: Path) -> None:
    typed("train", "faithful", "-m", "gmm", "-p", "components=2", "-o", "gmm.mlcli")
    header, first, *_ = typed("predict", "gmm.mlcli", "faithful").stdout.splitlines()
    assert header == "row,log_density,p(0),p(1)"
    assert sum(map(float, first.split(",")[2:])) == pytest.approx(1)


def test_how_probable_rows_are_is_refused_where_nobody_knows(folder: Path) -> None:
    typed("train", "iris", "-m", "knn", "-o", "knn.mlcli")
    shown = typed("predict", "knn.mlcli", "iris", "--log-density")
    assert shown.exit_code == 4
    assert "does not say how probable rows are" in shown.stderr
