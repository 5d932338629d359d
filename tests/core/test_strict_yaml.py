"""YAML is read by the JSON schema of YAML 1.2 (https://yaml.org/spec/1.2.2/#102-json-schema), and strictly."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from mlcli.core.errors import DataError, ExperimentError, UsageError
from mlcli.core.strict_yaml import parse, read


def value_of(text: str) -> Any:
    return parse(text, "f.yaml", ExperimentError).value


def refusals(text: str) -> list[str]:
    with pytest.raises(ExperimentError) as caught:
        parse(text, "f.yaml", ExperimentError)
    return [f"{problem.where}: {problem.what}" for problem in caught.value.problems]


@pytest.mark.parametrize("text", ["NO", "no", "yes", "on", "Off", "y", "True", "TRUE", "Null"])
def test_words_of_yaml_1_1_are_text(text: str) -> None:
    assert value_of(f"a: {text}") == {"a": text}


@pytest.mark.parametrize(
    "text", ["12:30:45", "2024-01-01", "010", "007", "-01", "0x1F", "0o17", "1_000", "1.2.3", "1e", "."]
)
def test_what_only_resembles_a_number_is_text(text: str) -> None:
    assert value_of(f"a: {text}") == {"a": text}


@pytest.mark.parametrize(
    ("text", "number"),
    [("1e-3", 0.001), ("-0.5", -0.5), ("+3", 3), (".5", 0.5), ("5.", 5.0), ("0", 0), ("1E5", 1e5)],
)
def test_decimal_numbers_are_numbers(text: str, number: float) -> None:
    value = value_of(f"a: {text}")["a"]
    assert value == number
    assert isinstance(value, type(number))


@pytest.mark.parametrize("text", ["null", "~", ""])
def test_null_is_null(text: str) -> None:
    assert value_of(f"a: {text}") == {"a": None}


def test_only_true_and_false_are_booleans() -> None:
    assert value_of("[true, false, 'true']") == [True, False, "true"]


@pytest.mark.parametrize("text", [".inf", "-.INF", "inf", "nan", ".NaN", "NaN", "1e999", "Infinity"])
def test_numbers_that_are_not_finite_are_refused_unless_quoted(text: str) -> None:
    assert refusals(f"a: {text}") == [f"f.yaml:1:4: {text} is not a finite number"]
    assert value_of(f"a: '{text}'") == {"a": text}


def test_every_problem_is_named_at_once_with_its_place() -> None:
    text = "a: 1\nb:\n  a: 2\n  a: 3\nc: !!python/object:os.system x\n1: 2\nd: *nothing\ne: nan\n"
    assert refusals(text) == [
        "f.yaml:4:3: the key 'a' stands here twice",
        "f.yaml:5:4: the tag tag:yaml.org,2002:python/object:os.system is not allowed",
        "f.yaml:6:1: the key 1 is not text",
        "f.yaml:7:4: nothing before this place is called &nothing",
        "f.yaml:8:4: nan is not a finite number",
    ]


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("a: 1\n---\nb: 2\n", "f.yaml:2:1: a second document begins here"),
        ("? [a]\n: b\n", "f.yaml:1:3: a key must be text"),
        ("true: b\n", "f.yaml:1:1: the key true is not text"),
        ("a: &a [*a]\n", "f.yaml:1:8: nothing before this place is called &a"),
        ("[" * 500, "f.yaml:1:102: nested more than 100 deep"),
        ("a: \x07", "f.yaml:1:1: holds a character that YAML does not allow"),
    ],
)
def test_what_is_dangerous_or_ambiguous_is_refused(text: str, refusal: str) -> None:
    assert refusals(text) == [refusal]


@pytest.mark.parametrize(
    ("text", "place"), [("a: [1\nb: 2", "f.yaml:2:2"), ("a: b: c", "f.yaml:1:5"), ("a:\n\t- b", "f.yaml:2:1")]
)
def test_broken_yaml_is_refused_with_its_place(text: str, place: str) -> None:
    (refusal,) = refusals(text)
    assert refusal.startswith(f"{place}: is not valid YAML")


def test_an_alias_bomb_is_refused_before_it_grows() -> None:
    names = "abcdefghi"
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]" for before, name in pairwise(names)]
    (refusal,) = refusals("\n".join(lines))
    assert "more than 100000 values" in refusal


def test_many_uses_of_an_alias_are_refused() -> None:
    (refusal,) = refusals("a: &a x\nb: [" + ", ".join(["*a"] * 101) + "]\n")
    assert "more than 100 uses of aliases" in refusal


def test_an_alias_is_the_value_that_it_names() -> None:
    assert value_of("a: &x {k: [1, 2]}\nb: *x\n") == {"a": {"k": [1, 2]}, "b": {"k": [1, 2]}}


def test_a_place_is_the_key_or_its_nearest_ancestor() -> None:
    document = parse("a:\n  - x\n  - {k: 1.50}\nb: 2\n", "f.yaml", ExperimentError)
    assert document.place("a", 1, "k") == "f.yaml:3:6"
    assert document.place("a", 0) == "f.yaml:2:5"
    assert document.place("b") == "f.yaml:4:1"
    assert document.place("a", 7, "k") == "f.yaml:1:1"
    assert document.place("z") == "f.yaml:1:1"
    assert document.text("a", 1, "k") == "1.50"


def test_an_empty_text_is_null() -> None:
    assert value_of("") is None
    assert value_of("# nothing but a comment\n") is None


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no such file"):
        read(tmp_path / "no.yaml", DataError)
    with pytest.raises(DataError, match="cannot be read"):
        read(tmp_path, DataError)
    (tmp_path / "latin.yaml").write_bytes(b"a: 1\nb: caf\xe9\n")
    with pytest.raises(DataError, match=r"latin\.yaml:2:1: is not UTF-8"):
        read(tmp_path / "latin.yaml", DataError)


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    (tmp_path / "bom.yaml").write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert read(tmp_path / "bom.yaml", UsageError).value == {"a": 1}
