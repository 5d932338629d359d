"""Groups beside labels, and the sum of squares that is left by the number of groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mlcli.core.tables import Array
from mlcli.core.unsupervised_answers import ClusterAnswers
from mlcli.metrics.scores.clusters import contingency
from mlcli.report.document import Block, Cell, Content, Heading, Sentence, grid, notes
from mlcli.report.numbers import fixed, lined_up, short
from mlcli.report.scored import Scored, judged

FEWEST_NUMBERS = 4
"""Numbers of groups, one group included, that make a curve."""
BAR = 30


def groups_of(title: str, scored: Scored) -> Iterator[Block]:
    """How many rows each group has and, where there are labels, which: in counts and in shares of a row."""
    splits = judged(scored.result)
    answers = splits[0]
    assert isinstance(answers, ClusterAnswers)
    which = "" if len(splits) == 1 else f": {scored.result.splits[0].label} of {len(splits)}"
    yield Heading(f"{title}{which}")
    yield from _matrix(answers)


def _matrix(answers: ClusterAnswers) -> Iterator[Block]:
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
    yield grid(header, rows, right=range(1, len(header)))
    if labelled:
        yield notes("rows: the label, which no fit has seen; columns: the group, with its share of the row")


def _share(counts: Array, group: int) -> str:
    total = counts.sum()
    share = f" ({counts[group] / total:.0%})".replace("%", " %") if total > 0 and counts[group] > 0 else ""
    return f"{short(counts[group])}{share}"


def elbows_of(group: Sequence[Scored], names: Mapping[Scored, str]) -> Iterator[Block]:
    """For each model that has several numbers of groups: what they leave, and where the curve bends."""
    series: dict[str, list[Scored]] = {}
    for one in group:
        if one.done and "clusters" in one.result.cell.model.params:
            series.setdefault(_but_for_clusters(one), []).append(one)
    for several in series.values():
        left = {int(one.result.cell.model.params["clusters"]): one for one in several}
        if len(left | {1: None}) >= FEWEST_NUMBERS:
            first = several[0].result.cell.model.params["clusters"]
            title = names[several[0]].replace(f" clusters={first}", "")
            yield from _elbow(title, dict(sorted(left.items())))


def _but_for_clusters(one: Scored) -> str:
    """What cells of one curve share: all but the number of groups."""
    cell = one.result.cell
    params = {name: value for name, value in cell.model.params.items() if name != "clusters"}
    return repr((cell.model.use, sorted(params.items(), key=repr), cell.steps, cell.protocol))


def _elbow(title: str, series: Mapping[int, Scored]) -> Iterator[Block]:
    sums = {clusters: _sums(one) for clusters, one in series.items()}
    shares = {clusters: within / total if total > 0 else 0.0 for clusters, (within, total) in sums.items()}
    written = lined_up([within for within, _ in sums.values()])
    rows: list[list[Content]] = [
        [str(clusters), wcss, f"{100 * share:.1f} %", "█" * round(BAR * share)]
        for (clusters, share), wcss in zip(shares.items(), written, strict=True)
    ]
    yield Heading(f"{title}: what is left by the number of groups")
    yield grid(["groups", "wcss", "of one group", ""], rows, right=(0, 1, 2))
    yield Sentence(_where_it_bends(shares))


def _sums(one: Scored) -> tuple[float, float]:
    """The sum of squares within groups and in all, of the mean split."""
    splits: Sequence[Any] = judged(one.result)
    within = np.mean([answers.weights @ answers.to_centre for answers in splits])
    between = np.mean([answers.weights @ answers.centre_to_all for answers in splits])
    return float(within), float(within + between)


def _where_it_bends(shares: Mapping[int, float]) -> str:
    """The number farthest below the straight line from one group to the last; none where the curve is like 1/k."""
    curve = {1: 1.0, **shares}
    last = max(curve)
    if len(curve) < last:
        return "Where the curve bends is looked for when every number of groups from 2 on is there."
    line = {clusters: 1.0 - (1.0 - curve[last]) * (clusters - 1) / (last - 1) for clusters in curve}
    bend = max(sorted(curve), key=lambda clusters: line[clusters] - curve[clusters])
    if curve[bend] >= 1.0 / bend:
        return "No elbow: the curve falls no faster than 1/k."
    left, hyperbola = fixed(100 * curve[bend], 1), fixed(100 / bend, 1)
    return f"The elbow is at {bend} groups, with {left} % left where 1/k would leave {hyperbola} %."
