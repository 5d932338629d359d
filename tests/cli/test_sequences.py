"""Sequences in the shell: judged whole, tagged in the order of the file."""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path

import pytest

from tests.support.shell import document, typed

SENTENCES = [
    [("D", "the"), ("N", "dog"), ("V", "saw"), ("D", "a"), ("N", "cat")],
    [("D", "a"), ("N", "saw"), ("V", "laughs")],
    [("D", "the"), ("N", "cat"), ("V", "saw"), ("D", "the"), ("N", "saw")],
    [("D", "a"), ("N", "dog"), ("V", "laughs")],
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Twelve sentences, and a model that has learned from them."""
    monkeypatch.chdir(tmp_path)
    lines = [
        f"{number},{place},{word},{tag}"
        for number in range(12)
        for place, (tag, word) in enumerate(SENTENCES[number % 4])
    ]
    Path("said.csv").write_text("\n".join(["sentence,place,word,tag", *lines]) + "\n")
    Path("said.yaml").write_text("target: tag\ncolumns: {sentence: {role: sequence}, place: {role: order}}\n")
    assert typed("train", "said.csv", "-m", "hmm", "-o", "tagger.mlcli").exit_code == 0
    return tmp_path


def predicted(given: str) -> list[dict[str, str]]:
    """The rows that predict writes."""
    result = typed("predict", "tagger.mlcli", "-", given=given)
    assert result.exit_code == 0, result.output
    return list(csv.DictReader(io.StringIO(result.stdout)))


def test_the_task_is_known_by_the_sequence_and_the_panel_is_compared_with_the_baseline(folder: Path) -> None:
    cells = document(typed("eval", "said.csv", "--folds", "4", "--json"))["cells"]
    assert [cell["model"] for cell in cells] == ["most-frequent-tag", "hmm"]
    assert set(cells[0]["metrics"]) == {"accuracy", "sequence-accuracy", "f1-macro"}
    assert cells[1]["metrics"]["sequence-accuracy"]["mean"] == 1.0
    assert cells[1]["confusion"]["labels"] == ["D", "N", "V"]


def test_a_tag_is_written_for_every_row_in_the_order_of_the_file(folder: Path) -> None:
    rows = predicted("place,word,sentence\n3,saw,x\n1,the,x\n7,laughs,y\n2,saw,x\n6,dog,y\n5,a,y\n")
    assert [row["prediction"] for row in rows] == ["V", "D", "V", "N", "N", "D"]
    assert [row["row"] for row in rows] == ["1", "2", "3", "4", "5", "6"]
    assert [row["sentence"] for row in rows] == ["x", "x", "y", "x", "y", "y"]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("place,word\n1,the\n", "lacks 1 of the 3 needed columns: sentence"),
        ("sentence,word\n1,the\n", "lacks 1 of the 3 needed columns: place"),
        ("sentence,place,word\n1,first,the\n", "the order of rows in their sequences is not in numbers"),
    ],
)
def test_rows_that_stand_in_no_sequence_are_refused(folder: Path, given: str, why: str) -> None:
    result = typed("predict", "tagger.mlcli", "-", given=given)
    assert result.exit_code == 4
    assert why in result.output


def test_the_probabilities_of_tags_stand_beside_them_in_the_order_of_the_file(folder: Path) -> None:
    new = Path("new.csv")
    new.write_text("sentence,place,word\nx,2,dog\ny,1,a\nx,1,the\n")
    rows = list(csv.DictReader(io.StringIO(typed("predict", "tagger.mlcli", "new.csv", "--probabilities").stdout)))
    for row in rows:
        shares = {tag: float(row[f"p({tag})"]) for tag in "DNV"}
        assert sum(shares.values()) == pytest.approx(1.0)
        assert max(shares, key=lambda tag: shares[tag]) == row["prediction"]
    assert [row["prediction"] for row in rows] == ["N", "D", "D"]


def test_a_saved_tagger_knows_again_the_sequences_that_it_has_learned(folder: Path) -> None:
    learned = document(typed("eval", "said.csv", "-m", "tagger.mlcli", "--folds", "4", "--json"))["cells"][-1]
    assert learned["rows_learned_from"] == learned["rows"]
    text = Path("said.csv").read_text().splitlines()
    other = [text[0], *(f"new{line}" for line in text[1:])]
    Path("other.csv").write_text("\n".join(other) + "\n")
    Path("other.yaml").write_text(Path("said.yaml").read_text())
    unseen = document(typed("eval", "other.csv", "-m", "tagger.mlcli", "--folds", "4", "--json"))["cells"][-1]
    assert unseen["rows_learned_from"] == 0


def test_the_same_word_in_many_sentences_is_no_doubt(folder: Path) -> None:
    assert "repeat earlier ones" not in typed("data", "said.csv").stdout


@pytest.mark.parametrize("method", ["crf", "memm"])
def test_words_never_met_say_something_by_their_letters(folder: Path, method: str) -> None:
    words = ("-p", "templates=word,prefix:1", "-o", "letters.mlcli")
    typed("train", "said.csv", "-m", method, *words)
    Path("new.csv").write_text("sentence,place,word\nx,1,the\nx,2,lamp\ny,1,the\ny,2,doll\n")
    shown = typed("predict", "letters.mlcli", "new.csv", "--probabilities")
    assert "'lamp', 'doll' were not there in training" in shown.stderr
    lamp, doll = list(csv.DictReader(io.StringIO(shown.stdout)))[1::2]
    assert float(lamp["p(V)"]) > 2 * float(doll["p(V)"])


@pytest.mark.parametrize("method", ["crf", "memm"])
def test_a_saved_tagger_is_judged_by_what_it_predicts(folder: Path, method: str) -> None:
    typed("train", "said.csv", "-m", method, "-p", "templates=prefix:1", "-o", "letters.mlcli")
    new = ["1,1,dingo", "1,2,lark", "2,1,dale", "2,2,lift"]
    Path("new.csv").write_text("\n".join(["sentence,place,word", *new]) + "\n")
    answers = csv.DictReader(io.StringIO(typed("predict", "letters.mlcli", "new.csv").stdout))
    rows = [f"{cells},{row['prediction']}" for cells, row in zip(new, answers, strict=True)]
    Path("judged.csv").write_text("\n".join(["sentence,place,word,tag", *rows]) + "\n")
    Path("judged.yaml").write_text(Path("said.yaml").read_text())
    shown = document(typed("eval", "judged.csv", "-m", "letters.mlcli", "--folds", "2", "--json"))["cells"][-1]
    assert shown["metrics"]["accuracy"]["mean"] == 1.0


def test_a_chain_of_symbols_says_how_probable_sequences_are(folder: Path) -> None:
    typed("train", "said.csv", "-m", "markov-chain", "-p", "alpha=1", "-o", "chain.mlcli")
    rows = list(csv.DictReader(io.StringIO(typed("predict", "chain.mlcli", "said.csv", "--log-density").stdout)))
    assert float(rows[5]["log p(x)"]) == pytest.approx(math.log(13 / 15 * 19 / 21 * 13 / 15))
    Path("new.csv").write_text("sentence,place,word\nx,1,the\n")
    assert "is not known" in typed("predict", "chain.mlcli", "new.csv", "--log-density").output
    drawn = typed("sample", "chain.mlcli", "-n", "3").stdout.splitlines()
    assert drawn[0] == "sentence,place,word,tag"
    assert {line.split(",")[3] for line in drawn[1:]} <= set("DNV")


def test_rows_that_are_not_said_to_stand_in_sequences_are_told_how(folder: Path) -> None:
    # Notes S0 7.1: a file of words and tags, before anything is said of it.
    Path("plain.csv").write_text("sentence,word,tag\n1,the,D\n1,dog,N\n1,laughs,V\n2,the,D\n2,cat,N\n")
    refused = typed("train", "plain.csv", "-m", "hmm")
    assert "plain.yaml, roles: {sequence: COLUMN}" in refused.stderr
    Path("plain.yaml").write_text("roles: {sequence: sentence}\n")
    assert typed("train", "plain.csv", "-m", "hmm").exit_code == 0


def test_a_model_learns_from_one_sequence_though_no_protocol_could_split_it(folder: Path) -> None:
    # Two tags in turn: after A always B, after B always A.
    Path("plain.csv").write_text("series,word,tag\n" + "1,x,A\n1,y,B\n" * 3)
    Path("plain.yaml").write_text("roles: {sequence: series}\n")
    shown = document(typed("train", "plain.csv", "-m", "hmm", "-p", "alpha=0", "--json"))
    tables = {finding["title"]: finding["rows"] for finding in shown["findings"]}
    assert tables["Transition probabilities"][:2] == [["A", 0, 1], ["B", 1, 0]]
    assert "at least 2 groups" in typed("eval", "plain.csv", "-m", "hmm").stderr
