"""Optional abilities of methods: small classes that a method inherits beside the base of its kind of task.

Callers test for an ability with ``isinstance``. Functions that look behind the steps of a pipeline for the model
with an ability are in ``core/pipeline.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np

from mlcli.core.findings import Explanation
from mlcli.core.model import Model, Step
from mlcli.core.params import build, models_inside
from mlcli.core.ranges import Range
from mlcli.core.registry import MODELS
from mlcli.core.tables import Array, Flags, Rows, Table

T = TypeVar("T")
LOST = 1e-4
"""Without a row that leaves less than this share of the squares of a column, too many digits are lost."""


class LeaveOneOut:
    """A method that predicts every row from all others in one computation."""

    def leave_one_out(self, rows: Any, steps: Sequence[Step]) -> Array | None:
        """Probabilities (n × classes) or values (n), equal to those of a fit without each row.

        The rows are complete and have no weights. A row that only a fit can predict is NaN; None: fit every time.
        """
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class LeaveOneOutTable:
    """A complete table behind steps that are fitted without a row, for every row.

    Levels and 0/1 columns do not depend on the row left out. Other numbers do if they are standardised.
    """

    table: Table
    standardised: Flags
    """The number columns that are divided by their deviation without the row."""
    redundant: Flags
    """The number columns that follow from others: the first 0/1 column of each set that adds up to 1."""
    ddof: int = 0
    """What the divisor of the variance is less than the number of rows."""

    @classmethod
    def behind(cls, table: Table, steps: Sequence[Step]) -> LeaveOneOutTable | None:
        """The table behind these steps; None where only fits without each row can tell."""
        none = np.zeros(table.numbers.shape[1], bool)
        seen: LeaveOneOutTable | None = cls(table, none, none)
        for step in steps:
            if seen is not None:
                seen = step.without_each_row(seen)
        return seen

    def standardise(self, ddof: int) -> LeaveOneOutTable | None:
        """All numbers standardised; None if some are already."""
        every = np.ones(len(self.standardised), bool)
        return None if self.standardised.any() else replace(self, standardised=every, ddof=ddof)

    def units(self) -> Array:
        """What each number is divided by where its row is left out (n × columns); 1 if it is not standardised.

        Infinite in a constant column; NaN in a column that hardly varies without the row.
        """
        units = np.ones(self.table.numbers.shape)
        X = centred(self.table.numbers[:, self.standardised])
        n, squares = len(X), X**2
        whole = squares.sum(axis=0)
        left = np.maximum(whole - n / (n - 1) * squares, 0.0)
        deviations = np.sqrt(left / (n - 1 - self.ddof))
        deviations[left <= LOST * whole] = np.nan
        deviations[:, np.ptp(self.table.numbers[:, self.standardised], axis=0) == 0] = np.inf
        units[:, self.standardised] = deviations
        return units


def is_complete(table: Table) -> bool:
    """Whether no cell is empty, and no column may have empty cells."""
    return not (
        any(column.missing for column in table.columns) or np.isnan(table.numbers).any() or (table.codes < 0).any()
    )


def centred(numbers: Array) -> Array:
    """Columns less their means, twice, to remove the rounding of a large mean as well."""
    once = numbers - numbers.mean(axis=0)
    return np.asarray(once - once.mean(axis=0))


class Generative:
    """A model of the distribution of rows, from which new rows can be drawn."""

    def sample_rows(self, n: int, rng: np.random.Generator) -> Table:
        """``n`` new rows, or sequences, of the learned distribution.

        They have the columns of the training rows, then the target if there is one; a column that tells which rows
        belong together has the name of its role.
        """
        raise NotImplementedError


class GivesEvidence:
    """A method whose answer is not a density, but that knows the density of a row as well."""

    def log_evidence(self, table: Table) -> Array:
        """The natural logarithm of p(x) of each row."""
        raise NotImplementedError


class Staged:
    """A method whose fit proceeds in stages, such as rounds or trees."""

    stage_name: ClassVar[str]
    """The name of the stages, and of the parameter that sets their number."""

    def stages(self) -> int:
        """The number of stages of the fitted model."""
        raise NotImplementedError

    def staged(self, table: Table, at: Sequence[int]) -> Iterator[Array]:
        """The probabilities, or values, as if the fit had stopped after each of some stages (ascending)."""
        raise NotImplementedError


class RowExplainer:
    """A method that can explain its prediction for one row."""

    def explain_answer(self, table: Table) -> Explanation:
        """How the model arrives at its prediction for a table of one row, or of one sequence."""
        raise NotImplementedError


class ExplainsTask:
    """A model on which its task stores something to be shown, such as a threshold or the profiles of clusters."""

    def explain_task(self) -> Explanation:
        """What the task has stored on the fitted model."""
        raise NotImplementedError


class DecidesByRule:
    """A model whose answers follow from its outputs by a rule that people should know."""

    def decision_in_words(self) -> str:
        """The rule, in words; empty if there is none."""
        raise NotImplementedError


class AnswersQuestions:
    """A model that answers questions in the notation of probability."""

    def answer_to(self, question: str) -> Explanation:
        """The answer to a question such as ``P(a | b=x)``."""
        raise NotImplementedError


class HasImportances:
    """A method that measures how much each column contributes."""

    def importances(self) -> Array:
        """The impurity that each column has removed, as a share of all."""
        raise NotImplementedError


class CountsParameters:
    """A method that counts the numbers that its fit adjusts."""

    adjustable: ClassVar[tuple[str, ...]] = ()
    """The learned fields that hold them, such as coefficients or weights."""

    def adjustable_parameters(self, table: Table) -> float | None:
        """The number of parameters that the fit to a table has adjusted; None if it would say nothing."""
        return float(sum(_numbers_in(getattr(self, name)) for name in self.adjustable))


class MeasuresDistances:
    """A method that compares rows with its training rows by a distance."""

    def nearest_distances(self, table: Table) -> Array:
        """The distance of each row to its nearest training row."""
        raise NotImplementedError


class SeesRowNumbers:
    """A method whose answers depend on the number of a row in its file."""

    def for_rows(self, rows: Rows) -> Self:
        """A copy of the model that knows the numbers of the rows it predicts."""
        raise NotImplementedError


class Unstable:
    """A method that a few other training rows may change a lot, so that its intervals are made wider."""

    @property
    def unstable(self) -> bool:
        """Whether this configuration is unstable."""
        return True


class EstimatesFitTime:
    """A method whose fits may take long."""

    def fit_seconds(self, rows: int, columns: int, classes: int) -> float:
        """About how many seconds a fit takes on one core of a laptop."""
        raise NotImplementedError


class ComparesPairs:
    """A method whose fit holds something for each pair of training rows, such as a matrix of distances."""

    @property
    def bytes_per_pair(self) -> float:
        """How many bytes a fit holds at its peak for each pair of rows."""
        raise NotImplementedError


class SearchRanges:
    """A method that derives which values of a parameter are worth trying from the training rows."""

    def search_range(self, parameter: str, data: Any) -> Range | None:
        """The range to search for a parameter, given prepared rows; None if it does not depend on them."""
        raise NotImplementedError


class SharesWork:
    """A method that shares work between fits of its configurations to the same prepared rows."""

    def share_with(self, memory: dict[Hashable, object]) -> None:
        """Store what ``shared`` makes in a memory that several models have in common."""
        self.__dict__["_memory"] = memory

    @property
    def compared(self) -> bool:
        """Whether the model is fitted only to be compared, so that only its answers matter."""
        return "_memory" in self.__dict__

    def shared(self, key: Hashable, make: Callable[[], T]) -> T:
        """A value that depends only on the training rows and the key; made once for all models with one memory."""
        if not self.compared:
            return make()
        memory = self.__dict__["_memory"]
        if key not in memory:
            memory[key] = make()
        return cast(T, memory[key])


def methods_with(ability: type) -> tuple[str, ...]:
    """The ids of the methods that have an ability themselves, wrappers around other methods left out.

    Every method is imported, so this is for messages and listings only.
    """
    entries = (entry for entry in MODELS.entries() if entry.family != "wrappers")
    return tuple(entry.name for entry in entries if issubclass(entry.load(), ability))


def methods_for_large_tables() -> tuple[str, ...]:
    """The ids of the methods that process rows in blocks; every method is imported."""
    models = ((entry.name, build(entry.load(), {})) for entry in MODELS.entries())
    return tuple(name for name, model in models if model.accepts.large and not models_inside(model))


def stage_name(model: Model) -> str:
    """What the stages of a method are called; empty if it has none."""
    return model.stage_name if isinstance(model, Staged) else ""


def bytes_per_pair(model: Model) -> float:
    """How many bytes a fit holds for each pair of training rows, in the model or in one that it wraps."""
    final = model.final
    if isinstance(final, ComparesPairs):
        return final.bytes_per_pair
    return max((bytes_per_pair(inside) for inside in models_inside(final)), default=0.0)


def _numbers_in(learned: object) -> int:
    return sum(map(_numbers_in, learned)) if isinstance(learned, tuple) else int(np.size(np.asarray(learned)))
