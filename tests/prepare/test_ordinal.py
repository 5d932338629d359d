"""Ordinal gives ranks from 0 to 1 (SOURCES.md, section 6), and codes as scikit-learn's OrdinalEncoder."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import OrdinalEncoder

from mlcli.core.schema import Column
from mlcli.prepare.ordinal import Ordinal
from tests.golden.weather import weather
from tests.prepare.preparing import fitted, prepared
from tests.support.rows import table_of
from tests.support.shell import document, typed

SIZE = Column("size", "ordinal", ("low", "medium", "high"), missing=True)


def test_three_levels_are_0_one_half_and_1() -> None:
    changed = prepared(Ordinal(), table_of({"size": ["high", "low", "medium"]}, [SIZE]))
    assert changed.numbers.ravel().tolist() == [1.0, 0.0, 0.5]
    assert not changed.columns[0].coded


def test_levels_that_are_not_ordinal_stay() -> None:
    table = table_of({"colour": ["red", "blue"], "size": ["low", "high"]}, [SIZE])
    changed = prepared(Ordinal(), table)
    assert changed.columns[0] == table.columns[0]
    assert changed.cells("colour").tolist() == table.cells("colour").tolist()


def test_all_turns_the_others_into_the_codes_of_scikit_learn() -> None:
    table = weather().table
    levels = [list(column.levels) for column in table.columns]
    cells = [[column[code] for column, code in zip(levels, row, strict=True)] for row in table.codes]
    theirs = OrdinalEncoder(categories=levels).fit_transform(cells)
    assert np.array_equal(prepared(Ordinal(columns=("*",)), table).numbers, theirs)


def test_an_empty_cell_stays_empty() -> None:
    changed = prepared(Ordinal(), table_of({"size": ["high", None]}, [SIZE]))
    assert np.isnan(changed.numbers[1, 0])
    assert changed.columns[0].missing


@pytest.mark.parametrize("levels", [(), ("only",)])
def test_fewer_than_two_levels_are_harmless(levels: tuple[str, ...]) -> None:
    cells = [levels[0] if levels else None, None]
    changed = prepared(Ordinal(), table_of({"x": cells}, [Column("x", "ordinal", levels, missing=True)]))
    assert np.nan_to_num(changed.numbers).tolist() == [[0.0], [0.0]]


def test_it_says_the_number_of_each_level() -> None:
    (section,) = fitted(Ordinal(), table_of({"size": ["high", "low"]}, [SIZE])).explain()
    assert section.rows == (("size", "low", 0.0), ("size", "medium", 0.5), ("size", "high", 1.0))


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
