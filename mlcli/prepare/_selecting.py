"""Steps that keep some of the columns: what they have in common, and which scores are the highest."""

from __future__ import annotations

from collections.abc import Sequence
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
from mlcli.core.params import learned, models_inside
from mlcli.core.registry import MODELS
from mlcli.core.step import Step
from mlcli.core.tables import Array, Codes, Flags, Table
from mlcli.engines.inner_validation import Part, mean_loss
from mlcli.tasks.classification import Classifier
from mlcli.tasks.regression import Regressor
from mlcli.tasks.supervised import SupervisedRows

MOST_BARS = 30
ALIKE = 1e-12
"""Scores that differ by less, relatively, are equal."""
SUPERVISED = ("classification", "regression")


@dataclass(kw_only=True, eq=False)
class Selection(Step):
    """Keeps some of the columns that it sees; which, it learns from the training rows."""

    kinds: ClassVar[tuple[str, ...]] = SUPERVISED
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


OWN_BASE = {Classifier: "naive-bayes", Regressor: "linear-regression"}
Places = tuple[int, ...]
"""Some of the columns, in order."""


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
        """The model that was asked for, or that of the kind of task."""
        made: Model = self.base or MODELS.load(OWN_BASE[data.task.base])()
        return made


@dataclass(frozen=True, eq=False)
class SubsetLosses:
    """The loss of a model that sees some of the columns, over splits of the training rows."""

    model: Model
    data: SupervisedRows
    splits: Sequence[Part]
    """The rows that are learned from and the rows that are judged, of each split."""
    seed: int
    known: dict[Places, float] = field(default_factory=dict)

    def loss(self, places: Places) -> float:
        """The mean loss over judged rows: the error of classes, the squared error of values."""
        if places not in self.known:
            columns = self.data.table.columns
            seen = self.data.with_table(self.data.table.select(columns[place].name for place in places))
            model = with_steps(self.model, seen.table.columns) if places else MODELS.load("zero-r")()
            self.known[places] = mean_loss(model, seen, self.splits, self.seed)
        return self.known[places]
