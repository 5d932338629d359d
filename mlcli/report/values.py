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


def predicted_against_true(group: Sequence[Scored], names: Mapping[Scored, str]) -> Iterator[Element]:
    """A point for each row, once for each time that it was judged."""
    best = best_of(group, group[0].metrics[0])
    if best is None:
        return
    answers = joined(judged(best.result))
    line = np.linspace(answers.truth.min(), answers.truth.max(), PLACES).tolist()
    diagonal = tuple(zip(line, line, strict=True))
    points = tuple(zip(answers.truth.tolist(), answers.predicted.tolist(), strict=True))
    yield Heading(f"{names[best]}: predicted against true values")
    yield Points("", "true", "predicted", ((RIGHT, diagonal), (names[best], points)), (RIGHT,))
