"""Steps, then a model: itself a model, so that whatever takes a model takes a pipeline."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.findings import Explanation, Lines
from mlcli.core.held_out import HeldOut, Round, refusing_not_finite
from mlcli.core.learning import learn
from mlcli.core.limits import refuse_extremes
from mlcli.core.model import Model
from mlcli.core.params import learned
from mlcli.core.step import Step
from mlcli.core.tables import Array, Codes, Flags, Table


@dataclass(kw_only=True, eq=False)
class Pipeline(Model):
    """Each step learns from the training rows as the steps before it left them."""

    steps: tuple[Step, ...] = ()
    model: Any = field(default=None)

    classes_: tuple[str, ...] = learned()
    class_totals_: Array = learned()
    profile_: dict[str, Any] | None = learned()
    fit_log_likelihood_: float = learned()
    fit_rows_: float = learned()
    threshold_: float | None = learned()
    threshold_from_: str = learned()

    @property
    def name(self) -> str:
        """The name of the model at the end."""
        return str(self.model.name)

    @property
    def accepts(self) -> Accepts:
        """What the model at the end accepts of what no step changes."""
        accepted: Accepts = self.model.accepts
        return accepted

    def fit(self, data: Any, rng: np.random.Generator) -> None:
        """Fit the steps in order, then the model."""
        for step in self.steps:
            step.columns_ = data.table.columns
            step.fit(data, rng)
            data = data.transformed(step.transform)
        learn(self.model, data, rng)

    def prepared(self, table: Table) -> Table:
        """The table as the model sees it; numbers that no model could multiply are refused."""
        refuse_extremes(table, np.ones(len(table)))
        for step in self.steps:
            table = step.transform(table)
        return table

    def predict_proba(self, table: Table) -> Array:
        """The model's probabilities for prepared rows."""
        return self.model.predict_proba(self.prepared(table))  # type: ignore[no-any-return]

    def decide(self, probabilities: Array) -> Codes:
        """The model's decision."""
        return self.model.decide(probabilities)  # type: ignore[no-any-return]

    def decide_among(self, probabilities: Array, class_totals: Array) -> Codes:
        """The model's decision for rows that different training rows answer."""
        return self.model.decide_among(probabilities, class_totals)  # type: ignore[no-any-return]

    @property
    def may_hold_out(self) -> bool:
        """Whether the model may have answers to all parts of a round without being fitted to each."""
        return type(self.model).held_out is not Model.held_out

    def held_out(self, data: Any, round_: Round, steps: tuple[Step, ...] = ()) -> HeldOut | None:
        """The model's answers to every part at once, the steps learned anew for each; None: fit."""
        if not self.may_hold_out or len(getattr(data, "unlabelled", None) or ()):
            return None
        held: HeldOut | None = self.model.held_out(data, round_, (*steps, *self.steps))
        return None if held is None else refusing_not_finite(held, round_)

    def predict_values(self, table: Table) -> Array:
        """The model's values for prepared rows."""
        return self.model.predict_values(self.prepared(table))  # type: ignore[no-any-return]

    def space(self, table: Table) -> Array:
        """The numbers that the model sees."""
        return self.model.space(self.prepared(table))  # type: ignore[no-any-return]

    def cluster_of(self, table: Table) -> Codes:
        """The model's group of each prepared row."""
        return self.model.cluster_of(self.prepared(table))  # type: ignore[no-any-return]

    def groups(self) -> int:
        """How many groups the model makes."""
        return self.model.groups()  # type: ignore[no-any-return]

    def log_density(self, table: Table) -> Array:
        """The log density at the rows as they were before the steps, so that pipelines compare at any scale."""
        inner: Array = self.model.log_density(self.prepared(table))
        return inner + sum(step.log_stretch() for step in self.steps)

    def free_parameters(self) -> int:
        """How many numbers the model fitted."""
        return self.model.free_parameters()  # type: ignore[no-any-return]

    def project(self, table: Table) -> Array:
        """The prepared rows in the model's columns."""
        return self.model.project(self.prepared(table))  # type: ignore[no-any-return]

    def reconstruct(self, table: Table) -> Array:
        """The prepared rows as the model's projection shows them."""
        return self.model.reconstruct(self.prepared(table))  # type: ignore[no-any-return]

    def middle(self) -> Array:
        """The mean of the prepared training rows."""
        return self.model.middle()  # type: ignore[no-any-return]

    def score_rows(self, table: Table) -> Array:
        """The model's score of each prepared row: how odd it is, or how far up it belongs in its group."""
        return self.model.score_rows(self.prepared(table))  # type: ignore[no-any-return]

    def reasons(self, table: Table) -> tuple[tuple[str, ...], Array]:
        """The columns that the model sees, and what each adds to its score of prepared rows."""
        return self.model.reasons(self.prepared(table))  # type: ignore[no-any-return]

    def tag(self, table: Table, sequence: Codes) -> Codes:
        """The model's tag of each prepared row."""
        return self.model.tag(self.prepared(table), sequence)  # type: ignore[no-any-return]

    def tag_shares(self, table: Table, sequence: Codes) -> Array:
        """How probable the model finds each tag of each prepared row."""
        return self.model.tag_shares(self.prepared(table), sequence)  # type: ignore[no-any-return]

    def cold(self, table: Table) -> Flags:
        """The rows whose user or item the model has no rating of."""
        return self.model.cold(self.prepared(table))  # type: ignore[no-any-return]

    def rated_before(self, table: Table) -> Flags:
        """The rows whose user has rated their item in training."""
        return self.model.rated_before(self.prepared(table))  # type: ignore[no-any-return]

    def likes(self, ratings: Array) -> Flags:
        """The ratings that the model counts as good."""
        return self.model.likes(ratings)  # type: ignore[no-any-return]

    def top_items(self, table: Table) -> Codes:
        """What the model recommends to the user of each row."""
        return self.model.top_items(self.prepared(table))  # type: ignore[no-any-return]

    def rules(self) -> Any:
        """The rules that the model found."""
        return self.model.rules()

    def item_names(self) -> tuple[str, ...]:
        """The items that the rules speak of."""
        return self.model.item_names()  # type: ignore[no-any-return]

    def applied(self, table: Table) -> tuple[Flags, Flags]:
        """What each rule of the model says of prepared rows."""
        return self.model.applied(self.prepared(table))  # type: ignore[no-any-return]

    def explain(self) -> Explanation:
        """What the steps learned, then what the model learned, then what its groups look like in the file."""
        steps = (section for step in self.steps for section in step.explain())
        return (*steps, *self.model.explain(), *self._groups_described(), *self._flagging())

    def how_flagged(self) -> str:
        """Which rows are flagged, in words; nothing for a model that flags none."""
        if self.threshold_ is None:
            return ""
        return f"rows that score at least {self.threshold_:.6g}; this threshold is {self.threshold_from_}"

    def check_learned(self) -> None:
        """A threshold, where there is one, is a number."""
        if not isinstance(self.threshold_, float | None) or not math.isfinite(self.threshold_ or 0.0):
            raise ValueError("the threshold of the model is no number")

    def _flagging(self) -> Explanation:
        said = self.how_flagged()
        return (Lines("Which rows are flagged", (said,)),) if said else ()

    def _groups_described(self) -> Explanation:
        """The groups of a clustering, in the columns as they were before the steps."""
        if self.profile_ is None:
            return ()
        from mlcli.tasks.group_profile import described

        return described(self.columns_, self.profile_)

    def fresh(self) -> Self:
        """The same configuration with nothing learned."""
        return type(self)(steps=tuple(step.fresh() for step in self.steps), model=self.model.fresh())
