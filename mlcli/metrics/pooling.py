"""What a metric is taken over: the splits, or the answers of several of them as one.

Rounds are splits that judge each row once: of a protocol that repeats, or of a sweep at all its coordinates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from mlcli.core.answers import Answers, ClassAnswers, Coordinate
from mlcli.core.tables import Array, Codes, Rows
from mlcli.metrics.base import Metric, Score, Undefined
from mlcli.tasks.classification import LabelAnswers

Rounds = Sequence[int]
"""For each split, the round of the sweep that it belongs to."""
_POOLED: WeakKeyDictionary[Answers, tuple[tuple[Answers, ...], Answers]] = WeakKeyDictionary()
"""By the answers of the first split: those of the others, and all of them together; gone with the first."""


def joined(splits: Sequence[Answers]) -> Any:
    """The answers of all splits together, in their order."""
    first, *others = splits
    if not others:
        return first
    known, together = _POOLED.get(first, ((), first))
    if known != tuple(others):
        together = type(first).pooled(splits)
        _POOLED[first] = (tuple(others), together)
    return together


def distinct(answers: Answers) -> Any:
    """The first answer to each row: a repeated protocol asks about a row more than once."""
    first = np.unique(answers.rows, return_index=True)[1]
    return answers if len(first) == len(answers) else answers.take(np.sort(first))


def units_of(answers: Answers) -> Rows | None:
    """The group of each row; rows that hang together otherwise are known by the first of them."""
    if answers.header.group is not None:
        return np.asarray(answers.header.group)
    if answers.units is None:
        return None
    count = int(answers.units.max(initial=0)) + 1
    return np.asarray(first_rows(answers.units, answers.rows, count)[answers.units])


def first_rows(units: Codes, rows: Rows, count: int) -> Rows:
    """The first row of each of so many units."""
    first: Rows = np.full(count, np.iinfo(np.intp).max)
    np.minimum.at(first, units, rows)
    return first


def rows_or_groups(answers: Answers) -> Rows:
    """What each row is drawn with: its group, else itself."""
    grouped = units_of(answers)
    return answers.rows if grouped is None else grouped


def units_by_class(answers: ClassAnswers) -> Array:
    """How many rows that count each class has, or groups that hold such a row; unknown classes have none."""
    units = rows_or_groups(answers)
    counting, span = (answers.weights > 0) & (answers.truth >= 0), int(units.max(initial=0)) + 1
    pairs = np.unique(answers.truth[counting].astype(np.int64) * span + units[counting])
    return np.bincount(pairs // span, minlength=len(answers.classes)).astype(np.float64)


def parts_of(metric: Metric, splits: Sequence[Answers], pooled: bool) -> Sequence[Any]:
    """What a metric is taken over: the splits, or rounds of them where these are too small for it."""
    if pooled or len(splits) == 1:
        return [joined(splits)]
    if metric.pooling == "always" or (metric.rankings is None and rare_classes(metric, splits)):
        return [joined(round_) for round_ in rounds_of_rows(splits)]
    return splits


CONSTANT = Undefined("each split tests one row, and its score depends only on the class that was left out")


def _area_of_rows_left_out(metric: Metric) -> Metric:
    """The metric, undefined for constants: without a row of a class, this class gets a smaller share.

    Such scores rank every pair of rows the wrong way round, an area of 0 where a constant has 0.5.
    """

    def compute(answers: Answers) -> Score:
        assert metric.rankings is not None
        rankings = metric.rankings(answers)
        is_constant = all(
            ranking.positive.any()
            and not ranking.positive.all()
            and np.ptp(ranking.ranks[ranking.positive]) == np.ptp(ranking.ranks[~ranking.positive]) == 0
            and ranking.ranks[ranking.positive][0] < ranking.ranks[~ranking.positive][0]
            for ranking in rankings
        )
        return CONSTANT if rankings and is_constant else metric.compute(answers)

    return replace(metric, compute=compute)


def within_splits(metric: Metric, splits: Sequence[Answers], pooled: bool) -> Metric:
    """The metric without the classes that have fewer rows than there are splits to judge them.

    Pooling such splits would compare scores of different fits. Of two classes none can be left out.
    """
    if pooled and metric.rankings is not None and all(len(answers) == 1 for answers in splits):
        return _area_of_rows_left_out(metric)
    if metric.without is None or pooled or len(joined(splits).classes) == 2:
        return metric
    rare = rare_classes(metric, splits)
    return metric.without(rare) if rare else metric


def rounds_of_rows(splits: Sequence[Answers]) -> list[list[Answers]]:
    """Consecutive splits as rounds in which no row is judged twice."""
    rounds: list[list[Answers]] = [[]]
    seen = np.zeros(1 + max(int(answers.rows.max(initial=0)) for answers in splits), bool)
    for answers in splits:
        if seen[answers.rows].any():
            rounds.append([])
            seen[:] = False
        rounds[-1].append(answers)
        seen[answers.rows] = True
    return rounds


def rare_classes(metric: Metric, splits: Sequence[Answers]) -> tuple[str, ...]:
    """The classes of which the splits have too few rows for a metric, by the first round.

    An area needs a row of each class; the mean rate of classes is up to 0.07 too low where a split has one or two.
    """
    first = rounds_of_rows(splits)[0]
    if metric.pooling == "never" or len(first) == 1 or not isinstance(first[0], LabelAnswers):
        return ()
    judged = joined(first)
    rows, least = units_by_class(judged), len(first) * fewest_of_a_class(metric)
    return tuple(name for name, count in zip(judged.classes, rows, strict=True) if 0 < count < least)


def fewest_of_a_class(metric: Metric) -> int:
    """So many rows of each class a split needs for a metric to be the mean of splits."""
    return 3 if metric.of_tallies is not None else 1


def by_others(splits: Sequence[Answers], train_rows: Sequence[int]) -> bool:
    """Whether each row is judged by what all rows outside its split teach, or all by one model."""
    if len(splits) == 1 or not any(train_rows):
        return True
    rows = len(np.unique(np.concatenate([answers.rows for answers in splits])))
    return all(learned + len(answers) == rows for learned, answers in zip(train_rows, splits, strict=True))


def rounds_of(coordinates: Sequence[Coordinate | None], splits: Sequence[Answers]) -> Rounds | None:
    """One round for the splits that judge the same rows at different coordinates; None where none differ."""
    if len(set(coordinates)) < 2:
        return None
    rounds: dict[tuple[bytes, int], int] = {}
    before: Counter[tuple[Coordinate | None, bytes]] = Counter()
    result = []
    for coordinate, answers in zip(coordinates, splits, strict=True):
        rows = answers.rows.tobytes()
        result.append(rounds.setdefault((rows, before[coordinate, rows]), len(rounds)))
        before[coordinate, rows] += 1
    return result


def by_round(values: Sequence[float] | Array, rounds: Rounds | None) -> Array:
    """The mean of each round; the values as they are where nothing is swept over."""
    result = np.array(values, dtype=np.float64)
    if rounds is None:
        return result
    place = np.unique(rounds, return_inverse=True)[1]
    return np.asarray(np.bincount(place, result) / np.bincount(place))


def counted_rounds(values: Array, rounds: Rounds | None) -> str:
    """What is counted, in words."""
    return f"{len(values)} splits" if rounds is None else f"{len(values)} splits, each the mean of its sweep"
