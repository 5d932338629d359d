"""Issues as a document: each with its evidence and its repairs, the gravest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mlcli.core.findings import GRAVITIES, PLACES, Issue, by_gravity, is_serious
from mlcli.core.names import counted
from mlcli.report.document import Document, Element, Heading, Preformatted, Sentence, Style, explained


def issues_of(issues: Sequence[Issue], everything: bool) -> Document:
    """Each issue under its code, the gravest first; advice only where everything is requested."""
    styles: dict[str, Style] = {"grave": "bad", "warning": "strong", "advice": ""}
    elements: list[Element] = []
    for issue in by_gravity(issues):
        if not (everything or is_serious(issue)):
            continue
        elements += [
            Heading(f"{issue.gravity}: {issue.code}"),
            Sentence(issue.sentence, styles[issue.gravity]),
            *explained(issue.shown),
        ]
        lines = [f"evidence: {issue.evidence}"] if issue.evidence else []
        for number, repair in enumerate(issue.repairs):
            lines.append(f"{'or' if number else 'repair'} {PLACES[repair.place]}:")
            lines += [f"    {line}" for line in repair.text.splitlines()]
        elements.append(Preformatted(tuple(lines)))
    return tuple(elements)


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
