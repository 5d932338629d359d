"""Issues as a document: each with what shows it and what repairs it, the gravest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlcli.core.issues import GRAVITIES, PLACES, Issue, Repair, by_gravity
from mlcli.report.document import Document, Element, Heading, Lines, Sentence, Style
from mlcli.report.findings import explained

STYLES: dict[str, Style] = {"grave": "bad", "warning": "strong", "advice": ""}


def issues_of(issues: Sequence[Issue], nothing: str = "no issue found") -> Document:
    """All issues, or a sentence where there are none."""
    if not issues:
        return (Sentence(nothing),)
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
    if issue.evidence:
        yield Sentence(issue.evidence)
    yield from explained(issue.shown)
    for place, repair in enumerate(issue.repairs):
        yield Sentence(f"{'or ' if place else ''}repair {PLACES[repair.place]}:")
        yield Lines(_indented(repair))


def _indented(repair: Repair) -> tuple[str, ...]:
    return tuple(f"    {line}" for line in repair.text.splitlines())
