"""What ``mlcli curve`` shows, as a document and as JSON: curves of a sweep, or bias and variance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from mlcli import __version__
from mlcli.core.errors import FitError, UsageError
from mlcli.experiment.spec.cells import CellResult
from mlcli.experiment.spec.sweeps import Sweep
from mlcli.report.bias_variance import decomposed, decomposition_as_json, decomposition_elements
from mlcli.report.curves import ScoreCurve, curve_as_json, curve_elements, curves_over, validation_curve
from mlcli.report.document import Document
from mlcli.report.results import opening
from mlcli.report.scored import Scored, names_of, scored

SERIES = {"learning": "series", "stages": "stages"}


def sweep_of(sweep: Sweep, results: Sequence[CellResult]) -> Document:
    """What the data are, then a table and curves for each model."""
    cells = _done(sweep, results)
    head = opening([one.cell for one in cells])
    if sweep.kind == "bias-variance":
        return (*head, *decomposition_elements([decomposed(one, name) for one, name in names_of(cells).items()]))
    return (*head, *(element for curve in _curves(sweep, cells) for element in curve_elements(curve)))


def sweep_as_json(sweep: Sweep, results: Sequence[CellResult]) -> dict[str, Any]:
    """The same as plain values."""
    cells = _done(sweep, results)
    known = {"version": __version__, "dataset": cells[0].cell.dataset.name, "curve": sweep.kind}
    if sweep.kind == "bias-variance":
        return known | {"models": [decomposition_as_json(decomposed(*one)) for one in names_of(cells).items()]}
    return known | {"curves": [curve_as_json(curve) for curve in _curves(sweep, cells)]}


def _done(sweep: Sweep, results: Sequence[CellResult]) -> list[Scored]:
    """The cells with their scores; one that did not end well has no curve, and says why."""
    for result in results:
        if result.status == "skipped":
            raise UsageError(result.cell.skipped or result.why)
        if result.status != "done":
            raise FitError(f"{result.cell.label}: {result.why}")
    return [scored(result, sweep.experiment.metrics) for result in results]


def _curves(sweep: Sweep, cells: Sequence[Scored]) -> Iterator[ScoreCurve]:
    asked = {model.use for model in sweep.experiment.models or ()}
    models = {one: one.cell.model for one in cells}
    wanted = [one for one, model in models.items() if model.saved is not None or model.use in asked]
    baseline = next((one for one in cells if one.is_baseline), None)
    if sweep.kind == "validation":
        yield validation_curve(wanted, sweep.values, sweep.over, wanted[0].cell.model.use, baseline)
        return
    for one, name in names_of(wanted).items():
        yield from curves_over(one, name, SERIES[sweep.kind], baseline)
