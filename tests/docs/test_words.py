"""Names in the code and prose on pages use the words of the field, not the former dialect of the project."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "mlcli").rglob("*.py"))
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "guides").glob("*.md")]
BANNED_NAMES = {
    *("taught", "lacking", "bells", "spending", "newcomers", "hearing", "parcels", "yardstick", "remedies"),
    *("insertion", "deciding", "stretches", "unsteady", "Kept", "Scored", "Ledger", "Audited", "Strata"),
    *("Examination", "Borrowed", "Corners", "Machine"),
}
"""Names of variables, functions, classes and modules; docs/words.md has the terms in their place."""
AT_MOST = {
    "one": 116,
    "place": 113,
    "found": 29,
    "places": 82,
    "wanted": 17,
    "said": 2,
    "held_out": 10,
    "made": 33,
    "judged": 17,
    "asked": 16,
    "taken": 4,
}
"""Names that say nothing of their value, and how often they are left: lower a number when you rename some."""
BANNED_PROSE = re.compile(
    r"\b(?:nobody|whoever|somebody|anybody|of those that|as it stands|told apart|yardstick|newcomers?|parcels?"
    r"|how rows come about|is had|are had|unasked)\b"
)
"""What a reader would have to decode."""


def names_in(path: Path) -> Iterator[str]:
    """Every name in a file, its own among them: functions, classes, arguments, variables, fields."""
    yield path.stem
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for kind in ("name", "id", "attr", "arg", "asname"):
            if isinstance(name := getattr(node, kind, None), str):
                yield name


def test_names_are_words_of_the_field() -> None:
    used = Counter(name for path in SOURCES for name in names_in(path))
    assert not BANNED_NAMES & used.keys()
    assert {name: used[name] for name in AT_MOST if used[name] > AT_MOST[name]} == {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_use_plain_words(page: Path) -> None:
    if page.name != "commands.md":  # generated from the code
        assert not BANNED_PROSE.findall(page.read_text(encoding="utf-8"))
