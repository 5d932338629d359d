"""Predicted numbers beside the true ones, of the model that is best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from mlcli.core.findings import Points
from mlcli.metrics.pooling import joined
from mlcli.report.document import Element, Heading
from mlcli.report.scored import Scored, judged
from mlcli.report.verdict import best_of

RIGHT = "where predictions are right"
PLACES = 100
"""How many points mark where predictions are right."""
MOST_POINTS = 10_000
"""More say no more in a picture."""


def predicted_against_true(group: Sequence[Scored], names: Mapping[Scored, str]) -> Iterator[Element]:
    """A point for each row, once for each time that it was judged; of very many, for some."""
    best = best_of(group, group[0].metrics[0])
    if best is None:
        return
    answers = joined(judged(best.result))
    line = np.linspace(answers.truth.min(), answers.truth.max(), PLACES).tolist()
    diagonal = tuple(zip(line, line, strict=True))
    step = -(-len(answers.truth) // MOST_POINTS)
    points = tuple(zip(answers.truth[::step].tolist(), answers.predicted[::step].tolist(), strict=True))
    note = f"one of {step} rows is drawn" if step > 1 else ""
    yield Heading(f"{names[best]}: predicted against true values")
    yield Points("", "true", "predicted", ((RIGHT, diagonal), (names[best], points)), (RIGHT,), note=note)
