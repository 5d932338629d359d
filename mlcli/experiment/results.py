"""What fits give: the answers of each split of a cell, and a pipeline that was trained on all rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, overload

import numpy as np

from mlcli.core.answers import Answers, Coordinate
from mlcli.core.findings import Explanation
from mlcli.core.pipeline import Pipeline
from mlcli.core.tables import Codes, Rows

JUDGED, TRAINING = "test", "training"
"""The parts of a split that are predicted: the test rows, and where asked for the training rows."""

StagedAnswers = tuple[tuple[Coordinate, Answers], ...]


@dataclass(frozen=True, eq=False)
class SplitResult:
    """The result of one split: answers per part, times, warnings, and the explanation of the fitted model."""

    index: int
    label: str
    train_rows: int
    answers: Mapping[str, Answers]
    fit_seconds: float
    predict_seconds: float
    warnings: tuple[str, ...] = ()
    explanation: Explanation = ()
    """Empty if the leave-one-out shortcut answered: nothing was fitted to this split alone."""
    route: str = ""
    """The shortcut that answered; empty if the model was fitted to the split."""
    coordinate: Coordinate | None = None
    """Where the split lies in what its protocol sweeps over, if it does."""
    stages: StagedAnswers = ()
    """The answers that the model would have given had its fit stopped earlier, if they were asked for."""
    training_stages: StagedAnswers = ()
    """The same for the training rows."""

    @property
    def seconds(self) -> float:
        """The time of fit and prediction."""
        return self.fit_seconds + self.predict_seconds


@dataclass(frozen=True, eq=False)
class RoundResult(Sequence[SplitResult]):
    """All splits of leave-one-out, which has one for every row; each is made only when it is asked for."""

    first: int
    """The number of the first split."""
    labels: Sequence[str]
    train_rows: Sequence[int]
    sizes: Sequence[int]
    """The number of test rows of each split."""
    answers: Answers
    """About the test rows of the first split, then of the second, ..."""
    seconds: float
    """The mean time of a split."""
    route: str

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[SplitResult]:
        slices = (slice(start, end) for start, end in pairwise(self._ends.tolist()))
        for index, answers in enumerate(self.answers.parted(slices)):
            yield self._result(index, answers)

    @overload
    def __getitem__(self, index: int) -> SplitResult: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[SplitResult, ...]: ...
    def __getitem__(self, index: int | slice) -> SplitResult | tuple[SplitResult, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        index = range(len(self))[index]
        return self._result(index, self.answers.take(slice(*self._ends[index : index + 2])))

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
        """The answers of split i are those from _ends[i] up to _ends[i + 1]."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.intp)

    def column(self, name: str) -> Sequence[Any]:
        """One field of every split."""
        indices = range(self.first, self.first + len(self))
        by_split = {"index": indices, "label": self.labels, "train_rows": self.train_rows}
        return by_split[name] if name in by_split else [getattr(self[0], name)] * len(self)


def folds_of(first: int, sizes: Sequence[int] | Rows) -> Codes:
    """The number of the split that tests each row, for consecutive splits of these sizes."""
    return np.repeat(np.arange(first, first + len(sizes), dtype=np.int32), sizes)


def each(results: Sequence[SplitResult], name: str) -> Sequence[Any]:
    """One field of every split except the answers; a ``RoundResult`` makes no splits for it."""
    if isinstance(results, RoundResult):
        return results.column(name)
    return [getattr(result, name) for result in results]


class CompletedSplits:
    """The results of a cell so far, block by block."""

    def __init__(self) -> None:
        self._blocks: list[Sequence[SplitResult]] = []
        self._indices: set[int] = set()

    def add(self, results: Sequence[SplitResult]) -> None:
        """Add the results of a block."""
        if results:
            self._blocks.append(results)
        self._indices.update(each(results, "index"))

    def __len__(self) -> int:
        return len(self._indices)

    def __contains__(self, index: int) -> bool:
        return index in self._indices

    def has_first(self, count: int) -> bool:
        """Whether the first ``count`` splits are complete."""
        return self._indices.issuperset(range(count))

    def all(self) -> Sequence[SplitResult]:
        """The completed splits in order; if a split was added twice, the later result."""
        if len(self._blocks) == 1:
            return self._blocks[0]
        by_index = {split.index: split for block in self._blocks for split in block}
        return tuple(by_index[index] for index in sorted(by_index))

    def first(self, count: int) -> Sequence[SplitResult]:
        """The completed ones of the first ``count`` splits, in order."""
        if max(self._indices, default=-1) < count:
            return self.all()
        return tuple(split for split in self.all() if split.index < count)


@dataclass(frozen=True, eq=False)
class Trained:
    """A pipeline that was trained on all rows of a dataset, with the warnings of the fit."""

    pipeline: Pipeline
    rows: Any
    warnings: tuple[str, ...]
    seconds: float
