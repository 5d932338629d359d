"""Forward chaining: a model is fitted to earlier rows and tested on later ones, block after block of time.

Computed:
    Rows are ordered by the column of role `order`, else as they stand in the file; rows of one time stay together.
    The last folds × ⌊times / (folds + 1)⌋ times are cut into `folds` blocks. Each is tested by what was learned
    from all times before it, or from the last `window` of them; the `gap` times just before it are left out. The
    first block is only learned from, and no model ever learns from rows that are not earlier than all it is tested
    on. Where rows are grouped, earlier rows of a group that is tested are not learned from.

Cost:
    One fit for each fold; nothing is random.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mlcli.core.errors import Problem, warn
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.rows import SplitInfo
from mlcli.core.tables import Codes
from mlcli.protocols._base import Protocol, Split, split_labels


@register(
    "forward-chaining",
    reference="Tashman 2000, Out-of-sample tests of forecasting accuracy: an analysis and review",
)
class ForwardChaining(Protocol):
    """Blocks of time, each tested by what was learned from earlier ones."""

    kinds: ClassVar[tuple[str, ...]] = (
        *("classification", "regression", "anomaly"),
        *("density", "projection", "recommendation"),
    )

    folds: int = param(5, "how many blocks of time are tested", ge=1)
    window: int | None = param(None, "how many times before the gap are learned from; all if none is given", ge=1)
    gap: int = param(0, "how many times just before the tested ones are left out", ge=0)

    def problems_with_rows(self, info: SplitInfo) -> list[Problem]:
        """Rows without a time, too few times, or nothing to learn from."""
        if info.order is not None and np.isnan(info.order).any():
            what = f"{self.id}: {np.isnan(info.order).sum()} rows have no time in the column of role order"
            return [Problem(what, hint="fill the cells, or leave out the rows")]
        times = int(times_of(info).max(initial=-1)) + 1
        if times <= self.folds:
            what = f"{self.id}: {self.folds} folds need at least {self.folds + 1} times, there are {times}"
            return [Problem(what, hint=f"{times - 1} folds or fewer would work" if times > 1 else "")]
        before_first = times - self.folds * (times // (self.folds + 1))
        if self.gap >= before_first:
            nothing = f"a gap of {self.gap} leaves nothing to learn from: {before_first} times are before fold 1"
            return [Problem(f"{self.id}: {nothing}", hint=f"a gap of {before_first - 1} or less would work")]
        if info.groups is None:
            return []
        empty = [split.label for split in self._splits(info) if not len(split.train)]
        if not empty:
            return []
        hint = "groups are never cut; to predict later rows of known groups, give no column the role group"
        return [Problem(f"{self.id}: every row before {empty[0]} is of a group that it tests", hint=hint)]

    def divided(self, info: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """The blocks, earliest first."""
        if info.order is None:
            warn("no column has the role order: rows are taken as they stand")
        return self._splits(info)

    def _splits(self, info: SplitInfo) -> list[Split]:
        time = times_of(info)
        times = int(time.max()) + 1
        size = times // (self.folds + 1)
        by_time = np.argsort(time, kind="stable")
        starts = range(times - self.folds * size, times, size)
        splits = []
        for start, label in zip(starts, split_labels("fold", self.folds, 1), strict=True):
            end = start - self.gap
            first = 0 if self.window is None else max(end - self.window, 0)
            train = by_time[(time[by_time] >= first) & (time[by_time] < end)]
            test = by_time[(time[by_time] >= start) & (time[by_time] < start + size)]
            if info.groups is not None:
                train = train[~np.isin(info.groups[train], info.groups[test])]
            splits.append(Split(train=train, test=test, label=label))
        return splits


def times_of(info: SplitInfo) -> Codes:
    """The rank of each row's time among all times; rows of one time share it."""
    if info.order is None:
        return np.arange(info.rows, dtype=np.int32)
    return np.unique(info.order, return_inverse=True)[1].astype(np.int32)
