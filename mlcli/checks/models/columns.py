"""What a model makes of its columns: coefficients in different units, misleading importances, no use at all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.checks.context import without
from mlcli.checks.diagnosed import Diagnosed
from mlcli.checks.suggestions import text_behind_steps
from mlcli.core.findings import Finding, FindingCode, Issue, Repair, Table
from mlcli.core.names import listed
from mlcli.core.schema import Column
from mlcli.core.tables import Array
from mlcli.experiment.spec.cells import StepSpec


def unscaled_coefficients(diagnosed: Diagnosed) -> Iterator[Issue]:
    """Coefficients of columns in different units, which cannot be compared."""
    scalers = {"standardise", "min-max", "robust-scale", "norm", "pca", "factor-analysis"}
    if _finding_of(diagnosed, "coefficients") is None or scalers & {step.use for step in diagnosed.cell.steps}:
        return
    spreads = {column.name: float(np.nanstd(_cells(diagnosed, column))) for column in _numeric_columns(diagnosed)}
    spreads = {name: spread for name, spread in spreads.items() if spread > 0}
    if spreads and max(spreads.values()) > 100 * min(spreads.values()):
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
    """Columns of many values that trees split on often, and that are worth nothing on test rows."""
    table = _finding_of(diagnosed, "importance")
    if not isinstance(table, Table) or diagnosed.importance is None:
        return
    shares = {str(row[0]): row[1] for row in table.rows if isinstance(row[1], float)}
    names = [
        column.name
        for column in diagnosed.dataset.schema.features()
        if shares.get(column.name, 0) >= 0.1
        and len(np.unique(_cells(diagnosed, column))) >= 20
        and diagnosed.alone.get(column.name, 1.0) <= 0.05
        and diagnosed.importance.lost_without([column.name]) <= 0
    ]
    if names:
        gains = ", ".join(f"{name} {shares[name]:.0%}" for name in names)
        yield Issue(
            "advice",
            f"importance by gains misleads for columns of many values: {listed(names)}",
            f"of the total gain in training {gains}; alone each tells nothing, and test rows do not miss it",
            (without(names),),
            tuple(names),
        )


def correlated_columns(diagnosed: Diagnosed) -> Iterator[Issue]:
    """Columns so alike that coefficients and importances are shared between them by chance."""
    if _finding_of(diagnosed, "coefficients") is None and _finding_of(diagnosed, "importance") is None:
        return
    columns = [column for column in _numeric_columns(diagnosed) if not column.missing]
    if len(columns) < 2:
        return
    cells = np.stack([_cells(diagnosed, column) for column in columns], axis=1)
    spread = cells.std(axis=0)
    if not spread.all():
        return
    scaled = (cells - cells.mean(axis=0)) / spread
    alike = np.triu(np.abs(scaled.T @ scaled / len(scaled)), 1)
    pairs = np.argwhere(alike > 0.95).tolist()
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
    """Columns without which the model would predict test rows as well."""
    if diagnosed.importance is None:
        return
    features = [column.name for column in diagnosed.dataset.schema.features()]
    little = 0.002 * max(abs(diagnosed.importance.score), 1e-12)
    useless = [name for name in features if diagnosed.importance.lost.get(name, 1.0) <= little]
    if not max(2, 0.2 * len(features)) <= len(useless) < len(features):
        return
    lost = diagnosed.importance.lost_without(useless)
    if lost <= little:
        of_no_use = f"{len(useless)} of {len(features)} columns are of no use"
        yield Issue(
            "advice",
            f"{of_no_use} to {diagnosed.cell.label}: {listed(useless)}",
            f"{diagnosed.metric.name} on test rows is {diagnosed.importance.score:.4g} with them, and "
            f"{'no worse' if lost <= 0 else f'worse by {lost:.2g}'} when learned without all of them",
            (without(useless),),
            tuple(useless),
        )


def _finding_of(diagnosed: Diagnosed, code: FindingCode) -> Finding | None:
    return next((finding for finding in diagnosed.explanation if finding.code == code), None)


def _numeric_columns(diagnosed: Diagnosed) -> list[Column]:
    return [column for column in diagnosed.dataset.schema.features() if not column.coded]


def _cells(diagnosed: Diagnosed, column: Column) -> Array:
    return diagnosed.dataset.table.cells(column.name).astype(np.float64)
