"""What is remembered of sources is what would be read of them, whatever has become of the file it is in."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mlcli.experiment.store.sources import Sources

TEXT = b'"""A module."""\nimport json\nfrom . import near\n\ndef f(x):\n    """Doubles."""\n    return 2 * x\n'


@pytest.fixture(autouse=True)
def writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def test_what_is_remembered_is_what_was_read(tmp_path: Path) -> None:
    first = Sources(tmp_path / "new" / "sources.json")
    read = first.read(TEXT, "here")
    first.keep()
    again = Sources(tmp_path / "new" / "sources.json")
    assert again.read(TEXT, "here") == read
    assert sorted(read.imports) == ["here", "here.near", "json"]
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["sources.json"]


def test_comments_and_docstrings_change_nothing_and_statements_do(tmp_path: Path) -> None:
    sources = Sources(tmp_path / "sources.json")
    does = sources.read(TEXT, "here").does
    assert sources.read(TEXT.replace(b"Doubles", b"Twice") + b"# so\n", "here").does == does
    assert sources.read(TEXT.replace(b"2 * x", b"3 * x"), "here").does != does


@pytest.mark.parametrize("damage", ["", "{", "[1]", '{"a": 1}', "\udcff"])
def test_a_damaged_file_is_written_anew(tmp_path: Path, damage: str) -> None:
    file = tmp_path / "sources.json"
    file.write_bytes(damage.encode("utf-8", "surrogateescape"))
    sources = Sources(file)
    read = sources.read(TEXT, "here")
    sources.keep()
    assert Sources(file).read(TEXT, "here") == read
    assert Sources(file)._recalled(next(iter(sources._met))) == read


def test_where_nothing_can_be_written_it_is_read_each_time(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    sources = Sources(tmp_path / "file" / "sources.json")
    read = sources.read(TEXT, "here")
    sources.keep()
    assert Sources(tmp_path / "file" / "sources.json").read(TEXT, "here") == read
