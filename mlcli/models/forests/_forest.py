"""What random-forest and extra-trees share: the parameters, learning, answers, and what is said of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from queue import SimpleQueue
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mlcli.core.accepts import Accepts
from mlcli.core.findings import Explanation, Finding, Lines
from mlcli.core.findings import Table as Figures
from mlcli.core.params import learned, param
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Rows, Table
from mlcli.core.threads import threads_of_a_fit
from mlcli.engines.bags import Bag, order_of_content
from mlcli.engines.trees.binning import MOST_BINS, binned
from mlcli.engines.trees.cells import features, is_ordered, level_counts, ordered
from mlcli.engines.trees.criteria import CRITERIA
from mlcli.engines.trees.findings import control, importances
from mlcli.engines.trees.growing import Grower, Limits
from mlcli.engines.trees.out_of_bag import OutOfBag
from mlcli.engines.trees.structure import Trees
from mlcli.engines.trees.targets import Targets, packed
from mlcli.tasks.classification import Classifier
from mlcli.tasks.regression import Regressor
from mlcli.tasks.supervised import SupervisedRows

SHARES: dict[str, Callable[[int], int]] = {
    "sqrt": math.isqrt,
    "log2": lambda columns: columns.bit_length(),
    "all": lambda columns: columns,
}
"""How many of so many columns a node draws; ⌊log2 F + 1⌋ is the number of binary digits of F."""
HALF = 0.5
"""Of the columns are drawn for values: on seven tables a third, as Breiman has it, erred 8 to 14 % more."""
MEASURES = {True: ("error", "error"), False: ("root mean squared error", "squared error")}
"""What errors out of the bag are, and what shuffling adds to, of classes or of values."""


@dataclass(frozen=True, eq=False)
class Member:
    """A tree, the share of its gains that each column has, and the rows out of its bag with their leaves."""

    tree: Trees
    worth: Array
    rows: Rows
    leaves: Codes
    worse: Array
    """What shuffling each column adds to its loss on those rows."""


@dataclass(kw_only=True, eq=False)
class Forest(Classifier, Regressor):
    """Trees that differ by the rows they learn from and the columns they may ask for, and answer by their mean."""

    trees: int = param(100, "how many trees", ge=1, tune=(50, 500))
    features: float | str | None = param(
        None,
        "columns drawn at a node: a share, sqrt, log2 or all; none: sqrt by levels, of values half",
        gt=0.0,
        le=1.0,
    )
    max_depth: int | None = param(None, "how many questions a row is asked at most", ge=1)
    max_leaves: int | None = param(
        None, "how many leaves a tree has at most; those that gain most come first", ge=2
    )
    min_leaf: int = param(1, "how many rows a leaf holds at least", ge=1, tune=(1, 20))
    bins: int = param(MOST_BINS, "into how many bins numbers are sorted at most", ge=2, le=MOST_BINS)
    bootstrap: bool = param(True, "whether a tree learns from as many rows drawn with replacement, or from all")
    combine: str = param(
        "mean", "how trees' answers about classes become one", choices=("mean", "votes"), if_given=True
    )
    shuffle: bool = param(False, "whether columns are also valued by shuffling them out of the bag (slow)")

    random_cuts: ClassVar[bool] = False
    stage_name: ClassVar[str] = "trees"

    nodes_: dict[str, Array] = learned()
    gained_: Array = learned()
    shuffled_: Array = learned()
    curve_: Array = learned()

    @property
    def accepts(self) -> Accepts:
        """Anything."""
        return Accepts(nominal=True, missing=True, weights=True)

    def conflicts(self) -> list[str]:
        """A name of a number of columns that is none, and shuffling without rows to shuffle."""
        found = []
        if isinstance(self.features, str) and self.features not in SHARES:
            found.append(f"features is a share, {', '.join(SHARES)} or none; was given {self.features!r}")
        if self.shuffle and not self.bootstrap:
            found.append("shuffle needs bootstrap: without it no rows are out of the bag")
        return found

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Sort cells into bins once, then grow tree after tree."""
        data = data.counted()
        data = data.take(order_of_content(data))
        cells, by_threshold = self._cells(data.table), ordered(self.columns_)
        targets = Targets.of(data.outputs, data.weights)
        bag = Bag.of(data.weights) if self.bootstrap else None
        uneven = None if (data.weights == data.weights[0]).all() else data.weights
        rows = binned(cells, by_threshold, level_counts(self.columns_), self.bins, uneven)
        outside = OutOfBag(cells, by_threshold, targets, self._by_size())
        seeds = rng.integers(0, 2**62, self.trees)
        growers = [
            Grower(rows, targets, CRITERIA["squared-error"], self._limits()) for _ in range(self._threads())
        ]
        members = []
        for member in self._grown(growers, bag, outside, seeds):
            members.append(member)
            if bag is not None:
                outside.add(member.tree, member.rows, member.leaves)
        self._keep(members, outside)

    def _keep(self, members: list[Member], outside: OutOfBag) -> None:
        self.nodes_ = Trees.joined([member.tree.with_weights_alone() for member in members]).arrays()
        self.gained_ = np.mean([member.worth for member in members], axis=0)
        worse = [member.worse for member in members] if self.shuffle else []
        self.shuffled_ = np.mean(worse, axis=0) if worse else np.empty(0)
        self.curve_ = np.array(outside.curve)
        self.__dict__.pop("_trees", None)

    def _threads(self) -> int:
        return min(threads_of_a_fit(), self.trees)

    def _grown(
        self, growers: list[Grower], bag: Bag | None, outside: OutOfBag, seeds: NDArray[np.int64]
    ) -> Iterator[Member]:
        """A tree for each seed, in order, each from the first grower that is free."""
        free = SimpleQueue[Grower]()
        for grower in growers:
            free.put(grower)

        def one(seed: int) -> Member:
            grower = free.get()
            try:
                return self._member(grower, bag, outside, np.random.default_rng(seed))
            finally:
                free.put(grower)

        if len(growers) == 1:
            yield from map(one, seeds)
            return
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(len(growers)) as pool:
            yield from pool.map(one, seeds)

    def _member(self, grower: Grower, bag: Bag | None, outside: OutOfBag, rng: np.random.Generator) -> Member:
        targets = grower.targets
        share = outside.everything if bag is None else packed(targets, bag.repeats(rng), bag.unit)
        tree = grower.grow(share, int(rng.integers(1, 2**32))).sent_with_most()
        worth = importances(tree, len(self.columns_))
        if self.combine == "votes" and self.classes_ is not None:
            tree = outside.voting(tree)
        rows = share.outside
        leaves = outside.leaves(tree, rows) if len(rows) else rows.astype(np.int32)
        worse = outside.worse(tree, rows, leaves, rng) if self.shuffle else np.empty(0)
        return Member(tree, worth, rows, leaves, worse)

    def _by_size(self) -> Rows:
        sizes = np.zeros(1) if self.classes_ is None else self.class_totals_
        return np.argsort(-sizes, kind="stable")

    def _limits(self) -> Limits:
        return Limits(
            features=self._drawn(),
            random_cuts=self.random_cuts,
            min_leaf=self.min_leaf,
            max_depth=self.max_depth,
            max_leaves=self.max_leaves,
        )

    def _drawn(self) -> int:
        """How many columns a node draws."""
        wanted, columns = self.features, len(self.columns_)
        if wanted is None and self.classes_ is not None:
            return drawn_by_levels(self.columns_)
        wanted = HALF if wanted is None else wanted
        count = SHARES[wanted](columns) if isinstance(wanted, str) else int(wanted * columns + 1e-9)
        return min(max(count, 1), columns)

    def _cells(self, table: Table) -> Array:
        return features(table, np.full(len(self.columns_), np.nan))

    @cached_property
    def _trees(self) -> Trees:
        return Trees.restored(self.nodes_)

    def predict_proba(self, table: Table) -> Array:
        """The mean of the class shares, or of the votes, of each row's leaves."""
        return self._trees.answers(self._cells(table), ordered(self.columns_)) / len(self._trees)

    def predict_values(self, table: Table) -> Array:
        """The mean of each row's leaves."""
        return self.predict_proba(table)[:, 0]

    def stages(self) -> int:
        """The trees."""
        return len(self.nodes_["roots"])

    def staged(self, table: Table, at: Sequence[int]) -> Iterator[Array]:
        """What the first trees say."""
        cells, by_threshold, first = self._cells(table), ordered(self.columns_), 0
        sums = np.zeros((len(cells), self._trees.value.shape[1]))
        for end in at:
            self._trees.part(first, end).add_to(sums, cells, by_threshold)
            first = end
            yield sums / end if self.classes_ is not None else sums[:, 0] / end

    def importances(self) -> Array:
        """Per column the share of all gains."""
        return self.gained_

    def explain(self) -> Explanation:
        """How large the forest is, how wrong out of the bag, and what columns are worth."""
        measure, loss = MEASURES[self.classes_ is not None]
        found: list[Finding] = [self._size()]
        if len(self.curve_):
            found.append(self._errors(measure))
        return (*found, self._worth(loss))

    def _size(self) -> Lines:
        """How many trees, and how large they are."""
        trees, drawn = self._trees, self._drawn()
        leaves = np.add.reduceat(trees.leaves.astype(np.int64), trees.roots)
        depths = np.maximum.reduceat(trees.depths(), trees.roots)
        count = f"{len(trees)} trees; each node draws {drawn} column{'s' * (drawn != 1)}"
        large = (
            f"on average {leaves.mean():.4g} leaves and depth {depths.mean():.3g}; the deepest has {depths.max()}"
        )
        return Lines("Forest", (count, large))

    def _errors(self, measure: str) -> Figures:
        """The error on rows out of the bag, after more and more trees."""
        count = len(self.curve_)
        steps = [step for power in range(9) for step in (10**power, 2 * 10**power, 5 * 10**power) if step < count]
        errors = {step: float(self.curve_[step - 1]) for step in (*steps, count)}
        shown = tuple((step, None if math.isnan(error) else error) for step, error in errors.items())
        note = "of training rows, each answered only by trees that did not learn from it"
        return Figures("Out-of-bag error", ("trees", measure), shown, note=note)

    def _worth(self, loss: str) -> Figures:
        """What columns are worth, those that gain most first."""
        header: tuple[str, ...] = ("column", "share of all gains", "share of rows asked", "first asked at depth")
        parts = [self.gained_, *control(self._trees, len(self.columns_))]
        if len(self.shuffled_):
            header, parts = (*header, f"{loss} added by shuffling"), [*parts, self.shuffled_]
        figures = np.stack(parts, axis=1)[order := np.argsort(-self.gained_, kind="stable")]
        rows = tuple(
            (self.columns_[j].name, *(None if math.isnan(figure) else figure for figure in row))
            for j, row in zip(order, figures.tolist(), strict=True)
        )
        note = "each averaged over trees; depths over those that ask for the column"
        return Figures("What columns are worth", header, rows, note=note)

    def check_learned(self) -> None:
        """The trees must be ones, over these columns."""
        width = 1 if self.classes_ is None else len(self.classes_)
        trees = Trees.restored(self.nodes_)
        if not len(trees):
            raise ValueError("the saved forest has no trees")
        trees.check(level_counts(self.columns_), width)
        if trees.weight.shape != trees.feature.shape or not (trees.weight > 0).all():
            raise ValueError("the saved forest has nodes without rows")
        shuffled = self.shuffled_.shape in ((0,), self.gained_.shape)
        if self.gained_.shape != (len(self.columns_),) or not shuffled or self.curve_.ndim != 1:
            raise ValueError("the saved forest values other columns")


def drawn_by_levels(columns: Sequence[Column]) -> int:
    """√ of the 0/1 columns that these would make, up to half of the columns; at least √ of their number."""
    levels = [0 if is_ordered(column) else len(column.levels) + column.missing for column in columns]
    indicators = sum(count if count > 2 else 1 for count in levels)
    return max(1, math.isqrt(len(columns)), min(math.isqrt(indicators), len(columns) // 2))
