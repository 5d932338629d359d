"""Groups by classes: how many training rows of each there are, and how many if they were independent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mlcli.core.findings import Table
from mlcli.core.groups import Groups, sensitive_groups
from mlcli.core.tables import Array


@dataclass(frozen=True, eq=False)
class Cells:
    """The weight of the rows of each group (lines) in each class, as it is and as it would be."""

    groups: Groups
    observed: Array
    expected: Array

    @classmethod
    def of(cls, data: Any, by: tuple[str, ...] | None) -> Cells:
        """Those of training rows, in the groups of some columns, or of all that are sensitive."""
        groups = sensitive_groups((data.context, data.table), by, len(data))
        shape = len(groups.labels), len(data.classes)
        observed = np.zeros(shape)
        np.add.at(observed, (groups.codes, data.y), data.weights)
        return cls(groups, observed, np.outer(observed.sum(axis=1), observed.sum(axis=0)) / observed.sum())

    @property
    def factors(self) -> Array:
        """Expected over observed; 1 where there is no row."""
        return np.where(self.observed > 0, self.expected / np.where(self.observed > 0, self.observed, 1.0), 1.0)


def cells_as_finding(labels: tuple[str, ...], classes: tuple[str, ...], factors: Array, title: str) -> Table:
    """A line for each group, a column for each class."""
    rows = tuple((label, *line) for label, line in zip(labels, factors.tolist(), strict=True))
    return Table(title, ("group", *classes), rows, note="of training rows only; above 1: the rows were too few")
