"""The base classes of steps, models and kinds of task.

A step or a model has hyperparameters, what it accepts, and what a fit has learned. A task says how a model of its
kind learns from rows, and how its predictions become answers. There is one task object for each kind, and rows
carry that of their kind (``rows.task``). A pipeline or an ensemble therefore never asks which kind it works on,
and a model may serve several kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.errors import DataError, FitError, ImpossibleAnswerError, Problem, UsageError, raise_all
from mlcli.core.findings import Explanation
from mlcli.core.moments import refuse_unanswerable, refuse_unlearnable
from mlcli.core.names import did_you_mean, free_name
from mlcli.core.params import learned, models_inside, param
from mlcli.core.rows import R
from mlcli.core.schema import COLUMN_KINDS, Accepts, Column
from mlcli.core.tables import Array, Flags, Rows, Table

if TYPE_CHECKING:
    from mlcli.core.abilities import LeaveOneOutTable

T = TypeVar("T")


@dataclass(kw_only=True, eq=False)
class Step:
    """Something learned from training rows that changes a table, such as filling gaps or scaling.

    A pipeline calls ``learn``, ``apply`` and ``columns_left``. These show the step the columns that it is for and
    put its output back among the other columns; a step implements ``fit``, ``transform`` and ``columns_after``.
    """

    id: ClassVar[str]
    reference: ClassVar[str]
    revision: ClassVar[int]
    changes_rows: ClassVar[bool] = False
    """Whether it changes the training rows or their weights."""
    gives_weights: ClassVar[bool] = False
    """Whether it weights rows, so that the steps and the model behind it must accept weights."""
    scales: ClassVar[bool] = False
    """Whether it puts numbers on one scale, so that no scaler is inserted."""
    merges_levels: ClassVar[bool] = False
    """Whether it decides how many levels a column keeps, so that rare levels are not merged in front of it."""
    follows_scaling: ClassVar[bool] = False
    """Whether an inserted scaler goes in front of it, as with one-hot and steps that accept numbers only."""
    shows_sensitive: ClassVar[bool] = False
    """Whether the model behind it may see sensitive columns."""
    kinds: ClassVar[tuple[str, ...]] = ()
    """The kinds of task whose rows it can learn from; empty: any."""

    columns: tuple[str, ...] | None = param(
        None,
        "the columns that it is for: names, kinds such as numeric, patterns such as len*; none: all",
        if_given=True,
    )

    columns_: tuple[Column, ...] = learned()
    """The columns that it was fitted to."""

    @property
    def accepts(self) -> Accepts:
        """What this configuration takes as input; most steps pass on what they cannot change."""
        return Accepts(nominal=True, missing=True, weights=True)

    def conflicts(self) -> list[str]:
        """Parameters that are legal one by one but not together."""
        return []

    def serving(self, model: Model) -> Self:
        """The step in front of a given model; a step that selects columns by a model may select by this one."""
        return self

    def fit(self, data: Any, rng: np.random.Generator) -> None:
        """Learn from training rows; of which class they are, ``kinds`` says."""
        raise TypeError(f"{type(self).__name__} does not say how it learns")

    def transform(self, table: Table) -> Table:
        """The table as the following steps and the model see it."""
        raise TypeError(f"{type(self).__name__} does not say how it changes a table")

    def columns_after(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The columns of the transformed table; they follow from the columns alone, not from cells.

        A step that learns which columns to keep returns all that it may keep.
        """
        return columns

    def seen_of(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """The columns that it is for."""
        return columns if self.columns is None else chosen(columns, self.columns)

    def columns_left(self, columns: tuple[Column, ...]) -> tuple[Column, ...]:
        """All columns behind the step, including those that it is not for; unknown names are refused."""
        if self.columns is None:
            return self.columns_after(columns)
        unknown = [word for word in self.columns if word not in COLUMN_KINDS and not _meant_by(word, columns)]
        names = (*(column.name for column in columns), *COLUMN_KINDS)
        problems = (
            Problem(
                f"{self.id}: there is no column '{word}' before it",
                hint=did_you_mean(word, names, "columns and kinds"),
            )
            for word in dict.fromkeys(unknown)
        )
        raise_all(UsageError, problems)
        seen = self.seen_of(columns)
        after = ((column, None) for column in self.columns_after(seen))
        return tuple(column for column, _ in put_back(((column, None) for column in columns), seen, after))

    def learn(self, data: R, rng: np.random.Generator) -> None:
        """Fit the step to the columns that it is for."""
        if self.kinds and data.kind not in self.kinds:
            raise FitError(f"{self.id} learns from {' or '.join(self.kinds)}, and this is {data.kind}")
        if self.columns is not None:
            data = data.transformed(self._seen_in)
        self.columns_ = data.table.columns
        self.fit(data, rng)

    def apply(self, table: Table) -> Table:
        """The table with the columns that it is for transformed."""
        if self.columns is None:
            return self.transform(table)
        transformed = self.transform(self._seen_in(table))
        return Table.of(put_back(table.parts(), self.seen_of(table.columns), transformed.parts()), len(table))

    def _seen_in(self, table: Table) -> Table:
        return table.select(column.name for column in self.seen_of(table.columns))

    def training_rows(self, data: R, rng: np.random.Generator) -> R:
        """The training rows of what follows; rows to be predicted do not pass here."""
        return data

    def undone(self, table: Table, rng: np.random.Generator) -> Table:
        """Drawn rows, as behind the step, turned into rows as in front of it; other columns stay."""
        present = {column.name for column in table.columns}
        own = [column for column in self.columns_after(self.columns_) if column.name in present]
        names = {column.name for column in own}
        drawn = Table.of(((column, table.cells(column.name)) for column in own), len(table))
        others = (part for part in table.parts() if part[0].name not in names)
        return Table.of([*self.inverse(drawn, rng).parts(), *others], len(table))

    def inverse(self, table: Table, rng: np.random.Generator) -> Table:
        """The table that ``transform`` would turn into this one; what the step has lost is drawn at random."""
        what = f"the step {self.id} cannot be undone, so that no rows can be drawn in front of it"
        raise DataError(what, hint="leave out the step")

    def log_stretch(self) -> float:
        """The logarithm of the factor by which it enlarges volumes, and so raises densities in front of it."""
        return 0.0

    def explain(self) -> Explanation:
        """What was learned, for a person."""
        return ()

    def check_learned(self) -> None:
        """Refuse (ValueError) learned fields that the step could not have made; called after loading."""

    def without_each_row(self, seen: LeaveOneOutTable) -> LeaveOneOutTable | None:
        """The transformed table, each row by a fit to all other rows; None if only fits can tell."""
        return None

    def fresh(self) -> Self:
        """The same configuration with nothing learned."""
        return replace(self)


def chosen(columns: Sequence[Column], sequence: Sequence[str]) -> tuple[Column, ...]:
    """The columns that names, kinds and patterns refer to, in the order of the table."""
    names = {column.name for word in sequence for column in _meant_by(word, columns)}
    return tuple(column for column in columns if column.name in names)


def _meant_by(word: str, columns: Sequence[Column]) -> list[Column]:
    """The column of a name with its indicators, else all columns of a kind, else all that match a pattern."""
    named = [column for column in columns if column.name == word or column.name.startswith(f"{word}=")]
    if named or word in COLUMN_KINDS:
        return named or [column for column in columns if column.kind == word]
    return [column for column in columns if fnmatchcase(column.name, word)]


def put_back(
    parts: Iterable[tuple[Column, T]], seen: Sequence[Column], made: Iterable[tuple[Column, T]]
) -> Iterator[tuple[Column, T]]:
    """All columns, with their cells, after a step has turned the ``seen`` ones into ``made``.

    Other columns stay as they are, and columns that keep their name keep their place. A new column follows the one
    that the step has put in front of it; the first new ones replace the first seen column.
    """
    parts, names = list(parts), {column.name for column in seen}
    others = {column.name for column, _ in parts} - names
    runs: dict[str | None, list[tuple[Column, T]]] = {None: []}
    last: str | None = None
    for column, cells in made:
        if column.name in names:
            last = column.name
        runs.setdefault(last, []).append((replace(column, name=free_name(column.name, others)), cells))
    for column, cells in parts:
        if column.name in names:
            yield from (*runs.pop(None, ()), *runs.pop(column.name, ()))
        else:
            yield column, cells


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


M = TypeVar("M", bound=Model)
A = TypeVar("A", bound=Answers)


class Task(Generic[M, R, A]):
    """One kind of task: its models learn from rows ``R`` and give answers ``A``."""

    base: type[M]
    """The base class of the models of this kind."""

    @property
    def noun(self) -> str:
        """What messages call a model of this kind, such as classifier."""
        return self.base.__name__.lower()

    def training_view(self, model: Model, rows: R) -> R:
        """The part of training rows that a model may see; rows that nothing can be learned from are refused.

        The model may be a pipeline, or the model behind its steps.
        """
        refuse_unlearnable(rows)
        return rows

    def rows_to_keep(self, model: M, rows: R) -> R:
        """The rows of a dataset that a model learns from when it is trained to be kept."""
        return rows.to_learn_from()

    def learn(self, model: M, rows: R, rng: np.random.Generator) -> None:
        """Fit a model to prepared rows."""
        model.columns_, model.target_ = rows.table.columns, rows.target
        model.fit(rows, rng)

    def annotate(self, model: M, prepared: R, given: R, steps: tuple[Step, ...]) -> None:
        """Store on a fitted model what the kind of task needs later.

        ``prepared`` are its training rows behind the steps, ``given`` the same rows in front of them.
        """

    def predict_rows(self, model: M, rows: R) -> A:
        """The answers of a fitted model about prepared rows."""
        raise NotImplementedError

    def predict_parts(
        self, model: M, predict: Callable[[Rows], A], parts: Mapping[str, Rows], train: Rows
    ) -> dict[str, A]:
        """The answers about each part of a split that is scored, by name.

        ``predict`` gives the answers about some rows.
        """
        return {part: predict(rows) for part, rows in parts.items()}

    def set_threshold(self, model: M, predict: Callable[[R], A], learned: R, rows: R) -> None:
        """Choose what is left to choose before a fitted model is kept.

        ``learned`` are the rows of the dataset that it has learned from, ``rows`` all of them.
        """

    def outputs_of(self, model: M, table: Table) -> Array:
        """The predictions as numbers (n × outputs), for kinds whose answers are numbers of single rows."""
        raise TypeError("answers of this kind of task are not numbers of single rows")

    def output_names(self, model: M) -> tuple[str, ...]:
        """The names of these numbers; none if answers are not numbers of single rows."""
        return ()

    def answered_output(self, model: M, outputs: Array) -> int:
        """The index of the output that is the answer, among the outputs of one row."""
        return int(outputs.argmax())

    def answers_with(self, model: M, rows: R, predictions: Array) -> A:
        """Answers made from probabilities or values, for kinds that have such predictions."""
        raise TypeError("answers of this kind of task do not follow from probabilities or values")

    def leave_one_out_answers(self, model: M, rows: R, predictions: Array) -> A:
        """Answers about all rows, each predicted by all others."""
        raise TypeError("this kind of task has no leave-one-out without fits")


AnyTask = Task[Any, Any, Any]


def refuse_impossible(model: Model, values: Array, shape: tuple[int, ...]) -> None:
    """Refuse predictions that are not finite numbers in an array of this shape."""
    values = np.asarray(values)
    if values.shape != shape or values.dtype.kind not in "fiu":
        what = f"an array of shape {values.shape} and type {values.dtype}"
        raise ImpossibleAnswerError(f"{model.name} answered {what}, where numbers of shape {shape} were asked for")
    if not np.isfinite(values).all():
        bad = np.asarray(~np.isfinite(values.reshape(len(values), -1)).all(axis=1))
        raise _impossible(model, "something that is not a number", bad)


def refuse_no_probabilities(model: Model, values: Array, shape: tuple[int, ...]) -> None:
    """Refuse predictions that are not probabilities of rows × classes."""
    refuse_impossible(model, values, shape)
    tolerance = 1e-6
    bad = (values < -tolerance).any(axis=1) | (np.abs(values.sum(axis=1) - 1) > tolerance)
    if bad.any():
        raise _impossible(model, "probabilities that are negative or do not sum to 1", bad)


def _impossible(model: Model, what: str, bad: Flags) -> ImpossibleAnswerError:
    first = f", first for row {int(bad.argmax()) + 1} of them" * (len(bad) > 1)
    return ImpossibleAnswerError(f"{model.name} answered {what} for {int(bad.sum())} of {len(bad)} rows{first}")
