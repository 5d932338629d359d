"""Where splits have validation rows: which model these choose, and what it then has on test rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mlcli.metrics.base import Metric, Summary
from mlcli.metrics.summary import summarise
from mlcli.report.numbers import fixed
from mlcli.report.scored import Names, Scored, training_parts
from mlcli.report.scores import badness, decimals_of
from mlcli.tasks.table import kind_named

VALIDATION = "validation"


def chosen_on_validation(group: Sequence[Scored], names: Names, metric: Metric) -> str:
    """The model that validation rows choose among several, in a sentence; nothing where there are no such rows."""
    kind = kind_named(group[0].cell.kind)
    models = [one for one in group if one.done and one.cell.model.use not in kind.baselines]
    known = {one: found for one in models if (found := _on_validation(one, metric)) is not None}
    if len(known) < 2 or len(known) < len(models):
        return ""
    winner = min(known, key=lambda one: badness(metric, known[one]))
    summary = winner.summaries.get(metric.name)
    if summary is None or summary.mean is None or not math.isfinite(summary.mean):
        return ""
    decimals = decimals_of(metric, [summary])
    return (
        f"Chosen among {len(known)} on validation rows by {metric.name}: {names[winner]} with "
        f"{fixed(known[winner], decimals)} there; on the test rows, which had no part in that, it has "
        f"{fixed(summary.mean, decimals)}{_interval(summary, decimals)}."
    )


def _on_validation(one: Scored, metric: Metric) -> float | None:
    """The mean over the validation rows of all splits, where every split has some and it is defined."""
    answers = [split.answers[VALIDATION] for split in one.result.splits if VALIDATION in split.answers]
    if not answers or len(answers) < len(one.result.splits) or one.cell.model.saved is not None:
        return None
    mean = summarise(metric, answers, training_parts(one.result), one.result.pooled).mean
    return mean if mean is not None and math.isfinite(mean) else None


def _interval(summary: Summary, decimals: int | None) -> str:
    if summary.low is None or summary.high is None or summary.low == summary.high:
        return ""
    return f" (95 % interval {fixed(summary.low, decimals)} to {fixed(summary.high, decimals)})"
