"""Scores over something as tables and curves: below those of an experiment, and as ``mlcli curve`` shows them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

from mlcli import __version__
from mlcli.core.errors import FitError, UsageError
from mlcli.core.findings import Curve, as_json
from mlcli.experiment.spec.cells import CellResult
from mlcli.experiment.spec.sweeps import Sweep
from mlcli.metrics.base import Metric, Summary, Undefined
from mlcli.metrics.bias_variance import Decomposition, bias_variance
from mlcli.report.document import (
    Content,
    Document,
    Element,
    GridCell,
    Heading,
    grid,
    grid_of_numbers,
    notes,
    strong,
)
from mlcli.report.numbers import decimals_of, fixed, lined_up, short
from mlcli.report.scoring.curves import (
    CurvePoint,
    ScoreCurve,
    Series,
    band,
    curve_finding,
    curves_over,
    series_of,
    validation_curve,
)
from mlcli.report.scoring.scored import Group, badness, first_cell, group_of, judged_answers, scored
from mlcli.report.views.opening import opening
from mlcli.report.views.results_as_json import given, plain, summary_as_json
from mlcli.report.views.score_table import BEST, score_cell

ALIKE = "~"
READING_SERIES = {
    "series": "the means further up are over all of these",
    "stages": "the scores further up are of the whole fits",
    "lines": "the scores further up are those with all labels, over all of these; bands: one standard deviation",
}
READING = "±: 95 % interval; spread: the standard deviation over splits"
OF_TRAINING = "; training: of the rows that were learned from; gap: how much better these are answered"
SERIES = {"learning": "series", "stages": "stages"}
READING_LOSSES = {
    "squared": (
        "error: the mean squared error; bias²: of the mean answer of all models to a row, with the noise that "
        "nobody could know; variance: of the models' answers about it; error = bias² + variance"
    ),
    "0-1": (
        "Domingos: bias: rows that most models answer wrongly; unbiased variance: how often others differ where "
        "most are right; biased variance: how often they are right where most are wrong; error = bias + unbiased "
        "− biased. Kohavi & Wolpert: error = bias² + variance, by squared shares of the answers"
    ),
}
T = TypeVar("T")


def scores_by_series(group: Group, metric: Metric) -> Iterator[Element]:
    """One metric: a line for each value, a column for each model that was judged there, and their curves."""
    found = [series for one in group for series in series_of(one)]
    for over in dict.fromkeys(series.over for series in found if not series.line):
        of_models = {group[series.one]: series for series in found if series.over == over and not series.line}
        yield from _table_of_series(of_models, metric, f"{metric.name} by {over}")
    for one in dict.fromkeys(series.one for series in found if series.line):
        lines = {series.line: series for series in found if series.one is one}
        over = next(iter(lines.values())).over
        yield from _table_of_series(lines, metric, f"{group[one]}: {metric.name} by {over}")


def _table_of_series(several: Mapping[str, Series], metric: Metric, title: str) -> Iterator[Element]:
    """A column for each series, by its name, and a curve for each below the table."""
    of_all, first = list(several.values()), next(iter(several.values()))
    values = sorted({value for series in of_all for value in series.answers})
    table = [
        {series: series.summary(metric, value) for series in of_all if value in series.answers} for value in values
    ]
    learned = [_rows_learned_from(of_all, value) for value in values]
    differ = len(set(learned)) > 1 and not first.line
    rows: list[list[Content]] = []
    for value, known, summaries in zip(values, learned, table, strict=True):
        of_models = _score_cells(metric, value, summaries)
        rows.append(
            [strong(short(value)), *[known] * differ, *(of_models.get(one, GridCell("")) for one in of_all)]
        )
    header = [first.over, *["rows learned from"] * differ, *several]
    yield Heading(title)
    yield grid(header, rows, right=range(len(header)))
    means = [[line[series].mean if series in line else None for line in table] for series in of_all]
    spreads = [[line[series].std if series in line else None for line in table] for series in of_all]
    bands = [map(band, *ends) for ends in zip(means, spreads, strict=True)] if first.line else []
    yield Curve("", first.over, tuple(values), _named_lines(several, means), bands=_named_lines(several, bands))
    alike = any(cell.text.startswith(ALIKE) for row in rows for cell in row if isinstance(cell, GridCell))
    signs = f"{BEST} is the best of its line" + f"; {ALIKE} is not distinguishable from it at 5 %" * alike
    yield notes(f"{signs}; {READING_SERIES['lines' if first.line else first.kind]}")


def _named_lines(names: Iterable[str], lines: Iterable[Iterable[T]]) -> tuple[tuple[str, tuple[T, ...]], ...]:
    return tuple(zip(names, map(tuple, lines), strict=False))


def _rows_learned_from(several: Sequence[Series], value: float) -> str:
    learned = [rows for series in several for rows in series.learned_from(value)]
    return f"{min(learned)} to {max(learned)}" if min(learned) < max(learned) else short(learned[0])


def _score_cells(metric: Metric, value: float, summaries: Mapping[Series, Summary]) -> dict[Series, GridCell]:
    """The cells of one value: the best marked, and those that no test tells from it."""
    decimals = decimals_of(metric, list(summaries.values()))
    means = {series: summary.mean for series, summary in summaries.items() if summary.mean is not None}
    ranked = sorted(means, key=lambda series: badness(metric, means[series]))
    best = fixed(means[ranked[0]], decimals) if len(set(means.values())) > 1 else None
    known = [series for series in ranked if math.isfinite(means[series])]
    alike = [series for series in known[1:] if known[0].is_like(series, metric, value)]
    return {
        series: score_cell(summary, decimals, best, ALIKE if series in alike else "")
        for series, summary in summaries.items()
    }


def curve_elements(curve: ScoreCurve) -> Iterator[Element]:
    """A table with a line for each value, the curves below it, and what they say."""
    metric = curve.metric
    decimals = decimals_of(metric, [point.judged for point in curve.points])
    with_training = any(point.training is not None for point in curve.points)
    header = [curve.over, metric.name, "spread", *["training", "gap"] * with_training]
    rows = [list(_point_cells(curve, point, decimals, with_training)) for point in curve.points]
    yield Heading(f"{curve.title}: {metric.name} by {curve.over}")
    yield grid(header, rows, right=range(len(header)))
    if len(curve.points) > 1:
        yield curve_finding(curve)
    yield notes(f"{BEST} is the best; {READING}{OF_TRAINING * with_training}", *_conclusions(curve))


def curve_as_json(curve: ScoreCurve) -> dict[str, Any]:
    """A curve as plain values."""
    points = [
        {
            "value": point.value,
            **given({"label": point.label}),
            "metrics": {name: summary_as_json(summary) for name, summary in point.summaries.items()},
            "training": plain({"mean": point.training, "std": point.training_spread}),
        }
        for point in curve.points
    ]
    best = curve.best
    return {
        "model": curve.title,
        "over": curve.over,
        "metric": curve.metric.name,
        "best": None if best is None else best.value,
        "per_doubling": plain(curve.per_doubling()),
        "baseline": plain(curve.baseline),
        "points": points,
        "findings": [plain(as_json(curve_finding(curve)))],
    }


def _point_cells(
    curve: ScoreCurve, point: CurvePoint, decimals: int | None, with_training: bool
) -> Iterator[Content]:
    yield strong(point.label or short(point.value))
    best = fixed(point.judged.mean or 0.0, decimals) if point is curve.best else None
    yield score_cell(point.judged, decimals, best)
    for number in (point.judged.std, *((point.training, point.gap(curve.metric)) if with_training else ())):
        yield GridCell("-" if number is None else fixed(number, decimals), "weak")


def _conclusions(curve: ScoreCurve) -> Iterator[str]:
    decimals = decimals_of(curve.metric, [point.judged for point in curve.points])
    if curve.baseline is not None:
        yield f"the baseline has {fixed(curve.baseline, decimals)}"
    if len({point.judged.mean for point in curve.points}) == 1 < len(curve.points):
        yield f"the score is the same at every {curve.over}: as the model is set, it may be of no use"
    gain = curve.per_doubling() if curve.over == "training rows" else None
    if gain is not None:
        turn = "better" if gain >= 0 else "worse"
        yield f"over the last doubling of the rows the score gets {turn} by {fixed(abs(gain), decimals)}"


def sweep_of(sweep: Sweep, results: Sequence[CellResult]) -> Document:
    """What the data are, then a table and curves for each model."""
    cells = _scored_cells(sweep, results)
    head = opening([one.cell for one in cells])
    if sweep.kind == "bias-variance":
        return (*head, *_decomposition_elements(_decompositions(cells)))
    return (*head, *(element for curve in _curves_in(sweep, cells) for element in curve_elements(curve)))


def sweep_as_json(sweep: Sweep, results: Sequence[CellResult]) -> dict[str, Any]:
    """The same as plain values."""
    cells = _scored_cells(sweep, results)
    known = {"version": __version__, "dataset": first_cell(cells).dataset.name, "curve": sweep.kind}
    if sweep.kind == "bias-variance":
        return known | {
            "models": [{"model": name, **plain(asdict(one))} for name, one in _decompositions(cells).items()]
        }
    return known | {"curves": [curve_as_json(curve) for curve in _curves_in(sweep, cells)]}


def _scored_cells(sweep: Sweep, results: Sequence[CellResult]) -> Group:
    """The cells with their scores; one that did not end well has no curve, and says why."""
    for result in results:
        if result.status == "skipped":
            raise UsageError(result.cell.skipped or result.why)
        if result.status != "done":
            raise FitError(f"{result.cell.label}: {result.why}")
    return group_of([scored(result, sweep.experiment.metrics) for result in results])


def _curves_in(sweep: Sweep, cells: Group) -> Iterator[ScoreCurve]:
    asked = {model.use for model in sweep.experiment.models or ()}
    wanted = [one for one in cells if one.cell.model.saved is not None or one.cell.model.use in asked]
    baseline = next((one for one in cells if one.is_baseline), None)
    if sweep.kind == "validation":
        yield validation_curve(wanted, sweep.values, sweep.over, wanted[0].cell.model.use, baseline)
        return
    for one, name in group_of(wanted).items():
        yield from curves_over(one, name, SERIES[sweep.kind], baseline)


def _decompositions(cells: Group) -> dict[str, Decomposition]:
    """How far the typical answer of each model is off, and how much answers differ."""
    found: dict[str, Decomposition] = {}
    for one, name in cells.items():
        decomposition = bias_variance(judged_answers(one.result))
        if isinstance(decomposition, Undefined):
            raise UsageError(decomposition.why, hint=decomposition.hint)
        found[name] = decomposition
    return found


def _decomposition_elements(models: Mapping[str, Decomposition]) -> Iterator[Element]:
    first = next(iter(models.values()))
    titles = [(paper, term) for paper, terms in first.terms.items() for term in terms]
    columns = [[one.error for one in models.values()]]
    columns += [[one.terms[paper][term] for one in models.values()] for paper, term in titles]
    several = len(first.terms) > 1
    header = ["model", "error", *(f"{paper}: {term}" if several else term for paper, term in titles)]
    yield Heading(f"Bias and variance, {first.loss} loss")
    yield grid_of_numbers(header, zip(models, *map(lined_up, columns), strict=True))
    asked = f"over {first.rows} rows, each answered by {first.models} models or more that had not seen it"
    yield notes(READING_LOSSES[first.loss], asked)
