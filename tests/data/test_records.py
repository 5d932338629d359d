"""A CSV file is split into cells without loss: nothing is padded, shifted or taken for missing in silence."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlcli.core.errors import DataError
from mlcli.data.records import FileLayout, read_records, sniffed_delimiter


def cells_of(content: str | bytes, layout: FileLayout | None = None) -> dict[str, list[str]]:
    records = read_records(content.encode() if isinstance(content, str) else content, "my.csv", layout)
    return {column.name: column.cells() for column in records.columns}


def refusal(content: str | bytes) -> list[str]:
    with pytest.raises(DataError) as caught:
        cells_of(content)
    return [f"{problem.where}: {problem.what}" for problem in caught.value.problems]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_with_a_mark_and_utf_8_are_read(encoding: str) -> None:
    assert cells_of("naïve,β\né,1\n".encode(encoding)) == {"naïve": ["é"], "β": ["1"]}


def test_other_encodings_are_read_as_latin_1_with_a_note() -> None:
    records = read_records("a,b\n1,2\ncafé,3\n".encode("latin-1"), "my.csv")
    assert records.column("a").cells() == ["1", "café"]
    assert "line 3 is not UTF-8" in records.notes[0]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter: str) -> None:
    text = delimiter.join("abc") + "\n" + delimiter.join("123") + "\n"
    assert cells_of(text) == {"a": ["1"], "b": ["2"], "c": ["3"]}


def test_a_decimal_comma_is_not_taken_for_the_delimiter() -> None:
    assert sniffed_delimiter("a;b\n1,5;2,5\n3,5;4,5\n") == ";"


def test_a_delimiter_inside_quotes_is_no_delimiter() -> None:
    assert cells_of('a,b\n"x;y;z,1",2\n') == {"a": ["x;y;z,1"], "b": ["2"]}


def test_a_declared_delimiter_goes_before_what_is_found() -> None:
    assert cells_of("a;b\n1;2\n", FileLayout(delimiter=",")) == {"a;b": ["1;2"]}


def test_quotes_newlines_and_line_ends_are_kept_apart() -> None:
    assert cells_of('a,b\r\n"say ""hi""","two\r\nlines"\r\nx,\r\n') == {
        "a": ['say "hi"', "x"],
        "b": ["two\r\nlines", ""],
    }


def test_old_line_ends_are_read() -> None:
    assert cells_of("a,b\r1,2\r3,4\r") == {"a": ["1", "3"], "b": ["2", "4"]}


@pytest.mark.parametrize("word", ["NA", "nan", "NULL", "None", "?", "N/A", "-", "<NA>"])
def test_no_word_is_taken_for_missing(word: str) -> None:
    assert cells_of(f"a,b\n{word},1\n")["a"] == [word]


def test_a_short_row_is_named_with_its_line_and_column() -> None:
    (problem,) = refusal('a,b,c\n1,"x\ny",3\n4,5\n')
    assert problem.startswith("my.csv:4: the row has 2 cells, the header has 3 names")
    assert problem.endswith("'c'")


def test_a_title_above_the_names_is_told_apart_from_a_column_without_a_name() -> None:
    """A spreadsheet fills the line of its title with empty cells."""
    assert refusal("Sales,,\na,b,c\n1,2,3\n") == ["my.csv:1: of 3 columns the first line names one: Sales"]
    assert refusal("a,,c\n1,2,3\n") == ["my.csv:1: column 2 has no name"]


def test_a_long_row_is_named_with_the_cell_that_is_too_much() -> None:
    (problem,) = refusal("a,b\n1,2\n3,4,five\n")
    assert problem.startswith("my.csv:3: the row has 3 cells, the header has 2 names")
    assert "cell 3 ('five')" in problem


def test_all_rows_that_do_not_fit_are_reported_at_once() -> None:
    found = refusal("a,b\n" + "1\n" * 12 + "1,2\n")
    assert len(found) == 11
    assert found[-1] == "my.csv: 2 more rows like these"


def test_lines_count_from_the_first_line_of_the_file() -> None:
    records = read_records(b'\n\na,b\n"1\n1",2\n\n3,4\n', "my.csv")
    assert records.lines.tolist() == [4, 7]
    assert records.place(1, "b") == "my.csv:7, column 'b'"


@pytest.mark.parametrize("rows", ["1,2\n3,4\n", "1,2\n\n3,4\n", "1,\n,4\n", "1,2\n"])
def test_quotes_that_change_nothing_change_nothing(rows: str) -> None:
    plain, quoted = (
        read_records(f"\na,b\n{rows}".encode(), "my.csv"),
        read_records(f'\n"a",b\n{rows}'.encode(), "my.csv"),
    )
    assert plain.lines.tolist() == quoted.lines.tolist()
    assert [column.cells() for column in plain.columns] == [column.cells() for column in quoted.columns]


def test_blank_lines_are_skipped_but_in_one_column_they_are_empty_cells() -> None:
    assert cells_of("a,b\n1,2\n\n3,4\n\n") == {"a": ["1", "3"], "b": ["2", "4"]}
    assert cells_of("a,b\n1,2\n   \n3,4\n") == {"a": ["1", "3"], "b": ["2", "4"]}
    assert cells_of("a\n1\n\n3\n\n") == {"a": ["1", "", "3"]}


def test_blanks_around_cells_are_dropped_with_a_note() -> None:
    records = read_records(b"a, b\nx ,1\nx, 2\n", "my.csv")
    assert {column.name: column.cells() for column in records.columns} == {"a": ["x", "x"], "b": ["1", "2"]}
    assert records.notes == ("blanks around cells were dropped in columns a, b",)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"a,b\n1,\x00\n", "is not text: it holds NUL bytes"),
        (b"PK\x03\x04rest", "is a zip archive or a spreadsheet, not a CSV file"),
        (b"<!DOCTYPE html><html>", "is a web page, not a CSV file"),
    ],
)
def test_what_is_not_a_csv_file_is_refused(content: bytes, what: str) -> None:
    assert refusal(content) == [f"my.csv: {what}"]


def test_double_and_empty_names_are_refused_together() -> None:
    assert refusal("a,,a\n1,2,3\n") == ["my.csv:1: column 2 has no name", "my.csv:1: 2 columns are called 'a'"]


def test_what_stands_above_the_names_is_called_what_it_is() -> None:
    assert refusal("sep=;\na;b\n1;2\n") == [
        "my.csv:1: the first line tells Excel the delimiter, and is no line of names"
    ]
    (found,) = refusal("made by a tool\na,b\n")
    assert found.startswith("my.csv:2: the row has 2 cells, the header has 1 name: cell 2 ('b')")


def test_a_file_without_header_is_refused_unless_the_sidecar_says_that_it_has_one() -> None:
    (found,) = refusal("5.1,3.5,setosa\n4.9,3.0,setosa\n")
    assert found == "my.csv:1: the first line looks like a row, not like names: 5.1, 3.5, setosa"
    assert cells_of("2019,2020\n1,2\n", FileLayout(header=True)) == {"2019": ["1"], "2020": ["2"]}


def test_text_after_a_closing_quote_is_refused_rather_than_guessed() -> None:
    (found,) = refusal('a,b\n1,2\n"x"y,2\n')
    assert found.startswith("my.csv:3: cannot be split into cells")


def test_an_open_quote_is_refused_where_its_row_begins() -> None:
    (found,) = refusal('a,b\n1,2\n"x,2\n3,4\n')
    assert found.startswith("my.csv:3: cannot be split into cells")


def test_a_very_long_cell_is_a_cell() -> None:
    assert cells_of("a,b\n" + "x" * 200_000 + ",2\n") == {"a": ["x" * 200_000], "b": ["2"]}


def test_a_quote_inside_a_cell_that_is_not_quoted_is_a_letter() -> None:
    assert cells_of('a,b\n5" pipe,2\n') == {"a": ['5" pipe'], "b": ["2"]}


plain_cells = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\r", exclude_categories=["Zs", "Zl", "Zp", "Cc"]),
    max_size=6,
)


@given(
    st.integers(2, 4).flatmap(
        lambda width: st.lists(st.lists(plain_cells, min_size=width, max_size=width), min_size=1)
    )
)
def test_what_the_csv_module_writes_is_read_back_cell_by_cell(rows: list[list[str]]) -> None:
    header = [f"column {place}" for place in range(len(rows[0]))]
    file = io.StringIO()
    csv.writer(file).writerows([header, *rows])
    assert list(cells_of(file.getvalue(), FileLayout(delimiter=",")).values()) == [
        list(column) for column in zip(*rows, strict=True)
    ]


def test_counts_and_first_rows_are_those_of_the_file(write: Callable[..., object]) -> None:
    column = read_records(b"a\nx\ny\nx\n", "my.csv").column("a")
    assert dict(zip(column.values, column.counts.tolist(), strict=True)) == {"x": 2, "y": 1}
    assert column.first_row(column.values.index("y")) == 1
