"""What a model makes of its columns: coefficients in different units, misleading importances, no use at all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.checks.diagnosed import Diagnosed
from mlcli.checks.repairs import without
from mlcli.checks.suggestions import text_behind_steps
from mlcli.core.findings import Finding, FindingCode, Table
from mlcli.core.issues import Issue, Repair
from mlcli.core.names import listed
from mlcli.core.schema import Column
from mlcli.core.tables import Array
from mlcli.experiment.spec.cells import StepSpec

"""The titles under which models say what they make of columns."""
SCALERS = {"standardise", "min-max", "robust-scale", "norm", "pca", "factor-analysis"}
UNITS = 100.0
"""Columns that are spread so many times as widely as others cannot have coefficients that compare."""
ALIKE = 0.95
MUCH = 0.1
"""The share of all gains from which a column counts as important."""
LITTLE = 0.002
"""The part of the score that a column must be worth to be of use."""
FEWEST_USELESS = 0.2
MANY_VALUES = 20
NOTHING = 0.05
"""What a column says of the target alone, as a part of all there is to say, is nothing below this."""


def unscaled_coefficients(diagnosed: Diagnosed) -> Iterator[Issue]:
    """Coefficients of columns in different units, which cannot be compared."""
    if _finding_of(diagnosed, "coefficients") is None or SCALERS & {step.use for step in diagnosed.cell.steps}:
        return
    spreads = {column.name: float(np.nanstd(_cells(diagnosed, column))) for column in _numeric_columns(diagnosed)}
    spreads = {name: spread for name, spread in spreads.items() if spread > 0}
    if spreads and max(spreads.values()) > UNITS * min(spreads.values()):
        scaled = text_behind_steps(diagnosed.cell.model, (StepSpec("standardise"), *diagnosed.cell.steps))
        wide, narrow = max(spreads, key=spreads.__getitem__), min(spreads, key=spreads.__getitem__)
        yield Issue(
            "advice",
            "coefficients of columns in different units cannot be compared",
            f"'{wide}' is spread by {spreads[wide]:.3g}, '{narrow}' by {spreads[narrow]:.3g}",
            (Repair("option", f"-m '{scaled}'"),),
            (wide, narrow),
        )


def misleading_importances(diagnosed: Diagnosed) -> Iterator[Issue]:
    """Columns of many values that trees ask about often, and that are worth nothing on rows not seen."""
    table = _finding_of(diagnosed, "importance")
    if not isinstance(table, Table) or diagnosed.importance is None:
        return
    shares = {str(row[0]): row[1] for row in table.rows if isinstance(row[1], float)}
    matches = [
        column.name
        for column in diagnosed.dataset.schema.features()
        if shares.get(column.name, 0) >= MUCH
        and len(np.unique(_cells(diagnosed, column))) >= MANY_VALUES
        and diagnosed.alone.get(column.name, 1.0) <= NOTHING
        and diagnosed.importance.lost_without([column.name]) <= 0
    ]
    if matches:
        gains = ", ".join(f"{name} {shares[name]:.0%}" for name in matches)
        yield Issue(
            "advice",
            f"importance by gains misleads for columns of many values: {listed(matches)}",
            f"of the total gain in training {gains}; alone each tells nothing, and rows not seen do not miss it",
            (without(matches),),
            tuple(matches),
        )


def correlated_columns(diagnosed: Diagnosed) -> Iterator[Issue]:
    """Columns so alike that coefficients and importances are shared between them by chance."""
    if _finding_of(diagnosed, "coefficients") is None and _finding_of(diagnosed, "importance") is None:
        return
    columns = [column for column in _numeric_columns(diagnosed) if not column.missing]
    cells = (
        np.stack([_cells(diagnosed, column) for column in columns], axis=1)
        if len(columns) > 1
        else np.empty((0, 0))
    )
    if not cells.size or not (spread := cells.std(axis=0)).all():
        return
    scaled = (cells - cells.mean(axis=0)) / spread
    alike = np.triu(np.abs(scaled.T @ scaled / len(scaled)), 1)
    pairs = np.argwhere(alike > ALIKE).tolist()
    if pairs:
        order = sorted(pairs, key=lambda pair: -alike[pair[0], pair[1]])
        rows = tuple((columns[a].name, columns[b].name, float(alike[a, b])) for a, b in order[:10])
        drop = list(dict.fromkeys(columns[b].name for _, b in order))
        yield Issue(
            "advice",
            f"{len(pairs)} pairs of columns correlate so strongly that their importances are shared by chance",
            f"'{rows[0][0]}' and '{rows[0][1]}' correlate by {rows[0][2]:.3f}",
            (without(drop),),
            tuple(dict.fromkeys(name for row in rows for name in row[:2])),
            (Table("Correlated columns", ("column", "and", "correlation"), rows),),
        )


def useless_columns(diagnosed: Diagnosed) -> Iterator[Issue]:
    """Columns without which the model would answer rows that it has not seen as well."""
    if diagnosed.importance is None:
        return
    features = [column.name for column in diagnosed.dataset.schema.features()]
    scale = LITTLE * max(abs(diagnosed.importance.score), 1e-12)
    text = [name for name in features if diagnosed.importance.lost.get(name, 1.0) <= scale]
    if not max(2, FEWEST_USELESS * len(features)) <= len(text) < len(features):
        return
    lost = diagnosed.importance.lost_without(text)
    if lost <= scale:
        yield Issue(
            "advice",
            f"{len(text)} of {len(features)} columns are of no use to {diagnosed.cell.label}: {listed(text)}",
            f"{diagnosed.metric.name} on rows not seen is {diagnosed.importance.score:.4g} with them, and "
            f"{'no worse' if lost <= 0 else f'worse by {lost:.2g}'} when learned without all of them",
            (without(text),),
            tuple(text),
        )


def _finding_of(diagnosed: Diagnosed, code: FindingCode) -> Finding | None:
    return next((finding for finding in diagnosed.explanation if finding.code == code), None)


def _numeric_columns(diagnosed: Diagnosed) -> list[Column]:
    return [column for column in diagnosed.dataset.schema.features() if not column.coded]


def _cells(diagnosed: Diagnosed, column: Column) -> Array:
    return diagnosed.dataset.table.cells(column.name).astype(np.float64)
