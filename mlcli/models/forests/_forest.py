"""What random-forest and extra-trees share: parameters, fit, predictions and explanations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from mlcli.core.abilities import CountsParameters, HasImportances, RowExplainer, Staged
from mlcli.core.findings import Explanation, Finding, Lines
from mlcli.core.findings import Table as Figures
from mlcli.core.moments import memory, refuse_size
from mlcli.core.names import counted
from mlcli.core.params import TASK, learned, param
from mlcli.core.processes import threads
from mlcli.core.ranges import Among, Range
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes, Rows, Table
from mlcli.engines.content_seeds import Bag, order_of_content
from mlcli.engines.trees.findings import importance_table, use_of_columns, warn_without_split
from mlcli.engines.trees.growing import MOST_BINS, Grower, Targets, bin_columns, in_units
from mlcli.engines.trees.structure import LEAF, Cells, Trees, cells_of, is_ordered, level_counts
from mlcli.tasks.supervised import Classifier, Regressor, SupervisedRows

if TYPE_CHECKING:
    from mlcli.kernels.trees.records import Grown, Limits, Scale

Bits = NDArray[np.uint8]
"""A bit for each row."""
SHARES: dict[str, Callable[[int], int]] = {
    "sqrt": math.isqrt,
    "log2": lambda columns: columns.bit_length(),
    "all": lambda columns: columns,
}
"""The number of columns that a node draws of all; ⌊log2 F + 1⌋ is the number of binary digits of F."""


@dataclass(kw_only=True, eq=False)
class Forest(Classifier, Regressor, CountsParameters, HasImportances, RowExplainer, Staged):
    """Trees that differ by their training rows and the columns that nodes may split, combined by their mean."""

    trees: int = param(100, "how many trees", ge=1, tune=Range(50, 500, simpler="low", unasked=False))
    features: float | str | None = param(
        None,
        "columns drawn at a node: a share, sqrt, log2 or all; none: sqrt by levels, of values half by levels",
        gt=0.0,
        le=1.0,
        tune=Among((None, 0.5)),
    )
    reuse: bool = param(True, "whether a column may be asked for again below a question about it", if_given=True)
    max_depth: int | None = param(None, "the depth of a tree at most", ge=1)
    max_leaves: int | None = param(
        None, "how many leaves a tree has at most; those that gain most come first", ge=2
    )
    min_leaf: int = param(1, "how many rows a leaf holds at least", ge=1, tune=Among((10, 3, 1), ordered=True))
    bins: int = param(MOST_BINS, "into how many bins numbers are sorted at most", ge=2, le=MOST_BINS)
    bootstrap: bool = param(True, "whether a tree learns from as many rows drawn with replacement, or from all")
    combine: str = param(
        "mean",
        "how trees' answers about classes become one",
        choices=("mean", "votes"),
        if_given=True,
        matters_when={TASK: "classifier"},
    )
    shuffle: bool = param(
        False, "whether columns are also valued by shuffling them out of the bag (slow)", changes_answers=False
    )

    random_cuts: ClassVar[bool] = False
    stage_name: ClassVar[str] = "trees"

    trees_: Trees = learned(structure=Trees)
    gained_: Array = learned("columns")
    shuffled_: Array = learned()
    curve_: Array = learned("sizes", 2)

    @property
    def accepts(self) -> Accepts:
        """Anything."""
        return Accepts(nominal=True, missing=True, weights=True, large=True)

    def conflicts(self) -> list[str]:
        """An unknown name of a number of columns, or shuffling without rows out of the bag."""
        result = []
        if isinstance(self.features, str) and self.features not in SHARES:
            result.append(f"features is a share, {', '.join(SHARES)} or none; was given {self.features!r}")
        if self.shuffle and not self.bootstrap:
            result.append("shuffle needs bootstrap: without it no rows are out of the bag")
        return result

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Bin the columns once, grow the trees, then let each predict the rows that it did not see."""
        data = data.counted()
        data = data.take(order_of_content(data))
        cells, targets, bag = cells_of(data.table), Targets.of(data.outputs), Bag.of(data.weights)
        # Up to 200,000 cells, bins of two bytes are as fast as those of one, and use the loops of single trees.
        wide = not self.random_cuts and cells.values.size <= 200_000
        binned = bin_columns(cells, self.bins, data.weights, wide, sample=512 if self.random_cuts else 0)
        every, unit = in_units(data.weights)
        all_rows = None if self.bootstrap else targets.packed(every, unit)
        grower = Grower(binned, self._limits(), targets.slots, random_cuts=self.random_cuts)
        draws = [np.random.default_rng(seed) for seed in rng.integers(0, 2**62, self.trees)]

        def grow(draw: np.random.Generator) -> tuple[Grown, Scale, Bits]:
            counts = bag.repeats(draw) if self.bootstrap else every
            packed = all_rows or targets.packed(counts, bag.unit)
            grown, _ = grower.grow(packed, np.flatnonzero(counts), seed=int(draw.integers(1, 2**32)))
            refuse_beyond_memory(grown, self.trees)
            return grown, packed.scale, np.packbits(counts == 0)

        with threads(self.trees) as each:
            parts, scales, unseen = zip(*each(grow, draws), strict=True)
            trees = grower.to_trees(parts, scales[0]).with_missing_sent_on()
            self.gained_ = mean_importances(trees, len(self.columns_))
            if self.combine == "votes" and self.classes_ is not None:
                trees = replace(trees, value=np.eye(len(self.classes_))[self.decide(trees.value)])
            self.trees_ = trees.without_gains()
            warn_without_split(trees, self.id, self.min_leaf, data.y)
            out_of_bag = OutOfBag(self, trees, cells, data.with_table(data.table.select(())))
            self.curve_, self.shuffled_ = np.empty((0, 2)), np.empty(0)
            if self.bootstrap:
                self.curve_ = out_of_bag.error_curve(each(out_of_bag.leaves, range(self.trees), unseen))
            if self.shuffle:
                added = each(out_of_bag.added_losses, range(self.trees), unseen, draws)
                self.shuffled_ = np.mean(list(added), axis=0)

    def _limits(self) -> Limits:
        """When nodes become leaves, and how many columns a node draws."""
        from mlcli.kernels.trees.records import NO_LIMIT, Limits

        return Limits(
            features=self._drawn(),
            reuse=self.reuse,
            max_depth=self.max_depth or NO_LIMIT,
            max_leaves=self.max_leaves or NO_LIMIT,
            min_leaf=self.min_leaf if self.min_leaf > 1 else 0,
        )

    def _drawn(self) -> int:
        """The number of columns that a node draws.

        By default √ for classes and half for values, where a nominal column counts by its levels. With a third for
        values, as in Breiman's forests, errors on seven tables were 8 to 14 % larger.
        """
        features, columns = self.features, len(self.columns_)
        if features is None:
            levels = [0 if is_ordered(column) else len(column.levels) + column.missing for column in self.columns_]
            one_hot_width = sum(count if count > 2 else 1 for count in levels)
            # However many levels there are, more than four fifths of the columns take time and gain nothing.
            # Rounding down would often leave out the one column that the others depend on.
            most = math.ceil(0.8 * columns)
            if self.classes_ is not None:
                return max(1, math.isqrt(columns), min(math.isqrt(one_hot_width), most))
            return max(1, columns // 2, min(one_hot_width // 2, most))
        count = SHARES[features](columns) if isinstance(features, str) else int(features * columns + 1e-9)
        return min(max(count, 1), columns)

    def predict_proba(self, table: Table) -> Array:
        """The mean of the class shares, or of the votes, of each row's leaves."""
        return self.trees_.predict(cells_of(table)) / len(self.trees_)

    def predict_values(self, table: Table) -> Array:
        """The mean of each row's leaves."""
        return self.predict_proba(table)[:, 0]

    def stages(self) -> int:
        """The trees."""
        return len(self.trees_)

    def staged(self, table: Table, at: Sequence[int]) -> Iterator[Array]:
        """The predictions of the first trees."""
        cells, first = cells_of(table), 0
        sums = np.zeros((len(cells), self.trees_.value.shape[1]))
        for end in at:
            self.trees_.part(first, end).add_predictions(sums, cells)
            first = end
            yield sums / end if self.classes_ is not None else sums[:, 0] / end

    def explain_answer(self, table: Table) -> Explanation:
        """The votes for each class, or the spread of the values, and the predictions of the first five trees."""
        predictions, shown = self.trees_.value[self.trees_.nodes_of(cells_of(table))[:, 0]], 5
        trees = counted(len(predictions), "tree")
        if self.classes_ is None:
            header: tuple[str, ...] = ("mean", "standard deviation", "smallest", "median", "largest")
            row = tuple(float(f(predictions)) for f in (np.mean, np.std, np.min, np.median, np.max))
            first = tuple(enumerate(predictions[:shown, 0].tolist(), 1))
            spread = Figures(f"Values of {trees}", header, (row,))
            return spread, Figures("First trees", ("tree", self.target_), first)
        decisions = self.decide(predictions)
        totals = np.bincount(decisions, minlength=len(self.classes_)).tolist()
        rows = tuple(zip(self.classes_, totals, predictions.mean(axis=0).tolist(), strict=True))
        votes = Figures(f"Votes of {trees}", ("class", "trees", "mean probability"), rows)
        lines = tuple(
            (number, self.classes_[code], *line)
            for number, (code, line) in enumerate(zip(decisions, predictions[:shown].tolist(), strict=False), 1)
        )
        header = ("tree", "decides on", *(f"p({name})" for name in self.classes_))
        return votes, Figures("First trees", header, lines)

    def adjustable_parameters(self, table: Table) -> float | None:
        """The leaves of all trees."""
        return float(self.trees_.leaves.sum())

    def importances(self) -> Array:
        """Per column the share of all gains."""
        return self.gained_

    def explain(self) -> Explanation:
        """How large the forest is, its error out of the bag, and what columns are worth."""
        trees, drawn = self.trees_, self._drawn()
        leaves = np.add.reduceat(trees.leaves.astype(np.int64), trees.roots)
        depths = np.maximum.reduceat(trees.depths(), trees.roots)
        count = f"{len(trees)} trees; each node draws {drawn} column{'s' * (drawn != 1)}"
        mean = f"on average {leaves.mean():.4g} leaves and depth {depths.mean():.3g}"
        sections: list[Finding] = [Lines("Forest", (count, f"{mean}; the deepest has {depths.max()}"))]
        of_classes = self.classes_ is not None
        if len(self.curve_):
            header = ("trees", "error" if of_classes else "root mean squared error")
            errors = tuple(
                (int(size), None if math.isnan(error) else error) for size, error in self.curve_.tolist()
            )
            note = "of training rows, each answered only by trees that did not learn from it"
            sections.append(Figures("Out-of-bag error", header, errors, note=note))
        share, depth = use_of_columns(trees, len(self.columns_))
        more = {"share of rows split": share, "depth of first split": depth}
        if len(self.shuffled_):
            more[f"{'error' if of_classes else 'squared error'} added by shuffling"] = self.shuffled_
        note = "each averaged over trees; depths over those that split on the column"
        sections.append(importance_table(self.columns_, self.gained_, more, np.ones(len(share), bool), note))
        return tuple(sections)

    def check_learned(self) -> None:
        """Refuse trees that do not fit these columns."""
        trees = self.trees_
        if not len(trees):
            raise ValueError("the saved forest has no trees")
        trees.check(level_counts(self.columns_), 1 if self.classes_ is None else len(self.classes_))
        if trees.weight.shape != trees.feature.shape or not (trees.weight > 0).all():
            raise ValueError("the saved forest has nodes without rows")
        if self.shuffled_.shape not in ((0,), self.gained_.shape):
            raise ValueError("the saved forest values other columns")


@dataclass(frozen=True, eq=False)
class OutOfBag:
    """A forest with its training rows, each of which only trees that did not learn from it predict."""

    model: Forest
    trees: Trees
    cells: Cells
    data: SupervisedRows
    """The rows without their cells."""

    def leaves(self, tree: int, unseen: Bits) -> tuple[Rows, Codes]:
        """The rows that a tree did not learn from, and the leaf that each ends in."""
        rows = np.flatnonzero(np.unpackbits(unseen, count=len(self.cells)))
        return rows, self.trees.part(tree, tree + 1).nodes_of(self.cells, rows)[0]

    def error_curve(self, leaves: Iterable[tuple[Rows, Codes]]) -> Array:
        """The number of trees (1, 2, 5, 10 ... all) and the error out of the bag; NaN without any row out of one.

        ``leaves`` has for each tree what the method above returns.
        """
        outputs, count, results = self.trees.value.shape[1], len(self.trees), []
        sums, voters = np.zeros((len(self.cells), outputs)), np.zeros(len(self.cells))
        shown = {step * 10**power for power in range(9) for step in (1, 2, 5)} | {count}
        for tree, (rows, nodes) in enumerate(leaves, 1):
            sums[rows] += self.trees.value[nodes]
            voters[rows] += 1.0
            if tree in shown:
                predicted = np.flatnonzero(voters)
                data = self.data.take(predicted)
                losses = data.task.losses(self.model, data, sums[predicted] / voters[predicted, None])
                error = data.weights @ losses / data.weights.sum() if len(predicted) else np.nan
                results.append((tree, error))
        curve = np.array(results)
        curve[:, 1] = curve[:, 1] if outputs > 1 else np.sqrt(curve[:, 1])
        return curve

    def added_losses(self, tree: int, unseen: Bits, rng: np.random.Generator) -> Array:
        """Per column, by how much the mean loss of a tree grows if the column is shuffled among unseen rows."""
        added, (rows, leaves) = np.zeros(len(self.cells.levels)), self.leaves(tree, unseen)
        if not len(rows):
            return added
        own, data, values = self.trees.part(tree, tree + 1), self.data.take(rows), self.cells.values[rows]
        before = data.task.losses(self.model, data, own.value[leaves])
        first, end = np.append(self.trees.roots, len(own.feature))[tree : tree + 2]
        used = own.feature[first:end]
        for column in np.unique(used[used != LEAF]):
            shuffled = values.copy()
            shuffled[:, column] = rng.permutation(values[:, column])
            nodes = own.nodes_of(Cells(shuffled, self.cells.levels))[0]
            after = data.task.losses(self.model, data, own.value[nodes])
            added[column] = data.weights @ (after - before) / data.weights.sum()
        return added


def mean_importances(trees: Trees, width: int) -> Array:
    """Per column the mean over trees of its share of the weighted impurity that their splits remove."""
    inner = np.flatnonzero(~trees.leaves)
    index = trees.tree_of(inner) * width + trees.feature[inner]
    removed = np.bincount(index, trees.gain[inner], len(trees) * width).reshape(len(trees), width)
    total = removed.sum(axis=1, keepdims=True)
    return np.asarray((removed / np.where(total > 0, total, 1.0)).mean(axis=0))


def refuse_beyond_memory(grown: Grown, trees: int) -> None:
    """Refuse so many trees like this one if memory would not hold them, three times while they are joined."""
    of_one, available = 3 * sum(array.nbytes for array in grown), memory()
    needed, leaves = trees * of_one, available * len(grown.nodes) // (4 * trees * of_one)  # in half of it
    hint = f"max_leaves {max(2, leaves):,} would do; a larger min_leaf and fewer trees take less, too"
    refuse_size(f"{trees} trees of {len(grown.nodes):,} nodes need about {{}} of memory", needed, hint)
