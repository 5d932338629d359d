"""Results for scripts: one JSON document, its keys fixed, or a table with a row for each cell and every digit."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from mlcli import __version__
from mlcli.core.findings import as_json
from mlcli.core.groups import SIMILARITY
from mlcli.core.registry import MODELS
from mlcli.experiment.run.split_results import each
from mlcli.experiment.spec.cells import Cell
from mlcli.experiment.spec.labels import settings_of
from mlcli.metrics.base import Summary
from mlcli.metrics.bias_variance import Decomposition
from mlcli.metrics.confusion import Confusion
from mlcli.report.document import Document, grid
from mlcli.report.views.plan import protocol_words
from mlcli.report.views.remarks import steps_of
from mlcli.report.views.tuning import choices_as_json
from mlcli.scoring.curves import REQUESTED, Series, requested_decomposition, series_of, summaries_of
from mlcli.scoring.differences import differences_as_json, differences_of
from mlcli.scoring.model_results import Group, ModelResult, first_cell, groups_of, metrics_in
from mlcli.tasks.table import kind_named, named

ABOUT = ("dataset", "kind", "model", "parameters", "steps", "protocol", "seed", "rows", "splits", "status", "why")


def results_as_json(
    scored: Sequence[ModelResult], *, curves: bool = False, fair: bool = False, similarity: float = SIMILARITY
) -> dict[str, Any]:
    """The document of an experiment: one entry per cell, in the order of the plan."""
    from mlcli.report.views.fairness import fairness_as_json

    cells = []
    for one in scored:
        more = (_curves_as_json(one) if curves else {}) | (fairness_as_json(one, similarity) if fair else {})
        cells.append(_result_as_json(one) | more)
    return {
        "version": __version__,
        "cells": cells,
        "comparisons": [one for group in groups_of(scored) for one in _differences_in_table(group)],
        **_over_datasets_entry(scored),
    }


def _differences_in_table(group: Group) -> list[dict[str, Any]]:
    """The models of one table beside its best and its baseline, by each metric, the one that decides first."""
    cell = first_cell(group)
    every = [differences_of(group, metric) for metric in metrics_in(group)]
    return [
        {
            "dataset": cell.dataset.name,
            "kind": cell.kind,
            "seed": cell.seed,
            "metric": found.metric.name,
            "best": group[found.best],
            "chosen_among": len(found.to_best) + 1,
            "pairs": plain(differences_as_json(found, group)),
        }
        for found in every
        if found is not None and found.to_best
    ]


def _over_datasets_entry(scored: Sequence[ModelResult]) -> dict[str, Any]:
    if len({one.cell.dataset.name for one in scored}) < 2:
        return {}
    from mlcli.metrics.over_datasets import compare_over_datasets
    from mlcli.report.views.over_datasets import over_datasets_as_json, tables_over_datasets

    found = [over_datasets_as_json(compare_over_datasets(table)) for table in tables_over_datasets(scored)]
    return given({"over_datasets": found})


def cell_as_json(cell: Cell) -> dict[str, Any]:
    """What a cell asks, as plain values; ``rows`` are those that have a target, since only these are judged."""
    return {
        "dataset": cell.dataset.name,
        "kind": cell.kind,
        "model": cell.model.use,
        "label": cell.label,
        "params": plain(dict(cell.model.params)),
        "steps": [{"use": step.use, "params": plain(dict(step.params))} for step in cell.steps],
        "protocol": cell.protocol.use,
        "protocol_params": plain(dict(cell.protocol.params)),
        "seed": cell.seed,
        "rows": cell.labelled_rows,
        "rows_without_target": cell.dataset.unlabelled,
        **given({"stages": plain(cell.stages), "training": cell.training}),
        **({} if cell.model.asked else {"asked": False}),
        **({"saved": str(cell.model.saved), "rows_learned_from": cell.learned_rows} if cell.model.saved else {}),
    }


def _result_as_json(one: ModelResult) -> dict[str, Any]:
    result, cell = one.cell_result, one.cell
    findings = result.splits[0].explanation if result.splits else ()
    return {
        **cell_as_json(cell),
        "status": result.status,
        **given({"why": result.why or cell.skipped}),
        "splits": len(result.splits),
        **given({"shortcuts": result.routes()}),
        "seconds": {what: sum(each(result.splits, f"{what}_seconds")) for what in ("fit", "predict")},
        "metrics": {name: summary_as_json(summary) for name, summary in one.summaries.items()},
        **given({"training": plain(dict(one.training))}),
        **_series_as_json(one),
        **_decomposition_as_json(one),
        **(_confusion_as_json(one.confusion) if one.confusion else {}),
        **given({"classes": [plain(asdict(rates)) for rates in one.classes]}),
        **_kind_as_json(one),
        **given({"findings": [plain(as_json(finding)) for finding in findings]}),
        **choices_as_json(one),
        "notes": [*cell.dataset.notes, *result.notes],
        "warnings": list(dict.fromkeys(text for of_split in each(result.splits, "warnings") for text in of_split)),
    }


def _curves_as_json(one: ModelResult) -> dict[str, Any]:
    """ROC, precision and recall, and calibration, where there are probabilities."""
    from mlcli.report.views.kinds.classification import curves_as_findings

    return given({"curves": [plain(as_json(finding)) for finding in curves_as_findings(one)]})


def _series_as_json(one: ModelResult) -> dict[str, Any]:
    """Each metric at each value that a protocol sweeps over, and at each stage of the fits."""
    found = series_of(one)
    lines = {series.line: _values_as_json(series) for series in found if series.line}
    if lines:
        return {"lines": {"over": found[0].over, "values": lines}}
    return {series.kind: {"over": series.over, "values": _values_as_json(series)} for series in found}


def _values_as_json(series: Series) -> list[dict[str, Any]]:
    return [
        {"value": value, "metrics": {name: summary_as_json(summary) for name, summary in summaries.items()}}
        for value, summaries in summaries_of(series).items()
    ]


def _decomposition_as_json(one: ModelResult) -> dict[str, Any]:
    decomposition = requested_decomposition(one)
    return {REQUESTED: plain(asdict(decomposition))} if isinstance(decomposition, Decomposition) else {}


def _kind_as_json(one: ModelResult) -> dict[str, Any]:
    place = kind_named(one.cell.kind).json_at if one.done else ""
    added: dict[str, Any] = named(place)(one) if place else {}
    return added


def summary_as_json(summary: Summary) -> dict[str, Any]:
    """A metric with its interval, or why there is none."""
    if summary.mean is None or not math.isfinite(summary.mean):
        return {"mean": None, "why": summary.why, "splits": plain(summary.splits)}
    described = {name: plain(getattr(summary, name)) for name in ("mean", "std", "low", "high", "splits")}
    return described | given({"interval": summary.interval, "marks": list(summary.marks)})


def _confusion_as_json(matrix: Confusion) -> dict[str, Any]:
    """Counts as whole numbers, unless rows have weights."""
    counts = [[int(count) if count == int(count) else count for count in row] for row in matrix.counts.tolist()]
    return {"confusion": {"labels": list(matrix.labels), "counts": counts}}


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of which there is something to say."""
    return {key: value for key, value in values.items() if value}


def plain(value: Any) -> Any:
    """The value as JSON knows it: what is not finite is null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int | bool) else str(value)


def cells_of(cells: Sequence[ModelResult]) -> Document:
    """What each cell was, and its scores with the ends of their intervals; empty where there is none."""
    metrics = list(dict.fromkeys(metric.name for one in cells for metric in one.metrics))
    titles = (title for name in metrics for title in (name, f"{name}-low", f"{name}-high"))
    rows = ([*_about_cells(one), *_interval_cells(one, metrics), *_seconds_cells(one)] for one in cells)
    return (grid([*ABOUT, *titles, "fit-seconds", "predict-seconds"], rows, keys=3),)


def _about_cells(one: ModelResult) -> Iterator[str]:
    cell = one.cell
    yield from (cell.dataset.name, cell.kind, cell.label)
    yield "" if cell.model.saved else settings_of(cell.model, MODELS)
    yield from (steps_of(cell), protocol_words(cell))
    yield from map(str, (cell.seed, cell.labelled_rows, len(one.splits), one.status))
    yield "; ".join((one.cell_result.why or cell.skipped).splitlines())


def _interval_cells(one: ModelResult, metrics: Sequence[str]) -> Iterator[str]:
    summaries = map(one.summaries.get, metrics)
    values = (getattr(summary, end, None) for summary in summaries for end in ("mean", "low", "high"))
    return ("" if value is None else repr(float(value)) for value in values)


def _seconds_cells(one: ModelResult) -> Iterator[str]:
    return (f"{sum(each(one.splits, name)):.6f}" for name in ("fit_seconds", "predict_seconds"))
