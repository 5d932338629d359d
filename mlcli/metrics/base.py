"""What a metric is, a named pure function of answers, and what it is taken over.

It is taken over the splits, or over the answers of several of them as one. Rounds are splits that judge each row
once: of a protocol that repeats, or of a sweep at all its coordinates.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

import numpy as np

from mlcli.core.answers import Answers, ClassAnswers, Coordinate
from mlcli.core.serialise import HIDDEN, shown
from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.tasks.supervised import LabelAnswers

if TYPE_CHECKING:
    from mlcli.metrics.confusion import Tallies


@dataclass(frozen=True)
class Undefined:
    """A metric that cannot be computed here, and why; never shown as 0."""

    why: str
    hint: str = ""
    """What would help, when only some splits are concerned."""


Score = float | Undefined
Better = Literal["high", "low", "zero"]
Aggregation = Literal["share of rows", "mean of rows", "mean of units", "of the fit", "other"]
Scale = Literal["plain", "rate", "log", "logit"]
Units = Literal["", "rows", "groups"]
Pooling = Literal["never", "where classes are rare", "always"]


def defined(scores: Iterable[Score]) -> list[float]:
    """The scores that could be computed."""
    return [score for score in scores if not isinstance(score, Undefined)]


@dataclass(frozen=True, eq=False)
class Ranking:
    """The rank of each row among the different scores, whether it is of the class, and its weight."""

    ranks: Rows
    positive: Flags
    weights: Array

    @property
    def by_level(self) -> tuple[Array, Array]:
        """The weight at each rank of the rows of the class, and of the others."""
        levels = int(self.ranks.max(initial=0)) + 1
        both = (np.where(values, self.weights, 0.0) for values in (self.positive, ~self.positive))
        positive, others = (np.bincount(self.ranks, values, levels).astype(np.float64) for values in both)
        return positive, others


# The functions of a metric take the answers of its kind.
Compute = Callable[[Any], Score]
RowValues = Callable[[Any], Array]
Rankings = Callable[[Any], Sequence[Ranking]]
RowInfluence = Callable[[Any], Array | None]
ScoreAcrossSplits = Callable[[Sequence[Any]], Sequence[float] | Undefined]
Marks = Callable[[Any], tuple[str, ...]]


@dataclass(frozen=True)
class Metric:
    """A named score of answers."""

    name: str
    answers: type[Answers]
    compute: Compute
    better: Better
    low: float | None = None
    """The smallest value it can take, if there is one."""
    high: float | None = None
    """The largest value it can take, if there is one."""
    aggregation: Aggregation = "other"
    """How it is computed from rows; this decides its interval and its test of difference."""
    per_row: RowValues | None = None
    """The value of each row, for a metric that is the (weighted) mean of row values."""
    per_unit: RowValues | None = None
    """The value of each unit of rows, NaN where it has none, for a metric that is their plain mean."""
    under: Callable[..., Array] | None = None
    """Its values under many weightings (B × n) of the rows, NaN where undefined; else ``compute`` in a loop."""
    across: ScoreAcrossSplits | None = None
    """The value of each split, for a metric that compares splits; ``compute`` is then undefined."""
    influence: RowInfluence | None = None
    """The influence of each row; else from ``rankings``, ``of_tallies`` or ``per_row``, or by resampling."""
    rankings: Rankings | None = None
    """The rankings of which it is the mean area under the ROC curve."""
    without: Callable[[Sequence[str]], Metric] | None = None
    """The same metric without some classes, for one that only compares scores of the same fit."""
    of_tallies: Callable[[Tallies, Sequence[str]], Array] | None = None
    """Its values from tallies (..., K) of these classes, for a metric that is a function of tallies."""
    scale: Scale = "plain"
    """The scale on which its errors are symmetric: plain, of rates, of logarithms, or of log odds."""
    unseen: Callable[..., float] | None = None
    """The value of a mistake: one more row with it stands for mistakes that were not observed yet."""
    pooling: Pooling = "never"
    """When the splits of a round are too small for it, so that it is computed over all of them at once."""
    by_rounds: bool = False
    """Whether its error and interval use all rows of a round, since small splits would bias them."""
    when_infinite: str = ""
    """What it means for a model that its score is infinite, and what to do."""
    marks: Marks | None = None
    """Remarks on a defined value, such as a class whose precision 0/0 counts as 0."""


@dataclass(frozen=True)
class Summary:
    """One metric over the splits of a cell: mean, spread and 95 % interval, or the reason there is none."""

    metric: str = field(metadata=HIDDEN)
    mean: float | None
    """None if undefined; may be infinite, and ``why`` then tells for how many rows."""
    std: float | None = None
    low: float | None = None
    high: float | None = None
    splits: tuple[float | None, ...] = ()
    why: str = field(default="", metadata=shown(optional=True))
    marks: tuple[str, ...] = field(default=(), metadata=shown(optional=True))
    interval: str = field(default="", metadata=shown(optional=True))
    """How the interval was made, in a few words."""
    units: Units = field(default="", metadata=shown(optional=True))
    """The units of the interval, if it is not over splits."""
    trust: float | None = field(default=None, metadata=shown(optional=True))
    """How many independent rows or groups one counts as, since fits change with their training rows."""


Rounds = Sequence[int]
"""For each split, the round of the sweep that it belongs to."""
_POOLED: WeakKeyDictionary[Answers, tuple[tuple[Answers, ...], Answers]] = WeakKeyDictionary()
"""Cache by the answers of the first split: those of the other splits, and all of them joined."""


def joined(splits: Sequence[Answers]) -> Any:
    """The answers of all splits joined, in their order."""
    first, *others = splits
    if not others:
        return first
    cached_others, pooled = _POOLED.get(first, ((), first))
    if cached_others != tuple(others):
        pooled = type(first).pooled(splits)
        _POOLED[first] = (tuple(others), pooled)
    return pooled


def distinct(answers: Answers) -> Any:
    """The first prediction for each row: a repeated protocol tests a row more than once."""
    first = np.unique(answers.rows, return_index=True)[1]
    return answers if len(first) == len(answers) else answers.take(np.sort(first))


def units_of(answers: Answers) -> Rows | None:
    """The group of each row, or of other dependent rows the first; None if rows are independent."""
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
    """The sampling unit of each row: its group, else the row itself."""
    grouped = units_of(answers)
    return answers.rows if grouped is None else grouped


def units_by_class(answers: ClassAnswers) -> Array:
    """The number of rows with weight in each class, or of groups with such a row; unknown classes have none."""
    units = rows_or_groups(answers)
    counting, span = (answers.weights > 0) & (answers.truth >= 0), int(units.max(initial=0)) + 1
    pairs = np.unique(answers.truth[counting].astype(np.int64) * span + units[counting])
    return np.bincount(pairs // span, minlength=len(answers.classes)).astype(np.float64)


def parts_of(metric: Metric, splits: Sequence[Answers], pooled: bool) -> Sequence[Any]:
    """What a metric is computed over: the splits, or rounds of them if splits are too small for it."""
    if pooled or len(splits) == 1:
        return [joined(splits)]
    if metric.pooling == "always" or (metric.rankings is None and rare_classes(metric, splits)):
        return [joined(round_) for round_ in rounds_of_rows(splits)]
    return splits


CONSTANT = Undefined("each split tests one row, and its score depends only on the class that was left out")


def _undefined_for_constants(metric: Metric) -> Metric:
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
    """The metric without the classes that have fewer rows than there are splits.

    Pooling such splits would compare scores of different fits. Of two classes none can be left out.
    """
    if pooled and metric.rankings is not None and all(len(answers) == 1 for answers in splits):
        return _undefined_for_constants(metric)
    if metric.without is None or pooled or len(joined(splits).classes) == 2:
        return metric
    rare = rare_classes(metric, splits)
    return metric.without(rare) if rare else metric


def rounds_of_rows(splits: Sequence[Answers]) -> list[list[Answers]]:
    """Consecutive splits as rounds in which no row is tested twice."""
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
    answers = joined(first)
    rows, least = units_by_class(answers), len(first) * fewest_of_a_class(metric)
    return tuple(name for name, count in zip(answers.classes, rows, strict=True) if 0 < count < least)


def fewest_of_a_class(metric: Metric) -> int:
    """How many rows of each class every split needs, so that a metric is the mean of splits."""
    return 3 if metric.of_tallies is not None else 1


def by_others(splits: Sequence[Answers], train_rows: Sequence[int]) -> bool:
    """Whether each row is predicted by a model of all rows outside its split, or all rows by one model."""
    if len(splits) == 1 or not any(train_rows):
        return True
    rows = len(np.unique(np.concatenate([answers.rows for answers in splits])))
    return all(learned + len(answers) == rows for learned, answers in zip(train_rows, splits, strict=True))


def rounds_of(coordinates: Sequence[Coordinate | None], splits: Sequence[Answers]) -> Rounds | None:
    """One round for the splits that test the same rows at different coordinates; None if no coordinates differ."""
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
    index = np.unique(rounds, return_inverse=True)[1]
    return np.asarray(np.bincount(index, result) / np.bincount(index))


def counted_rounds(values: Array, rounds: Rounds | None) -> str:
    """The number of splits, in words."""
    return f"{len(values)} splits" if rounds is None else f"{len(values)} splits, each the mean of its sweep"
