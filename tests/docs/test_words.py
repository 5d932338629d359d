"""The words of docs/words.md are kept: no name in the code, and no page, has those that were given up."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "mlcli").rglob("*.py"))
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
GIVEN_UP = re.compile(
    r"(?:^|_)(ways|bells|spending|newcomers?|hearing|course|parcels?|taught|told|leaving|singled_out|lacking)(?:_|$)"
)
"""As a word of a name: phrases that stood for things which have a name of their own."""
TO_BE_RENAMED = {
    *("told", "_told_from", "MOST_TOLD", "ROLES_TOLD", "taught", "lacking"),
    *("Leaving", "leaving", "_leaving", "Ways", "ways", "_ways", "both_ways"),
    *("Spending", "spending", "_spending", "Course", "course"),
}
"""Names that are still there, and no others: what is renamed leaves this list, and nothing joins it."""
NOT_IN_PAGES = re.compile(
    r"\b(?:newcomers?|parcels?|hearing|singled out|is taught|are taught|answered for all splits)\b"
)
"""What a page would say of rows, workers and closed forms in words that no reader would look for."""


def names_in(path: Path) -> Iterator[str]:
    """Every name in a file, its own among them: functions, classes, arguments, variables, fields."""
    yield path.stem
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for kind in ("name", "id", "attr", "arg", "asname"):
            if isinstance(name := getattr(node, kind, None), str):
                yield name


def test_names_are_words_of_the_field() -> None:
    for path in SOURCES:
        given_up = {name for name in names_in(path) if GIVEN_UP.search(name.lower())}
        assert given_up <= TO_BE_RENAMED, path.relative_to(ROOT)


def test_pages_use_the_words_that_the_code_has() -> None:
    for path in PAGES:
        assert not NOT_IN_PAGES.findall(path.read_text(encoding="utf-8")), path.relative_to(ROOT)
