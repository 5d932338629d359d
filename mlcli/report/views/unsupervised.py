"""Clusters beside labels and by their number, the axes of projections, and association rules."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from mlcli.core import findings
from mlcli.core.findings import Bars, Points
from mlcli.core.names import counted
from mlcli.experiment.spec.cells import WHOLE
from mlcli.metrics.scores.unsupervised import contingency
from mlcli.report.document import (
    UNIT_DECIMALS,
    Element,
    Grid,
    Heading,
    Sentence,
    explained,
    fixed,
    grid_of_numbers,
    notes,
    share,
    short,
)
from mlcli.scoring.clusters import Elbow, elbows_in, first_answers, profile_tables
from mlcli.scoring.differences import best_in
from mlcli.scoring.kinds import rules_of
from mlcli.scoring.model_results import Group, ModelResult
from mlcli.scoring.plots import histogram
from mlcli.tasks.association import RuleAnswers
from mlcli.tasks.clustering import READING, SHOWN, ClusterAnswers, only_largest


def clustering_elements(group: Group) -> Iterator[Element]:
    """The elbow of each model that was given several numbers of clusters, and what the clusters are made of."""
    elbows = elbows_in(group)
    yield from inertia_curves(group)
    # Of the models of a curve, only the best is drawn.
    hidden = {result for elbow in elbows for result in elbow.models.values() if result is not elbow.best}
    drawn = [result for result in group if result not in hidden]
    for result in drawn:
        yield Heading(": ".join(filter(None, (group[result], result.first_split))))
        yield _label_cluster_grid(first_answers(result))
        yield from explained(_top_profiles(result))
    remarks: list[str] = []
    if any((first_answers(result).truth >= 0).any() for result in drawn):
        remarks.append("label \\ cluster: the label, which no fit has seen, and how its rows fall into clusters")
    if any(_top_profiles(result) for result in drawn):
        remarks.append(READING)
    most = max((first_answers(result).clusters for result in drawn), default=0)
    if most > SHOWN:
        remarks.append(only_largest(most))
    if elbows:
        remarks.append(f"of the models of a curve, the best by {drawn[0].metrics[0].name} is shown")
    yield notes(*remarks)


def _top_profiles(result: ModelResult) -> list[findings.Table]:
    """The columns that differ most between clusters, where the scored rows are the training rows."""
    shown, tables = 5, []
    for table in profile_tables(result.splits[0]) if result.cell.protocol.use == WHOLE else []:
        left_out = len(table.rows) - shown
        note = f"{counted(left_out, 'more column')} that differ less: mlcli train" if left_out > 0 else ""
        tables.append(replace(table, rows=table.rows[:shown], note=note))
    return tables


def _label_cluster_grid(answers: ClusterAnswers) -> Grid:
    """The number of rows in each cluster, by label if there are labels."""
    clusters = np.unique(answers.cluster).tolist()[:SHOWN]
    sizes = np.bincount(answers.cluster, weights=answers.weights, minlength=answers.clusters)
    rows: list[list[str]] = []
    is_labelled = bool((answers.truth >= 0).any())
    if is_labelled:
        for label, counts in zip(answers.classes, contingency(answers), strict=True):
            total = counts.sum()
            texts = (
                short(counts[k]) + (f" ({share(counts[k], total)})" if counts[k] > 0 else "") for k in clusters
            )
            rows.append([label, *texts, short(total)])
    rows.append(["rows", *(short(sizes[k]) for k in clusters), short(sizes.sum())])
    return grid_of_numbers(["label \\ cluster" if is_labelled else "cluster", *map(str, clusters), "all"], rows)


def inertia_curves(group: Group) -> Iterator[Element]:
    """The inertia by the number of clusters of each model that was given several, and where its elbow is."""
    for elbow in elbows_in(group):
        number, result = next(iter(elbow.models.items()))
        title = group[result].replace(f" clusters={number}", "")
        percents = tuple(f"{100 * part:.1f} %" for part in elbow.shares.values())
        yield Heading(f"{title}: inertia (within-cluster sum of squares) by number of clusters")
        yield Bars(
            "",
            ("clusters", "wcss", "of the total"),
            tuple(map(str, elbow.inertia)),
            tuple(elbow.inertia.values()),
            (percents,),
        )
        yield Sentence(_elbow_sentence(elbow))


def _elbow_sentence(elbow: Elbow) -> str:
    if elbow.code == "missing-numbers":
        return "An elbow is looked for where every number of clusters from 2 on is there."
    if elbow.code == "straight":
        return "No elbow: no number of clusters lies below the straight line from one cluster to the last."
    left, expected = fixed(100 * elbow.shares[elbow.at], 1), fixed(100 / elbow.at, 1)
    where = f"at {elbow.at} clusters, with {left} % of the inertia left where 1/k would leave {expected} %."
    if elbow.code == "like-1/k":
        return f"No elbow: the curve is like 1/k. It bends most {where}"
    if elbow.code == "clear":
        return f"The elbow is {where}"
    first, last = elbow.range
    return f"The elbow is {where} It is uncertain: {first} to {last} clusters lie nearly as far below the line."


def profiles_of_best(group: Group) -> Iterator[Element]:
    """The clusters that the best density has found in the first split."""
    best = best_in(group)
    if best and (tables := profile_tables(best.splits[0])):
        learned_in = f", as learned in {best.first_split}" if best.first_split else ""
        yield Heading(group[best] + learned_in)
        yield from explained(tables)


def axes_of(group: Group) -> Iterator[Element]:
    """A scree plot and loadings; models with the same axes share them, shown for the one that keeps the most."""
    shown: dict[object, tuple[ModelResult, Bars, findings.Table]] = {}
    for result in group:
        by_code = {finding.code: finding for finding in result.splits[0].explanation}
        scree, loadings = by_code.get("scree"), by_code.get("loadings")
        if isinstance(scree, Bars) and isinstance(loadings, findings.Table):
            before = shown.get(scree.values)
            if before is None or len(before[2].header) < len(loadings.header):
                shown[scree.values] = result, scree, loadings
    for result, scree, loadings in shown.values():
        title = ": ".join(filter(None, (group[result], result.first_split)))
        most = 5  # components beside each other; mlcli train shows all of them
        left_out = len(loadings.header) - 1 - most
        if left_out > 0:
            note = f"{loadings.note} {counted(left_out, 'more component')}: mlcli train shows them".strip()
            rows = tuple(row[: most + 1] for row in loadings.rows)
            loadings = replace(loadings, header=loadings.header[: most + 1], rows=rows, note=note)
        yield from explained(
            [replace(scree, title=f"{title}: scree"), replace(loadings, title=f"{title}: loadings")]
        )


def errors_of(group: Group) -> Iterator[Element]:
    """The reconstruction error of the rows, by each model."""
    errors = [(name, np.sqrt(result.answers.error)) for result, name in group.items()]
    title = "Reconstruction error of rows"
    yield from explained([histogram(title, "distance from a row to its reconstruction", errors, 20)])


def rules_in(title: str, answers: RuleAnswers) -> Iterator[Element]:
    """The first rules, with their measures on test rows."""
    yield Heading(title)
    if not answers.when:
        yield Sentence("no rule was found")
        return
    rows: list[list[str]] = []
    for rule in list(rules_of(answers))[:10]:
        is_never_wrong = rule.confidence is not None and rule.conviction is None
        cells = [
            rule.when,
            rule.then,
            _measure_text(rule.support),
            _measure_text(rule.confidence),
            _measure_text(rule.lift),
            "never wrong" if is_never_wrong else _measure_text(rule.conviction),
            _measure_text(rule.learned.support),
            _measure_text(rule.learned.lift),
        ]
        rows.append(cells if rule.found_in is None else [*cells, str(rule.found_in)])
    header = ("if", "then", "support", "confidence", "lift", "conviction", "training support", "training lift")
    yield grid_of_numbers((*header, "found in")[: len(rows[0])], rows, keys=2)
    more = len(answers.when) - len(rows)
    yield notes(
        "measured on the scored rows, except for the training columns; conviction: how often the rule would be "
        "wrong by chance, divided by how often it is wrong",
        *([f"{more} more rules"] if more else []),
    )


def _measure_text(value: float | None) -> str:
    return "-" if value is None else fixed(value, UNIT_DECIMALS)


def rules_in_plane(group: Group) -> Iterator[Element]:
    """A point for each rule of each model, by its measures on the scored rows."""
    points: list[tuple[str, Sequence[tuple[float, float]]]] = []
    for result, name in group.items():
        rules = rules_of(result.answers) if result.answers.when else ()
        measures = tuple((rule.support, rule.confidence) for rule in rules if rule.confidence is not None)
        if result.answers.when:
            points.append((name, measures))
    if points:
        yield Heading("Rules by support and confidence")
        groups = tuple((name, tuple(measures)) for name, measures in points)
        yield Points("", "support in scored rows", "confidence in scored rows", groups)
