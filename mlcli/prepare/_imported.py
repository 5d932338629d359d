"""A transformer of another package as a step: ``steps: [{use: sklearn.preprocessing.QuantileTransformer}]``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.errors import UsageError
from mlcli.core.params import learned
from mlcli.core.registry import Entry, ImportedEntry
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Array, Table
from mlcli.engines.imported import (
    LARGEST_SEED,
    ForeignEstimator,
    as_a_guest,
    build_estimator,
    class_for,
    estimator_class,
    summary_of,
    takes_gaps,
    version_of,
)


def entry_of(path: str) -> Entry:
    """What is known of the step at an import path."""
    if not hasattr(estimator_class(path), "transform"):
        what = f"{path} is no transformer: it has no transform"
        raise UsageError(what, hint="a classifier, regressor, clusterer or detector is a model: -m " + path)
    return ImportedEntry(
        path, summary_of(path), version_of(path), "step", (), lambda: class_for(path, ImportedStep)
    )


@dataclass(kw_only=True, eq=False)
class ImportedStep(ForeignEstimator, Step):
    """Numbers as the transformer makes them; columns of levels are coded before it."""

    ours: ClassVar[str] = "columns"

    transformer_: Any = learned()

    @property
    def accepts(self) -> Accepts:
        """Numbers; gaps where its tags say so."""
        return Accepts(missing=takes_gaps(self.path), weights=True)

    def fit(self, data: Any, rng: np.random.Generator) -> None:
        """Fit it to the numbers, and to the target where there is one."""
        self.transformer_ = build_estimator(self.path, self.given(), int(rng.integers(LARGEST_SEED)))
        with as_a_guest(self.path):
            self.transformer_.fit(data.table.numbers, getattr(data, "y", None))

    def transform(self, table: Table) -> Table:
        """Its columns, by the names that it gives them."""
        with as_a_guest(self.path):
            found: Any = self.transformer_.transform(table.numbers)
        cells: Array = np.asarray(found.toarray() if hasattr(found, "toarray") else found, np.float64)
        columns = (Column(name, missing=False) for name in self._names(table, cells.shape[1]))
        return Table.of(zip(columns, cells.T, strict=True), len(table))

    def _names(self, table: Table, width: int) -> list[str]:
        names = [column.name for column in table.columns]
        if not hasattr(self.transformer_, "get_feature_names_out"):
            return names if len(names) == width else [f"{self.path}{index}" for index in range(width)]
        try:
            return list(map(str, self.transformer_.get_feature_names_out(names)))
        except ValueError:  # its names do not follow from those of its columns
            return list(map(str, self.transformer_.get_feature_names_out()))

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """Numbers; how many, only the fitted transformer knows."""
        return tuple(Column(column.name) for column in columns)
