"""A transformer of another package as a step: ``steps: [{use: sklearn.preprocessing.QuantileTransformer}]``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from mlcli.core.errors import UsageError
from mlcli.core.model import Step
from mlcli.core.params import learned
from mlcli.core.registry import Entry, ImportedEntry
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Accepts, Column
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


class Transformer(Protocol):
    """What a step needs of an object with the conventions of scikit-learn."""

    def fit(self, X: Array, y: object) -> object:
        """Learn from rows, and from their target if there is one."""

    def transform(self, X: Array) -> object:
        """The new columns, as an array or a sparse matrix."""


def entry_of(path: str) -> Entry:
    """The registry entry of the transformer at an import path."""
    if not hasattr(estimator_class(path), "transform"):
        message = f"{path} is no transformer: it has no method 'transform'"
        raise UsageError(message, hint="a classifier, regressor, clusterer or detector is a model: -m " + path)
    return ImportedEntry(
        path, summary_of(path), version_of(path), "step", (), lambda: class_for(path, ImportedStep)
    )


@dataclass(kw_only=True, eq=False)
class ImportedStep(ForeignEstimator, Step):
    """The output of the transformer, always numeric; columns of levels are encoded before it."""

    ours: ClassVar[str] = "columns"

    transformer_: Transformer = learned()

    @property
    def accepts(self) -> Accepts:
        """Numbers, and missing values if its tags allow them."""
        return Accepts(missing=takes_gaps(self.path), weights=True)

    def fit(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Fit the transformer to the numbers, and to the target if there is one."""
        self.transformer_ = build_estimator(self.path, self.given(), int(rng.integers(LARGEST_SEED)))
        with as_a_guest(self.path):
            self.transformer_.fit(data.table.numbers, getattr(data, "y", None))

    def transform(self, table: Table) -> Table:
        """The columns that the transformer returns, with the names that it gives them."""
        with as_a_guest(self.path):
            output = self.transformer_.transform(table.numbers)
        cells = np.asarray(output.toarray() if hasattr(output, "toarray") else output, np.float64)
        columns = (Column(name, missing=False) for name in self._output_names(table, cells.shape[1]))
        return Table.of(zip(columns, cells.T, strict=True), len(table))

    def _output_names(self, table: Table, width: int) -> list[str]:
        names, transformer = [column.name for column in table.columns], self.transformer_
        if not hasattr(transformer, "get_feature_names_out"):
            return names if len(names) == width else [f"{self.path}{index}" for index in range(width)]
        try:
            return list(map(str, transformer.get_feature_names_out(names)))
        except ValueError:  # this transformer does not accept the names of its input
            return list(map(str, transformer.get_feature_names_out()))

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """Numeric columns; only the fitted transformer knows how many."""
        return tuple(Column(column.name) for column in columns)
