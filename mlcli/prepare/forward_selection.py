"""Forward selection: adds one column after another, each time the one with which a model does best in inner folds.

Formula:
    S₀ = {}, S_{m+1} = S_m ∪ {j} with j the column outside S_m for which the base fitted to S_m ∪ {j} has the
    smallest mean loss (error rate, squared error) over the inner folds. Without `keep` the S_m with the smallest
    loss is kept.

Assumes:
    Columns that help one at a time: two that help only in combination may never be found. Works best if few
    columns are enough.

Cost:
    d (d + 1) / 2 subsets for d columns if all are tried, each `folds` fits of the base.

Choices:
    Only training rows are used. Of equal subsets the smaller is kept, of equal columns the first. At least one
    column is kept. Without columns the base is the baseline. The base is the model behind the step, unless another
    is given.
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
    """Start without columns, and add one at a time by inner cross-validation of a model."""

    keep: int | None = param(None, "number of columns to keep; none: the number with the smallest loss", ge=1)
    folds: int = param(5, "number of inner folds of the training rows", ge=2)
    patience: int | None = param(
        5, "stop after this many columns without improvement; none: never", ge=1, matters_when={"keep": None}
    )

    path_: Array = learned()
    """The loss of each subset on the path."""
    sizes_: Array = learned()
    """The number of columns of each subset on the path."""
    moved_: Codes = learned()
    """The columns that were added or removed, in order."""
    tried_: int = learned()
    """The number of subsets tried."""
    move: ClassVar[str] = "added"

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Follow the path, and keep its best subset."""
        data = in_content_order(data)
        count = len(self.columns_)
        parts = parts_of_folds(inner_folds(data, self.folds, rng))
        subsets = SubsetLosses(self.base_for(data), data, parts, int(rng.integers(2**32)))
        path = list(self._path(subsets, count)) if subsets.splits else [(tuple(range(count)), np.nan)]
        self.path_ = np.array([loss for _, loss in path])
        self.sizes_ = np.array([len(places) for places, _ in path], np.float64)
        steps = pairwise(set(places) for places, _ in path)
        self.moved_ = np.array([(subset ^ following).pop() for subset, following in steps], np.int32)
        self.tried_ = sum(map(bool, subsets.known))
        not_empty = [(places, loss) for places, loss in path if places] or path
        best, _ = not_empty[-1] if self.keep is not None else min(not_empty, key=lambda p: (p[1], len(p[0])))
        self.kept_ = np.isin(np.arange(count), best)

    def start(self, count: int) -> Places:
        """The first subset of the path: no columns."""
        return ()

    def neighbours(self, places: Places, count: int) -> list[Places]:
        """The subsets that may follow: one column more."""
        return [tuple(sorted((*places, index))) for index in range(count) if index not in places]

    def _path(self, subsets: SubsetLosses, count: int) -> Iterator[tuple[Places, float]]:
        places = self.start(count)
        best, stale = subsets.loss(places), 0
        yield places, best
        size = None if self.keep is None else min(self.keep, count)
        while len(places) != size and (candidates := self.neighbours(places, count)):
            losses = [subsets.loss(subset) for subset in candidates]
            least = min(losses)
            first_best = next(i for i, loss in enumerate(losses) if loss <= least * (1 + ALIKE))
            places = candidates[first_best]
            yield places, least
            best, stale = (least, 0) if least < best * (1 - ALIKE) else (best, stale + 1)
            if size is None and stale == self.patience:
                return

    def explain(self) -> Explanation:
        """The selected columns, and the loss by number of columns."""
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
        """A path through the columns of the step."""
        super().check_learned()
        valid = np.isin(self.moved_, np.arange(len(self.columns_))).all()
        if not valid or not len(self.path_) == len(self.sizes_) == len(self.moved_) + 1:
            raise ValueError("the path of the selection does not match its columns")
