"""Steps that change the training rows: other rows, or other weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mlcli.core.rows import R
from mlcli.core.step import Step
from mlcli.core.tables import Table


@dataclass(kw_only=True, eq=False)
class RowStep(Step):
    """A step that changes the training rows or their weights; rows to be predicted stay as they are."""

    for_columns: ClassVar[bool] = False
    """Whether it changes some columns of the rows, so that ``columns`` may choose them."""
    changes_rows: ClassVar[bool] = True
    follows_scaling: ClassVar[bool] = True
    kinds: ClassVar[tuple[str, ...]] = ("classification", "regression")

    def conflicts(self) -> list[str]:
        """Columns for a step that changes whole rows."""
        misplaced = self.columns is not None and not self.for_columns
        return ["it is done to whole rows, so that it takes no 'columns'"] if misplaced else []

    def fit(self, data: Any, rng: np.random.Generator) -> None:
        """Nothing to learn."""

    def transform(self, table: Table) -> Table:
        """The table as it is."""
        return table

    def inverse(self, table: Table, rng: np.random.Generator) -> Table:
        """The table as it is."""
        return table

    def training_rows(self, data: R, rng: np.random.Generator) -> R:
        """The changed rows; those of weight 0 are left out."""
        changed: R = self.changed(data.counted(), rng)
        return changed

    def changed(self, data: Any, rng: np.random.Generator) -> Any:
        """Other rows, or other weights, to learn from."""
        raise TypeError(f"{type(self).__name__} does not say how it changes rows")
