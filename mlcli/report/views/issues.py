"""Issues as a document: each with what shows it and what repairs it, the gravest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from mlcli.core.issues import GRAVITIES, PLACES, Issue, Repair, by_gravity, is_serious
from mlcli.core.names import counted
from mlcli.report.document import Document, Element, Heading, Preformatted, Sentence, Style, explained

STYLES: dict[str, Style] = {"grave": "bad", "warning": "strong", "advice": ""}


def issues_of(issues: Sequence[Issue], everything: bool) -> Document:
    """Each issue under its code, the gravest first; advice only where everything is asked for."""
    shown = (issue for issue in by_gravity(issues) if everything or is_serious(issue))
    return tuple(element for issue in shown for element in _elements(issue))


def summary_of(issues: Sequence[Issue], everything: bool) -> str:
    """How many there are of each gravity, such as "1 grave, 2 warnings"; of advice that is not shown its codes."""
    counts = Counter(issue.gravity for issue in issues)
    advice = f"{counted(counts['advice'], 'piece')} of advice"
    words = [f"{counts['grave']} grave", counted(counts["warning"], "warning"), advice]
    message = [word for word, gravity in zip(words, GRAVITIES, strict=True) if counts[gravity]]
    if everything or not counts["advice"]:
        return ", ".join(message) or "no issue found"
    codes = ", ".join(dict.fromkeys(issue.code for issue in issues if not is_serious(issue)))
    them = "it" if counts["advice"] == 1 else "them"
    return f"{', '.join(message[:-1]) or 'no issue found'}; {advice} ({codes}): --all shows {them}"


def _elements(issue: Issue) -> Iterator[Element]:
    yield Heading(f"{issue.gravity}: {issue.code}")
    yield Sentence(issue.sentence, STYLES[issue.gravity])
    yield from explained(issue.shown)
    evidence = (f"evidence: {issue.evidence}",) if issue.evidence else ()
    words = ("repair", *["or"] * len(issue.repairs))
    repairs = (
        line for repair, word in zip(issue.repairs, words, strict=False) for line in _repair_lines(repair, word)
    )
    yield Preformatted((*evidence, *repairs))


def _repair_lines(repair: Repair, word: str) -> Iterator[str]:
    yield f"{word} {PLACES[repair.place]}:"
    yield from (f"    {line}" for line in repair.text.splitlines())
