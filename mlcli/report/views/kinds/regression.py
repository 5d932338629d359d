"""Predicted numbers beside the true ones, of the model that is best."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.core.findings import Points
from mlcli.report.document import Element, Heading
from mlcli.report.scoring.differences import best_in
from mlcli.report.scoring.scored import Group
from mlcli.report.views.distributions import histogram, pairs

RIGHT, NO_RESIDUAL = "perfect prediction", "zero residual"
BINS = 20
PLACES = 100
"""How many points mark perfect predictions."""
MOST_POINTS = 10_000
"""More say no more in a picture."""


def predicted_against_true(group: Group) -> Iterator[Element]:
    """A point for each row, once for each time that it was judged; of very many, for some."""
    if not (best := best_in(group)):
        return
    answers, name = best.answers, group[best]
    line = np.linspace(answers.truth.min(), answers.truth.max(), PLACES)
    step = _thinning_step(len(answers.truth))
    points = pairs(answers.truth[::step], answers.predicted[::step])
    yield Heading(f"{name}: predicted against true values")
    groups = ((RIGHT, pairs(line, line)), (name, points))
    yield Points("", "true", "predicted", groups, (RIGHT,), note=_thinning_note(step))


def residuals_of(group: Group) -> Iterator[Element]:
    """What the best model leaves over, by what it has predicted, and how that is spread."""
    if not (best := best_in(group)):
        return
    answers, name = best.answers, group[best]
    left = answers.truth - answers.predicted
    step = _thinning_step(len(left))
    ends = float(answers.predicted.min()), float(answers.predicted.max())
    zero = (NO_RESIDUAL, ((ends[0], 0.0), (ends[1], 0.0)))
    groups = (zero, (name, pairs(answers.predicted[::step], left[::step])))
    yield Heading(f"{name}: residuals by predicted values")
    yield Points("", "predicted", "true minus predicted", groups, (NO_RESIDUAL,), note=_thinning_note(step))
    yield Heading(f"{name}: distribution of residuals")
    yield histogram("", "true minus predicted", [("rows", left)], BINS)


def _thinning_step(rows: int) -> int:
    return -(-rows // MOST_POINTS)


def _thinning_note(step: int) -> str:
    return f"one of {step} rows is drawn" if step > 1 else ""
