"""One metric over the splits of a cell: the mean with its spread and interval, or why there is none.

Each split has its value, and the mean is the plain mean of these; or, where a protocol pools (leave-one-out), the
metric is taken over all answers at once. Which interval is made depends on how the metric comes from its rows, and
is said in ``Summary.interval``:

    shares of rows (accuracy, error-rate)   Wilson over the distinct rows judged
    other metrics, two or more splits       corrected resampled t over the splits
    means of rows, one split or pooled      Student's t over the rows
    means of groups, one split or pooled    Student's t over the groups
    of the fit (bic), one split             none: no judged row changes it
    other metrics, one split or pooled      bootstrap over the rows
    metrics that compare splits             none

Rows that hang together, such as those of a sequence, are no independent rows: their metrics count as "other".
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.tables import Array
from mlcli.metrics.base import Aggregation, Metric, Summary, Undefined
from mlcli.metrics.bootstrap import drawn_from, percentile_interval, replicates
from mlcli.metrics.intervals import Interval, effective_rows, over_rows, over_splits, wilson
from mlcli.metrics.pooling import Rounds, by_round, counted_rounds, distinct, joined

Values = tuple[float | None, ...]


def summarise(
    metric: Metric,
    splits: Sequence[Answers],
    train_rows: Sequence[int],
    pooled: bool = False,
    rounds: Rounds | None = None,
) -> Summary:
    """Mean, standard deviation (n - 1 over splits), 95 % interval, and the value of each split.

    Where ``rounds`` say which splits sweep over something, intervals over splits are over the means of rounds.
    """
    if not splits:
        return Summary(metric.name, None, why="no split was answered")
    if metric.across is not None and len(splits) > 1:
        return _across(metric, splits)
    if pooled or len(splits) == 1:
        return _at_once(metric, splits)
    return _split_by_split(metric, splits, train_rows, rounds)


def _across(metric: Metric, splits: Sequence[Answers]) -> Summary:
    """A metric that compares splits with each other; there is no interval, since they share rows."""
    assert metric.across is not None
    values = metric.across(splits)
    if isinstance(values, Undefined):
        return Summary(metric.name, None, splits=(None,) * len(splits), why=values.why)
    return Summary(metric.name, float(np.mean(values)), float(np.std(values, ddof=1)), splits=tuple(values))


def _at_once(metric: Metric, splits: Sequence[Answers]) -> Summary:
    answers = joined(splits)
    value = metric.compute(answers)
    if isinstance(value, Undefined):
        return Summary(metric.name, None, splits=(None,) * len(splits), why=value.why)
    values = (value,) if len(splits) == 1 else _row_means(metric, splits, answers)
    marks = metric.marks(answers) if metric.marks else ()
    return _summary(
        metric,
        value,
        None,
        values,
        marks,
        lambda: INTERVALS_POOLED[aggregation_of(metric, answers)](metric, answers, value),
    )


def _split_by_split(
    metric: Metric, splits: Sequence[Answers], train_rows: Sequence[int], rounds: Rounds | None
) -> Summary:
    scores = [metric.compute(answers) for answers in splits]
    values = tuple(None if isinstance(score, Undefined) else score for score in scores)
    found = [value for value in values if value is not None]
    if len(found) < len(splits):
        undefined = [score for score in scores if isinstance(score, Undefined)]
        return Summary(metric.name, None, splits=values, why=_why_no_mean(undefined, len(splits)))
    mean = float(np.mean(found))
    spread = float(np.std(found, ddof=1)) if math.isfinite(mean) else None

    def interval() -> Interval:
        if aggregation_of(metric, splits[0]) == "share of rows":
            return _wilson(metric, joined(splits), mean)
        return split_interval(found, splits, train_rows, rounds)

    return _summary(metric, mean, spread, values, _marks_of_splits(metric, splits), interval)


def aggregation_of(metric: Metric, answers: Answers) -> Aggregation:
    """How the metric comes from independent rows, if these are."""
    return metric.aggregation if answers.units is None else "other"


def split_interval(
    values: Sequence[float], splits: Sequence[Answers], train_rows: Sequence[int], rounds: Rounds | None = None
) -> Interval:
    """The corrected resampled t interval of a mean over splits."""
    means, scale = by_round(values, rounds), max(map(abs, values))
    estimate = over_splits(means, train_rows, [len(answers) for answers in splits], scale)
    return estimate.interval(f"corrected resampled t over {counted_rounds(means, rounds)}")


def _summary(
    metric: Metric,
    value: float,
    spread: float | None,
    values: Values,
    marks: tuple[str, ...],
    interval: Callable[[], Interval],
) -> Summary:
    finite = math.isfinite(value)
    made = interval().within(metric.low, metric.high) if finite else Interval(None, None, "none: it is infinite")
    return Summary(
        metric=metric.name,
        mean=value,
        std=spread,
        low=made.low,
        high=made.high,
        splits=values,
        why="" if finite else "; ".join(marks) or "infinite",
        marks=marks,
        interval=made.how,
    )


def _wilson(metric: Metric, answers: Answers, value: float) -> Interval:
    return wilson(value, effective_rows(distinct(answers).weights))


def _t_over_means(metric: Metric, answers: Answers, value: float) -> Interval:
    values, weights = averaged_values(metric, answers)
    known = ~np.isnan(values)
    what = "groups" if metric.per_unit else "rows"
    return over_rows(values[known], weights[known]).interval(f"t over {known.sum()} {what}")


def averaged_values(metric: Metric, answers: Answers) -> tuple[Array, Array]:
    """The values of rows, or of units of them (NaN where one has none), whose mean a metric is; their weights."""
    if metric.per_unit is not None:
        of_units = metric.per_unit(answers)
        return of_units, np.ones(len(of_units))
    assert metric.per_row is not None
    return metric.per_row(answers), answers.weights


def _bootstrap(metric: Metric, answers: Answers, value: float) -> Interval:
    return percentile_interval(replicates(metric, answers), f"bootstrap over {drawn_from(answers)}")


def _of_one_fit(metric: Metric, answers: Answers, value: float) -> Interval:
    return Interval(None, None, "none: it is of the fit, which no judged row changes")


INTERVALS_POOLED: dict[Aggregation, Callable[[Metric, Answers, float], Interval]] = {
    "share of rows": _wilson,
    "mean of rows": _t_over_means,
    "mean of units": _t_over_means,
    "of the fit": _of_one_fit,
    "other": _bootstrap,
}


def _row_means(metric: Metric, splits: Sequence[Answers], answers: Answers) -> Values:
    """What each of many small splits says on its own: its rows' mean, for a metric that is one."""
    if metric.per_row is None:
        return (None,) * len(splits)
    split = np.repeat(np.arange(len(splits)), [len(part) for part in splits])
    counting = answers.weights > 0
    weights = answers.weights[counting]
    values = metric.per_row(answers)[counting] * weights
    sums, totals = (np.bincount(split[counting], column, minlength=len(splits)) for column in (values, weights))
    return tuple(float(part / total) if total > 0 else None for part, total in zip(sums, totals, strict=True))


def _marks_of_splits(metric: Metric, splits: Sequence[Answers]) -> tuple[str, ...]:
    """What was marked in any split, with how often; a mean of rows is marked over all rows at once."""
    if metric.marks is None:
        return ()
    if metric.per_row is not None:
        return metric.marks(joined(splits))
    counted = Counter(mark for answers in splits for mark in metric.marks(answers))
    return tuple(f"{mark} (in {times} of {len(splits)} splits)" for mark, times in counted.items())


def _why_no_mean(undefined: Sequence[Undefined], splits: int) -> str:
    reasons = Counter(score.why for score in undefined)
    hints = dict.fromkeys(score.hint for score in undefined if score.hint)
    causes = ", ".join(f"{why} ({times})" if len(reasons) > 1 else why for why, times in reasons.most_common())
    return "; ".join((f"undefined in {len(undefined)} of {splits} splits: {causes}", *hints))
