"""What inner splits chose in each split: values, inner score, how often each was chosen, what lies at an edge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from mlcli.core.findings import Choices, Entry
from mlcli.experiment.run.split_results import SplitResult
from mlcli.report.document import Element, Heading, explained, grid, notes
from mlcli.report.numbers import DIGITS
from mlcli.scoring.model_results import Group, choices_of

MOST_SPLITS = 20
"""With more splits than this, only how often each choice was made is shown."""
MOST_CHOICES = 5


def choices_in(group: Group) -> Iterator[Element]:
    """A table for each model that chooses by inner splits."""
    for result, name in group.items():
        if choices := choices_of(result):
            yield from _choice_elements(name, choices)


def _choice_elements(title: str, choices: Sequence[tuple[SplitResult, Choices]]) -> Iterator[Element]:
    names = tuple(dict.fromkeys(name for _, chosen in choices for name in chosen.names))
    header = ("split", *names, f"inner {choices[0][1].metric}")
    yield Heading(f"{title}: chosen by inner splits")
    if len(choices) <= MOST_SPLITS:
        rows = []
        for split, chosen in choices:
            marked = zip(chosen.names, chosen.values, chosen.edges, strict=True)
            texts = {name: _value_text(value) + "*" * bool(edge) for name, value, edge in marked}
            # Where rows are too few for inner splits, nothing is chosen.
            rows.append((split.label, *(texts.get(name, "") for name in names), _value_text(chosen.score)))
        yield grid(header, rows, right=range(1, len(header)))
    every = [chosen for _, chosen in choices]
    yield notes(*_frequency_notes(every), *_edge_notes(every))
    if len(choices) == 1:
        yield from explained(finding for finding in choices[0][0].explanation if finding.code == "candidates")


def _frequency_notes(choices: Sequence[Choices]) -> Iterator[str]:
    texts = (
        ", ".join(f"{name}={_value_text(value)}" for name, value in zip(chosen.names, chosen.values, strict=True))
        for chosen in choices
    )
    counts = Counter(texts).most_common()
    if len(choices) > 1 and counts[0][1] > 1:
        most = "; ".join(f"{text} in {count}" for text, count in counts[:MOST_CHOICES])
        more = f", {len(counts) - MOST_CHOICES} others" if len(counts) > MOST_CHOICES else ""
        yield f"chosen most often, of {len(choices)} splits: {most}{more}"
    elif len(choices) > 1:
        yield f"each of {len(choices)} splits chose differently"


def _edge_notes(choices: Sequence[Choices]) -> Iterator[str]:
    edges = Counter(
        (name, edge) for chosen in choices for name, edge in zip(chosen.names, chosen.edges, strict=True) if edge
    )
    for (name, edge), count in edges.items():
        yield f"{name} was the {edge} value tried in {count} of {len(choices)} splits: try values beyond it"
    if edges:
        yield "* is at the end of the range that was searched"


def _value_text(value: Entry) -> str:
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value)
