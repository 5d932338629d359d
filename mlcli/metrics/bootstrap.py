"""The bootstrap over rows: what a score would be had other rows of the same kind been judged (Efron 1979).

Percentile intervals come from 1,000 resamples; beyond 20,000 rows from fewer, so that no more than 20 million rows
are drawn, but from 200 at least. A resample is a weighting of the rows: how often each was drawn, times its own
weight. Rows that hang together, such as those of a sequence, are drawn together, and so are all answers to one row
of a repeated protocol. The numbers of the rows seed the
resamples, and units are numbered as they first stand there: all models and metrics meet the same ones, as paired
tests need.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mlcli.core.answers import Answers
from mlcli.core.names import counted
from mlcli.core.seeds import rng_for
from mlcli.core.tables import Array, Rows
from mlcli.metrics.base import Metric, Undefined
from mlcli.metrics.intervals import LEVEL, NO_SPREAD, Interval
from mlcli.metrics.pooling import rows_or_groups, units_of

RESAMPLES = 1_000
FEWEST = 200
MOST_DRAWS = 20_000_000
BLOCK = 1 << 17
"""Rows drawn at once: what fits into the cache."""
KEPT = 500
"""So many metrics of answers are kept: an interval and every comparison ask for the same."""
_kept: dict[tuple[Metric, str], Array] = {}


def replicates(metric: Metric, answers: Answers) -> Array:
    """The metric of every resample of the rows, NaN where it is undefined."""
    asked = metric, _digest(answers)
    if asked not in _kept:
        if len(_kept) == KEPT:
            _kept.clear()
        _kept[asked] = np.concatenate([_under(metric, answers, block) for block in weightings(answers)])
    return _kept[asked]


def _digest(answers: Answers) -> str:
    arrays = answers.arrays()
    found = hashlib.sha256(repr((type(answers), answers.facts(), list(arrays))).encode())
    for array in arrays.values():
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def percentile_interval(values: Array, how: str) -> Interval:
    """The middle 95 % of replicates; those that are undefined are left out, and said."""
    defined = values[np.isfinite(values)]
    if 2 * len(defined) < len(values):
        return Interval(None, None, f"none: undefined in {len(values) - len(defined)} of {len(values)} resamples")
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    if high - low <= NO_SPREAD * max(abs(low), abs(high)):
        return Interval(None, None, f"none: no spread was seen, which is not certainty ({how})")
    made = f"{how}, {len(defined)} resamples"
    if len(defined) < len(values):
        made += f" ({len(values) - len(defined)} more were undefined)"
    return Interval(float(low), float(high), made)


def resamples_for(rows: int) -> int:
    """How many resamples of so many rows."""
    return max(FEWEST, min(RESAMPLES, MOST_DRAWS // max(rows, 1)))


def drawn_from(answers: Answers) -> str:
    """What is drawn, in words."""
    count = len(np.unique(rows_or_groups(answers)))
    return counted(count, "row") if units_of(answers) is None else f"{count} units of rows that hang together"


def weightings(answers: Answers) -> Iterator[Array]:
    """Blocks (B × n) of weightings of the rows."""
    unit = _units_of(answers)
    count, numbers = int(unit.max()) + 1, hashlib.sha256(answers.rows.astype("<i8").tobytes()).hexdigest()
    for counts in _drawn(numbers, count, len(answers)):
        yield (counts if count == len(answers) else counts[:, unit]) * answers.weights


@lru_cache(maxsize=1)
def _drawn(numbers: str, units: int, rows: int) -> tuple[NDArray[np.uint16], ...]:
    """How often each unit was drawn, in blocks of resamples; kept, since all models and metrics meet the same."""
    rng = rng_for("bootstrap", numbers)
    blocks, left = [], resamples_for(rows)
    while left:
        times = min(left, max(1, BLOCK // rows))
        drawn = rng.integers(0, units, size=(times, units)) + units * np.arange(times)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=times * units).reshape(times, units)
        blocks.append(counts.astype(np.uint16))
        left -= times
    return tuple(blocks)


def _units_of(answers: Answers) -> Rows:
    """The number of what each row is drawn with, by the order in which these first stand there."""
    from mlcli.tasks.sequence_windows import numbered_by_appearance

    return numbered_by_appearance(rows_or_groups(answers)).astype(np.intp)


def _under(metric: Metric, answers: Answers, block: Array) -> Array:
    if metric.under is not None:
        return metric.under(answers, block)
    scores = (metric.compute(answers.with_header(weight=weighting)) for weighting in block)
    return np.array([np.nan if isinstance(found, Undefined) else found for found in scores])
