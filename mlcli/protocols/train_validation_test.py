"""Train, validation, test: models are compared on validation rows, the winner is scored once on test rows.

Computed:
    round(rows × test_share) rows are test rows, round(rows × validation_share) of the others are validation rows.
    Every model of the experiment, and every combination of a grid, learns from the rest and is compared on
    validation rows by the first metric. The winner learns from all but the test rows, and answers these once.
    Classes keep their shares, and groups are never cut.

Cost:
    One fit for each model, and one more of the winner.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.rows import SplitInfo
from mlcli.protocols._base import DealtSplits, Protocol, Split, by_class_if_any
from mlcli.protocols.holdout import held_out


@register(
    "train-validation-test", reference="Hastie, Tibshirani & Friedman 2009, Elements of Statistical Learning, 7.2"
)
class TrainValidationTest(Protocol):
    """One part to fit, one to choose by, one to test the choice."""

    kinds: ClassVar[tuple[str, ...]] = ("classification", "regression")
    fewest: ClassVar[int] = 3
    """One for each part."""

    validation_share: float = param(0.2, "the share of rows by which models are compared", gt=0, lt=1)
    test_share: float = param(0.2, "the share of rows that tests the winner", gt=0, lt=1)

    def conflicts(self) -> list[str]:
        """Shares that leave nothing to learn from."""
        if self.validation_share + self.test_share < 1:
            return []
        return ["validation_share and test_share leave nothing to learn from: together they are below 1"]

    def divided(self, strata: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """One split: the winner learns from training and validation rows."""
        units = by_class_if_any(strata)
        return DealtSplits([held_out(units, self.test_share, rng)[units.of_row]], ["test"])

    def choosing(self, strata: SplitInfo) -> dict[str, Any]:
        """Validation rows are a share of all, and so a larger share of the rows that are not test rows."""
        use = "holdout" if strata.strata is None else "stratified-holdout"
        return {"use": use, "test_share": self.validation_share / (1 - self.test_share)}
