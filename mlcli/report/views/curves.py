"""Curves of a score over rows, stages or values of a parameter, and the bias and variance of predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mlcli.core.findings import Curve
from mlcli.core.tolerances import CLOSE
from mlcli.experiment.spec.cells import CellResult
from mlcli.metrics.base import Undefined
from mlcli.metrics.bias_variance import Decomposition
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
from mlcli.report.views.plan import opening
from mlcli.report.views.score_rows import rows_of_terms, score_rows, table_of_rows
from mlcli.report.views.score_table import BEST, score_cell
from mlcli.scoring.curves import (
    CurvePoint,
    ScoreCurve,
    curve_finding,
    curves_in,
    decompositions_of,
    requested_decomposition,
    swept_results,
)
from mlcli.scoring.model_results import Group, first_cell
from mlcli.tasks.table import kind_named, named

if TYPE_CHECKING:
    from mlcli.experiment.spec.sweeps import Sweep

BELOW_ZERO = "a bias² below 0 is the estimate of one that is about 0; more repeats would tell"
LOSS_LEGENDS = {
    "squared": (
        "error: the mean squared error; bias²: of the mean answer to a row, with the noise that nobody could know "
        "in it; variance: of the models' answers about it; both as of ever more models; error = bias² + variance"
    ),
    "0-1": (
        "Domingos: bias: rows that most models answer wrongly; unbiased variance: how often others differ where "
        "most are right; biased variance: how often they are right where most are wrong; error = bias + unbiased "
        "− biased; these depend on how many models there are. Kohavi & Wolpert: error = bias² + variance, by "
        "squared shares of the answers, as of ever more models"
    ),
}


def requested_elements(group: Group) -> Iterator[Element]:
    """The table of all models whose protocol asks for it, or why there is none."""
    results = {
        name: found for result, name in group.items() if (found := requested_decomposition(result)) is not None
    }
    models = {name: result for name, result in results.items() if isinstance(result, Decomposition)}
    if models:
        yield from decomposition_elements(models)
    reasons = dict.fromkeys(result.why for result in results.values() if isinstance(result, Undefined))
    if reasons:
        yield notes(*(f"no bias and variance: {why}" for why in reasons))


def decomposition_elements(models: Mapping[str, Decomposition]) -> Iterator[Element]:
    """The error of each model and its terms, and how to read them."""
    first = next(iter(models.values()))
    titles = [(paper, term) for paper, terms in first.terms.items() for term in terms]
    columns = [[model.error for model in models.values()]]
    columns += [[model.terms[paper][term] for model in models.values()] for paper, term in titles]
    several = len(first.terms) > 1
    header = ["model", "error", *(f"{paper}: {term}" if several else term for paper, term in titles)]
    yield Heading(f"Bias and variance, {first.loss} loss")
    yield grid_of_numbers(header, zip(models, *map(lined_up, columns), strict=True))
    asked = f"over {first.rows} rows, each answered by {first.models} models or more that had not seen it"
    rounding = CLOSE * max(model.error for model in models.values())
    terms = [terms for model in models.values() for terms in model.terms.values()]
    below = any(term.get("bias²", 0.0) < -rounding for term in terms)
    yield notes(LOSS_LEGENDS[first.loss], *[BELOW_ZERO] * below, asked)


CURVE_LEGEND = "± or [low, high]: 95 % interval; spread: the standard deviation over splits"
OF_TRAINING = "; training: of the rows that were learned from; gap: how much better these are answered"


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
    yield notes(f"{BEST} is the best; {CURVE_LEGEND}{OF_TRAINING * with_training}", *_conclusions(curve))


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
    of_rows = curve.over == "training rows"
    if not of_rows and len({point.judged.mean for point in curve.points}) == 1 < len(curve.points):
        yield f"the score is the same at every {curve.over}: as the model is set, it may be of no use"
    elif curve.best is not None and curve.best_is_at_end:
        yield f"{short(curve.best.value)} is at the end of the values tried: values beyond it may be better"
    gain = curve.per_doubling() if of_rows else None
    if gain is not None:
        size = fixed(abs(gain), decimals)
        turn = f"gets {'better' if gain > 0 else 'worse'} by {size}" if float(size) else "does not change"
        yield f"over the last doubling of the rows the score {turn}"


def sweep_of(sweep: Sweep, results: Sequence[CellResult]) -> Document:
    """What the data are, then a table and curves for each model."""
    cells = swept_results(sweep, results)
    head = opening([cell.cell for cell in cells])
    if sweep.kind == "bias-variance":
        models = decompositions_of(cells)
        return (*head, *decomposition_elements(models), *_curve_of_decompositions(sweep, models))
    curves = [element for curve in curves_in(sweep, cells) for element in curve_elements(curve)]
    return (*head, *curves, *_picture_of_kind(sweep, cells))


def _picture_of_kind(sweep: Sweep, cells: Group) -> Iterator[Element]:
    """What the kind of task draws of the values of a parameter, such as the elbow of clusterings."""
    kind = kind_named(first_cell(cells).kind)
    if sweep.kind == "validation" and kind.picture_of_curve_at:
        yield from named(kind.picture_of_curve_at)(cells)


def sweep_as_table(sweep: Sweep, results: Sequence[CellResult]) -> Document:
    """The same as a table of scores; where a parameter takes several values, ``at`` says which."""
    cells = swept_results(sweep, results)
    if sweep.kind == "bias-variance":
        models = decompositions_of(cells)
        return table_of_rows(row for result, name in cells.items() for row in rows_of_terms(result, models[name]))
    values = [str(value) for value in sweep.values]
    swept = list(cells)[-len(values) :] if values else []
    points = {result: {"over": sweep.over, "at": value} for result, value in zip(swept, values, strict=True)}
    return table_of_rows({**row, **points.get(cell, {})} for cell in cells for row in score_rows(cell))


def _curve_of_decompositions(sweep: Sweep, models: Mapping[str, Decomposition]) -> Iterator[Element]:
    """The error and its parts over the numbers that a parameter takes."""
    points = tuple(float(value) for value in sweep.values if isinstance(value, int | float))
    if len(points) < 2 or len(points) < len(sweep.values):
        return
    swept = list(models.values())[-len(points) :]
    _, terms = list(swept[0].terms.items())[-1]
    lines = [("error", tuple(decomposition.error for decomposition in swept))]
    lines += [
        (term, tuple(list(decomposition.terms.values())[-1][term] for decomposition in swept)) for term in terms
    ]
    yield Curve(f"Bias and variance by {sweep.over}", sweep.over, points, tuple(lines))
