"""Bayesian network: each column depends on a few others, by arrows without cycles; the class follows from all.

Formula:
    P(x_1, ..., x_n) = Π_i P(x_i | parents of x_i), the target being one of the x_i. The class of a row is that of
    the largest P(class, known cells); cells that are empty are summed out, by variable elimination in the order of
    min-fill. Of N rows whose parents have the same levels, n_v with level v, one of V, give

        P(v | parents) = (n_v + α) / (N + Vα)              `smoothing: laplace`
        P(v | parents) = (n_v + α/(QV)) / (N + α/Q)        `smoothing: bdeu`, Q being the combinations of parents

Assumes:
    A column is independent of all that it does not lead to, once its parents are known. Nominal columns: numbers
    are cut into bins in front of it.

Cost:
    To learn naive arrows one pass; a tree, rows × columns²; climbing, as many for each arrow. To answer, rows ×
    columns where all cells are known; else up to exponential in how many empty cells hang together.

Choices:
    `structure` is found from data, or given as {wet: [rain, sprinkler], rain: []}; a column that is not named has
    no parents. `naive`: the target leads to every column. `tree-augmented`: so does the tree of the largest mutual
    information given the target, from the first column on. `hill-climbing`: from no arrow on, the arrow that
    raises the `score` most is added, removed or turned, while one does, with at most `max_parents` parents.

    A row counts for a column where that and its parents are known. Climbing, whose scores must be of the same
    rows, takes an empty cell for the most frequent level. Arrows that are learned need not be causes: many graphs
    say the same of independence. Ways of `inference` that are not exact are for many empty cells at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import FitError
from mlcli.core.findings import Entry, Explanation
from mlcli.core.params import learned, param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Flags, Table
from mlcli.engines.graphs.factors import Factor, log_sum
from mlcli.engines.graphs.inference import INFERENCES, Inference
from mlcli.engines.graphs.questions import Graph, answer
from mlcli.engines.graphs.separation import cycle_in, d_separated, in_order
from mlcli.engines.graphs.structures import SCORES, climbed, counts, tree_among
from mlcli.models.graphs._columns import (
    ACCEPTS,
    class_shares,
    labelled_codes,
    level_counts,
    listed_names,
    log_joint,
    place_of,
    variables_of,
)
from mlcli.tasks.classification import Classifier, LabelledRows

STRUCTURES = ("naive", "tree-augmented", "hill-climbing")
MOST_CHANCES = 10_000_000
"""A table of more conditional probabilities is refused."""
MOST_SHOWN = 24
"""A longer table of conditional probabilities is not printed."""


@register(
    "bayes-net",
    reference="Pearl 1988; Friedman, Geiger & Goldszmidt 1997, Bayesian network classifiers",
)
class BayesNet(Classifier):
    """Arrows between columns, and a table of conditional probabilities for each."""

    structure: str | dict[str, Any] = param(
        "tree-augmented",
        "how arrows are found, or the parents of each column, as {wet: [rain]}",
        choices=STRUCTURES,
    )
    max_parents: int = param(2, "how many parents a column may have (structure: hill-climbing)", ge=1)
    score: str = param("bic", "what arrows are chosen by (structure: hill-climbing)", choices=SCORES)
    smoothing: str = param("laplace", "how chances are smoothed", choices=("laplace", "bdeu"))
    alpha: float = param(
        1.0,
        "rows added to each level, or to each table (bdeu); 0 for plain shares",
        ge=0,
        tune=log_range(0.01, 10, simpler="high"),
    )
    inference: str = param("exact", "how empty cells are summed out", choices=INFERENCES)
    sweeps: int = param(1000, "how often everything is drawn (inference: gibbs)", ge=10)

    arrows_: Flags = learned()
    """From × to, the target being the last variable."""
    chances_: tuple[Array, ...] = learned()
    """Of each variable: its parents in their order × its levels."""
    seed_: int = learned()

    accepts = ACCEPTS

    def uses(self, parameter: str) -> bool:
        """Climbing has a score and a bound, sampling has sweeps."""
        if parameter in ("max_parents", "score"):
            return self.structure == "hill-climbing"
        return parameter != "sweeps" or self.inference == "gibbs"

    def conflicts(self) -> list[str]:
        """Parents are a list of names."""
        if isinstance(self.structure, str):
            return []
        wrong = [name for name, parents in self.structure.items() if not _are_names(parents)]
        return [f"structure: the parents of '{name}' are a list of columns, such as [rain]" for name in wrong]

    def fit(self, data: LabelledRows, rng: np.random.Generator) -> None:
        """Find the arrows, then count each column with its parents."""
        codes = labelled_codes(data)
        self.arrows_ = self._arrows(codes, data.weights)
        self.chances_ = tuple(self._chances(codes, data.weights, child) for child in range(codes.shape[1]))
        self.seed_ = int(rng.integers(2**31))

    def _arrows(self, codes: Codes, weights: Array) -> Flags:
        if not isinstance(self.structure, str):
            return self._given_arrows(self.structure)
        if self.structure == "hill-climbing":
            return self._climbed_arrows(codes, weights)
        levels, target = level_counts(self), len(self.columns_)
        arrows = np.zeros((target + 1, target + 1), bool)
        if self.structure == "tree-augmented":
            arrows = tree_among(codes, levels, range(target), (target,), weights)
        arrows[target, :target] = True
        return arrows

    def _given_arrows(self, structure: dict[str, Any]) -> Flags:
        columns = variables_of(self)
        arrows = np.zeros((len(columns), len(columns)), bool)
        for name, parents in structure.items():
            child = place_of(name, columns, "structure")
            for parent in parents or ():
                arrows[place_of(parent, columns, "structure"), child] = True
        if cycle := cycle_in(arrows):
            names = " -> ".join(columns[place].name for place in cycle)
            raise FitError(f"structure: its arrows go in a circle: {names}", hint="leave out one of these arrows")
        return arrows

    def _climbed_arrows(self, codes: Codes, weights: Array) -> Flags:
        levels, filled = level_counts(self), codes.copy()
        for cells, count in zip(filled.T, levels, strict=True):
            frequent = np.bincount(cells[cells >= 0], weights[cells >= 0], count).argmax()
            cells[cells < 0] = frequent

        def score(child: int, parents: tuple[int, ...]) -> float:
            return SCORES[self.score](counts(filled, levels, (*parents, child), weights))

        return climbed(len(levels), score, self.max_parents)

    def _chances(self, codes: Codes, weights: Array, child: int) -> Array:
        family, levels = (*self._parents(child), child), level_counts(self)
        if np.prod([float(levels[one]) for one in family]) > MOST_CHANCES:
            columns = variables_of(self)
            what = f"'{columns[child].name}' has too many parents: {listed_names(columns, family[:-1])}"
            raise FitError(what, hint="give it fewer, or fewer levels")
        return self._smoothed(counts(codes, levels, family, weights))

    def _smoothed(self, met: Array) -> Array:
        added = self.alpha / met.size if self.smoothing == "bdeu" else self.alpha
        totals = met.sum(axis=-1, keepdims=True) + added * met.shape[-1]
        even = np.full_like(met, 1 / met.shape[-1])
        return np.asarray(np.divide(met + added, totals, out=even, where=totals > 0))

    def _parents(self, child: int) -> tuple[int, ...]:
        return tuple(np.flatnonzero(self.arrows_[:, child]).tolist())

    def factors(self) -> tuple[Factor, ...]:
        """The conditional probabilities of each variable as a factor."""
        return tuple(
            Factor.of((*self._parents(child), child), chances) for child, chances in enumerate(self.chances_)
        )

    def log_joint(self, table: Table) -> Array:
        """The logarithm of P(class, known cells); but for a constant of the row where inference is not exact."""
        return log_joint(self, self.factors(), table, Inference(self.inference, self.sweeps, self.seed_))

    def predict_proba(self, table: Table) -> Array:
        """P(class | known cells)."""
        return class_shares(self, self.log_joint(table))

    def log_evidence(self, table: Table) -> Array:
        """The logarithm of P(known cells), always exact."""
        return log_sum(log_joint(self, self.factors(), table, Inference()), 1)

    def sample_rows(self, n: int, rng: np.random.Generator) -> Table:
        """Each variable drawn after its parents (ancestral sampling); the target is the last column."""
        codes = np.zeros((n, len(self.chances_)), np.int32)
        for child in in_order(self.arrows_):
            chances = self.chances_[child][tuple(codes[:, parent] for parent in self._parents(child))]
            up_to = np.cumsum(np.broadcast_to(chances, (n, chances.shape[-1])), axis=1)
            codes[:, child] = (rng.random((n, 1)) >= up_to[:, :-1]).sum(axis=1)
        return Table.of(zip(variables_of(self), codes.T, strict=True), n)

    def answer_to(self, question: str) -> Explanation:
        """Probabilities, the most probable levels, or d-separation."""

        def separated(*sets: Any) -> bool:
            return d_separated(self.arrows_, *sets)

        return answer(Graph(variables_of(self), self.factors(), separated), question)

    def check_learned(self) -> None:
        """Arrows without cycles, and tables that fit them."""
        count = len(self.columns_) + 1
        if self.arrows_.shape != (count, count) or self.arrows_.dtype != bool or cycle_in(self.arrows_):
            raise ValueError("arrows that do not fit the columns, or go in a circle")
        levels = level_counts(self)
        shapes = [tuple(levels[one] for one in (*self._parents(child), child)) for child in range(count)]
        if [chances.shape for chances in self.chances_] != shapes or not self._are_chances():
            raise ValueError("conditional probabilities that do not fit the arrows")

    def _are_chances(self) -> bool:
        return all((chances >= 0).all() and np.allclose(chances.sum(axis=-1), 1) for chances in self.chances_)

    def explain(self) -> Explanation:
        """The factorisation, the arrows, and the conditional probabilities."""
        return (self._factorisation(), self._arrow_table(), *self._chance_tables())

    def _factorisation(self) -> findings.Lines:
        columns = variables_of(self)
        order = in_order(self.arrows_)
        whole = f"P({listed_names(columns, order)}) ="
        return findings.Lines("Factorisation", (whole, *(f"    {self._title(child)}" for child in order)))

    def _title(self, child: int) -> str:
        columns, parents = variables_of(self), self._parents(child)
        return f"P({columns[child].name}{' | ' if parents else ''}{listed_names(columns, parents)})"

    def _arrow_table(self) -> findings.Table:
        columns = variables_of(self)
        pairs = [(columns[one].name, columns[other].name) for one, other in np.argwhere(self.arrows_).tolist()]
        note = "" if pairs else "no arrows: all columns are independent"
        return findings.Table("Arrows", ("from", "to"), tuple(pairs), note=note)

    def _chance_tables(self) -> Iterator[findings.Table]:
        columns = variables_of(self)
        for child in in_order(self.arrows_):
            parents, chances = self._parents(child), self.chances_[child]
            lines: list[tuple[Entry, ...]] = []
            for place in np.ndindex(chances.shape[:-1]):
                known = (columns[one].levels[code] for one, code in zip(parents, place, strict=True))
                lines.append((*known, *chances[place].tolist()))
            header = (*(columns[one].name for one in parents), *columns[child].levels)
            if len(lines) <= MOST_SHOWN:
                yield findings.Table(self._title(child), header, tuple(lines))


def _are_names(parents: Any) -> bool:
    return parents is None or (isinstance(parents, list | tuple) and all(isinstance(one, str) for one in parents))
