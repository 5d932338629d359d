"""Typical mistakes: what a person types, what is advised, and that the advice works where it is a command."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.support.shell import typed

MISTAKES = Path(__file__).with_name("mistakes.txt").read_text(encoding="utf-8")


def rows_of(text: str) -> list[tuple[str, str, str]]:
    """What is typed, what is said, and what works, for each mistake of the table."""
    found: list[tuple[str, str, str]] = []
    for line in text.splitlines():
        if line.startswith("  > "):
            found[-1] = (found[-1][0], line[4:], "")
        elif line.startswith("  $ "):
            found[-1] = (*found[-1][:2], line[4:])
        elif line and not line.startswith("#"):
            found.append((line, "", ""))
    return found


TABLE = rows_of(MISTAKES)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder as people have it."""
    place = tmp_path_factory.mktemp("mistakes")
    rows = [(row * 37 % 50 / 10, row * 17 % 20 / 20) for row in range(40)]
    lines = [f"{a},{b},{'yes' if a + b > 3 else 'no'}" for a, b in rows]
    (place / "my.csv").write_text("\n".join(["a,b,class", *lines]) + "\n")
    money = [f'{a},{b},"${a * 1000 + 0.5:,.2f}"' for a, b in rows]
    (place / "money.csv").write_text("\n".join(["a,b,price", *money]) + "\n")
    (place / "spec.yaml").write_text("data: [my.csv]\nmodels: [one-r]\n")
    (place / "right.yaml").write_text("data: [{path: my.csv, target: class}]\nprotocol: {folds: 5}\n")
    (place / "wrong.yaml").write_text("data: [my.csv]\nmodel: [one-r]\nfolds: 5\ntarget: class\n")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(place)
        assert typed("train", "my.csv", "-m", "one-r", "-o", "one.mlcli").exit_code == 0
    return place


def test_the_table_is_long_enough() -> None:
    assert len(TABLE) >= 60


@pytest.mark.parametrize(("mistake", "advice"), [row[:2] for row in TABLE], ids=lambda part: str(part)[:50])
def test_a_mistake_is_answered_with_what_would_work(
    folder: Path, monkeypatch: pytest.MonkeyPatch, mistake: str, advice: str
) -> None:
    monkeypatch.chdir(folder)
    result = typed(*shlex.split(mistake))
    assert " ".join(advice.split()) in " ".join(result.output.split())
    assert 2 <= result.exit_code <= 7
    assert (result.exit_code == 6) == ("mkdir" in advice)
    assert not (folder / "absent").exists()


@pytest.mark.parametrize("works", sorted({row[2] for row in TABLE} - {""}))
def test_what_is_advised_works(folder: Path, monkeypatch: pytest.MonkeyPatch, works: str) -> None:
    monkeypatch.chdir(folder)
    result = typed(*shlex.split(works))
    assert result.exit_code == 0, result.output


def test_a_parameter_that_is_not_there_is_said_once_for_all_values() -> None:
    said = typed("eval", "iris", "-m", "{use: k-means, grid: {k: [2, 3, many]}}").stderr
    assert said.count("no parameter 'k'") == 1


def test_help_is_asked_for_in_short() -> None:
    assert typed("-h").exit_code == typed("eval", "-h").exit_code == 0
