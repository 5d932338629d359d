"""docs/commands.md says what --help says, and shows an example of every command with what it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.commands import help_of
from mlcli.cli._verbs import VERBS, examples_of

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"


@pytest.fixture(autouse=True)
def width(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page is made in 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")


def section(verb: str) -> str:
    """What the page says of one command."""
    return PAGE.read_text(encoding="utf-8").partition(f"## mlcli {verb}\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("verb", VERBS)
def test_the_help_on_the_page_is_that_of_the_command(verb: str) -> None:
    """If this fails: make docs."""
    shown = section(verb).partition("```text\n")[2].partition("```")[0]
    assert shown == help_of(verb)


@pytest.mark.parametrize("verb", VERBS)
def test_the_page_shows_an_example_with_its_output(verb: str) -> None:
    example = section(verb).partition("```console\n$ ")[2].partition("```")[0].splitlines()
    assert example[0] == examples_of(verb)[0]
    assert len(example) > 1


def test_the_page_lists_the_commands_as_the_help_does() -> None:
    assert help_of() in PAGE.read_text(encoding="utf-8")
