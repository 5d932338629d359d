"""Projection: rows shown in fewer columns, and what is lost of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlcli.core.answers import Answers
from mlcli.core.model import refuse_impossible
from mlcli.core.tables import Array, Table
from mlcli.tasks.unsupervised import UnlabelledRows, Unsupervised


@dataclass(frozen=True, eq=False, kw_only=True)
class ProjectionAnswers(Answers):
    """Projection: the squared distance of each row to what is left of it, and to the mean of the training rows."""

    error: Array
    spread: Array


@dataclass(kw_only=True, eq=False)
class Projector(Unsupervised):
    """Shows rows in fewer columns, and says what rows look like from there."""

    @staticmethod
    def ask(model: Any, data: Any) -> Answers:
        """How far each row is from what is left of it, and from the mean of the training rows."""
        X = model.space(data.table)
        back = model.reconstruct(data.table)
        refuse_impossible(model, back, X.shape)
        return ProjectionAnswers(
            header=data.header(),
            error=((X - back) ** 2).sum(axis=1),
            spread=((X - model.middle()) ** 2).sum(axis=1),
        )

    def project(self, table: Table) -> Array:
        """The rows in the new columns."""
        raise TypeError(f"{type(self).__name__} does not say how it projects")

    def reconstruct(self, table: Table) -> Array:
        """The rows as their projection shows them, in the old columns."""
        raise TypeError(f"{type(self).__name__} does not say how it reconstructs")

    def middle(self) -> Array:
        """The mean row of the training rows, in the old columns."""
        raise TypeError(f"{type(self).__name__} does not say where its middle is")


class ProjectedRows(UnlabelledRows):
    """Rows to be seen in fewer columns."""

    kind = "projection"
    base = Projector
