"""What a cell says is held exactly, refused, or noted: never changed in silence."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mlcli.core.errors import DataError
from mlcli.data.dataset import Dataset
from mlcli.data.records import FileLayout, read_records

Loaded = Callable[..., Dataset]
END = "target: null\n"


def notes_of(loaded: Loaded, text: str, sidecar: str = END) -> str:
    return "\n".join(loaded(text, sidecar).notes)


def cells_of(text: str, layout: FileLayout | None = None) -> dict[str, list[str]]:
    records = read_records(text.encode(), "my.csv", layout)
    return {column.name: column.cells() for column in records.columns}


def test_a_point_beside_decimal_commas_is_asked_about(loaded: Loaded) -> None:
    text = "a;b;c\n1,5;1.234;2.5\n2,5;999;1.234\n"
    for sidecar in (END, "target: null\ncolumns: {b: numeric}\n"):
        notes = notes_of(loaded, text, sidecar)
        assert "'1.234' in column 'b' was read as 1.234 with a decimal point" in notes
        assert "column 'c'" not in notes
    assert "decimal point" not in notes_of(loaded, text.replace(",", "."))


@pytest.mark.parametrize(
    ("text", "held"),
    [("9007199254740993.0", "9007199254740992"), ("-9007199254740993.", "-9007199254740992"), ("1e-400", "0")],
)
def test_numbers_that_no_float_is_are_noted(loaded: Loaded, text: str, held: str) -> None:
    for sidecar in (END, "target: null\ncolumns: {a: numeric}\n"):
        assert f"'{text}' was read as {held}" in notes_of(loaded, f"a,b\n{text},1\n2.5,2\n", sidecar)


@pytest.mark.parametrize("text", ["9007199254740992.0", "0e-400", "0.000", "1e300", "1e-300", "0.1"])
def test_numbers_that_keep_what_was_written_are_not_noted(loaded: Loaded, text: str) -> None:
    assert "cannot be held" not in notes_of(loaded, f"a,b\n{text},1\n2.5,2\n")


@pytest.mark.parametrize("blank", ["\u2009", "\u202f", "\u00a0", "\u2007", " ", "'", "’"])
def test_thousands_are_known_whatever_groups_them(loaded: Loaded, blank: str) -> None:
    assert f"holds numbers such as '1{blank}234'" in notes_of(loaded, f"a,b\n1{blank}234,1\n5,2\n")
    with pytest.raises(DataError) as caught:
        loaded(f"a,b\n1{blank}234,1\n5,2\n", "target: null\ncolumns: {a: numeric}\n")
    assert "without thousands separators" in caught.value.problems[0].hint


@pytest.mark.parametrize("other", ["x", "x y", " x"])
@pytest.mark.parametrize("blank", ["\n", "\x0b", "\u2009", "\t", " "])
def test_blanks_around_a_cell_are_dropped_whatever_other_cells_hold(other: str, blank: str) -> None:
    records = read_records(f'a,b\n"{blank}v{blank}",1\n{other},2\n'.encode(), "my.csv")
    assert records.column("a").values[0] == "v"
    assert "blanks around cells were dropped in columns a" in records.notes


def test_a_second_byte_order_mark_is_dropped_and_noted() -> None:
    for content in ("\ufeffa,b\n1,2\n".encode("utf-8-sig"), "\ufeffa,b\n1,2\n".encode("utf-16")):
        records = read_records(content, "my.csv")
        assert records.header == ("a", "b")
        assert records.notes == ("the file begins with a second byte order mark, which was dropped",)


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_line_ends_within_quotes_are_kept_and_counted(end: str) -> None:
    records = read_records(f'a,b{end}"u{end}v",1{end}w,2{end}'.encode(), "my.csv")
    assert records.column("a").cells() == [f"u{end}v", "w"]
    assert records.lines.tolist() == [2, 4]


@pytest.mark.parametrize("delimiter", ["^", ":"])
def test_rare_delimiters_are_found_where_they_split_evenly(delimiter: str) -> None:
    text = f"a{delimiter}b\n1{delimiter}2\n"
    records = read_records(text.encode(), "my.csv")
    assert records.header == ("a", "b")
    assert f"cells were split at '{delimiter}'" in records.notes[0]
    assert read_records(b"at:utc\n10:30:12\n", "my.csv").header == ("at:utc",)
    assert read_records(b"at,b\n10:30,1\n", "my.csv").notes == ()
    assert cells_of(text, FileLayout(delimiter=",")) == {f"a{delimiter}b": [f"1{delimiter}2"]}


def test_blanks_may_be_delimiters_if_the_sidecar_says_so(loaded: Loaded) -> None:
    text = 'a  b c\n 1 2   "x y"\n3  4 z \n'
    assert "say delimiter: space in the sidecar" in notes_of(loaded, text.replace('"x y"', "x"))
    assert cells_of(text, FileLayout(delimiter=" ")) == {"a": ["1", "3"], "b": ["2", "4"], "c": ["x y", "z"]}
    assert "delimiter" not in notes_of(loaded, "first name\nann\nbo mae lee\n")
