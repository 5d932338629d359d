"""Where splits have validation rows: which of several models these choose."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mlcli.metrics.base import Metric
from mlcli.metrics.summary import summarise
from mlcli.report.numbers import fixed
from mlcli.report.scored import Scored, training_parts
from mlcli.report.scores import badness

VALIDATION = "validation"
DECIMALS = 3


def chosen_on_validation(models: Sequence[Scored], metric: Metric) -> tuple[Scored | None, str]:
    """The model that validation rows choose among several, with its score there; none where no rows do."""
    known = {one: found for one in models if (found := _on_validation(one, metric)) is not None}
    if len(known) < 2 or len(known) < len(models):
        return None, ""
    winner = min(known, key=lambda one: badness(metric, known[one]))
    return winner, fixed(known[winner], DECIMALS)


def _on_validation(one: Scored, metric: Metric) -> float | None:
    """The mean over the validation rows of all splits, where every split has some and it is defined."""
    answers = [split.answers[VALIDATION] for split in one.result.splits if VALIDATION in split.answers]
    if not answers or len(answers) < len(one.result.splits) or one.cell.model.saved is not None:
        return None
    mean = summarise(metric, answers, training_parts(one.result), one.result.pooled).mean
    return mean if mean is not None and math.isfinite(mean) else None
