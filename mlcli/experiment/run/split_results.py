"""What splits gave: a result for each, or one for many that were answered together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, overload

import numpy as np

from mlcli.core.answers import Answers, Coordinate
from mlcli.core.findings import Explanation
from mlcli.core.tables import Codes, Rows

JUDGED, TRAINING = "test", "training"
"""The part of a split that judges a model; the one that it has learned from, where it is asked about that, too."""

StagedAnswers = tuple[tuple[Coordinate, Answers], ...]


@dataclass(frozen=True, eq=False)
class SplitResult:
    """What one split gave: answers per scored part, times, warnings, and how the model explains itself."""

    index: int
    label: str
    train_rows: int
    answers: Mapping[str, Answers]
    fit_seconds: float
    predict_seconds: float
    warnings: tuple[str, ...] = ()
    explanation: Explanation = ()
    """Empty where the closed form answered: nothing was fitted to this split alone."""
    route: str = ""
    """The closed form that answered, in a few words; empty where the model was fitted to the split."""
    coordinate: Coordinate | None = None
    """Where the split lies in what its protocol sweeps over, if it does."""
    stages: StagedAnswers = ()
    """What the model would have answered had its fit stopped earlier, where that was asked for."""
    training_stages: StagedAnswers = ()
    """The same of the rows that it has learned from, where both were asked for."""

    @property
    def seconds(self) -> float:
        """How long it took to learn and to answer."""
        return self.fit_seconds + self.predict_seconds


@dataclass(frozen=True, eq=False)
class RoundResult(Sequence[SplitResult]):
    """All splits of a round, each made only when it is asked for: leave-one-out has one for every row."""

    first: int
    """The number of the first split."""
    labels: Sequence[str]
    train_rows: Sequence[int]
    sizes: Sequence[int]
    """The number of test rows of each split."""
    answers: Answers
    """About the test rows of the first split, then of the second, ..."""
    seconds: float
    """What one split took, if all took the same."""
    route: str

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[SplitResult]:
        generator = (slice(*ends) for ends in pairwise(self._ends.tolist()))
        for index, answers in enumerate(self.answers.parted(generator)):
            yield self._result(index, answers)

    @overload
    def __getitem__(self, index: int) -> SplitResult: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[SplitResult, ...]: ...
    def __getitem__(self, index: int | slice) -> SplitResult | tuple[SplitResult, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        place = range(len(self))[index]
        return self._result(place, self.answers.take(slice(*self._ends[place : place + 2])))

    def _result(self, index: int, answers: Answers) -> SplitResult:
        return SplitResult(
            index=self.first + index,
            label=self.labels[index],
            train_rows=self.train_rows[index],
            answers={JUDGED: answers},
            fit_seconds=self.seconds,
            predict_seconds=0.0,
            route=self.route,
        )

    @cached_property
    def _ends(self) -> Rows:
        """Among the answers, the rows of each split stand from one of these to the next."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.intp)

    def column(self, name: str) -> Sequence[Any]:
        """One field of every split."""
        indices = range(self.first, self.first + len(self))
        differing = {"index": indices, "label": self.labels, "train_rows": self.train_rows}
        return differing[name] if name in differing else [getattr(self[0], name)] * len(self)


def folds_of(first: int, sizes: Sequence[int] | Rows) -> Codes:
    """The number of the split that tests each row, where splits of these sizes follow one another."""
    return np.repeat(np.arange(first, first + len(sizes), dtype=np.int32), sizes)


def each(results: Sequence[SplitResult], name: str) -> Sequence[Any]:
    """One field of every split (but for the answers), of those that were answered together without making them."""
    return (
        results.column(name) if isinstance(results, RoundResult) else [getattr(result, name) for result in results]
    )


class CompletedSplits:
    """The results of a cell so far, block after block; those that were answered together stay together."""

    def __init__(self) -> None:
        self._blocks: list[Sequence[SplitResult]] = []
        self._indices: set[int] = set()

    def add(self, results: Sequence[SplitResult]) -> None:
        """Take the results of a block."""
        if results:
            self._blocks.append(results)
        self._indices.update(each(results, "index"))

    def __len__(self) -> int:
        return len(self._indices)

    def __contains__(self, index: int) -> bool:
        return index in self._indices

    def has_first(self, count: int) -> bool:
        """Whether none of the first splits is missing."""
        return self._indices.issuperset(range(count))

    def all(self) -> Sequence[SplitResult]:
        """Those that are there, in order; of two of the same split, the later."""
        if len(self._blocks) == 1:
            return self._blocks[0]
        by_index = {split.index: split for block in self._blocks for split in block}
        return tuple(by_index[index] for index in sorted(by_index))

    def first(self, count: int) -> Sequence[SplitResult]:
        """Those that are there of the first splits, in order."""
        if max(self._indices, default=-1) < count:
            return self.all()
        return tuple(split for split in self.all() if split.index < count)
