"""What ``mlcli curve`` shows, as a document and as JSON: curves of a sweep, or bias and variance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from mlcli import __version__
from mlcli.core.errors import FitError, UsageError
from mlcli.experiment.spec.cells import CellResult
from mlcli.experiment.spec.sweeps import Sweep
from mlcli.metrics.base import Undefined
from mlcli.metrics.bias_variance import Decomposition, bias_variance
from mlcli.report.document import Document, Element, Heading, grid_of_numbers, notes
from mlcli.report.numbers import lined_up
from mlcli.report.scoring.scored import Group, cell_of, group_of, judged, scored
from mlcli.report.views.curves import ScoreCurve, curve_as_json, curve_elements, curves_over, validation_curve
from mlcli.report.views.results import opening
from mlcli.report.views.results_as_json import plain

SERIES = {"learning": "series", "stages": "stages"}
READING = {
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


def sweep_of(sweep: Sweep, results: Sequence[CellResult]) -> Document:
    """What the data are, then a table and curves for each model."""
    cells = _done(sweep, results)
    head = opening([one.cell for one in cells])
    if sweep.kind == "bias-variance":
        return (*head, *_decomposition_elements(_decomposed(cells)))
    return (*head, *(element for curve in _curves(sweep, cells) for element in curve_elements(curve)))


def sweep_as_json(sweep: Sweep, results: Sequence[CellResult]) -> dict[str, Any]:
    """The same as plain values."""
    cells = _done(sweep, results)
    known = {"version": __version__, "dataset": cell_of(cells).dataset.name, "curve": sweep.kind}
    if sweep.kind == "bias-variance":
        return known | {
            "models": [{"model": name, **plain(asdict(one))} for name, one in _decomposed(cells).items()]
        }
    return known | {"curves": [curve_as_json(curve) for curve in _curves(sweep, cells)]}


def _done(sweep: Sweep, results: Sequence[CellResult]) -> Group:
    """The cells with their scores; one that did not end well has no curve, and says why."""
    for result in results:
        if result.status == "skipped":
            raise UsageError(result.cell.skipped or result.why)
        if result.status != "done":
            raise FitError(f"{result.cell.label}: {result.why}")
    return group_of([scored(result, sweep.experiment.metrics) for result in results])


def _curves(sweep: Sweep, cells: Group) -> Iterator[ScoreCurve]:
    asked = {model.use for model in sweep.experiment.models or ()}
    wanted = [one for one in cells if one.cell.model.saved is not None or one.cell.model.use in asked]
    baseline = next((one for one in cells if one.is_baseline), None)
    if sweep.kind == "validation":
        yield validation_curve(wanted, sweep.values, sweep.over, wanted[0].cell.model.use, baseline)
        return
    for one, name in group_of(wanted).items():
        yield from curves_over(one, name, SERIES[sweep.kind], baseline)


def _decomposed(cells: Group) -> dict[str, Decomposition]:
    """How far the typical answer of each model is off, and how much answers differ."""
    found: dict[str, Decomposition] = {}
    for one, name in cells.items():
        decomposition = bias_variance(judged(one.result))
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
    yield notes(READING[first.loss], asked)
