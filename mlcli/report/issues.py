"""Issues as a document: each with what shows it and what repairs it, the gravest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlcli.core.issues import GRAVITIES, PLACES, Issue, Repair, by_gravity
from mlcli.report.document import Document, Element, Heading, Lines, Sentence, Style, explained

STYLES: dict[str, Style] = {"grave": "bad", "warning": "strong", "advice": ""}


def issues_of(issues: Sequence[Issue]) -> Document:
    """Each issue under its code, the gravest first."""
    return tuple(element for issue in by_gravity(issues) for element in _elements(issue))


def summary_of(issues: Sequence[Issue]) -> str:
    """How many there are of each gravity, such as "1 grave, 2 warnings"."""
    counts = {gravity: sum(issue.gravity == gravity for issue in issues) for gravity in GRAVITIES}
    plural = {"warning": "warnings", "advice": "pieces of advice"}
    words = (f"{count} {plural.get(name, name) if count > 1 else name}" for name, count in counts.items() if count)
    return ", ".join(words) or "no issue found"


def _elements(issue: Issue) -> Iterator[Element]:
    yield Heading(f"{issue.gravity}: {issue.code}")
    yield Sentence(issue.sentence, STYLES[issue.gravity])
    yield from explained(issue.shown)
    evidence = (f"seen by: {issue.evidence}",) if issue.evidence else ()
    repairs = (line for at, one in enumerate(issue.repairs) for line in _lines(one, "or" if at else "repair"))
    yield Lines((*evidence, *repairs))


def _lines(repair: Repair, word: str) -> Iterator[str]:
    """What is to be pasted, below where it belongs."""
    yield f"{word} {PLACES[repair.place]}:"
    yield from (f"    {line}" for line in repair.text.splitlines())
