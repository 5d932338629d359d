"""Mutual information: keeps the columns with the most information about the target, linear or not.

Formula:
    I(X; Y) = Σ_x Σ_y p(x, y) log_b [p(x, y) / (p(x) p(y))], with p from the weights of the training rows. It is 0
    where both are independent, and another name for information gain.

Assumes:
    Enough rows for each pair of levels: with few rows chance looks like information, above all in columns with
    many levels.

Cost:
    A pass per column; a sort for numbers.

Choices:
    Numeric columns and numeric targets are cut into `bins` of equal weight. A missing value is a level of its own.
    The notes print a ratio whose logarithm is 1 under independence; it is the ratio that is 1, its logarithm 0.
"""

from __future__ import annotations

from math import log
from typing import ClassVar

from mlcli.core.moments import mutual_information
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.tables import Array
from mlcli.prepare._selecting import LevelFilter

UNITS = {"bits": 1 / log(2), "nats": 1.0}
"""How many units of information a nat is."""


@register("mutual-information", reference="Cover & Thomas, Elements of Information Theory, chapter 2", revision=2)
class MutualInformation(LevelFilter):
    """Select columns by their information about the target."""

    measure: ClassVar[str] = "mutual information"

    bins: int = param(10, "number of bins for numeric columns", ge=2)
    unit: str = param("bits", "the unit of information: bits (base 2) or nats (base e)", choices=UNITS)

    def dependence(self, table: Array) -> float:
        """The information of column and target about each other."""
        return mutual_information(table) * UNITS[self.unit]
