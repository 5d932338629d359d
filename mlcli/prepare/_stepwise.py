"""Columns added or taken away one by one, each time the one that serves a model best in inner cross-validation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mlcli.core.findings import Curve, Explanation
from mlcli.core.params import learned, param
from mlcli.core.tables import Array
from mlcli.engines.draws import in_content_order
from mlcli.engines.inner_splits import inner_folds
from mlcli.prepare._selecting import ALIKE, ByModel, Places, Usefulness
from mlcli.tasks.supervised import SupervisedRows


@dataclass(kw_only=True, eq=False)
class Stepwise(ByModel):
    """One column after another, by a model in inner cross-validation."""

    keep: int | None = param(None, "how many columns are kept; none: as many as serve the model best", ge=1)
    folds: int = param(5, "into how many inner folds the training rows are dealt", ge=2)
    patience: int | None = param(5, "after how many columns that do not help it ends; none: tries all", ge=1)

    path_: Array = learned()
    """The loss after each column that was added or taken away."""
    sizes_: Array = learned()
    """How many columns there were."""

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Walk the path, and keep the columns of its best point."""
        data = in_content_order(data)
        count = len(self.columns_)
        useful = self._usefulness(data, rng)
        path = list(self._path(useful, count)) if useful.splits else [(tuple(range(count)), np.nan)]
        self.path_ = np.array([loss for _, loss in path])
        self.sizes_ = np.array([len(places) for places, _ in path], np.float64)
        some = [one for one in path if one[0]] or path
        chosen = some[-1] if self.keep is not None else min(some, key=lambda one: (one[1], len(one[0])))
        self.kept_ = np.isin(np.arange(count), chosen[0])

    def _usefulness(self, data: SupervisedRows, rng: np.random.Generator) -> Usefulness:
        folds, every = inner_folds(data, self.folds, rng), np.arange(len(data))
        splits = [(every[folds != fold], every[folds == fold]) for fold in np.unique(folds)]
        splits = splits if len(splits) > 1 else []
        return Usefulness(self.base_for(data), data, splits, int(rng.integers(2**32)))

    def start(self, count: int) -> Places:
        """Where the path begins, among so many columns."""
        raise TypeError(f"{type(self).__name__} does not say where it begins")

    def neighbours(self, places: Places, count: int) -> list[Places]:
        """Where a step from some columns may lead."""
        raise TypeError(f"{type(self).__name__} does not say where it goes")

    def _path(self, useful: Usefulness, count: int) -> Iterator[tuple[Places, float]]:
        places = self.start(count)
        best, stale = useful.loss(places), 0
        yield places, best
        wanted = None if self.keep is None else min(self.keep, count)
        while len(places) != wanted and (tried := self.neighbours(places, count)):
            losses = [useful.loss(one) for one in tried]
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
        return (*super().explain(), curve)
