"""What a metric is: a named pure function of answers, with its direction, range and place in the registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.serialise import HIDDEN, shown
from mlcli.core.tables import Array, Flags, Rows

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
        of_class, others = (np.bincount(self.ranks, values, levels).astype(np.float64) for values in both)
        return of_class, others


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
    """How it comes from its rows; this decides its interval and its test of difference."""
    per_row: RowValues | None = None
    """The value of each row, for a metric that is the (weighted) mean of row values."""
    per_unit: RowValues | None = None
    """The value of each unit of rows, NaN where it has none, for a metric that is their plain mean."""
    under: Callable[..., Array] | None = None
    """Its values under many weightings (B × n) of the rows, NaN where undefined; else ``compute`` in a loop."""
    across: ScoreAcrossSplits | None = None
    """The value of each split beside the others, for a metric that compares them; ``compute`` says why not one."""
    influence: RowInfluence | None = None
    """How much each row moves it; else ``rankings``, ``of_tallies`` or ``per_row`` tell, or resampling has to."""
    rankings: Rankings | None = None
    """The rankings of which it is the mean area under the ROC curve."""
    without: Callable[[Sequence[str]], Metric] | None = None
    """The same metric without some classes, for one that only compares scores of the same fit."""
    of_tallies: Callable[[Tallies, Sequence[str]], Array] | None = None
    """Its values of tallies (..., K) of these classes, for a metric that is a function of such."""
    scale: Scale = "plain"
    """On which scale its errors are even: as a rate, by factors, or as odds."""
    unseen: Callable[..., float] | None = None
    """What a mistake scores: one row more that has it stands for those that were not seen yet."""
    pooling: Pooling = "never"
    """Whether the splits of a round are too small for it, so that it is taken over all of them at once."""
    by_rounds: bool = False
    """Whether its error and interval are of all rows of a round, as small splits bias them."""
    when_infinite: str = ""
    """What it means for a model that its score is infinite, and what to do."""
    marks: Marks | None = None
    """What a reader must know of a value that is defined, such as a class whose precision 0/0 counts as 0."""


@dataclass(frozen=True)
class Summary:
    """One metric over the splits of a cell: mean, spread and 95 % interval, or the reason there is none."""

    metric: str = field(metadata=HIDDEN)
    mean: float | None
    """None when undefined; may be infinite, and ``why`` then says of how many rows."""
    std: float | None = None
    low: float | None = None
    high: float | None = None
    splits: tuple[float | None, ...] = ()
    why: str = field(default="", metadata=shown(optional=True))
    marks: tuple[str, ...] = field(default=(), metadata=shown(optional=True))
    interval: str = field(default="", metadata=shown(optional=True))
    """How the interval was made, in a few words."""
    units: Units = field(default="", metadata=shown(optional=True))
    """What the interval counts, where it is not over splits."""
    trust: float | None = field(default=None, metadata=shown(optional=True))
    """For how much of a fresh row or group one counts, where fits change with their training rows."""
