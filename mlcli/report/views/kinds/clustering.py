"""Clusters beside labels, the columns by which they differ, and the inertia by the number of clusters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.findings import Bars
from mlcli.core.names import counted
from mlcli.core.tables import Array
from mlcli.engines.principal_components import elbow_of_curve, range_of_elbow
from mlcli.experiment.run.split_results import SplitResult
from mlcli.experiment.spec.cells import WHOLE
from mlcli.metrics.scores.clusters import contingency
from mlcli.report.document import Element, Grid, Heading, Sentence, explained, grid_of_numbers, notes
from mlcli.report.numbers import fixed, share, short
from mlcli.report.scoring.differences import best_in, best_of
from mlcli.report.scoring.scored import Group, Scored, judged_answers
from mlcli.tasks.cluster_profiles import PROFILES, READING, SHOWN, only_largest
from mlcli.tasks.clustering import ClusterAnswers

FEWEST_NUMBERS = 4
"""Numbers of clusters, one cluster included, that make a curve."""
LIKE_HYPERBOLA = 0.85
"""A curve that lies no farther below 1/k is like it: nearly always that of points spread evenly over a square."""
COLUMNS = 5
"""Columns that are shown, of those that differ most between clusters."""

Elbow = Mapping[int, Scored]
"""By the number of clusters, models that are alike but for it."""


def clustering_elements(group: Group) -> Iterator[Element]:
    """The elbow of each model that was given several numbers of clusters, and what the clusters are made of."""
    elbows = _elbows_in(group)
    yield from inertia_curves(group)
    beside = {one for elbow in elbows for one in elbow.values() if one is not _best_of_elbow(elbow)}
    drawn = [one for one in group if one not in beside]
    for one in drawn:
        yield from _cluster_elements(group[one], one)
    yield notes(*_readings(drawn, elbows))


def inertia_curves(group: Group) -> Iterator[Element]:
    """The inertia by the number of clusters of each model that was given several, and where its elbow is."""
    for elbow in _elbows_in(group):
        number, one = next(iter(elbow.items()))
        yield from _elbow_elements(group[one].replace(f" clusters={number}", ""), elbow)


def _readings(drawn: Sequence[Scored], elbows: Sequence[Elbow]) -> Iterator[str]:
    """How to read what is drawn, once for all models."""
    if any((_first_answers(one).truth >= 0).any() for one in drawn):
        yield "label \\ cluster: the label, which no fit has seen, and how its rows fall into clusters"
    if any(_top_profiles(one) for one in drawn):
        yield READING
    most = max((_first_answers(one).clusters for one in drawn), default=0)
    if most > SHOWN:
        yield only_largest(most)
    if elbows:
        yield f"of the models of a curve, the best by {drawn[0].metrics[0].name} is shown"


def _cluster_elements(title: str, one: Scored) -> Iterator[Element]:
    """How many rows each cluster has, and which labels where there are any; by which columns clusters differ."""
    yield Heading(": ".join(filter(None, (title, one.first_split))))
    yield _label_cluster_grid(_first_answers(one))
    yield from explained(_top_profiles(one))


def _top_profiles(one: Scored) -> list[findings.Table]:
    """The columns that differ most between clusters, where these are of the rows that were learned from."""
    # Only there does what a model says of its clusters fit the rows that are judged.
    tables = cluster_profile(one.result.splits[0]) if one.cell.protocol.use == WHOLE else []
    return [replace(table, rows=table.rows[:COLUMNS], note=_left_out_note(table)) for table in tables]


def cluster_profile(split: SplitResult) -> list[findings.Table]:
    """What a model has said of how its clusters look."""
    found = (one for one in split.explanation if one.title in PROFILES)
    return [table for table in found if isinstance(table, findings.Table)]


def _left_out_note(table: findings.Table) -> str:
    left = len(table.rows) - COLUMNS
    return f"{counted(left, 'more column')} that differ less: mlcli train" if left > 0 else ""


def _first_answers(one: Scored) -> ClusterAnswers:
    """The answers of the first split: the clusters of others need not be the same."""
    answers = judged_answers(one.result)[0]
    assert isinstance(answers, ClusterAnswers)
    return answers


def _label_cluster_grid(answers: ClusterAnswers) -> Grid:
    present = np.unique(answers.cluster).tolist()[:SHOWN]
    sizes = np.bincount(answers.cluster, weights=answers.weights, minlength=answers.clusters)
    labelled = bool((answers.truth >= 0).any())
    of_labels = zip(answers.classes, contingency(answers), strict=True) if labelled else ()
    rows = [
        [label, *(_share_text(row, cluster) for cluster in present), short(row.sum())] for label, row in of_labels
    ]
    rows.append(["rows", *(short(sizes[one]) for one in present), short(sizes.sum())])
    return grid_of_numbers(["label \\ cluster" if labelled else "cluster", *map(str, present), "all"], rows)


def _share_text(counts: Array, cluster: int) -> str:
    count = counts[cluster]
    return f"{short(count)} ({share(count, counts.sum())})" if count > 0 else short(count)


def _elbows_in(group: Iterable[Scored]) -> list[Elbow]:
    """The models that differ in their number of clusters alone, where there are enough of them."""
    series: dict[str, list[Scored]] = {}
    for one in group:
        if "clusters" in one.cell.model.params:
            series.setdefault(_key_without_clusters(one), []).append(one)
    found = [{int(one.cell.model.params["clusters"]): one for one in several} for several in series.values()]
    return [dict(sorted(curve.items())) for curve in found if len(curve | {1: None}) >= FEWEST_NUMBERS]


def _best_of_elbow(elbow: Elbow) -> Scored:
    first = next(iter(elbow.values()))
    return best_of(elbow.values(), first.metrics[0]) or first


def _key_without_clusters(one: Scored) -> str:
    """What cells of one curve share: all but the number of clusters."""
    cell = one.cell
    params = {name: value for name, value in cell.model.params.items() if name != "clusters"}
    return repr((cell.model.use, sorted(params.items(), key=repr), cell.steps, cell.protocol))


def _elbow_elements(title: str, elbow: Elbow) -> Iterator[Element]:
    sums = {clusters: _sums_of_squares(one) for clusters, one in elbow.items()}
    _, total = next(iter(sums.values()))
    left = {1: total, **{clusters: within for clusters, (within, _) in sums.items()}}
    shares = {clusters: within / total if total > 0 else 0.0 for clusters, within in left.items()}
    percents = tuple(f"{100 * share:.1f} %" for share in shares.values())
    header = ("clusters", "wcss", "of the total")
    yield Heading(f"{title}: inertia (within-cluster sum of squares) by number of clusters")
    yield Bars("", header, tuple(map(str, left)), tuple(left.values()), (percents,))
    yield Sentence(_bend_sentence(shares))


def _sums_of_squares(one: Scored) -> tuple[float, float]:
    """The sum of squares within clusters and in all, of the mean split."""
    splits: Sequence[Any] = judged_answers(one.result)
    within = np.mean([answers.weights @ answers.to_centre for answers in splits])
    between = np.mean([answers.weights @ answers.centre_to_all for answers in splits])
    return float(within), float(within + between)


def _bend_sentence(curve: Mapping[int, float]) -> str:
    """The number farthest below the straight line from 1 to the last; none where none is, or all is like 1/k."""
    last = max(curve)
    if len(curve) < last:
        return "An elbow is looked for where every number of clusters from 2 on is there."
    shares = np.array([curve[clusters] for clusters in sorted(curve)])
    bend = elbow_of_curve(shares)
    if bend is None:
        return "No elbow: no number of clusters lies below the straight line from one cluster to the last."
    percents = fixed(100 * curve[bend], 1), fixed(100 / bend, 1)
    left = "at {} clusters, with {} % of the inertia left where 1/k would leave {} %.".format(bend, *percents)
    if curve[bend] > LIKE_HYPERBOLA / bend:
        return f"No elbow: the curve is like 1/k. It bends most {left}"
    first, last = range_of_elbow(shares)
    if first == last:
        return f"The elbow is {left}"
    return f"The elbow is {left} It is uncertain: {first} to {last} clusters lie nearly as far below the line."


def profiles_of_best(group: Group) -> Iterator[Element]:
    """What the clusters look like that the best density has told apart, as the first split has found them."""
    best = best_in(group)
    if best and (found := cluster_profile(best.result.splits[0])):
        learned_in = f", as learned in {best.first_split}" if best.first_split else ""
        yield Heading(group[best] + learned_in)
        yield from explained(found)
