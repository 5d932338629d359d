"""Groups beside labels: rows are the true labels, columns the groups, in counts and in shares of a row."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.core.unsupervised_answers import ClusterAnswers
from mlcli.metrics.scores.clusters import contingency
from mlcli.report.document import Block, Cell, Content, Heading, grid, notes
from mlcli.report.numbers import short


def groups_of(title: str, answers: ClusterAnswers) -> Iterator[Block]:
    """How many rows each group has and, where there are labels, which."""
    present = np.unique(answers.cluster).tolist()
    sizes = np.bincount(answers.cluster, weights=answers.weights, minlength=answers.clusters)
    labelled = bool((answers.truth >= 0).any())
    rows: list[list[Content]] = []
    if labelled:
        counts = contingency(answers)
        rows = [
            [Cell(label, "strong"), *(_share(row, group) for group in present), short(row.sum())]
            for label, row in zip(answers.classes, counts, strict=True)
        ]
    rows.append([Cell("rows", "strong"), *(short(sizes[group]) for group in present), short(sizes.sum())])
    header = ["label \\ group" if labelled else "group", *map(str, present), "all"]
    yield Heading(title)
    yield grid(header, rows, right=range(1, len(header)))
    if labelled:
        yield notes("rows: the label, which no fit has seen; columns: the group, with its share of the row")


def _share(counts: np.ndarray, group: int) -> str:
    total = counts.sum()
    share = f" ({counts[group] / total:.0%})".replace("%", " %") if total > 0 and counts[group] > 0 else ""
    return f"{short(counts[group])}{share}"
