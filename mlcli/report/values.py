"""Predicted numbers beside the true ones, of the model that is best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from mlcli.core.findings import Points
from mlcli.metrics.pooling import joined
from mlcli.report.differences import best_of
from mlcli.report.distributions import histogram
from mlcli.report.document import Element, Heading
from mlcli.report.scored import Names, Scored, judged

RIGHT, NO_RESIDUAL = "where predictions are right", "nothing is left"
BINS = 20
PLACES = 100
"""How many points mark where predictions are right."""
MOST_POINTS = 10_000
"""More say no more in a picture."""


def predicted_against_true(group: Sequence[Scored], names: Names) -> Iterator[Element]:
    """A point for each row, once for each time that it was judged; of very many, for some."""
    best = best_of(group, group[0].metrics[0])
    if best is None:
        return
    answers = joined(judged(best.result))
    line = np.linspace(answers.truth.min(), answers.truth.max(), PLACES).tolist()
    diagonal = tuple(zip(line, line, strict=True))
    step = _step(len(answers.truth))
    points = tuple(zip(answers.truth[::step].tolist(), answers.predicted[::step].tolist(), strict=True))
    yield Heading(f"{names[best]}: predicted against true values")
    yield Points("", "true", "predicted", ((RIGHT, diagonal), (names[best], points)), (RIGHT,), note=_note(step))


def residuals_of(group: Sequence[Scored], names: Names) -> Iterator[Element]:
    """What the best model leaves over, by what it has predicted, and how that is spread."""
    best = best_of(group, group[0].metrics[0])
    if best is None:
        return
    answers = joined(judged(best.result))
    left = answers.truth - answers.predicted
    step = _step(len(left))
    points = tuple(zip(answers.predicted[::step].tolist(), left[::step].tolist(), strict=True))
    ends = float(answers.predicted.min()), float(answers.predicted.max())
    groups = ((NO_RESIDUAL, ((ends[0], 0.0), (ends[1], 0.0))), (names[best], points))
    yield Heading(f"{names[best]}: residuals by predicted values")
    yield Points("", "predicted", "true minus predicted", groups, (NO_RESIDUAL,), note=_note(step))
    yield Heading(f"{names[best]}: how residuals spread")
    yield histogram("", "true minus predicted", [("rows", left)], BINS)


def _step(rows: int) -> int:
    """One row of how many is drawn."""
    return -(-rows // MOST_POINTS)


def _note(step: int) -> str:
    return f"one of {step} rows is drawn" if step > 1 else ""
