"""Projection: rows shown in fewer columns, and how much of them is lost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.model import Model, refuse_impossible
from mlcli.core.tables import Array, Table
from mlcli.tasks.unsupervised import UnlabelledRows, UnsupervisedTask


@dataclass(frozen=True, eq=False, kw_only=True)
class ProjectionAnswers(Answers):
    """The squared distance of each row to its reconstruction, and to the mean of the training rows."""

    error: Array
    spread: Array


@dataclass(kw_only=True, eq=False)
class Projector(Model):
    """Projects rows to fewer columns, and reconstructs them from there."""

    def fit(self, data: ProjectedRows, rng: np.random.Generator) -> None:
        """Learn from rows without labels."""
        super().fit(data, rng)

    def project(self, table: Table) -> Array:
        """The rows in the new columns."""
        raise TypeError(f"{type(self).__name__} does not say how it projects")

    def reconstruct(self, table: Table) -> Array:
        """The rows reconstructed from their projection, in the original columns."""
        raise TypeError(f"{type(self).__name__} does not say how it reconstructs")

    def middle(self) -> Array:
        """The mean of the training rows, in the original columns."""
        raise TypeError(f"{type(self).__name__} does not say where its middle is")


class Projection(UnsupervisedTask[Projector, "ProjectedRows", ProjectionAnswers]):
    """Show rows in fewer columns."""

    base = Projector

    def predict_rows(self, model: Projector, rows: ProjectedRows) -> ProjectionAnswers:
        """The squared distance of each row to its reconstruction, and to the mean of the training rows."""
        X = rows.table.numbers
        back = model.reconstruct(rows.table)
        refuse_impossible(model, back, X.shape)
        return ProjectionAnswers(
            header=rows.header(),
            error=((X - back) ** 2).sum(axis=1),
            spread=((X - model.middle()) ** 2).sum(axis=1),
        )


class ProjectedRows(UnlabelledRows):
    """Rows to be seen in fewer columns."""

    kind = "projection"
    task = Projection()
