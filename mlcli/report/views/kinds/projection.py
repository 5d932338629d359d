"""The axes that projections have found in the first split: how much lies along each, and what it is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.names import counted
from mlcli.core.rows import evenly_spaced
from mlcli.experiment.run.learner import Trained
from mlcli.report.document import Element, explained
from mlcli.report.views.dataset import histogram
from mlcli.report.views.kinds.clustering import in_plane_and_space
from mlcli.scoring.model_results import Group, ModelResult
from mlcli.tasks.unsupervised import UNKNOWN

BINS = 20
MOST_POINTS = 1_000
MOST_COMPONENTS = 5
"""More loadings beside each other than these are left to ``mlcli train``."""

Axes = tuple[findings.Bars, findings.Table]


def axes_of(group: Group) -> Iterator[Element]:
    """A scree plot and loadings; models with the same axes share them, shown for the one that keeps the most."""
    tables: dict[object, tuple[ModelResult, Axes]] = {}
    for result in group:
        if (axes := _axes(result)) is None:
            continue
        scree, loadings = axes
        known = tables.get(scree.values)
        if known is None or len(known[1][1].header) < len(loadings.header):
            tables[scree.values] = result, axes
    for result, (scree, loadings) in tables.values():
        where = ": ".join(filter(None, (group[result], result.first_split)))
        titled = (
            replace(scree, title=f"{where}: scree"),
            replace(_first_components(loadings), title=f"{where}: loadings"),
        )
        yield from explained(titled)


def errors_of(group: Group) -> Iterator[Element]:
    """How much of each row is lost, by each model."""
    lost = [(name, np.sqrt(result.answers.error)) for result, name in group.items()]
    yield from explained(
        [histogram("Reconstruction error of rows", "distance from a row to its reconstruction", lost, BINS)]
    )


def rows_in_components(trained: Trained) -> findings.Explanation:
    """The rows in the new columns, those of each class for themselves where there are some."""
    final: Any = trained.pipeline.final
    places = final.project(trained.pipeline.prepared(trained.rows.table))
    axes = [f"component {index + 1}" for index in range(min(3, places.shape[1]))]
    subset, labels = evenly_spaced(len(places), MOST_POINTS), trained.rows.labels
    classes = dict(enumerate(trained.rows.classes)) | {UNKNOWN: "rows"}
    groups = {name: places[subset[labels[subset] == code]] for code, name in classes.items()}
    return tuple(in_plane_and_space("Rows", axes, {name: group for name, group in groups.items() if len(group)}))


def _axes(model_result: ModelResult) -> Axes | None:
    """What the model of the first split says of its axes, if it has any; steps before it may have some as well."""
    results = {finding.code: finding for finding in model_result.splits[0].explanation}
    scree, loadings = results.get("scree"), results.get("loadings")
    if isinstance(scree, findings.Bars) and isinstance(loadings, findings.Table):
        return scree, loadings
    return None


def _first_components(loadings: findings.Table) -> findings.Table:
    beyond = len(loadings.header) - 1 - MOST_COMPONENTS
    if beyond <= 0:
        return loadings
    kept = slice(MOST_COMPONENTS + 1)
    note = f"{loadings.note} {counted(beyond, 'more component')}: mlcli train shows them".strip()
    return replace(
        loadings, header=loadings.header[kept], rows=tuple(row[kept] for row in loadings.rows), note=note
    )
