"""Curves of a score over rows, stages or values of a parameter, and the bias and variance of predictions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mlcli.core import CLOSE
from mlcli.core.findings import Curve
from mlcli.experiment.spec.cells import CellResult
from mlcli.metrics.bias_variance import Decomposition
from mlcli.report.document import (
    Content,
    Document,
    Element,
    GridCell,
    Heading,
    decimals_of,
    fixed,
    grid,
    grid_of_numbers,
    lined_up,
    notes,
    short,
    strong,
)
from mlcli.report.views.plan import opening
from mlcli.report.views.score_table import BEST, rows_of_terms, score_cell, score_rows, table_of_rows
from mlcli.scoring.curves import (
    ScoreCurve,
    curve_finding,
    curves_in,
    decompositions_of,
    swept_results,
)
from mlcli.scoring.model_results import first_cell
from mlcli.tasks.table import kind_named, named

if TYPE_CHECKING:
    from mlcli.experiment.spec.sweeps import Sweep

LOSS_LEGENDS = {
    "squared": (
        "error: mean squared error; bias²: squared error of the mean prediction of a row, with the noise of the "
        "data; variance: of the predictions of a row by different models; both estimated for ever more models; "
        "error = bias² + variance"
    ),
    "0-1": (
        "Domingos: bias: rows that most models predict wrongly; unbiased variance: how often the others differ "
        "where most are right; biased variance: how often they are right where most are wrong; error = bias + "
        "unbiased − biased; these depend on the number of models. Kohavi & Wolpert: error = bias² + variance, "
        "from squared shares of the predictions, estimated for ever more models"
    ),
}


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
    rounding = CLOSE * max(model.error for model in models.values())
    terms = [terms for model in models.values() for terms in model.terms.values()]
    remarks = [LOSS_LEGENDS[first.loss]]
    if any(term.get("bias²", 0.0) < -rounding for term in terms):
        remarks.append("a bias² below 0 is an estimate of one that is about 0; use more repeats")
    yield notes(*remarks, f"over {first.rows} test rows, each predicted by at least {first.models} models")


def curve_elements(curve: ScoreCurve) -> Iterator[Element]:
    """A table with a line for each value, the curves below it, and what they say."""
    metric = curve.metric
    decimals = decimals_of(metric, [point.test for point in curve.points])
    with_training = any(point.training is not None for point in curve.points)
    rows: list[list[Content]] = []
    for point in curve.points:
        best = fixed(point.test.mean or 0.0, decimals) if point is curve.best else None
        numbers = [point.test.std, *((point.training, point.gap(metric)) if with_training else ())]
        rows.append([strong(point.label or short(point.value)), score_cell(point.test, decimals, best)])
        rows[-1] += [GridCell("-" if number is None else fixed(number, decimals), "weak") for number in numbers]
    header = [curve.over, metric.name, "spread", *["training", "gap"] * with_training]
    yield Heading(f"{curve.title}: {metric.name} by {curve.over}")
    yield grid(header, rows, right=range(len(header)))
    if len(curve.points) > 1:
        yield curve_finding(curve)
    of_training = "; training: score on the training rows; gap: how much better it is than the test score"
    legend = f"{BEST} is the best; ± or [low, high]: 95 % interval; spread: standard deviation over splits"
    yield notes(legend + of_training * with_training, *_conclusions(curve, decimals))


def _conclusions(curve: ScoreCurve, decimals: int | None) -> Iterator[str]:
    if curve.baseline is not None:
        yield f"the baseline has {fixed(curve.baseline, decimals)}"
    over_rows = curve.over == "training rows"
    if not over_rows and len({point.test.mean for point in curve.points}) == 1 < len(curve.points):
        yield f"the score is the same at every {curve.over}: as the model is set, it may be of no use"
    elif curve.best is not None and curve.best_is_at_end:
        yield f"{short(curve.best.value)} is at the end of the values tried: values beyond it may be better"
    gain = curve.per_doubling() if over_rows else None
    if gain is not None:
        size = fixed(abs(gain), decimals)
        change = f"gets {'better' if gain > 0 else 'worse'} by {size}" if float(size) else "does not change"
        yield f"over the last doubling of the rows the score {change}"


def sweep_of(sweep: Sweep, results: Sequence[CellResult]) -> Document:
    """What the data are, then a table and curves for each model."""
    group = swept_results(sweep, results)
    elements: list[Element] = [*opening([result.cell for result in group])]
    if sweep.kind == "bias-variance":
        models = decompositions_of(group)
        elements += decomposition_elements(models)
        numbers = tuple(float(value) for value in sweep.values if isinstance(value, int | float))
        if len(numbers) == len(sweep.values) > 1:
            swept = list(models.values())[-len(numbers) :]
            terms = [list(decomposition.terms.values())[-1] for decomposition in swept]
            lines = [("error", tuple(decomposition.error for decomposition in swept))]
            lines += [(name, tuple(terms_at_value[name] for terms_at_value in terms)) for name in terms[0]]
            elements.append(Curve(f"Bias and variance by {sweep.over}", sweep.over, numbers, tuple(lines)))
        return tuple(elements)
    for curve in curves_in(sweep, group):
        elements += curve_elements(curve)
    # Some kinds of task draw the values of a parameter, such as the elbow of clusterings.
    kind = kind_named(first_cell(group).kind)
    if sweep.kind == "validation" and kind.picture_of_curve_at:
        elements += named(kind.picture_of_curve_at)(group)
    return tuple(elements)


def sweep_as_table(sweep: Sweep, results: Sequence[CellResult]) -> Document:
    """The same as a table of scores; where a parameter takes several values, ``at`` says which."""
    group = swept_results(sweep, results)
    if sweep.kind == "bias-variance":
        models = decompositions_of(group)
        return table_of_rows(row for result, name in group.items() for row in rows_of_terms(result, models[name]))
    values = [str(value) for value in sweep.values]
    swept = list(group)[-len(values) :] if values else []
    points = {result: {"over": sweep.over, "at": value} for result, value in zip(swept, values, strict=True)}
    return table_of_rows({**row, **points.get(result, {})} for result in group for row in score_rows(result))
