"""Embedded selection: keeps the columns that count most in a fitted model: coefficients, impurities, or shuffling.

Formula:
    The base is fitted to the training rows. Where it has coefficients, column j counts Σ_k |β_kj| σ_j, with σ_j
    its standard deviation; in trees, forests and boosting the share of the impurity that questions about it take
    away; else what the mean loss of the base about the training rows rises by when the cells of the column are
    shuffled. With `rounds: one-by-one` the column that counts least is taken away and the base fitted again,
    until `keep` columns are left. With `rounds: forward` columns are added to none: what the base leaves wrong in
    those it has (each half of the rows answered by a fit to the other) is compared between the levels, or ten
    bins, of each other column, and the one with the largest F is added.

Assumes:
    What the base assumes. Of columns that say the same, coefficients may be split between them, or given to one;
    impurities favour columns with many values.

Cost:
    One fit of the base; d with `one-by-one`, 2 d with `forward`, where wrappers need d (d + 1) / 2.

Choices:
    `keep: none` keeps all that count at all: what an L1 penalty has set to 0 (`base: lasso`) is left out. Levels
    count what their 0/1 columns count together. Everything happens within the training rows.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.abilities import HasImportances
from mlcli.core.configuration import with_steps
from mlcli.core.findings import Explanation
from mlcli.core.model import Model
from mlcli.core.moments import moments
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Rows, Table
from mlcli.engines.content_seeds import in_content_order
from mlcli.engines.ensemble import fitted, outputs
from mlcli.engines.inner_validation import held_out_outputs
from mlcli.prepare._selecting import ByModel, levels_of_columns, number_kept, problems_with_count, ranked
from mlcli.prepare.anova import f_tests
from mlcli.tasks.supervised import SupervisedRows


@register(
    "embedded-selection", reference="Guyon et al. 2002, Gene selection for cancer classification", revision=2
)
class EmbeddedSelection(ByModel):
    """Columns by what they count in a model."""

    keep: float | None = param(0.5, "how many are kept; below 1: which share; none: all that count", gt=0)
    rounds: str = param(
        "once",
        "whether the base is fitted anew after each that is taken away, or added to none",
        choices=("once", "one-by-one", "forward"),
    )

    counts_: Array = learned()
    """What each column counted when it was last fitted."""

    def conflicts(self) -> list[str]:
        """Half a column, and no end of adding."""
        if self.keep is None:
            return ["forward adds columns without end: say with keep how many"] if self.rounds == "forward" else []
        return problems_with_count(self.keep)

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Fit the base, and again as columns are taken away."""
        data = in_content_order(data)
        count = len(self.columns_)
        self.counts_, self.kept_ = np.zeros(count), np.ones(count, bool)
        wanted, seed = number_kept(self.keep or 0, count), int(rng.integers(2**32))
        if self.rounds == "forward":
            self._add(data, wanted, seed)
            return
        while self.kept_.any():
            indices = np.flatnonzero(self.kept_)
            self.counts_[indices] = self._counts(data, indices, np.random.default_rng(seed))
            left_out = self._left_out(self.counts_[indices], len(indices) - wanted)
            if not len(left_out):
                return
            self.kept_[indices[left_out]] = False
            if self.rounds == "once":
                return

    def _add(self, data: SupervisedRows, wanted: int, seed: int) -> None:
        """Add to no column the one between whose levels the answers err most unlike, and so on."""
        levels = list(levels_of_columns(data, 10))
        self.kept_[:] = False
        for _ in range(wanted):
            wrong = self._errors(data, np.flatnonzero(self.kept_), np.random.default_rng(seed))
            others = np.flatnonzero(~self.kept_)
            counts = np.array([f_tests(wrong, data.weights, levels[other]).f.sum() for other in others])
            best = ranked(counts)[0]
            self.kept_[others[best]], self.counts_[others[best]] = True, counts[best]

    def _errors(self, data: SupervisedRows, indices: Rows, rng: np.random.Generator) -> Array:
        """What the base leaves wrong of rows that it has not learned from."""
        seen = data.with_table(data.table.select(self.columns_[place].name for place in indices))
        base = with_steps(self.base_for(data), seen.table.columns)
        halves = (rng.permutation(len(data)) % 2).astype(np.int32)
        return np.asarray(data.outputs - held_out_outputs(base, seen, halves, rng))

    def _left_out(self, counts: Array, surplus: int) -> Rows:
        """Of the columns that are left those to be taken away, so many at most."""
        least_first = np.array(ranked(counts)[::-1], np.intp)
        if self.keep is None:
            useless = counts <= 1e-10 * counts.max(initial=0.0)
            least_first = least_first[useless[least_first]]
            surplus = min(len(least_first), len(counts) - 1)
        return least_first[: min(surplus, 1) if self.rounds == "one-by-one" else max(surplus, 0)]

    def _counts(self, data: SupervisedRows, indices: Rows, rng: np.random.Generator) -> Array:
        """What each of some columns counts in the base."""
        columns = [self.columns_[place] for place in indices]
        seen = data.with_table(data.table.select(column.name for column in columns))
        learned_ = fitted(with_steps(self.base_for(data), seen.table.columns), seen, rng)
        final = learned_.final
        importances = final.importances() if isinstance(final, HasImportances) else None
        for counts in (_coefficients(learned_, seen), importances):
            if counts is not None and (owned := _of_owners(counts, learned_, seen, columns)) is not None:
                return owned
        return _by_shuffling(learned_, seen, rng)

    def explain(self) -> Explanation:
        """What each column counts."""
        return (self.bars("Feature importance in the model", "counts", self.counts_),)


def _coefficients(learned_: Model, data: SupervisedRows) -> Array | None:
    """What coefficients count in units of their columns, if there are any."""
    prepared = learned_.prepared(data.table)
    coefficients = np.atleast_2d(getattr(learned_.final, "coefficients_", np.empty((0, 0))))
    if coefficients.shape[1] != len(prepared.columns) or prepared.codes.shape[1]:
        return None
    return np.asarray(np.abs(coefficients).sum(axis=0) * np.sqrt(moments(prepared.numbers, data.weights).variance))


def _of_owners(counts: Array, learned_: Model, data: SupervisedRows, columns: list[Column]) -> Array | None:
    """What the columns count that the model saw, added up by the column they were made of."""
    owners = []
    for prepared in learned_.prepared(data.table).columns:
        # a prepared column was made of the one with its name, or with the longest name that its own begins with
        starts = [
            index
            for index, column in enumerate(columns)
            if prepared.name == column.name or prepared.name.startswith(f"{column.name}=")
        ]
        if not starts:
            return None
        owners.append(max(starts, key=lambda start: len(columns[start].name)))
    return np.bincount(owners, counts, len(columns)).astype(np.float64)


def _by_shuffling(learned_: Model, data: SupervisedRows, rng: np.random.Generator) -> Array:
    """What the loss rises by when each column is shuffled."""

    def loss(table: Table) -> float:
        losses = data.task.losses(learned_.final, data, outputs(learned_, table, data.task))
        return float(np.average(losses, weights=data.weights))

    before = loss(data.table)
    parts = list(data.table.parts())
    rises = []
    for index, (column, cells) in enumerate(parts):
        shuffled = [*parts[:index], (column, cells[rng.permutation(len(cells))]), *parts[index + 1 :]]
        rises.append(loss(Table.of(shuffled, len(data.table))) - before)
    return np.maximum(np.array(rises, np.float64), 0.0)
