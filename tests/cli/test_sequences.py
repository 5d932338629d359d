"""Sequences in the shell: scored whole, tagged in the order of the file, warned of if their order is in doubt."""

from __future__ import annotations

import csv
import io
import math
import random
from pathlib import Path
from typing import Any

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


TAGS = {"O": ("O", "B-NP"), "B-NP": ("I-NP", "O", "B-NP"), "I-NP": ("I-NP", "O")}

WORDS = {"O": ("the", "of", "runs"), "B-NP": ("dog", "cat", "old"), "I-NP": ("man", "house", "old")}

Rows = list[tuple[str, Any, str, str]]


def chunked(sentences: int, seed: int) -> Rows:
    """Rows of (sentence, place, word, tag); tags follow tags, words lean on tags."""
    rng, rows = random.Random(seed), []
    for sentence in range(sentences):
        tag = "O"
        for place in range(rng.randint(2, 8)):
            tag = rng.choice(TAGS[tag])
            emitted = tag if rng.random() < 0.7 else rng.choice(list(TAGS))
            rows.append((f"s{seed}-{sentence}", place, rng.choice(WORDS[emitted]), tag))
    return rows


def write(name: str, rows: Rows, place: str = "{role: order}") -> None:
    """A file of sentences with its sidecar."""
    lines = [",".join(map(str, row)) for row in rows]
    Path(f"{name}.csv").write_text("\n".join(["sentence,place,word,tag", *lines]) + "\n")
    Path(f"{name}.yaml").write_text(f"target: tag\ncolumns:\n  sentence: {{role: sequence}}\n  place: {place}\n")


@pytest.fixture
def doubtful_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sentences in order, and scattered; a tagger that has learned from others."""
    monkeypatch.chdir(tmp_path)
    rows = chunked(40, seed=1)
    write("straight", rows)
    random.Random(3).shuffle(rows)
    write("scattered", rows)
    write("others", chunked(60, seed=2))
    for model in ("hmm", "most-frequent-tag"):
        assert typed("train", "others.csv", "-m", model, "-o", f"{model}.mlcli").exit_code == 0
    return tmp_path


@pytest.mark.parametrize("metric", ["chunk-f1", "sequence-accuracy"])
def test_the_difference_to_a_saved_tagger_does_not_depend_on_the_order_of_the_file(
    doubtful_folder: Path, metric: str
) -> None:
    """The gain over the baseline is the difference of the two scores, each made where sequences stand whole."""
    for name in ("straight", "scattered"):
        asked = ("eval", f"{name}.csv", "-m", "hmm.mlcli", "--metric", metric, "--protocol", "leave-one-out")
        cells = document(typed(*asked, "--json"))["cells"]
        gain = cells[1]["metrics"][metric]["mean"] - cells[0]["metrics"][metric]["mean"]
        assert f"{abs(gain):.3f} {'above' if gain > 0 else 'below'} the baseline" in typed(*asked).output


def test_two_rows_at_one_place_are_refused(doubtful_folder: Path) -> None:
    write("twice", [("a", 1, "the", "O"), ("b", 1, "dog", "B-NP"), ("a", 1, "dog", "B-NP")])
    for asked in (("eval", "twice.csv", "-m", "hmm"), ("predict", "hmm.mlcli", "twice.csv")):
        result = typed(*asked)
        assert result.exit_code == 4
        assert "rows 1 and 3 have the same place in their sequence" in result.output


def test_text_does_not_tell_an_order_unless_it_was_declared(doubtful_folder: Path) -> None:
    rows = [(sentence, f"p{place + 9}", word, tag) for sentence, place, word, tag in chunked(20, seed=4)]
    write("text", rows)
    result = typed("train", "text.csv", "-m", "hmm", "-o", "text.mlcli")
    assert result.exit_code == 4
    assert "orders the rows of sequences, and holds text" in result.output
    levels = ", ".join(f"p{place + 9}" for place in range(8))
    write("text", rows, place=f"{{role: order, kind: ordinal, levels: [{levels}]}}")
    assert typed("train", "text.csv", "-m", "hmm", "-o", "text.mlcli").exit_code == 0
    new = "sentence,place,word\n1,p10,dog\n1,p9,the\n1,p11,man\n"
    tags = [line.rpartition(",")[2] for line in typed("predict", "text.mlcli", "-", given=new).stdout.split()[1:]]
    assert tags == ["B-NP", "O", "I-NP"]


def test_a_row_without_its_sequence_or_place_is_not_tagged(doubtful_folder: Path) -> None:
    for new, why in (
        ("sentence,place,word\n1,1,the\n,2,dog\n", "row 2: the sequence is missing"),
        ("sentence,place,word\n1,1,the\n1,,dog\n", "is not in numbers"),
    ):
        result = typed("predict", "hmm.mlcli", "-", given=new)
        assert result.exit_code == 4
        assert why in result.output


def test_scattered_rows_without_an_order_are_told(doubtful_folder: Path) -> None:
    write("unordered", [(*row,) for row in chunked(10, seed=5)[::-1]], place="{role: ignore}")
    rows = chunked(10, seed=5)
    random.Random(1).shuffle(rows)
    write("mixed", rows, place="{role: ignore}")
    said = "rows of one 'sentence' stand apart and no column has the role order: they are taken as they stand"
    assert said in typed("data", "mixed.csv").output
    assert said not in typed("data", "unordered.csv").output


def test_a_sequence_that_is_judged_twice_counts_twice(doubtful_folder: Path) -> None:
    asked = (
        "eval",
        "straight.csv",
        "-m",
        "hmm",
        "--protocol",
        "repeated-k-fold",
        "--folds",
        "4",
        "--repeats",
        "2",
    )
    assert "of 80 sequences are right from end to end" in typed(*asked).output
