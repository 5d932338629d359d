"""Forward selection: adds column after column, each time the one with which a model does best in inner folds.

Formula:
    S₀ = {}, S_{m+1} = S_m ∪ {j} with j the column outside S_m for which the base fitted to S_m ∪ {j} has the least
    mean loss (share of errors, squared error) over the inner folds. Without `keep` the S_m with the least loss is
    kept.

Assumes:
    Columns that help one at a time: two that help only together may never be found. Performs best where few
    columns are enough.

Cost:
    d (d + 1) / 2 subsets for d columns where all are tried, each `folds` fits of the base.

Choices:
    Everything happens within the training rows: the rows that are judged take no part. Of equal subsets the
    smaller is kept, of equal columns the first. At least one column is kept.
    With no column the base is the baseline. The base is the model that stands behind the step, unless another is
    named.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import ClassVar

import numpy as np

from mlcli.core.findings import Curve, Explanation, Table
from mlcli.core.names import counted
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes
from mlcli.engines.content_seeds import in_content_order
from mlcli.engines.inner_validation import inner_folds, parts_of_folds
from mlcli.prepare._selecting import ALIKE, MOST_BARS, ByModel, Places, SubsetLosses
from mlcli.tasks.supervised import SupervisedRows


@register("forward-selection", reference="Kohavi & John 1997, Wrappers for feature subset selection")
class ForwardSelection(ByModel):
    """From no columns on, one after another, by a model in inner cross-validation."""

    keep: int | None = param(None, "how many columns are kept; none: as many as serve the model best", ge=1)
    folds: int = param(5, "how many inner folds the training rows are split into", ge=2)
    patience: int | None = param(
        5, "after how many columns that do not help it ends; none: tries all", ge=1, matters_when={"keep": None}
    )

    path_: Array = learned()
    """The loss after each column that was added or taken away."""
    sizes_: Array = learned()
    """How many columns there were."""
    moved_: Codes = learned()
    """The columns that were added or taken away, one after another."""
    tried_: int = learned()
    """How many subsets of columns were tried."""
    move: ClassVar[str] = "added"

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Walk the path, and keep the columns of its best point."""
        data = in_content_order(data)
        count = len(self.columns_)
        parts = parts_of_folds(inner_folds(data, self.folds, rng))
        subsets = SubsetLosses(self.base_for(data), data, parts, int(rng.integers(2**32)))
        path = list(self._path(subsets, count)) if subsets.splits else [(tuple(range(count)), np.nan)]
        self.path_ = np.array([loss for _, loss in path])
        self.sizes_ = np.array([len(places) for places, _ in path], np.float64)
        steps = pairwise(set(places) for places, _ in path)
        self.moved_ = np.array([(one ^ next_).pop() for one, next_ in steps], np.int32)
        self.tried_ = sum(map(bool, subsets.known))
        not_empty = [(places, loss) for places, loss in path if places] or path
        best, _ = not_empty[-1] if self.keep is not None else min(not_empty, key=lambda p: (p[1], len(p[0])))
        self.kept_ = np.isin(np.arange(count), best)

    def start(self, count: int) -> Places:
        """Where the path begins, among so many columns: without any."""
        return ()

    def neighbours(self, places: Places, count: int) -> list[Places]:
        """Where a step from some columns may lead: to one more."""
        return [tuple(sorted((*places, index))) for index in range(count) if index not in places]

    def _path(self, subsets: SubsetLosses, count: int) -> Iterator[tuple[Places, float]]:
        places = self.start(count)
        best, stale = subsets.loss(places), 0
        yield places, best
        wanted = None if self.keep is None else min(self.keep, count)
        while len(places) != wanted and (tried := self.neighbours(places, count)):
            losses = [subsets.loss(one) for one in tried]
            least = min(losses)
            places = next(one for one, loss in zip(tried, losses, strict=True) if loss <= least * (1 + ALIKE))
            yield places, least
            best, stale = (least, 0) if least < best * (1 - ALIKE) else (best, stale + 1)
            if wanted is None and stale == self.patience:
                return

    def explain(self) -> Explanation:
        """The columns that are kept, and the loss by their number."""
        order = np.argsort(self.sizes_, kind="stable")
        losses = tuple(None if np.isnan(loss) else loss for loss in self.path_[order].tolist())
        points = tuple(self.sizes_[order].tolist())
        curve = Curve("Loss in inner cross-validation", "columns", points, (("loss", losses),))
        names = ["", *(self.columns_[index].name for index in self.moved_.tolist())]
        in_order = (None if np.isnan(loss) else loss for loss in self.path_.tolist())
        rows = tuple(zip(map(int, self.sizes_.tolist()), names, in_order, strict=True))[:MOST_BARS]
        note = f"{counted(self.tried_, 'subset')} of the columns tried in inner cross-validation"
        title = f"Columns {self.move}, one after another"
        table = Table(title, ("columns", self.move, "loss"), rows, note=note)
        return (*super().explain(), table, curve)

    def check_learned(self) -> None:
        """A path through the columns that there are."""
        super().check_learned()
        known = np.isin(self.moved_, np.arange(len(self.columns_))).all()
        if not known or not len(self.path_) == len(self.sizes_) == len(self.moved_) + 1:
            raise ValueError("a path through other columns")
