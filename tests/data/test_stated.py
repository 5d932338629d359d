"""What a sidecar may state of a file and its numbers: the encoding, and whether numbers are discrete."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mlcli.data.dataset import Dataset
from mlcli.data.load import load
from mlcli.data.profile import profile
from mlcli.data.write_sidecar import write_sidecar

Loaded = Callable[..., Dataset]


@pytest.mark.parametrize(("encoding", "city"), [("cp1250", "Łódź"), ("utf-16", "Köln"), ("shift_jis", "東京")])
def test_a_stated_encoding_is_used(loaded: Loaded, encoding: str, city: str) -> None:
    text = f"city,y\n{city},1.5\nBonn,2.5\n".encode(encoding)
    dataset = loaded(text, f"target: y\nencoding: {encoding}\n")
    assert city in dataset.schema.fields[0].column.levels
    assert not any("Latin-1" in note for note in dataset.notes)


def test_a_mark_at_the_beginning_is_not_part_of_a_name(loaded: Loaded) -> None:
    assert loaded("city,y\nBonn,1.5\n".encode("utf-8-sig"), "encoding: utf-8\n").schema.names() == ("city", "y")


def test_another_encoding_than_the_stated_is_refused(refused: Callable[..., list[str]]) -> None:
    [problem] = refused("city,y\nK\xf6ln,1.5\n".encode("latin-1"), "encoding: utf-8\n")
    assert problem == "my.csv:2: is not utf-8 text, as its sidecar says"
    [problem] = refused("a,y\n1,2\n", "encoding: utf-88\n")
    assert "there is no encoding 'utf-88'" in problem


def test_numbers_may_be_declared_discrete_or_continuous(loaded: Loaded, tmp_path: Path) -> None:
    sidecar = "target: y\ncolumns: {a: continuous, b: {kind: discrete, role: feature}}\n"
    dataset = loaded("a,b,y\n1,3,u\n2,4,v\n", sidecar)
    kinds = {one.name: (one.kind, one.numbers.discrete) for one in profile(dataset).columns if one.numbers}
    assert kinds == {"a": ("numeric", False), "b": ("numeric", True)}
    again = load(str(write_sidecar(dataset, tmp_path / "my.yaml", overwrite=True).with_suffix(".csv")))
    assert again.sidecar.of("a").numbers == "continuous"
    assert again.sidecar.of("b").numbers == "discrete"


def test_fractions_are_not_discrete(refused: Callable[..., list[str]]) -> None:
    [problem] = refused("a,y\n1,2\n1.5,3\n", "target: y\ncolumns: {a: discrete}\n")
    assert problem == "my.csv:3, column 'a': '1.5' is not a whole number"
