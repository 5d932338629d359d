"""The compiled pass over large files reads what the plain one reads, or leaves the file to it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mlcli.core.errors import DataError
from mlcli.data import large_text, records
from mlcli.data.columns import inferred, notes_of_columns
from mlcli.data.large_text import NotPlainError, read_large
from mlcli.data.load import load
from mlcli.data.records import FileLayout, Records, decoded, split_text
from mlcli.data.sidecar import Declaration
from mlcli.data.source import InFile, InMemory


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few rows, so that each file has many ends of blocks."""
    monkeypatch.setattr(large_text, "BLOCK", 40)


def compiled(content: bytes, layout: FileLayout | None = None) -> Records:
    return read_large(InMemory(content), "my.csv", layout or FileLayout())


def plainly(content: bytes, layout: FileLayout | None = None) -> Records:
    return split_text(*decoded(content, "my.csv"), "my.csv", layout or FileLayout())


def check_same(one: Records, other: Records) -> None:
    """The same rows, cells, types and notes."""
    assert (one.header, one.delimiter, one.notes) == (other.header, other.delimiter, other.notes)
    assert one.lines.tolist() == other.lines.tolist()
    typed = [[inferred(text, Declaration(), one) for text in file.columns] for file in (one, other)]
    for mine, theirs in zip(*typed, strict=True):
        assert (mine.column, mine.why) == (theirs.column, theirs.why)
        assert mine.cells.tobytes() == theirs.cells.tobytes()
    assert list(notes_of_columns(typed[0])) == list(notes_of_columns(typed[1]))
    for text, other_text in zip(one.columns, other.columns, strict=True):
        assert text.values == other_text.values
        assert text.which.tolist() == other_text.which.tolist()


def numbers() -> Iterator[str]:
    """Numbers in many spellings."""
    yield from ("0", "1", "-2", "+3", ".5", "5.", "1e3", "1E-3", "-0", "1.234", "1,5", "1.25e+02", " 7 ", "\t8")
    yield from ("9007199254740991", "0.30000000000000004", "1.7976931348623157e308", "123456789012345678901", "")
    yield from ("0.1234567890123456789012345678", "100000000000000000000e-5", "4.35", "2.2250738585072014e-308")


def oddities() -> Iterator[str]:
    """What is no number, or one that is not held as it is written."""
    yield from (
        "007",
        "-01",
        "9007199254740993",
        "9007199254740993.0",
        "1e999",
        "1e-400",
        "1e-320",
        "1e",
        "-",
        "+",
    )
    yield from (
        ".",
        "e5",
        "1.2.3",
        "1 2",
        "NA",
        "x",
        "é",
        "a,b",
        'say "hi"',
        "two\nlines",
        "a\r\nb",
        " x ",
        "0x1F",
        "٣",
    )
    yield from ("\u2009", '"', "1e5x", "1.5 kg", "--1", "1_000", "inf", "nan", '5"')


cells = st.one_of(st.sampled_from(list(numbers())), st.floats(allow_nan=False, allow_infinity=False).map(repr))
columns = st.one_of(
    st.lists(cells, min_size=8, max_size=8),
    st.lists(st.one_of(cells, st.sampled_from(list(oddities()))), min_size=8, max_size=8),
    st.lists(st.sampled_from(["red", "green", "blue", ""]), min_size=8, max_size=8),
)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(columns, min_size=2, max_size=4),
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
@example([["1,5", "2"] * 4, ["1.234", "5"] * 4], ";", "\n", False)
@example([["1,5", "2.5"] * 4, ["", ""] * 4], ";", "\r\n", False)
def test_both_read_the_same(table: list[list[str]], delimiter: str, end: str, quoted: bool) -> None:
    file = io.StringIO(newline="")
    how: Any = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    writer = csv.writer(file, delimiter=delimiter, lineterminator=end, quoting=how)
    writer.writerow([f"c{place}" for place in range(len(table))])
    writer.writerows(zip(*table, strict=True))
    content, layout = file.getvalue().encode(), FileLayout(delimiter=delimiter)
    check_same(compiled(content, layout), plainly(content, layout))


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1,2\n\n3,4\n  \n5,6",
        'a,b\n"1","x"\n"2","""x"""\n3,""\n',
        "\ufeffa,b\n1,2\n",
        'a,b\n"c\rd",2\n"x\r\ny\nz",3\n4,5\n',
        "a,b\n" + "1,2\n" * 99 + "1,word\n",
        "a^b\n1^2\n3^4\n",
    ],
)
def test_blank_lines_quotes_and_marks_are_read_the_same(content: str) -> None:
    check_same(compiled(content.encode()), plainly(content.encode()))


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,2,3\n",
        b"a,b\n1\n",
        b'a,b\n"1"x,2\n',
        b'a,b\n"1,2\n',
        b'a,""b\n1,2\n',
        b"a,b\r1,2\r",
        b"a,b\n1,\x00\n",
        b"a,b\n1,caf\xe9\n",
        b"a\n1\n2\n",
        b"\n\na,b\n1,2\n",
        b"\xff\xfea\x00,\x00",
        b"\xef\xbb\xbf\xef\xbb\xbfa,b\n1,2\n",
    ],
)
def test_what_is_not_plain_is_left_to_the_other(content: bytes) -> None:
    with pytest.raises(NotPlainError):
        compiled(content)


def test_large_files_in_other_encodings_are_read_as_such(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(records, "LARGE", 1)
    path = tmp_path / "my.csv"
    path.write_bytes("a,b,y\n1,café,2.5\n3,thé,4.5\n".encode("latin-1"))
    dataset = load(str(path), target="y")
    assert dataset.schema.fields[1].column.levels == ("café", "thé")
    assert "read as Latin-1" in dataset.notes[0]
    path.write_bytes(b"a,b,y\n1,2\n")
    with pytest.raises(DataError, match="the row has 2 cells"):
        load(str(path), target="y")


def test_words_for_missing_cells_are_looked_for_among_numbers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By value, as in pandas: ``read_csv(path, na_values=["-999"])``."""
    monkeypatch.setattr(records, "LARGE", 1)
    path = tmp_path / "my.csv"
    path.write_text("a,y\n-999,1.5\n3,2.5\n-999.0,3.5\n")
    path.with_suffix(".yaml").write_text('target: y\nmissing: ["-999"]\n')
    assert np.array_equal(load(str(path)).table.cells("a"), [np.nan, 3, np.nan], equal_nan=True)


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "my.csv"
    path.write_text("a,b\n1,2\n")
    records = read_large(InFile.of(path), "my.csv", FileLayout())
    path.write_text("a,b\n1,2\n3,4\n")
    with pytest.raises(DataError, match="was changed while it was read"):
        _ = records.column("a").values
