"""Splits from one number per row: the part in which the row is judged, or -1 where it is only learned from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np

from mlcli.core.tables import Codes
from mlcli.protocols._base import Split


class Parts(Sequence[Split]):
    """The splits of some rounds: in each, every part is judged once by what is learned from all other rows.

    A split is made when it is asked for: leave-one-out of n rows would otherwise hold n × n row numbers.
    """

    def __init__(self, rounds: Sequence[Codes], labels: Sequence[str]) -> None:
        """``labels`` name every part of the first round, then of the second, ..."""
        self.rounds = rounds
        self.labels = labels

    def __len__(self) -> int:
        return len(self.labels)

    @overload
    def __getitem__(self, index: int) -> Split: ...
    @overload
    def __getitem__(self, index: slice) -> list[Split]: ...
    def __getitem__(self, index: int | slice) -> Split | list[Split]:
        if isinstance(index, slice):
            return [self._split(i) for i in range(*index.indices(len(self)))]
        return self._split(range(len(self))[index])

    def _split(self, index: int) -> Split:
        round_, part = divmod(index, len(self.labels) // len(self.rounds))
        judged = self.rounds[round_] == part
        return Split(train=np.flatnonzero(~judged), test=np.flatnonzero(judged), label=self.labels[index])


def numbered(noun: str, parts: int, repeats: int) -> list[str]:
    """Labels such as "fold 3", or "repeat 2, fold 3" where there are repeats."""
    names = [f"{noun} {part + 1}" if parts > 1 else noun for part in range(parts)]
    if repeats == 1:
        return names
    return [f"repeat {repeat + 1}, {name}" for repeat in range(repeats) for name in names]
