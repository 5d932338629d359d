"""The rules by which a column gets its kind; docs/data.md states them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mlcli.core.schema import Column
from mlcli.data.dataset import Dataset
from mlcli.data.load import load
from tests.support.shell import typed

Loaded = Callable[..., Dataset]
Refused = Callable[..., list[str]]
END = "target: null\n"


def column_of(loaded: Loaded, cells: list[str], sidecar: str = END) -> tuple[Column, list[float], Dataset]:
    lines = ["x,other", *(f"{cell},{row % 3}.5" for row, cell in enumerate(cells))]
    dataset = loaded("\n".join(lines) + "\n", sidecar)
    return dataset.schema.fields[0].column, dataset.table.cells("x").astype(float).tolist(), dataset


@pytest.mark.parametrize("cells", [["1", "-2", "+3"], ["1.5", ".5", "5."], ["1e3", "1E-3", "-0"]])
def test_decimal_numbers_are_numeric(loaded: Loaded, cells: list[str]) -> None:
    column, values, _ = column_of(loaded, cells)
    assert column == Column("x")
    assert values == [float(cell) for cell in cells]


def test_an_empty_cell_is_missing(loaded: Loaded) -> None:
    column, values, _ = column_of(loaded, ["1", "", "3"])
    assert column == Column("x", missing=True)
    assert np.isnan(values[1])
    column, values, _ = column_of(loaded, ["a", "", "b"])
    assert column == Column("x", "nominal", ("a", "b"), missing=True)
    assert values == [0, -1, 1]


@pytest.mark.parametrize("code", ["007", "-01", "00", "00.5", "9007199254740993", "1" * 30])
def test_codes_that_a_number_would_change_stay_text(loaded: Loaded, code: str) -> None:
    column, _, dataset = column_of(loaded, ["1", "2", code])
    assert column.kind == "nominal"
    assert code in column.levels
    assert f"'{code}' is a code" in dataset.schema.fields[0].why


@pytest.mark.parametrize(
    "word", ["inf", "-inf", "Infinity", "nan", "1e999", "1_000", "0x1F", "١", "1 2", "1e", "-", "NA"]
)
def test_other_spellings_are_no_numbers(loaded: Loaded, word: str) -> None:
    column, _, _ = column_of(loaded, ["1", "2", word])
    assert column == Column("x", "nominal", column.levels)
    assert word in column.levels


def test_a_word_that_may_mean_missing_is_asked_about(loaded: Loaded) -> None:
    _, _, dataset = column_of(loaded, ["1", "?", "3", "?"])
    (note,) = dataset.notes
    assert "'?' in 2 cells of column 'x'" in note
    assert 'missing: ["?"]' in note
    _, _, dataset = column_of(loaded, ["1", "?", "3", "NA"])
    (note,) = dataset.notes
    assert "'?' in 1 cell, 'NA' in 1 cell of column 'x'" in note
    assert 'missing: ["?", "NA"]' in note
    _, _, dataset = column_of(loaded, ["red", "NA", "blue", "red"])
    assert "'NA' in 1 cell of column 'x'" in dataset.notes[0]


def test_declared_words_are_missing(loaded: Loaded) -> None:
    column, values, dataset = column_of(loaded, ["1", "?", "3", "NA"], 'target: null\nmissing: ["?", NA]\n')
    assert column == Column("x", missing=True)
    assert np.isnan([values[1], values[3]]).all()
    assert dataset.notes == ()
    column, values, _ = column_of(loaded, ["1", "-9", "3"], "target: null\ncolumns: {x: {missing: [-9]}}\n")
    assert np.isnan(values[1])


def test_columns_with_many_gaps_are_noted(loaded: Loaded) -> None:
    for known, noted in ((18, True), (21, False)):
        cells = [*(str(j) for j in range(known)), *[""] * (30 - known)]
        _, _, dataset = column_of(loaded, cells, "target: null\n")
        assert any(note == "more than 30 % of the cells are missing: x (40%)" for note in dataset.notes) == noted


def test_levels_are_often_missing_from_a_fifth_of_a_hundred_rows_on(loaded: Loaded) -> None:
    for empty, rows, often in ((20, 100, True), (19, 100, False), (20, 99, False)):
        column, _, _ = column_of(
            loaded, [""] * empty + ["u", "v"] * ((rows - empty) // 2) + ["u"] * ((rows - empty) % 2)
        )
        assert column.often_missing is often


def test_a_column_that_is_numeric_but_for_a_few_cells_is_noted(loaded: Loaded) -> None:
    _, _, dataset = column_of(loaded, ["1", "2", "12 kg", "3"])
    assert dataset.notes == ("column 'x' would be numeric but for '12 kg' in line 4",)


@pytest.mark.parametrize("pair", [("FALSE", "TRUE"), ("no", "yes"), ("f", "t"), ("N", "Y"), ("False", "True")])
def test_two_words_that_mean_no_and_yes_are_boolean_no_first(loaded: Loaded, pair: tuple[str, str]) -> None:
    column, values, _ = column_of(loaded, [pair[1], pair[0], pair[1]])
    assert column == Column("x", "boolean", pair)
    assert values == [1, 0, 1]


@pytest.mark.parametrize("cells", [["0", "1", "0"], ["1", "2", "1"]])
def test_zero_and_one_are_numbers(loaded: Loaded, cells: list[str]) -> None:
    assert column_of(loaded, cells)[0].kind == "numeric"


@pytest.mark.parametrize("cells", [["yes", "true"], ["yes", "no", "maybe"], ["yes", "yes"], ["yes", "No", "no"]])
def test_other_words_are_nominal(loaded: Loaded, cells: list[str]) -> None:
    assert column_of(loaded, cells)[0].kind == "nominal"


def test_levels_do_not_depend_on_the_order_of_rows(loaded: Loaded) -> None:
    one = column_of(loaded, ["b", "a", "c", "b"])[0]
    other = column_of(loaded, ["c", "b", "b", "a"])[0]
    assert one == other == Column("x", "nominal", ("a", "b", "c"))


def test_levels_that_are_numbers_are_sorted_as_numbers(loaded: Loaded) -> None:
    column, _, _ = column_of(loaded, ["10", "9", "2"], "target: null\ncolumns: {x: nominal}\n")
    assert column.levels == ("2", "9", "10")


def test_a_decimal_comma_is_read_where_the_delimiter_is_another(loaded: Loaded) -> None:
    dataset = loaded("a;b\n1,5;2\n-2,25;3\n", END)
    assert dataset.table.numbers[:, 0].tolist() == [1.5, -2.25]
    assert dataset.notes == ("column 'a' was read with a decimal comma, as in '1,5'",)


@pytest.mark.parametrize("cells", [("1,5", "2.5"), ("1,234,567", "2"), ("1.234,5", "2,0")])
def test_thousands_and_mixed_signs_are_not_guessed(loaded: Loaded, cells: tuple[str, str]) -> None:
    dataset = loaded(f"a;b\n{cells[0]};2\n{cells[1]};3\n", END)
    assert dataset.schema.fields[0].column.kind == "nominal"


def test_an_empty_column_is_left_out_and_said(loaded: Loaded) -> None:
    dataset = loaded("a,b,y\n1,,x\n2,,z\n")
    assert dataset.schema.fields[1].role == "ignore"
    assert "column 'b' is left out: every cell is empty" in dataset.notes


def test_a_declared_kind_is_held_to_and_every_misfit_named(refused: Refused) -> None:
    text = "a,b,c\n1,x,lo\ntwo,y,hi\n3,z,mid\ntwo,x,?\n"
    sidecar = (
        "target: null\ncolumns:\n  a: numeric\n  b: {kind: nominal, levels: [x, y]}\n"
        "  c: {kind: ordinal, levels: [lo, mid, hi]}\n"
    )
    assert refused(text, sidecar) == [
        "my.csv:3, column 'a': 'two' is not a number (in 2 rows)",
        "my.csv:4, column 'b': 'z' is not a level of it",
        "my.csv:5, column 'c': '?' is not a level of it",
    ]


@pytest.mark.parametrize("cells", [("1,5", "2.5"), ("inf", "1"), ("1e999", "1"), ("1'000", "2")])
def test_a_declared_number_that_cannot_be_read_is_never_silently_missing(
    refused: Refused, cells: tuple[str, str]
) -> None:
    (found, *_) = refused(f"a;b\n{cells[0]};2\n{cells[1]};3\n", "target: null\ncolumns: {a: numeric}\n")
    assert found == f"my.csv:2, column 'a': '{cells[0]}' is not a number"


def test_a_number_outside_its_declared_range_is_refused(refused: Refused) -> None:
    found = refused("a,b\n5,1\n200,2\n", "target: null\ncolumns: {a: {kind: numeric, range: [0, 100]}}\n")
    assert found == ["my.csv:3, column 'a': '200' is outside the range 0 to 100"]


def test_declared_levels_keep_their_order_and_those_without_rows(loaded: Loaded) -> None:
    column, values, dataset = column_of(
        loaded, ["hi", "lo"], "target: null\ncolumns: {x: {kind: ordinal, levels: [lo, mid, hi]}}\n"
    )
    assert column == Column("x", "ordinal", ("lo", "mid", "hi"))
    assert values == [2, 0]
    assert dataset.schema.fields[0].source == "declared"


def test_levels_are_read_as_they_are_written(loaded: Loaded) -> None:
    column, _, _ = column_of(loaded, ["1.0", "no", "1.0"], "target: null\ncolumns: {x: {levels: [1.0, no]}}\n")
    assert column == Column("x", "nominal", ("1.0", "no"))


def test_an_empty_cell_can_stand_for_a_level(loaded: Loaded) -> None:
    sidecar = "target: null\ncolumns: {x: {kind: boolean, levels: [f, t], empty: f}}\n"
    column, values, _ = column_of(loaded, ["t", "", "t"], sidecar)
    assert column == Column("x", "boolean", ("f", "t"))
    assert values == [1, 0, 1]


def test_declared_leading_zeros_may_be_numbers(loaded: Loaded) -> None:
    _, values, _ = column_of(loaded, ["007", "08"], "target: null\ncolumns: {x: numeric}\n")
    assert values == [7, 8]


def test_a_declared_boolean_has_two_values(refused: Refused, loaded: Loaded) -> None:
    assert column_of(loaded, ["1", "0"], "target: null\ncolumns: {x: boolean}\n")[0].levels == ("0", "1")
    (found,) = refused("x,b\n1,1\n2,2\n3,1\n", "target: null\ncolumns: {x: boolean}\n")
    assert found == "my.csv: column 'x' is declared boolean but holds 3 values: 1, 2, 3"


@pytest.mark.parametrize(
    "text", ["$3.50", "1,234.50", "1 234,5", "1.234,50", "12 %", "€ 7", "1'000", "−0.5", "1000,25"]
)
def test_numbers_as_sheets_show_them_are_text_and_no_identifier(loaded: Loaded, text: str) -> None:
    column, _, dataset = column_of(loaded, [f'"{text}"', *map(str, range(20, 32))], "target: null\n")
    assert column.kind == "nominal"
    assert dataset.schema.fields[0].role == "feature"
    assert any(f"column 'x' holds numbers such as '{text}'" in note for note in dataset.notes)


@pytest.mark.parametrize("text", ["C100", "2024-01-02", "1,2,3", "10:30", "v1", "192.168.1.1"])
def test_codes_and_dates_are_not_called_numbers(loaded: Loaded, text: str) -> None:
    _, _, dataset = column_of(loaded, [f'"{text}"', *map(str, range(20, 32))], "target: null\n")
    assert not any("holds numbers such as" in note for note in dataset.notes)


def test_a_target_of_decorated_numbers_is_refused_unless_classes_are_meant(
    refused: Refused, loaded: Loaded
) -> None:
    text = "a,price\n" + "".join(f"{place},${place}.50\n" for place in range(12))
    (found,) = refused(text)
    assert "the target 'price'" in found
    assert "'$0.50'" in found
    assert loaded(text, "task: classification\ntarget: price\n").schema.the("target") is not None


def test_having_nothing_to_learn_from_is_said(loaded: Loaded) -> None:
    assert any("there is no feature" in note for note in loaded("y\n1\n2\n3\n4\n").notes)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def frame_of(rows: int) -> pd.DataFrame:
    return pd.DataFrame({"a": [float(row % 7) for row in range(rows)], "y": ["no", "yes"] * (rows // 2)})


def roles_of(file: str) -> dict[str, str]:
    return {field.column.name: field.role for field in load(file).schema.fields}


def test_the_index_that_pandas_writes_is_an_identifier(folder: Path) -> None:
    frame = frame_of(20)
    frame.to_csv("once.csv")
    assert roles_of("once.csv") == {"Unnamed: 0": "id", "a": "feature", "y": "target"}
    assert list(roles_of("once.csv")) == list(pd.read_csv("once.csv").columns)
    pd.read_csv("once.csv").to_csv("twice.csv")
    assert list(roles_of("twice.csv")) == list(pd.read_csv("twice.csv").columns)
    assert [*roles_of("twice.csv").values()][:2] == ["id", "id"]
    pd.concat([frame, frame]).to_csv("joined.csv")
    assert roles_of("joined.csv")["Unnamed: 0"] == "id"


def test_a_model_of_such_a_file_predicts_with_and_without_the_index(folder: Path) -> None:
    frame_of(20).to_csv("with.csv")
    frame_of(20).to_csv("without.csv", index=False)
    assert typed("train", "with.csv", "-m", "knn", "-o", "knn.mlcli").exit_code == 0
    for file in ("with.csv", "without.csv"):
        assert typed("predict", "knn.mlcli", file).exit_code == 0


def test_other_columns_without_a_name_are_refused_still(folder: Path) -> None:
    Path("odd.csv").write_text(",a,,y\n0,1,2,no\n1,2,3,yes\n")
    result = typed("data", "odd.csv")
    assert (result.exit_code, "column 3 has no name" in result.stderr) == (4, True)
