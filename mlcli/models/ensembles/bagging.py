"""Bagging: many copies of one model, each fitted to rows drawn anew from the training rows, answer by their mean.

Formula:
    For b = 1..B draw a bag L_b of n rows with replacement from L and fit the base to it. Of numbers the answer is
    the mean of the B values. Of classes it is the class with the largest mean probability, or with ``combine:
    votes`` the one that most models decide on. A row is outside a bag with probability (1 − 1/n)ⁿ ≈ 0.368; the
    models that have not seen it answer it for the out-of-bag error.

Assumes:
    A base that is unstable: one that answers rather differently when a few training rows change, as trees do. A
    stable one (linear regression, many neighbours, naive Bayes) gains nothing.

Cost:
    ``bags`` fits of the base, and as many answers for each row.

Choices:
    Steps that the base needs stand before it in every copy and learn from its bag alone. Whole weights count as
    repeats: a bag has a draw for each; other weights say how likely a row is drawn. ``row_share`` is a share of
    these draws. Columns are drawn once for each model, at least one. Draws follow from what is in the rows and not
    from their order. Equal mean probabilities go to the class with most training rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import RowExplainer, Staged
from mlcli.core.configuration import with_steps
from mlcli.core.model import Model
from mlcli.core.nested import model_param
from mlcli.core.params import TASK, learned, param
from mlcli.core.ranges import Range
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Flags, Table
from mlcli.engines.content_seeds import Bag, in_content_order
from mlcli.engines.ensemble import (
    OutputsOf,
    check_members,
    fitted,
    mean_of,
    means_after,
    member_table,
    numbered,
    outputs,
    sample_for,
    votes,
)
from mlcli.tasks.supervised import CLASSIFICATION, REGRESSION, Classifier, Regressor, SupervisedRows

COMBINED = {"mean": outputs, "votes": votes}


@register("bagging", reference="Breiman 1996, Bagging predictors")
class Bagging(Classifier, Regressor, RowExplainer, Staged):
    """Bootstrap aggregating."""

    base: Model = model_param("decision-tree", "the model that is fitted to each bag", of=(Classifier, Regressor))
    bags: int = param(
        25, "how many bags are drawn, each for one model", ge=1, tune=Range(10, 100, simpler="low", unasked=False)
    )
    row_share: float = param(1.0, "how many rows a bag has, as a share of the training rows", gt=0, le=1)
    column_share: float = param(1.0, "how many columns a model sees, as a share of all", gt=0, le=1)
    replacement: bool = param(True, "whether a row can be drawn again into the same bag")
    combine: str = param(
        "mean", "how answers about classes become one", choices=tuple(COMBINED), matters_when={TASK: "classifier"}
    )

    stage_name: ClassVar[str] = "bags"

    models_: tuple[Model, ...] = learned("bags")
    outside_: int = learned()
    loss_: float = learned()

    accepts = Accepts(nominal=True, missing=True, weights=True)

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Draw bag after bag, fit the base to each, and ask it about the rows outside."""
        data = in_content_order(data)
        bag, outside = Bag.of(data.weights, self.row_share, self.replacement), OutOfBagAnswers.of(data)
        base, models = with_steps(self.base, self.columns_), list[Model]()
        outputs_of = COMBINED[self.combine] if data.task is CLASSIFICATION else outputs
        names = [column.name for column in self.columns_]
        drawn = min(len(names), max(1, round(self.column_share * len(names))))
        for bag_rng in rng.spawn(self.bags):
            repeats = bag.repeats(bag_rng)
            columns = [names[index] for index in bag_rng.permutation(len(names))[:drawn]]
            models.append(fitted(base, sample_for(base, data, repeats, columns), bag_rng))
            outside.add(models[-1], repeats == 0, outputs_of)
        self.models_ = tuple(models)
        self.outside_, self.loss_ = int(outside.answered.sum()), outside.loss(self)

    def predict_proba(self, table: Table) -> Array:
        """The mean of the models' probabilities, or the shares of their votes."""
        return mean_of(self.models_, table, CLASSIFICATION, COMBINED[self.combine])

    def predict_values(self, table: Table) -> Array:
        """The mean of the models' values."""
        return mean_of(self.models_, table, REGRESSION)[:, 0]

    def stages(self) -> int:
        """A stage for each bag."""
        return len(self.models_)

    def staged(self, table: Table, at: Sequence[int]) -> Iterator[Array]:
        """The mean of the models of the first bags."""
        if self.classes_:
            yield from means_after(self.models_, at, table, CLASSIFICATION, COMBINED[self.combine])
        else:
            yield from (values[:, 0] for values in means_after(self.models_, at, table, REGRESSION))

    def check_learned(self) -> None:
        """Each model as configured."""
        check_members(self.models_, with_steps(self.base, self.columns_), self)

    def explain(self) -> findings.Explanation:
        """What was bagged, and how wrong it is about rows outside their bags."""
        each = findings.Lines("Bagging", (f"{self.base.final.id}, fitted to each of {self.bags} bags",))
        if not self.outside_:
            return (each,)
        measure, error = ("error", self.loss_) if self.classes_ else ("root mean squared error", self.loss_**0.5)
        header, row = ("rows answered", measure), (self.outside_, error)
        note = "of training rows, each answered only by models that did not learn from it"
        return each, findings.Table("Out-of-bag error", header, (row,), note=note)

    def explain_answer(self, table: Table) -> findings.Explanation:
        """What the model of each bag says of the row."""
        ones = np.ones(len(self.models_))
        return (member_table(self, numbered(self.models_), table, COMBINED[self.combine], ones),)


@dataclass(frozen=True, eq=False)
class OutOfBagAnswers:
    """Summed outputs of the members for training rows outside their bags."""

    data: SupervisedRows
    total: Array
    members: Array
    """The number of members that predicted each row."""

    @staticmethod
    def of(data: SupervisedRows) -> OutOfBagAnswers:
        """No outputs yet."""
        return OutOfBagAnswers(data, np.zeros(data.outputs.shape), np.zeros(len(data)))

    def add(self, member: Model, outside: Flags, outputs_of: OutputsOf = outputs) -> None:
        """Add the outputs of one more member for the rows outside its bag."""
        if outside.any():
            table = self.data.table.take(np.flatnonzero(outside))
            self.total[outside] += outputs_of(member, table, self.data.task)
            self.members[outside] += 1

    @property
    def answered(self) -> Flags:
        """Rows outside at least one bag."""
        return np.asarray(self.members > 0)

    def loss(self, model: Model) -> float:
        """The mean loss of the mean outputs so far; NaN if no row was outside a bag."""
        rows = np.flatnonzero(self.answered)
        if not len(rows):
            return np.nan
        data = self.data.take(rows)
        losses = data.task.losses(model, data, self.total[rows] / self.members[rows, None])
        return float(np.average(losses, weights=data.weights))
