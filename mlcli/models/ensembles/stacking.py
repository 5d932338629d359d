"""Stacking: a model learns from what other models answer about rows that they have not learned from.

Formula:
    Deal the training rows into folds; f_m^(−v) is model m fitted to all folds but v. The row i of fold v
    becomes z_i = (f_1^(−v)(x_i), ..., f_M^(−v)(x_i)), with the columns of x_i as well where ``keep_columns`` is
    true. The ``meta`` model learns y from z. A new row is answered by meta(f_1(x), ..., f_M(x)), with every f_m
    fitted to all training rows.

Assumes:
    Models that are right in different places, and enough rows to learn where. What models say after learning
    from all rows is much like what they say after learning from all folds but one.

Cost:
    folds + 1 fits of each model, one of the meta model.

Choices:
    The meta model sees probabilities (of two classes that of the second, otherwise one for each class), or with
    ``use: classes`` the class that each model decides on. Without ``meta`` it is logistic regression for
    classes and ridge for numbers. Steps that a model needs learn inside each fold. Of fewer rows (or groups)
    than folds each is a fold; of a single one the meta model sees answers about rows that were learned from.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from mlcli.core import findings
from mlcli.core.abilities import RowExplainer
from mlcli.core.configuration import with_steps
from mlcli.core.model import Model
from mlcli.core.nested import model_param, models_param, noun_of
from mlcli.core.params import TASK, learned, models_inside, param
from mlcli.core.pipeline import explain_row
from mlcli.core.registry import MODELS, register
from mlcli.core.schema import Accepts, Column
from mlcli.core.tables import Array, Table
from mlcli.engines.content_seeds import in_content_order
from mlcli.engines.ensemble import check_members, fitted, member_table, numbered, outputs
from mlcli.engines.inner_validation import held_out_outputs, inner_folds
from mlcli.tasks.supervised import CLASSIFICATION, REGRESSION, Classifier, Regressor, SupervisedRows

OWN_META = {Classifier: "logistic-regression", Regressor: "ridge"}


@register("stacking", reference="Wolpert 1992, Stacked generalization; Ting & Witten 1999 (probabilities)")
class Stacking(Classifier, Regressor, RowExplainer):
    """Models, and a model that learns from their answers."""

    models: tuple[Model, ...] = models_param(
        ("knn", "random-forest", "newton-boosting"), "the models that are learned from", of=(Classifier, Regressor)
    )
    meta: Model | None = model_param(
        None,
        "the model that learns from their answers; none: logistic-regression for classes, ridge for numbers",
        of=(Classifier, Regressor),
        default_means=lambda model, task: {noun_of(base): use for base, use in OWN_META.items()}.get(task),
    )
    folds: int = param(5, "how many folds the training rows are split into", ge=2)
    use: str = param(
        "probabilities",
        "what the meta model sees of classes",
        choices=("probabilities", "classes"),
        matters_when={TASK: "classifier"},
    )
    keep_columns: bool = param(False, "whether the meta model sees the columns as well")

    models_: tuple[Model, ...] = learned("models")
    meta_: Model = learned()

    @property
    def accepts(self) -> Accepts:
        """Anything: each model stands behind the steps that it needs."""
        return Accepts(
            nominal=True, missing=True, weights=all(model.accepts.weights for model in models_inside(self))
        )

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Answer every row by models that have not seen it, learn from that, and fit the models again to all."""
        data = in_content_order(data)
        folds = inner_folds(data, self.folds, rng)
        models = [with_steps(model, self.columns_) for model in self.models]
        rngs = rng.spawn(len(models))
        self.models_ = tuple(fitted(model, data, own) for model, own in zip(models, rngs, strict=True))
        if folds.any():
            answers = [held_out_outputs(model, data, folds, own) for model, own in zip(models, rngs, strict=True)]
            table = self._meta_table(answers, data.table)
        else:
            table = self._answers_to(data.table)
        meta: Model = self.meta or MODELS.load(OWN_META[data.task.base])()
        self.meta_ = fitted(with_steps(meta, table.columns), data.with_table(table), rng)

    def _answers_to(self, table: Table) -> Table:
        """The table of the meta model for rows: what each model says of them."""
        task = CLASSIFICATION if self.classes_ else REGRESSION
        return self._meta_table([outputs(member, table, task) for member in self.models_], table)

    def _meta_table(self, answers: list[Array], table: Table) -> Table:
        """The outputs of each model as columns, and the columns of the table if they are kept."""
        parts = list[tuple[Column, NDArray[np.generic]]]()
        for number, (model, member, output) in enumerate(zip(self.models, self.models_, answers, strict=True), 1):
            name = f"{number} {model.final.id}"
            if not self.classes_:
                parts.append((Column(name), output[:, 0]))
            elif self.use == "classes":
                codes = cast(Classifier, member.final).decide(output)
                parts.append((Column(name, "nominal", self.classes_), codes))
            else:
                for k in range(1 if len(self.classes_) == 2 else 0, len(self.classes_)):
                    parts.append((Column(f"{name}: {self.classes_[k]}"), output[:, k]))
        return Table.of([*parts, *(table.parts() if self.keep_columns else ())], len(table))

    def predict_proba(self, table: Table) -> Array:
        """What the meta model makes of the models' answers."""
        return outputs(self.meta_, self._answers_to(table), CLASSIFICATION)

    def predict_values(self, table: Table) -> Array:
        """What the meta model makes of the models' answers."""
        return outputs(self.meta_, self._answers_to(table), REGRESSION)[:, 0]

    def check_learned(self) -> None:
        """The models that were asked for."""
        for member, model in zip(self.models_, self.models, strict=True):
            check_members([member], with_steps(model, self.columns_), self)

    def explain(self) -> findings.Explanation:
        """The models, then what the meta model has learned of their answers."""
        names = ", ".join(model.final.id for model in self.models)
        lines = (f"{self.meta_.final.id} learns from what {names} say of rows in {self.folds} folds",)
        return findings.Lines("Stacking", lines), *self.meta_.explain()

    def explain_answer(self, table: Table) -> findings.Explanation:
        """What the models say of the row, and what the meta model makes of it."""
        members = member_table(self, numbered(self.models_), table)
        return members, *explain_row(self.meta_, self._answers_to(table))
