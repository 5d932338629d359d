"""What is said of sequences whose order is in doubt, and of a saved tagger beside another on scattered rows."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.support.shell import document, typed

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
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
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
    folder: Path, metric: str
) -> None:
    """The gain over the baseline is the difference of the two scores, each made where sequences stand whole."""
    for name in ("straight", "scattered"):
        asked = ("eval", f"{name}.csv", "-m", "hmm.mlcli", "--metric", metric, "--protocol", "leave-one-out")
        cells = document(typed(*asked, "--json"))["cells"]
        gain = cells[1]["metrics"][metric]["mean"] - cells[0]["metrics"][metric]["mean"]
        assert f"{abs(gain):.3f} {'above' if gain > 0 else 'below'} the baseline" in typed(*asked).output


def test_two_rows_at_one_place_are_refused(folder: Path) -> None:
    write("twice", [("a", 1, "the", "O"), ("b", 1, "dog", "B-NP"), ("a", 1, "dog", "B-NP")])
    for asked in (("eval", "twice.csv", "-m", "hmm"), ("predict", "hmm.mlcli", "twice.csv")):
        result = typed(*asked)
        assert result.exit_code == 4
        assert "rows 1 and 3 have the same place in their sequence" in result.output


def test_text_does_not_tell_an_order_unless_it_was_declared(folder: Path) -> None:
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


def test_a_row_without_its_sequence_or_place_is_not_tagged(folder: Path) -> None:
    for new, why in (
        ("sentence,place,word\n1,1,the\n,2,dog\n", "row 2: the sequence is missing"),
        ("sentence,place,word\n1,1,the\n1,,dog\n", "is not in numbers"),
    ):
        result = typed("predict", "hmm.mlcli", "-", given=new)
        assert result.exit_code == 4
        assert why in result.output


def test_scattered_rows_without_an_order_are_told(folder: Path) -> None:
    write("unordered", [(*row,) for row in chunked(10, seed=5)[::-1]], place="{role: ignore}")
    rows = chunked(10, seed=5)
    random.Random(1).shuffle(rows)
    write("mixed", rows, place="{role: ignore}")
    said = "rows of one 'sentence' stand apart and no column has the role order: they are taken as they stand"
    assert said in typed("data", "mixed.csv").output
    assert said not in typed("data", "unordered.csv").output


def test_a_sequence_that_is_judged_twice_counts_twice(folder: Path) -> None:
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
