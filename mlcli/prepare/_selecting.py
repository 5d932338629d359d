"""Steps that keep some of the columns: what they share, selection by a model, and filters that score columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import ClassVar, Self

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.configuration import with_steps
from mlcli.core.findings import Bars, Explanation, Lines
from mlcli.core.model import Model
from mlcli.core.names import listed
from mlcli.core.nested import model_param
from mlcli.core.params import learned, models_inside, param
from mlcli.core.registry import MODELS
from mlcli.core.step import Step
from mlcli.core.tables import Array, Codes, Flags, Table
from mlcli.engines.content_seeds import order_of_content
from mlcli.engines.inner_validation import Part, inner_folds, mean_loss, parts_of_folds
from mlcli.prepare.discretise import boundaries, codes_of, equal_frequency
from mlcli.tasks.classification import Classifier, LabelledRows
from mlcli.tasks.regression import Regressor
from mlcli.tasks.supervised import SupervisedRows

MOST_BARS = 30
ALIKE = 1e-12
"""Scores that differ by less, relatively, are equal."""


@dataclass(kw_only=True, eq=False)
class Selection(Step):
    """Keeps some of the columns that it sees; which, it learns from the training rows."""

    kinds: ClassVar[tuple[str, ...]] = ("classification", "regression")
    follows_scaling: ClassVar[bool] = True

    kept_: Flags = learned("columns")

    def transform(self, table: Table) -> Table:
        """The columns that are kept."""
        return table.select(self.kept())

    def kept(self) -> list[str]:
        """The names of the columns that are kept."""
        return [column.name for column, keep in zip(self.columns_, self.kept_, strict=True) if keep]

    def check_learned(self) -> None:
        """A yes or no for each column."""
        if self.kept_.dtype != np.bool_:
            raise ValueError("a choice that is neither yes nor no")

    def explain(self) -> Explanation:
        """The columns that are kept."""
        kept = self.kept()
        return (Lines(f"{len(kept)} of {len(self.columns_)} columns are kept", (listed(kept, MOST_BARS),)),)

    def bars(self, title: str, measure: str, scores: Array, **beside: Array | Codes) -> Bars:
        """What columns count, the highest first, what else is known of them, and which are kept."""
        order = ranked(scores)[:MOST_BARS]
        names, said = [column.name for column in self.columns_], np.where(self.kept_, "kept", "left out")
        note = f"{int(self.kept_.sum())} of {len(names)} columns are kept"
        note += f"; bars of the first {MOST_BARS}" if len(names) > MOST_BARS else ""
        labels, values = tuple(names[place] for place in order), tuple(np.nan_to_num(scores[order]).tolist())
        columns = tuple(tuple(cells[order].tolist()) for cells in (*beside.values(), said))
        return Bars(title, ("column", measure, *beside, ""), labels, values, columns, note=note)


def ranked(scores: Array) -> list[int]:
    """The places of scores from the highest to the lowest; of equal ones the first goes first, NaN is least."""
    known = np.where(np.isnan(scores), -np.inf, scores)
    finite = np.abs(known[np.isfinite(known)])
    grain = ALIKE * finite.max(initial=0.0) or 1.0
    rounded = np.where(np.isfinite(known), np.round(np.where(np.isfinite(known), known, 0.0) / grain), known)
    return [int(place) for place in np.argsort(-rounded, kind="stable")]


def best_of(scores: Array, count: int) -> Flags:
    """Which of the scores are among so many of the highest."""
    kept = np.zeros(len(scores), bool)
    kept[ranked(scores)[:count]] = True
    return kept


def number_kept(keep: float, count: int) -> int:
    """How many of some columns a number says, or below 1 a share."""
    return min(count, ceil(keep * count - ALIKE) if keep < 1 else int(keep))


def problems_with_count(keep: float) -> list[str]:
    """What is wrong with a number of columns that is not whole."""
    whole = keep < 1 or keep % 1 == 0
    return [] if whole else [f"keep is a whole number, or a share below 1; was given {keep:g}"]


Places = tuple[int, ...]
"""The indices of some columns, in order."""


@dataclass(kw_only=True, eq=False)
class ByModel(Selection):
    """Keeps the columns that serve a model."""

    base: Model | None = model_param(
        None,
        "the model that columns are to serve; none: the model behind the step (naive-bayes or linear-regression "
        "where there is none)",
        of=(Classifier, Regressor),
    )

    @property
    def accepts(self) -> Accepts:
        """Anything: the model stands behind the steps that it needs."""
        return Accepts(
            nominal=True, missing=True, weights=all(model.accepts.weights for model in models_inside(self))
        )

    def serving(self, model: Model) -> Self:
        """Columns are chosen for the model behind the step, unless a base is named."""
        asks = (
            self.base is None
            and isinstance(model, Classifier | Regressor)
            and not replace(self, base=model).conflicts()
        )
        return replace(self, base=model) if asks else self

    def base_for(self, data: SupervisedRows) -> Model:
        """The chosen base, or the default for the kind of task."""
        default = "naive-bayes" if data.task.base is Classifier else "linear-regression"
        model: Model = self.base or MODELS.load(default)()
        return model


@dataclass(frozen=True, eq=False)
class SubsetLosses:
    """The loss of a model that sees some of the columns, over splits of the training rows."""

    model: Model
    data: SupervisedRows
    splits: Sequence[Part]
    """The training rows and the test rows of each split."""
    seed: int
    known: dict[Places, float] = field(default_factory=dict)

    def loss(self, places: Places) -> float:
        """The mean loss over test rows: the share of errors for classes, the squared error for numbers."""
        if places not in self.known:
            columns = self.data.table.columns
            seen = self.data.with_table(self.data.table.select(columns[place].name for place in places))
            model = with_steps(self.model, seen.table.columns) if places else MODELS.load("zero-r")()
            self.known[places] = mean_loss(model, seen, self.splits, self.seed)
        return self.known[places]


@dataclass(kw_only=True, eq=False)
class Filter(ByModel):
    """Keeps the columns with the highest scores, each scored on its own, whatever the model."""

    measure: ClassVar[str]
    """What the score is."""

    keep: float | None = param(
        0.5, "how many are kept; below 1: which share; none: as many as serve `base` best", gt=0, tune=(0.1, 0.9)
    )
    folds: int = param(
        5,
        "how many inner folds the training rows are split into, where `keep` is none",
        ge=2,
        matters_when={"keep": None},
    )

    scores_: Array = learned("columns")

    accepts = Accepts(missing=True, weights=True)
    """Numbers with gaps; a gap says nothing of its column."""

    def conflicts(self) -> list[str]:
        """Half a column, and a base that would not be asked."""
        if self.keep is None:
            return []
        return problems_with_count(self.keep) + (["'base' is asked only where keep is none"] if self.base else [])

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Score each column, and keep the best."""
        data = data.counted()
        self.scores_ = np.asarray(self.scores(data), np.float64)
        keep, columns = self.keep, len(self.columns_)
        count = self._count_by_folds(data, rng) if keep is None else number_kept(keep, columns)
        self.kept_ = best_of(self.scores_, count)

    def _count_by_folds(self, data: SupervisedRows, rng: np.random.Generator) -> int:
        """How many of the best columns serve the base best, scored and judged in inner folds."""
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
        """How much each column says of the target; NaN where that cannot be said, which is least."""
        raise TypeError(f"{type(self).__name__} does not say how it scores columns")

    def explain(self) -> Explanation:
        """The scores, highest first."""
        return (self.bars(f"Columns by {self.measure}", self.measure, self.scores_),)


@dataclass(kw_only=True, eq=False)
class LevelFilter(Filter):
    """Scores each column by how its levels, or the bins of its numbers, meet those of the target."""

    bins: int = param(5, "how many bins numbers are cut into", ge=2)

    accepts = Accepts(nominal=True, missing=True, weights=True)

    def scores(self, data: SupervisedRows) -> Array:
        """The dependence of each column and the target."""
        return np.array([self.dependence(table) for table in self.tables(data)], np.float64)

    def tables(self, data: SupervisedRows) -> Iterator[Array]:
        """The contingency table of each column and the target."""
        target = levels_of_target(data, self.bins)
        return (contingency(codes, target, data.weights) for codes in levels_of_columns(data, self.bins))

    def dependence(self, table: Array) -> float:
        """What a contingency table says, which has no empty line."""
        raise TypeError(f"{type(self).__name__} does not say how it measures dependence")


def levels_of_columns(data: SupervisedRows, bins: int) -> Iterator[Codes]:
    """Each column as codes from 0; an empty cell is a level of its own, and numbers are cut into bins."""
    for column, cells in data.table.parts():
        if column.coded:
            yield cells.astype(np.int32) + np.int32(1)
        else:
            numbers = cells.astype(np.float64, copy=False)
            yield codes_of(numbers, boundaries(equal_frequency, numbers, data.weights, bins)) + np.int32(1)


def levels_of_target(data: SupervisedRows, bins: int) -> Codes:
    """The class of each row, or the bin of its value."""
    if isinstance(data, LabelledRows):
        return data.y
    return codes_of(data.y, boundaries(equal_frequency, data.y, data.weights, bins))


def contingency(values: Codes, other: Codes, weights: Array) -> Array:
    """The weight of the rows with each level of one and each of the other; levels without rows are left out."""
    width = int(other.max(initial=0)) + 1
    flat = np.bincount(values * width + other, weights, (int(values.max(initial=0)) + 1) * width)
    table = flat.reshape(-1, width)
    return np.asarray(table[table.any(axis=1)][:, table.any(axis=0)])
