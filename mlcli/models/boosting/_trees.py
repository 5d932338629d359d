"""Boosted trees as flat arrays, an entry per node of all trees: parents before children, siblings side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Codes, Flags
from mlcli.models.trees._binning import Bins

LEAF = -1


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees whose outputs take turns. A row whose bin is in ``sets`` goes to ``left``, others to ``left + 1``."""

    roots: Codes
    """The first node of each tree."""
    column: Codes
    left: Codes
    """The first child, numbered from the root of its tree; or LEAF."""
    sets: NDArray[np.uint8]
    """Nodes × 32: a bit for each bin, the lowest first; none of a leaf."""
    score: Array
    """What a leaf adds to the score of its rows."""
    gain: Array
    """What a question lowers the loss by, as the quadratic sees it; 0 of leaves."""
    weight: Array

    @staticmethod
    def joined(parts: Sequence[Trees]) -> Trees:
        """Several of them as one."""
        if not parts:
            return NONE
        sizes = [len(part.left) for part in parts]
        shifts = np.repeat(np.cumsum(sizes) - sizes, [len(part.roots) for part in parts])
        joined = {
            field.name: np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Trees)
        }
        return Trees(**(joined | {"roots": (joined["roots"] + shifts).astype(np.int32)}))

    def part(self, first: int, end: int) -> Trees:
        """Some consecutive trees."""
        ends = np.append(self.roots, len(self.left))
        nodes = slice(int(ends[first]), int(ends[end]))
        per_node = {
            field.name: getattr(self, field.name)[nodes] for field in fields(Trees) if field.name != "roots"
        }
        return Trees(roots=(self.roots[first:end] - ends[first]).astype(np.int32), **per_node)

    def add_to(self, scores: Array, bins: Bins) -> None:
        """Add to scores (outputs × n) what the trees say of rows of bins (n × F)."""
        from mlcli.kernels.walking import add_trees

        add_trees(bins, self.roots, self.column, self.left, self.sets, self.score, scores)

    def gains(self, columns: int) -> Array:
        """What the questions of each column gained."""
        asks = self.left != LEAF
        return np.bincount(self.column[asks], weights=self.gain[asks], minlength=columns).astype(np.float64)

    def asked(self, columns: int) -> Flags:
        """Which columns some question asks for."""
        return np.isin(np.arange(columns), self.column[self.left != LEAF])

    @property
    def leaves(self) -> int:
        """How many there are in all trees."""
        return int((self.left == LEAF).sum())

    def arrays(self) -> dict[str, Any]:
        """Every array by name: what is saved."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @staticmethod
    def restored(arrays: Mapping[str, Any]) -> Trees:
        """The trees of saved arrays; ValueError if they are not those of trees."""
        if set(arrays) != {field.name for field in fields(Trees)}:
            raise ValueError(f"boosted trees do not have {sorted(arrays)}")
        return Trees(**arrays)

    def check(self, columns: int, outputs: int) -> None:
        """Refuse (ValueError) what could lead a row astray."""
        for problem, found in self._problems(columns, outputs):
            if found:
                raise ValueError(f"the saved trees {problem}")

    def _problems(self, columns: int, outputs: int) -> Iterator[tuple[str, bool]]:
        """What may be wrong, each only looked for when the ones before are right."""
        nodes = len(self.left)
        whole = (self.roots, self.column, self.left)
        yield "have indices that are not whole numbers", any(a.dtype != np.int32 or a.ndim != 1 for a in whole)
        per_node = (self.column, self.left, self.score, self.gain, self.weight)
        yield "have arrays of different lengths", any(a.shape != (nodes,) for a in per_node)
        yield "have sets of another shape", self.sets.shape != (nodes, 32) or self.sets.dtype != np.uint8
        yield "are not as many for each output", len(self.roots) % outputs != 0
        ends = np.append(self.roots[1:], nodes)
        begun = bool(self.roots[:1].sum() == 0) and bool(len(self.roots)) == bool(nodes)
        yield "have roots out of order", not begun or bool((ends <= self.roots).any())
        yield "have numbers that are not finite", not np.isfinite([self.score, self.gain, self.weight]).all()
        asks = np.flatnonzero(self.left != LEAF)
        yield "have leaves that ask", bool(self.sets[self.left == LEAF].any())
        column = self.column[asks]
        yield "ask for a column that is not there", bool(((column < 0) | (column >= columns)).any())
        tree = np.searchsorted(self.roots, asks, side="right") - 1
        child = self.roots[tree].astype(np.int64) + self.left[asks]
        yield "have a child before its parent", bool((child <= asks).any())
        yield "have a child in another tree", bool((child + 1 >= ends[tree]).any())


NONE = Trees(
    roots=np.empty(0, np.int32),
    column=np.empty(0, np.int32),
    left=np.empty(0, np.int32),
    sets=np.empty((0, 32), np.uint8),
    score=np.empty(0),
    gain=np.empty(0),
    weight=np.empty(0),
)
"""No trees at all."""
