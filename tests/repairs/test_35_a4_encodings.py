"""`mlcli models` finds the encodings of levels by their usual names."""

from __future__ import annotations

import pytest

from mlcli.core.schema import Column
from mlcli.prepare.ordinal import Ordinal
from tests.cli.shell import document, typed
from tests.prepare.preparing import prepared
from tests.rows import table_of


@pytest.mark.parametrize(
    ("word", "step"),
    [
        ("integer", "ordinal"),
        ("integers", "ordinal"),
        ("rank", "ordinal"),
        ("encoding", "one-hot"),
    ],
)
def test_a_word_finds_the_step(word: str, step: str) -> None:
    assert step in [mention["id"] for mention in document(typed("models", word, "--json"))["mentions"]]


def test_integer_encoding_is_found_with_its_setting() -> None:
    (mention,) = document(typed("models", "integer", "--json"))["mentions"]
    assert mention["id"] == "ordinal"
    assert "columns: nominal" in mention["passage"]


@pytest.mark.parametrize("name", ["integer encoding", "label-encoding", "LabelEncoder", "IntegerEncoder"])
def test_names_from_elsewhere_come_with_the_setting(name: str) -> None:
    assert "did you mean 'ordinal' with columns=nominal?" in typed("models", name).stderr


def test_the_setting_gives_whole_numbers() -> None:
    column = Column("size", "nominal", ("large", "middle", "small"))
    changed = prepared(Ordinal(columns=("nominal",)), table_of({"size": ["small", "large", "middle"]}, [column]))
    assert changed.cells("size").tolist() == [2.0, 0.0, 1.0]
