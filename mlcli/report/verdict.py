"""The verdict on a table, in one plain sentence: what is best, how sure that is, what it adds to the baseline."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mlcli.metrics.base import Metric
from mlcli.metrics.difference import Difference, compare
from mlcli.metrics.pooling import distinct, joined
from mlcli.report.numbers import fixed
from mlcli.report.scored import Scored, judged, rounds_of, training_parts
from mlcli.report.scores import badness, decimals_of
from mlcli.tasks.table import kind_named

FURTHER = {"high": "above", "low": "below", "zero": "from"}
"""Where a better score lies, seen from a worse one."""


def verdict_on(scored: Sequence[Scored], names: Mapping[Scored, str], metric: Metric) -> str:
    """The sentence, or nothing where no model but the baseline has a score; what knew judged rows is left out."""
    known = [one for one in scored if _score(one, metric) is not None]
    contaminated = [one for one in known if one.contaminated]
    fair = [one for one in known if not one.contaminated]
    return " ".join(filter(None, (*_left_out(contaminated, names), _sentence_on(fair, names, metric))))


def best_of(scored: Sequence[Scored], metric: Metric) -> Scored | None:
    """The one with the best score, those that knew no judged rows first; none where none has a score."""
    known = [one for one in scored if _score(one, metric) is not None]
    return min(known, key=lambda one: (one.contaminated, _badness(one, metric)), default=None)


def _left_out(contaminated: Sequence[Scored], names: Mapping[Scored, str]) -> Iterator[str]:
    """What is not compared, and why."""
    for one in contaminated:
        cell = one.result.cell
        yield (
            f"{names[one]} is not compared: it has learned from {cell.learned_rows} of these "
            f"{cell.labelled_rows} rows, so its scores say nothing of other rows."
        )


def _sentence_on(known: Sequence[Scored], names: Mapping[Scored, str], metric: Metric) -> str:
    baseline = baseline_of(known)
    ranked = sorted(known, key=lambda one: (_badness(one, metric), one is not baseline))
    models = [one for one in ranked if one is not baseline]
    if not models:
        return ""
    if ranked[0] is baseline:
        return f"By {metric.name} no model is better than the baseline: {_with_score(baseline, names, metric)}."
    best, *others = models
    parts = [f"{'Best by' if others else 'By'} {metric.name}: {_with_score(best, names, metric)}"]
    if baseline is not None:
        parts.append(_gain(best, baseline, names, metric))
    differences = {names[one]: difference_between(best, one, metric) for one in others}
    untested = [name for name, one in differences.items() if one.mean is None]
    alike = [name for name, one in differences.items() if name not in untested and not one.distinguishable]
    groups = (("not distinguishable from it", alike), ("not tested against it", untested))
    return "; ".join([", ".join(parts), *(f"{what}: {', '.join(who)}" for what, who in groups if who)]) + "."


def baseline_of(known: Sequence[Scored]) -> Scored | None:
    """What every other must beat: the first baseline of the kind that has a score."""
    learned = {one.result.cell.model.use: one for one in reversed(known) if one.result.cell.model.saved is None}
    baselines = kind_named(known[0].result.cell.kind).baselines if known else ()
    return next((learned[use] for use in baselines if use in learned), None)


def _score(one: Scored, metric: Metric) -> float | None:
    mean = one.summaries[metric.name].mean if metric.name in one.summaries else None
    return mean if mean is not None and math.isfinite(mean) else None


def _badness(one: Scored, metric: Metric) -> float:
    """Smaller for a better score."""
    score = _score(one, metric)
    assert score is not None
    return badness(metric, score)


def _with_score(one: Scored, names: Mapping[Scored, str], metric: Metric) -> str:
    """A model and its score with its interval."""
    summary = one.summaries[metric.name]
    assert summary.mean is not None
    decimals = decimals_of(metric, [summary])
    score = f"{names[one]} with {fixed(summary.mean, decimals)}"
    if summary.low is None or summary.high is None:
        return score
    if summary.low == summary.high:
        return f"{score} (no spread was seen, so there is no interval)"
    return f"{score} (95 % interval {fixed(summary.low, decimals)} to {fixed(summary.high, decimals)})"


def difference_between(best: Scored, other: Scored, metric: Metric) -> Difference:
    """Split by split; row by row where one of them is a saved model, which no split has taught."""
    if best.result.cell.protocol.use != other.result.cell.protocol.use:
        first, second = _row_by_row(best, other)
        return compare(metric, [first], [second], [0], pooled=True)
    pooled, rounds = best.result.pooled, rounds_of(best.result)
    return compare(metric, judged(best.result), judged(other.result), training_parts(best.result), pooled, rounds)


def _row_by_row(best: Scored, other: Scored) -> tuple[Any, Any]:
    """The first answer to each row, in the order in which the best was asked: sequences stay whole."""
    first, second = (distinct(joined(judged(one.result))) for one in (best, other))
    if not np.array_equal(np.sort(first.rows), np.sort(second.rows)):
        return first, second
    return first, second.take(second.rows.argsort()[first.rows.argsort().argsort()])


def _gain(best: Scored, baseline: Scored, names: Mapping[Scored, str], metric: Metric) -> str:
    """How far the best is from the baseline, and whether that may be chance."""
    difference = difference_between(best, baseline, metric)
    if difference.mean is None:
        return f"the baseline being {_with_score(baseline, names, metric)}"
    decimals = decimals_of(metric, [best.summaries[metric.name]])
    far = f"{fixed(abs(difference.mean), decimals)} {FURTHER[metric.better]} the baseline {names[baseline]}"
    return far if difference.distinguishable else f"{far} (which may be chance)"
