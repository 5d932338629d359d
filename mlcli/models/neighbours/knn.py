"""k-nearest neighbours: a row takes the vote of the k training rows closest to it.

Formula:
    Let N(x) be the k training rows with the smallest distance D_j to x. The answer is the weighted mean of their
    outputs, Σ_j v_j o_j / Σ_j v_j: with indicators of the class as outputs the share of each class, with numbers
    the predicted value. v_j = 1 (uniform), 1/(D_j + 1e-10) (inverse), or (D_k − D_j)/(D_k − D_1)
    (inverse-linear, all 1 when D_k = D_1), or a kernel as closeness: exp(−γ D_j²) (gaussian), exp(−γ D_j)
    (laplacian).

    Distances: euclidean √Σ(a−b)², manhattan Σ|a−b|, cosine 1 − a·b/(‖a‖‖b‖) (a row of zeros is at distance 1),
    hamming (columns that differ), simple-matching (their share), jaccard 1 − |A∩B|/|A∪B| of the things present (a
    level of a nominal column, a boolean that has its second level, a number that is not 0), and mixed (Gower: the
    mean over columns known in both rows of |a−b|/range for numbers, the difference of evenly spaced ranks for
    ordinal levels, 0 or 1 for other levels).

Assumes:
    Rows that are near, by the chosen distance, have similar targets. Euclidean, manhattan and cosine need
    numbers on one scale; irrelevant columns hurt as much as relevant ones help. With k = 1 each training row
    decides in its Voronoi cell; the model has about rows / k effective parameters.

Cost:
    Nothing to fit. To predict a row takes n·p, or about 2^p·log n with a k-d tree, which is used for euclidean
    distances if there are few columns and many rows, unless `search` says otherwise. Euclidean and cosine
    distances are screened by blocks of a matrix product, and only pairs that may be near are measured exactly;
    this changes no prediction. Leave-one-out of a complete table measures all pairs once (euclidean and
    manhattan; behind standardise, impute and one-hot; uniform votes; nothing random).

Choices:
    Rows as near as the k-th share the votes that nearer rows leave: the average over all ways to choose among
    them. ``tied_distance`` has other rules; the order of training rows matters with ``first`` and ``random``
    only. Distances that differ by a share of less than 1e-12 are tied. Equal votes go to the class with more
    training rows (``larger-class``), the first class, the class of the nearest row, the first of the classes in
    ``priority``, or a class at ``random``. Random numbers belong to training rows, so that a row always gets the
    same prediction. With two classes such ties need an even k. A training row of weight w counts as w rows, also
    among the k. A missing cell matches nothing in hamming, simple-matching and jaccard; mixed leaves it out. The
    notes print the cosine distance without its "1 −" and 1/D + e for 1/(D + e); their mean over the neighbours
    has 1/n for 1/k.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import (
    CountsParameters,
    EstimatesFitTime,
    LeaveOneOut,
    LeaveOneOutTable,
    MeasuresDistances,
    RowExplainer,
    Staged,
    Unstable,
)
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.model import Step
from mlcli.core.names import did_you_mean
from mlcli.core.params import TASK, learned, param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes, Flags, Table
from mlcli.engines.neighbours.distances import DISTANCES, SAME, Distance, PointSet
from mlcli.engines.neighbours.search import (
    SEARCHES,
    TREE_PAYS,
    WHOLE,
    Pairs,
    kth_distance,
    nearest,
    neighbours_needed,
    running_sums,
    sorted_pairs,
)
from mlcli.tasks.supervised import Classifier, LabelledRows, Regressor, SupervisedRows, first_of_the_largest

VOTES = ("uniform", "inverse", "inverse-linear", "gaussian", "laplacian")


@register("knn", reference="Cover & Hart 1967, Nearest neighbor pattern classification", revision=2)
class NearestNeighbours(
    Classifier,
    Regressor,
    CountsParameters,
    EstimatesFitTime,
    LeaveOneOut,
    MeasuresDistances,
    RowExplainer,
    Staged,
    Unstable,
):
    """Stores the training rows; all work is done when it is asked."""

    k: int = param(5, "number of neighbours", ge=1, tune=log_range(1, 50, simpler="high"))
    distance: str = param("euclidean", "distance between rows", choices=DISTANCES)
    weights: str = param("uniform", "weight of a vote by distance", choices=VOTES, tune=("uniform", "inverse"))
    tied_distance: str = param(
        "share",
        "which rows vote of those as near as the k-th",
        choices=("share", "all", "first", "majority", "random"),
    )
    tied_vote: str = param(
        "larger-class",
        "which class wins of those with equal votes",
        choices=("larger-class", "class-order", "nearest", "priority", "random"),
        matters_when={TASK: "classifier"},
    )
    priority: tuple[str, ...] | None = param(
        None,
        "classes in the order in which they win equal votes (tied_vote: priority)",
        if_given=True,
        matters_when={"tied_vote": "priority"},
    )
    gamma: float = param(
        0.5,
        "how fast a vote fades with distance (weights: gaussian, laplacian)",
        gt=0,
        if_given=True,
        matters_when={"weights": ("gaussian", "laplacian")},
    )
    search: str = param(
        "auto",
        "how neighbours are found; predictions are the same",
        choices=SEARCHES,
        if_given=True,
        changes_answers=False,
    )

    stage_name: ClassVar[str] = "k"

    numbers_: Array = learned("lines", "stored")
    codes_: Codes = learned("coded", "stored")
    spans_: Array = learned()
    outputs_: Array = learned("stored", "outputs")
    weights_: Array = learned("stored")
    favours_: Array = learned("stored")
    """By how much each row breaks ties between classes with equal votes, from 0 to 1."""

    @property
    def unstable(self) -> bool:
        """With k = 1 a single training row decides."""
        return self.k == 1

    @property
    def accepts(self) -> Accepts:
        """What the configured distance compares."""
        return self._distance.accepts

    @property
    def _distance(self) -> Distance:
        return DISTANCES[self.distance]

    def conflicts(self) -> list[str]:
        """A priority is for equal votes that go by it, and a k-d tree for the distance that it measures."""
        result = []
        if (self.priority is None) == (self.tied_vote == "priority"):
            result.append("priority and 'tied_vote: priority' go together: give both or neither")
        if self.search == "k-d-tree" and not self._distance.has_tree:
            result.append(f"a k-d tree does not measure {self.distance}: use search auto or brute")
        return result

    def fit_seconds(self, rows: int, columns: int, classes: int) -> float:
        """A fit only stores rows: the time to predict a tenth of them without a k-d tree."""
        tree = rows >= TREE_PAYS * max(self.k, 5) * 2.0 ** min(columns, 64)
        return 0.0 if tree else 1e-11 * rows**2 * (columns + 20)

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Store the rows, as the distance sees them."""
        data = data.counted()
        if self.tied_distance == "random":
            data = data.take(rng.permutation(len(data)))
        self.spans_ = self._distance.spans(data.table)
        points = self._distance.points(data.table, self.spans_)
        self.numbers_, self.codes_ = points.numbers, points.codes
        self.outputs_, self.weights_ = data.outputs, data.weights
        self.favours_ = self._favours(data, rng)
        seats = float(data.weights.sum())
        if self.k * WHOLE > seats:
            message = f"k = {self.k} but there are only {seats:.6g} training rows: all of them vote"
            warnings.warn(message, MlcliWarning, stacklevel=2)

    def _favours(self, data: SupervisedRows, rng: np.random.Generator) -> Array:
        if self.tied_vote == "random":
            return rng.random(len(data))
        if self.priority is None:
            return np.zeros(len(data))
        classes = getattr(data, "classes", ())
        for name in self.priority:
            if name not in classes:
                hint = did_you_mean(name, classes, "classes")
                raise FitError(f"priority: there is no class '{name}'", hint=hint)
        ranks = {name: 1 - index / len(self.priority) for index, name in enumerate(self.priority)}
        return np.asarray(data.outputs @ np.array([ranks.get(name, 0.0) for name in classes]))

    def predict_proba(self, table: Table) -> Array:
        """The share of each class in the vote."""
        means = [np.empty((0, self.outputs_.shape[1]))]
        means += (mean_outputs(voters, votes, self.outputs_) for voters, votes in self.neighbours(table))
        return np.concatenate(means)

    def predict_values(self, table: Table) -> Array:
        """The mean value of the neighbours."""
        return self.predict_proba(table)[:, 0]

    def decide_among(self, probabilities: Array, class_totals: Array) -> Codes:
        """The class with most votes; ``tied_vote`` decides between equals."""
        if self.tied_vote == "class-order":
            first: Codes = first_of_the_largest(probabilities).astype(np.int32)
            return first
        return super().decide_among(probabilities, class_totals)

    def neighbours(self, table: Table) -> Iterator[tuple[Pairs, Array]]:
        """For batches of query rows: the training rows that vote on them, and what each vote counts."""
        for candidates in self._candidates(table):
            yield self._voters(candidates)

    def _candidates(self, table: Table) -> Iterator[Pairs]:
        """For batches of query rows: the training rows that may be among the k nearest."""
        queries = self._distance.points(table, self.spans_)
        stored = PointSet(self.numbers_, self.codes_)
        count = neighbours_needed(self.weights_, self.k)
        return nearest(self._distance, queries, stored, count, search=self.search)

    def _voters(self, candidates: Pairs) -> tuple[Pairs, Array]:
        """The training rows that vote, and what each vote counts."""
        voters, seats = voting_pairs(candidates, self.weights_, self.k, self.outputs_, self.tied_distance)
        votes = seats * vote_weights(voters, self.weights, self.gamma)
        # A bonus of 1e-9 decides between equal votes and changes nothing else.
        bonus = 1 + 1e-9 * self.favours_[voters.stored]
        if self.tied_vote == "nearest" and self.outputs_.shape[1] > 1:
            bonus = np.where(voters.distance <= voters.of_each(np.minimum) * (1 + SAME), 1 + 1e-9, 1.0)
        return voters, votes * bonus

    def nearest_distances(self, table: Table) -> Array:
        """The distance of the nearest stored row."""
        distances = (pairs.distance[pairs.begins] for pairs in self._candidates(table))
        return np.concatenate([np.empty(0), *distances])

    def stages(self) -> int:
        """A stage for each neighbour that may vote."""
        return min(self.k, len(self.outputs_))

    def staged(self, table: Table, at: Sequence[int]) -> Iterator[Array]:
        """The answers with smaller k, from one search."""
        models = [replace(self, k=k) for k in at]
        for model in models:
            model.favours_, model.weights_, model.outputs_ = self.favours_, self.weights_, self.outputs_
        means = [[np.empty((0, self.outputs_.shape[1]))] for _ in at]
        for candidates in self._candidates(table):
            for model, blocks in zip(models, means, strict=True):
                blocks.append(mean_outputs(*model._voters(candidates), self.outputs_))
        for blocks in means:
            outputs = np.concatenate(blocks)
            yield outputs if self.classes_ is not None else outputs[:, 0]

    def leave_one_out(self, rows: SupervisedRows, steps: Sequence[Step]) -> Array | None:
        """The mean output of the neighbours of each row among all others, if all votes count the same."""
        drawn = self.tied_distance == "random" or self.tied_vote in ("random", "nearest", "priority")
        if (
            self.distance not in ("euclidean", "manhattan")
            or self.weights != "uniform"
            or drawn
            or self.k >= len(rows)
        ):
            return None
        view = LeaveOneOutTable.behind(rows.table, steps)
        if view is None or view.table.codes.shape[1]:
            return None
        blocks = []
        for pairs, doubtful in pairs_without_each_row(view, self.distance, self.k):
            voters, votes = voting_pairs(pairs, rows.weights, self.k, rows.outputs, self.tied_distance)
            blocks.append(mean_outputs(voters, votes, rows.outputs))
            blocks[-1][doubtful] = np.nan
        means = np.concatenate(blocks)
        return means if isinstance(rows, LabelledRows) else means[:, 0]

    def adjustable_parameters(self, table: Table) -> float | None:
        """Rows / k: about so many neighbourhoods of their own (Hastie, Tibshirani & Friedman, section 2.3)."""
        return len(table) / min(self.k, len(table))

    def explain(self) -> findings.Explanation:
        """What is stored, and who votes."""
        rows = len(self.outputs_)
        note = "Nothing is learned but the rows themselves: an answer is the vote of the nearest ones."
        if self.outputs_.shape[1] == 2 and self.k % 2 == 0:
            note += f" Each of two classes may have half of {self.k} votes: {self.tied_vote} decides then; "
            note += "an odd k has no such ties."
        lines = (
            ("training rows", rows),
            ("columns", len(self.columns_)),
            ("neighbours that vote", min(self.k, rows)),
            ("distance", self.distance),
            ("a vote counts", self.weights),
            ("effective parameters, rows / k", rows / min(self.k, rows)),
        )
        return (findings.Table("Stored rows", ("what", "value"), lines, note=note),)

    def explain_answer(self, table: Table) -> findings.Explanation:
        """The training rows that vote on the row, the nearest first."""
        ((voters, votes),) = self.neighbours(table)
        outputs = self.outputs_[voters.stored]
        answers: list[findings.Entry] = outputs[:, 0].tolist()
        if self.classes_ is not None:
            answers = [self.classes_[code] for code in outputs.argmax(axis=1)]
        rows = zip((voters.stored + 1).tolist(), voters.distance.tolist(), answers, votes.tolist(), strict=True)
        header = ("training row", "distance", self.target_, "vote")
        return (findings.Table("Nearest neighbours", header, tuple(rows)),)

    def check_learned(self) -> None:
        """As many lines as the distance makes of these columns; finite outputs; positive weights."""
        empty = Table.of(((column, np.empty(0)) for column in self.columns_), 0)
        if self.spans_.shape != empty.numbers.shape[1:]:
            raise ValueError("the stored rows of knn have other columns")
        lines = self._distance.points(empty, self.spans_)
        if (len(lines.numbers), len(lines.codes)) != (len(self.numbers_), len(self.codes_)):
            raise ValueError("the stored rows of knn have other columns")
        finite = np.isfinite(self.outputs_).all() and np.isfinite(self.weights_).all()
        if not finite or len(self.weights_) == 0 or self.weights_.min() <= 0:
            raise ValueError("the stored rows of knn have outputs or weights that cannot be")


def voting_pairs(pairs: Pairs, weights: Array, k: int, outputs: Array, tied: str) -> tuple[Pairs, Array]:
    """The pairs that vote, and how many rows each counts for.

    Rows closer than the k-th get their seats first; those as far as the k-th share the seats that are left.
    """
    kth = kth_distance(pairs, weights[pairs.stored], k)
    near = pairs.distance <= kth * (1 + SAME)
    pairs, kth = pairs.keep(near), kth[near]
    at_the_edge, count = pairs.distance >= kth * (1 - SAME), weights[pairs.stored]
    if tied == "all":
        return pairs, count
    if tied == "share":
        nearer = np.add.reduceat(count * ~at_the_edge, pairs.begins)
        as_far = np.add.reduceat(count * at_the_edge, pairs.begins)
        share = np.repeat(np.minimum((k - nearer) / as_far, 1.0), pairs.counts)
        return pairs, np.where(at_the_edge, count * share, count)
    if tied == "majority":
        # Tied rows with the most frequent output sit first; of equals, the lowest class or value.
        _, output = np.unique(outputs[pairs.stored, ::-1], axis=0, return_inverse=True)
        query_and_output = pairs.query * (int(output.max()) + 1) + output
        _, group = np.unique(query_and_output, return_inverse=True)
        frequency = np.bincount(group, weights=count * at_the_edge)[group]
        order = np.lexsort((pairs.stored, output, -frequency, at_the_edge, pairs.query))
    else:  # "first", or "random": then the training rows were shuffled when they were stored
        order = np.lexsort((pairs.stored, at_the_edge, pairs.query))
    pairs = pairs.keep(order)
    count = weights[pairs.stored]
    seats = np.clip(k - (running_sums(pairs, count) - count), 0.0, count)
    return pairs.keep(seats > 0), seats[seats > 0]


def vote_weights(voters: Pairs, weights: str, gamma: float) -> Array:
    """What a vote counts at its distance."""
    distance = voters.distance
    if weights == "uniform":
        return np.ones(len(distance))
    if weights == "inverse":
        return 1 / (distance + 1e-10)
    nearest = voters.of_each(np.minimum)
    if weights == "inverse-linear":  # the farthest counts 0; all count 1 if all are equally far
        farthest = voters.of_each(np.maximum)
        equal = farthest - nearest <= SAME * farthest
        return np.where(equal, 1.0, (farthest - distance) / np.where(equal, 1.0, farthest - nearest))
    # Relative to the nearest, so that not all of them underflow.
    if weights == "gaussian":
        return np.asarray(np.exp(-gamma * (distance - nearest) * (distance + nearest)))
    return np.asarray(np.exp(-gamma * (distance - nearest)))


def mean_outputs(voters: Pairs, votes: Array, outputs: Array) -> Array:
    """The mean output of the voters of each query point."""
    sums = [np.add.reduceat(votes * column[voters.stored], voters.begins) for column in outputs.T]
    return np.column_stack(sums) / np.add.reduceat(votes, voters.begins)[:, None]


def pairs_without_each_row(seen: LeaveOneOutTable, distance: str, k: int) -> Iterator[tuple[Pairs, Flags]]:
    """For blocks of rows in order: the other rows at least as near as the k-th nearest, and the rows to be fitted.

    Distances are in units learned without the row. A row is fitted if rounding decides whether another row is as
    near as the k-th.
    """
    eps = 8 * float(np.finfo(np.float64).eps)
    columns, n = np.ascontiguousarray(seen.table.numbers.T), len(seen.table)
    units, size = seen.units(), max(1, 2**17 // n)  # distances measured at once
    lost = np.asarray(np.isnan(units).any(axis=1))
    units[lost] = 1.0
    sizes = np.where(seen.standardised, np.abs(seen.table.numbers).max(axis=0, initial=0.0) / units, 0.0)
    rounding = eps * sizes.sum(axis=1)
    for start in range(0, n, size):
        rows = np.arange(start, min(start + size, n))
        distances = np.zeros((len(rows), n))
        for column, unit in zip(columns, units[rows].T, strict=True):
            steps = column - column[rows, None]
            steps /= unit[:, None]
            if distance == "euclidean":
                distances += np.multiply(steps, steps, out=steps)
            else:
                distances += np.abs(steps, out=steps)
        if distance == "euclidean":
            np.sqrt(distances, out=distances)
        distances[np.arange(len(rows)), rows] = np.inf
        kth = np.partition(distances, k - 1, axis=1)[:, k - 1]
        error = rounding[rows] + eps * kth * seen.standardised.any()
        query, stored = np.nonzero(distances <= (kth * (1 + 2 * SAME) + 2 * error)[:, None])
        pairs = sorted_pairs(rows[query], stored, distances[query, stored])
        doubtful = _has_doubtful_ties(pairs, np.repeat(kth, pairs.counts), np.repeat(error, pairs.counts))
        yield pairs, lost[rows] | doubtful


def _has_doubtful_ties(pairs: Pairs, kth: Array, error: Array) -> Flags:
    """The rows with several pairs about as far as the k-th, of which some may be nearer or farther."""
    difference = np.abs(pairs.distance - kth)
    error = np.where(pairs.distance == kth, np.where(kth == 0, 0.0, error), error)
    close = difference <= SAME * kth + error
    doubtful = close & (difference + error > SAME * kth)
    several = np.add.reduceat(close.astype(np.intp), pairs.begins) > 1
    return np.asarray(several & np.logical_or.reduceat(doubtful, pairs.begins))
