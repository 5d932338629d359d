"""Base classes of steps that select columns: by any rule, by a model, or by a score of each column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import ClassVar, Self

import numpy as np

from mlcli.core.configuration import with_steps
from mlcli.core.findings import Bars, Explanation, Lines
from mlcli.core.model import Model, Step
from mlcli.core.names import listed
from mlcli.core.nested import model_param
from mlcli.core.params import learned, models_inside, param
from mlcli.core.registry import MODELS
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes, Flags, Table
from mlcli.engines.content_seeds import order_of_content
from mlcli.engines.inner_validation import Part, inner_folds, mean_loss, parts_of_folds
from mlcli.prepare.discretise import boundaries, codes_of, equal_frequency
from mlcli.tasks.supervised import Classifier, LabelledRows, Regressor, SupervisedRows

MOST_BARS = 30
ALIKE = 1e-12
"""Scores whose relative difference is smaller are ties."""


@dataclass(kw_only=True, eq=False)
class Selection(Step):
    """A step that learns from the training rows which columns to keep."""

    kinds: ClassVar[tuple[str, ...]] = ("classification", "regression")
    follows_scaling: ClassVar[bool] = True

    kept_: Flags = learned("columns")

    def transform(self, table: Table) -> Table:
        """The selected columns."""
        return table.select(self.kept())

    def kept(self) -> list[str]:
        """The names of the selected columns."""
        return [column.name for column, keep in zip(self.columns_, self.kept_, strict=True) if keep]

    def check_learned(self) -> None:
        """A boolean for each column."""
        if self.kept_.dtype != np.bool_:
            raise ValueError(f"the selection of columns must be boolean, and is {self.kept_.dtype}")

    def explain(self) -> Explanation:
        """The selected columns."""
        kept = self.kept()
        return (Lines(f"{len(kept)} of {len(self.columns_)} columns are kept", (listed(kept, MOST_BARS),)),)

    def bars(self, title: str, measure: str, scores: Array, **beside: Array | Codes) -> Bars:
        """The scores of the columns, highest first, with further values and whether each column is kept."""
        order = ranked(scores)[:MOST_BARS]
        names = [column.name for column in self.columns_]
        decisions = np.where(self.kept_, "kept", "left out")
        note = f"{int(self.kept_.sum())} of {len(names)} columns are kept"
        if len(names) > MOST_BARS:
            note += f"; bars of the first {MOST_BARS}"
        return Bars(
            title,
            ("column", measure, *beside, ""),
            tuple(names[index] for index in order),
            tuple(np.nan_to_num(scores[order]).tolist()),
            tuple(tuple(values[order].tolist()) for values in (*beside.values(), decisions)),
            note=note,
        )


def ranked(scores: Array) -> list[int]:
    """The indices of scores from highest to lowest; ties keep their order, and NaN comes last."""
    filled = np.where(np.isnan(scores), -np.inf, scores)
    finite = np.isfinite(filled)
    unit = ALIKE * np.abs(filled[finite]).max(initial=0.0) or 1.0
    rounded = np.where(finite, np.round(np.where(finite, filled, 0.0) / unit), filled)
    return [int(index) for index in np.argsort(-rounded, kind="stable")]


def best_of(scores: Array, count: int) -> Flags:
    """Which scores are among the ``count`` highest."""
    kept = np.zeros(len(scores), bool)
    kept[ranked(scores)[:count]] = True
    return kept


def number_kept(keep: float, count: int) -> int:
    """How many of ``count`` columns to keep; ``keep`` is a number of columns, or a share if below 1."""
    return min(count, ceil(keep * count - ALIKE) if keep < 1 else int(keep))


def problems_with_count(keep: float) -> list[str]:
    """A message if ``keep`` is neither a whole number nor a share."""
    if keep < 1 or keep % 1 == 0:
        return []
    return [f"keep is a whole number, or a share below 1; got {keep:g}"]


Places = tuple[int, ...]
"""The indices of some columns, in order."""


@dataclass(kw_only=True, eq=False)
class ByModel(Selection):
    """A selection of the columns that work best for a model."""

    base: Model | None = model_param(
        None,
        "the model to select columns for; none: the model behind the step, or naive-bayes or linear-regression if "
        "there is none",
        of=(Classifier, Regressor),
    )

    @property
    def accepts(self) -> Accepts:
        """Any columns: the model gets the steps that it needs."""
        return Accepts(
            nominal=True, missing=True, weights=all(model.accepts.weights for model in models_inside(self))
        )

    def serving(self, model: Model) -> Self:
        """Select columns for the model behind the step, unless a base is given."""
        if self.base is None and isinstance(model, Classifier | Regressor):
            configured = replace(self, base=model)
            if not configured.conflicts():
                return configured
        return self

    def base_for(self, data: SupervisedRows) -> Model:
        """The chosen base, or the default for the kind of task."""
        default = "naive-bayes" if data.task.base is Classifier else "linear-regression"
        model: Model = self.base or MODELS.load(default)()
        return model


@dataclass(frozen=True, eq=False)
class SubsetLosses:
    """The inner validation loss of a model on subsets of the columns; each subset is computed once."""

    model: Model
    data: SupervisedRows
    splits: Sequence[Part]
    """The training rows and the test rows of each split."""
    seed: int
    known: dict[Places, float] = field(default_factory=dict)
    """The losses computed so far."""

    def loss(self, indices: Places) -> float:
        """The mean loss on test rows: the error rate for classification, the squared error for regression."""
        if indices not in self.known:
            columns = self.data.table.columns
            subset = self.data.with_table(self.data.table.select(columns[index].name for index in indices))
            model = with_steps(self.model, subset.table.columns) if indices else MODELS.load("zero-r")()
            self.known[indices] = mean_loss(model, subset, self.splits, self.seed)
        return self.known[indices]


@dataclass(kw_only=True, eq=False)
class Filter(ByModel):
    """A selection of the columns with the highest scores; each column is scored on its own, without the model."""

    measure: ClassVar[str]
    """The name of the score."""

    keep: float | None = param(
        0.5,
        "how many columns to keep; below 1: a share of them; none: the number with the lowest loss of `base`",
        gt=0,
        tune=(0.1, 0.9),
    )
    folds: int = param(
        5, "number of inner folds of the training rows, if `keep` is none", ge=2, matters_when={"keep": None}
    )

    scores_: Array = learned("columns")

    accepts = Accepts(missing=True, weights=True)
    """Numeric columns; missing values do not count in the score of their column."""

    def conflicts(self) -> list[str]:
        """Refuse a fraction of a column, and a base that would not be used."""
        if self.keep is None:
            return []
        return problems_with_count(self.keep) + (["'base' is used only if keep is none"] if self.base else [])

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Score each column, and keep the best."""
        data = data.counted()
        self.scores_ = np.asarray(self.scores(data), np.float64)
        if self.keep is None:
            count = self._count_by_folds(data, rng)
        else:
            count = number_kept(self.keep, len(self.columns_))
        self.kept_ = best_of(self.scores_, count)

    def _count_by_folds(self, data: SupervisedRows, rng: np.random.Generator) -> int:
        """The number of best columns with the lowest loss of the base in inner folds."""
        data = data.take(order_of_content(data))
        columns = len(self.columns_)
        sizes = list(range(1, min(columns, 20) + 1))
        while sizes and sizes[-1] < columns:  # beyond 20 columns, each number is a quarter larger
            sizes.append(min(columns, sizes[-1] * 5 // 4))
        parts = parts_of_folds(inner_folds(data, self.folds, rng))
        if not parts or not sizes:
            return columns
        losses, seed = np.zeros(len(sizes)), int(rng.integers(2**32))
        for train, test in parts:
            order = ranked(self.scores(data.take(train)))
            subsets = SubsetLosses(self.base_for(data), data, [(train, test)], seed)
            weight = float(data.weights[test].sum())
            losses += [weight * subsets.loss(tuple(sorted(order[:size]))) for size in sizes]
        return sizes[int(np.argmax(losses <= losses.min() * (1 + ALIKE)))]

    def scores(self, data: SupervisedRows) -> Array:
        """The score of each column, higher is better; NaN if undefined, which ranks last."""
        raise TypeError(f"{type(self).__name__} does not define scores")

    def explain(self) -> Explanation:
        """The scores, highest first."""
        return (self.bars(f"Columns by {self.measure}", self.measure, self.scores_),)


@dataclass(kw_only=True, eq=False)
class LevelFilter(Filter):
    """A filter that scores the contingency table of each column, numbers cut into bins, and the target."""

    bins: int = param(5, "number of bins for numeric columns", ge=2)

    accepts = Accepts(nominal=True, missing=True, weights=True)

    def scores(self, data: SupervisedRows) -> Array:
        """The dependence of each column and the target."""
        return np.array([self.dependence(table) for table in self.tables(data)], np.float64)

    def tables(self, data: SupervisedRows) -> Iterator[Array]:
        """The contingency table of each column and the target."""
        target = levels_of_target(data, self.bins)
        return (contingency(codes, target, data.weights) for codes in levels_of_columns(data, self.bins))

    def dependence(self, table: Array) -> float:
        """The score of a contingency table, which has no empty row or column."""
        raise TypeError(f"{type(self).__name__} does not define dependence")


def levels_of_columns(data: SupervisedRows, bins: int) -> Iterator[Codes]:
    """Each column as codes from 0; numbers are cut into bins, and a missing value is a level of its own."""
    for column, cells in data.table.parts():
        if column.coded:
            yield cells.astype(np.int32) + np.int32(1)
        else:
            numbers = cells.astype(np.float64, copy=False)
            yield codes_of(numbers, boundaries(equal_frequency, numbers, data.weights, bins)) + np.int32(1)


def levels_of_target(data: SupervisedRows, bins: int) -> Codes:
    """The class of each row, or the bin of a numeric target."""
    if isinstance(data, LabelledRows):
        return data.y
    return codes_of(data.y, boundaries(equal_frequency, data.y, data.weights, bins))


def contingency(first: Codes, second: Codes, weights: Array) -> Array:
    """The summed weight of each combination of levels; levels without rows are left out."""
    width = int(second.max(initial=0)) + 1
    flat = np.bincount(first * width + second, weights, (int(first.max(initial=0)) + 1) * width)
    table = flat.reshape(-1, width)
    return np.asarray(table[table.any(axis=1)][:, table.any(axis=0)])
