"""The base class of models: hyperparameters, what a configuration accepts, and what a fit has learned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.findings import Explanation
from mlcli.core.limits import refuse_unanswerable
from mlcli.core.params import learned, models_inside
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Table


@dataclass(kw_only=True, eq=False)
class Model:
    """A method with its hyperparameters; ``fit`` fills the learned fields, whose names end in an underscore.

    A method derives from the base of its kind of task, such as ``Classifier``, and may opt into abilities
    (``core/abilities.py``), such as ``Staged``.
    """

    id: ClassVar[str]
    reference: ClassVar[str]
    revision: ClassVar[int]
    supervised: ClassVar[bool] = False
    """Whether it learns a target that training rows have."""

    columns_: tuple[Column, ...] = learned()
    target_: str = learned()

    @property
    def name(self) -> str:
        """What messages call the method."""
        return self.id

    @property
    def accepts(self) -> Accepts:
        """What this configuration takes as input; by default, what all the models that it is built around take."""
        inside = models_inside(self)
        return Accepts.by_all([model.accepts for model in inside]) if inside else Accepts()

    def conflicts(self) -> list[str]:
        """Parameters that are legal one by one but not together."""
        return []

    def fit(self, data: Any, rng: np.random.Generator) -> None:
        """Learn from training rows; of which class they are, the base of the kind of task says."""
        raise TypeError(f"{type(self).__name__} does not say how it learns")

    @property
    def final(self) -> Model:
        """The model that answers: itself, or the one behind the steps of a pipeline."""
        return self

    def all_steps(self) -> tuple[Step, ...]:
        """The steps in front of the model that answers, in order."""
        return ()

    def prepared(self, table: Table) -> Table:
        """A table as the model that answers sees it; empty cells are refused unless the model accepts them."""
        if not self.accepts.missing:
            refuse_unanswerable(np.isnan(table.numbers))
        return table

    def explain(self) -> Explanation:
        """What was learned, for a person."""
        return ()

    def check_learned(self) -> None:
        """Refuse (ValueError) learned fields that the method could not have made; called after loading."""

    def fresh(self) -> Self:
        """The same configuration with nothing learned."""
        return replace(self)
