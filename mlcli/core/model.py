"""The base class of models: hyperparameters, what a configuration accepts, and what a fit has learned."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.errors import DataError
from mlcli.core.findings import Explanation
from mlcli.core.held_out import HeldOut, Round
from mlcli.core.limits import refuse_unanswerable
from mlcli.core.params import learned, models_inside
from mlcli.core.ranges import Range
from mlcli.core.schema import Column
from mlcli.core.step import Step
from mlcli.core.tables import Array, Rows, Table

T = TypeVar("T")
GENERATIVE = (
    "models of how rows come about do, such as naive-bayes, lda, qda, gaussian-bayes, gmm, bayes-net, mrf, "
    "hmm and markov-chain"
)


@dataclass(kw_only=True, eq=False)
class Model:
    """A method with its hyperparameters; ``fit`` fills the learned fields, whose names end in an underscore."""

    id: ClassVar[str]
    reference: ClassVar[str]
    revision: ClassVar[int]
    stage_name: ClassVar[str] = ""
    """What its fit makes one after another, such as rounds or trees; empty where it has no stages."""

    supervised: ClassVar[bool] = False
    """Whether it learns answers that training rows have."""

    adjustable: ClassVar[tuple[str, ...]] = ()
    """The learned fields that hold what its fit adjusts, such as coefficients or weights."""

    columns_: tuple[Column, ...] = learned()
    target_: str = learned()

    @property
    def name(self) -> str:
        """What messages call the method."""
        return self.id

    @property
    def accepts(self) -> Accepts:
        """What this configuration can take as it is; around other models, what all of them can."""
        inside = self.nested()
        return Accepts.by_all([model.accepts for model in inside]) if inside else Accepts()

    @property
    def unsteady(self) -> bool:
        """Whether a few other training rows change its answers a lot, so that judged rows say less of it."""
        return False

    def nested(self) -> tuple[Model, ...]:
        """The models that it is built around, as they are configured."""
        return models_inside(self)

    def conflicts(self) -> list[str]:
        """Parameters that are legal one by one but not together."""
        return []

    def fit_seconds(self, rows: int, columns: int, classes: int) -> float:
        """About how long a fit takes on one core of a laptop; the default is for methods that nobody waits for."""
        return 0.0

    @property
    def bytes_per_pair(self) -> float:
        """How many bytes a fit holds at its peak for each pair of training rows, as for a matrix of distances."""
        return max((model.final.bytes_per_pair for model in self.nested()), default=0.0)

    def fit(self, data: Any, rng: np.random.Generator) -> None:
        """Learn from training rows."""
        raise TypeError(f"{type(self).__name__} does not say how it learns")

    @property
    def final(self) -> Model:
        """The model that answers: itself, or what stands behind the steps of a pipeline."""
        return self

    def all_steps(self) -> tuple[Step, ...]:
        """The steps before the model that answers, in order."""
        return ()

    def fit_steps(self, data: Any, rng: np.random.Generator) -> Any:
        """Fit these steps one after another; the rows as the model that answers sees them."""
        return data

    def for_rows(self, rows: Rows) -> Self:
        """The model as it is asked about the rows of a file with these numbers; most models ignore the numbers."""
        return self

    def prepared(self, table: Table) -> Table:
        """A table as the model that answers sees it; of empty cells only some models make anything."""
        if not self.accepts.missing:
            refuse_unanswerable(np.isnan(table.numbers))
        return table

    def explain(self) -> Explanation:
        """What was learned, for a person."""
        return ()

    def explain_answer(self, table: Table) -> Explanation:
        """How it comes to its answer about a table of one row, or one sequence; none where it cannot say."""
        return ()

    def answer_to(self, question: str) -> Explanation:
        """What a question in the notation of probability has for an answer."""
        what = f"{self.name} answers no questions"
        raise DataError(what, hint="bayes-net and mrf do: mlcli train DATA -m bayes-net --ask 'P(a | b=x)'")

    def importances(self) -> Array | None:
        """What each column that it saw is worth by the impurity it has taken away; None where there is none."""
        return None

    def nearest_distances(self, table: Table) -> Array:
        """How far the nearest training row is from each row, where the method measures distances."""
        raise TypeError(f"{type(self).__name__} measures no distances")

    def explain_task(self) -> Explanation:
        """What the base of the kind of task has noted of the fitted model, for a person."""
        return ()

    def reading(self) -> str:
        """How its answers are to be read, in words; nothing where they speak for themselves."""
        return ""

    def check_learned(self) -> None:
        """Refuse (ValueError) learned fields that the method could not have made; called after loading."""

    def sample_rows(self, n: int, rng: np.random.Generator) -> Table:
        """So many new rows of the distribution that it has learned, or of sequences so many.

        They have its columns, then its target where it has one; a column that says which rows belong together is
        called by its role.
        """
        raise DataError(f"{self.name} does not say how rows come about", hint=GENERATIVE)

    def log_evidence(self, table: Table) -> Array | None:
        """The natural logarithm of p(x) of each row; None where the method does not say how rows come about."""
        return None

    def space(self, table: Table) -> Array:
        """The numbers that the method sees, to judge how rows lie."""
        return table.numbers

    def adjustable_parameters(self, table: Table) -> float | None:
        """How many numbers its fit to a table has adjusted, or what these amount to.

        None where that would say nothing of its complexity.
        """
        return float(sum(_size(getattr(self, name)) for name in self.adjustable)) if self.adjustable else None

    def stages(self) -> int:
        """How many stages the fitted model has."""
        return 0

    def staged(self, table: Table, at: Sequence[int]) -> Iterator[Array]:
        """The probabilities, or values, that it would answer had its fit stopped after each of some stages.

        The stages are in order, the first is 1.
        """
        raise TypeError(f"{type(self).__name__} has no stages")

    def fresh(self) -> Self:
        """The same configuration with nothing learned."""
        return replace(self)

    def search_range(self, parameter: str, data: Any) -> Range | None:
        """Which values of a parameter are worth trying on prepared rows, where that follows from them."""
        return None

    def share_with(self, memory: dict[Any, Any]) -> None:
        """Keep what ``shared`` makes in a memory of fits of like models to the same prepared rows."""
        self.__dict__["_memory"] = memory

    @property
    def compared(self) -> bool:
        """Whether it is fitted only to be compared: nobody asks then what it has learned, only what it answers."""
        return "_memory" in self.__dict__

    def shared(self, key: Any, make: Callable[[], T]) -> T:
        """What depends on the training rows and the key alone: made once where such fits have one memory."""
        memory: dict[Any, Any] | None = self.__dict__.get("_memory")
        if memory is None:
            return make()
        if key not in memory:
            memory[key] = make()
        found: T = memory[key]
        return found

    def held_out(self, data: Any, round_: Round, steps: tuple[Step, ...]) -> HeldOut | None:
        """Answers to every part of a round by what the other rows teach, for less than a fit each; None: fit."""
        return None


def _size(learned: Any) -> int:
    """How many numbers some learned arrays hold."""
    return sum(map(_size, learned)) if isinstance(learned, tuple) else int(np.size(learned))
