"""Results as one JSON document; its keys are fixed, since scripts depend on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from mlcli import __version__
from mlcli.core.findings import as_json
from mlcli.experiment.run.split_results import each
from mlcli.experiment.spec.cells import Cell, CellResult
from mlcli.metrics.base import Summary
from mlcli.metrics.confusion import Confusion
from mlcli.report.chosen import choices_as_json
from mlcli.report.differences import differences_as_json, differences_of
from mlcli.report.scored import Scored, grouped, names_of
from mlcli.report.series import Series, series_of, summaries_of
from mlcli.tasks.table import kind_named, named


def results_as_json(scored: Sequence[Scored], *, curves: bool = False, fair: bool = False) -> dict[str, Any]:
    """The document of an experiment: one entry per cell, in the order of the plan."""
    also = [add for asked, add in ((curves, _curves), (fair, _fair)) if asked]
    return {
        "version": __version__,
        "cells": [{**_result(one), **dict(item for add in also for item in add(one).items())} for one in scored],
        "comparisons": [one for group in grouped(scored) for one in _compared(group)],
        **_over_datasets(scored),
    }


def _compared(group: Sequence[Scored]) -> list[dict[str, Any]]:
    """The models of one table beside its best and its baseline, by each metric, the one that decides first."""
    metrics = {metric.name: metric for one in group for metric in one.metrics}
    cell, names = group[0].cell, names_of(group)
    about = {"dataset": cell.dataset.name, "kind": cell.kind, "seed": cell.seed}
    every = [differences_of(group, metric) for metric in metrics.values()]
    return [
        plain(
            {
                **about,
                "metric": found.metric.name,
                "best": names[found.best],
                "chosen_among": len(found.to_best) + 1,
                "pairs": differences_as_json(found, names),
            }
        )
        for found in every
        if found is not None and found.to_best
    ]


def _over_datasets(scored: Sequence[Scored]) -> dict[str, Any]:
    if len({one.cell.dataset.name for one in scored}) < 2:
        return {}
    from mlcli.metrics.over_datasets import compared_over
    from mlcli.report.over_datasets import over_datasets_as_json, tables_over_datasets

    found = [over_datasets_as_json(compared_over(table)) for table in tables_over_datasets(scored)]
    return {"over_datasets": found} if found else {}


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
        **({"stages": plain(cell.stages)} if cell.stages else {}),
        **({"training": True} if cell.training else {}),
        **({"saved": str(cell.model.saved), "rows_learned_from": cell.learned_rows} if cell.model.saved else {}),
    }


def _result(one: Scored) -> dict[str, Any]:
    result, cell = one.result, one.cell
    why = result.why or cell.skipped
    return {
        **cell_as_json(cell),
        "status": result.status,
        **({"why": why} if why else {}),
        "splits": len(result.splits),
        **({"shortcuts": result.routes()} if result.routes() else {}),
        "seconds": {what: sum(each(result.splits, f"{what}_seconds")) for what in ("fit", "predict")},
        "metrics": {name: summary_as_json(summary) for name, summary in one.summaries.items()},
        **({"training": plain(dict(one.training))} if one.training else {}),
        **_series(one),
        **(_confusion(one.confusion) if one.confusion else {}),
        **({"classes": [plain(asdict(rates)) for rates in one.classes]} if one.classes else {}),
        **_of_kind(one),
        **_findings(result),
        **choices_as_json(one),
        "notes": [*cell.dataset.notes, *result.notes],
        "warnings": list(dict.fromkeys(text for of_split in each(result.splits, "warnings") for text in of_split)),
    }


def _curves(one: Scored) -> dict[str, Any]:
    """ROC, precision and recall, and calibration, where there are probabilities."""
    from mlcli.report.probabilities import curves_as_findings

    found = [plain(as_json(finding)) for finding in curves_as_findings(one)]
    return {"curves": found} if found else {}


def _fair(one: Scored) -> dict[str, Any]:
    """Rates by group and how far these lie apart, where there are sensitive columns."""
    from mlcli.report.fairness import fairness_as_json

    return fairness_as_json(one)


def _series(one: Scored) -> dict[str, Any]:
    """Each metric at each value that a protocol sweeps over, and at each stage of the fits."""
    found = series_of(one)
    lines = {series.line: _by_value(series) for series in found if series.line}
    if lines:
        return {"lines": {"over": found[0].over, "values": lines}}
    return {series.kind: {"over": series.over, "values": _by_value(series)} for series in found}


def _by_value(series: Series) -> list[dict[str, Any]]:
    return [
        {"value": value, "metrics": {name: summary_as_json(summary) for name, summary in summaries.items()}}
        for value, summaries in summaries_of(series).items()
    ]


def _of_kind(one: Scored) -> dict[str, Any]:
    place = kind_named(one.cell.kind).json_at if one.done else ""
    added: dict[str, Any] = named(place)(one) if place else {}
    return added


def _findings(result: CellResult) -> dict[str, Any]:
    """What the model of the first split says of itself, if it was fitted."""
    found = [as_json(finding) for finding in result.splits[0].explanation] if result.splits else []
    return {"findings": plain(found)} if found else {}


def summary_as_json(summary: Summary) -> dict[str, Any]:
    """A metric with its interval, or why there is none."""
    if summary.mean is None or not math.isfinite(summary.mean):
        return {"mean": None, "why": summary.why, "splits": plain(summary.splits)}
    described = {name: plain(getattr(summary, name)) for name in ("mean", "std", "low", "high", "splits")}
    if summary.interval:
        described["interval"] = summary.interval
    if summary.marks:
        described["marks"] = list(summary.marks)
    return described


def _confusion(matrix: Confusion) -> dict[str, Any]:
    counts = [[_count(count) for count in row] for row in matrix.counts.tolist()]
    return {"confusion": {"labels": list(matrix.labels), "counts": counts}}


def _count(value: float) -> float | int:
    """A count as a whole number, unless rows have weights."""
    return int(value) if value == int(value) else float(value)


def plain(value: Any) -> Any:
    """The value as JSON knows it: what is not finite is null."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | int | bool) else str(value)
