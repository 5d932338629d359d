"""Linear classifiers for every part of a round at once, with the steps learned anew for each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlcli.core.held_out import HeldOut, Round, totals_outside
from mlcli.core.step import Step
from mlcli.models.linear._forms import FORMS, FORMS_OF_FEW
from mlcli.models.linear._frame import Frame
from mlcli.models.linear._leaving import Leaving
from mlcli.models.linear._without_parts import scores_without_parts
from mlcli.tasks.classification import LabelledRows


def held_out(
    data: LabelledRows, round_: Round, steps: Sequence[Step], multiclass: str, l2: float
) -> HeldOut | None:
    """Probabilities of all rows, each without its part; None where steps or minima do not allow it."""
    present = np.flatnonzero(data.class_totals > 0)
    frame = Frame.of(data, steps) if l2 > 0 and len(present) > 1 else None
    if frame is None:
        return None
    place = np.zeros(len(data.classes), np.int32)
    place[present] = np.arange(len(present))
    form = FORMS_OF_FEW.get(len(present), FORMS[multiclass])
    counts = totals_outside(data.weights[:, None] * data.outputs[:, present], round_)
    refused, scores = np.asarray((counts <= 0).any(axis=1)), []
    for part in form.parts(place[data.y], len(present)):
        leaving = Leaving.of(frame, round_, part, l2)
        found = None if leaving is None else scores_without_parts(leaving)
        if found is None:
            return None
        scores.append(found[0] @ part.spread.T)
        refused = refused | found[1]
    answers = np.zeros((len(data), len(data.classes)))
    answers[:, present] = form.probabilities(np.column_stack(scores))
    return HeldOut(answers, refused, "Newton steps from all rows")
