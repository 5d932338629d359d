"""Random forest: many trees on rows drawn with replacement, each node choosing among a few random columns.

Formula:
    Each tree learns from n rows drawn with replacement, and each of its nodes splits by the best of a few columns
    drawn for it, as a CART tree does (gini, or squared error). The prediction is the mean of the class shares, or
    of the values, of the leaves. A row is in a bag with probability 1 − (1 − 1/n)ⁿ → 1 − 1/e ≈ 0.632; the trees
    that did not learn from it predict it for the out-of-bag error. The importance of a column is the weighted
    impurity that its splits remove, as a share of all in a tree, averaged over trees; with ``shuffle`` also how
    much a tree's mean loss out of the bag grows when the column is shuffled among those rows, averaged over trees.

Assumes:
    Little: what decision-tree assumes, with less variance and without rules that a person could read. Predictions
    stay within the range of the training values.

Cost:
    trees × n log n × columns drawn, on bins of a byte; a fit uses all free cores. Memory
    grows with the leaves, up to n per tree: limit ``min_leaf`` or ``max_leaves`` on large noisy tables.

Choices:
    A column with at most ``bins`` distinct values is cut as exactly as by decision-tree, others between bins that
    share the rows evenly; thresholds lie midway between two values that a node holds. log2 draws ⌊log2 F + 1⌋
    columns, and a share is rounded down, to at least one. While no drawn column gains anything, another one is
    drawn. By default a nominal column counts once for each level, since a split tests only one of them: √ F
    columns are drawn for classes and F / 2 for values, where Breiman draws a third, up to four fifths of all,
    rounded up. With ``reuse: false`` they are drawn among the columns on which no node above splits, as in the
    notes, so that the depth of a tree is at most the number of columns. Nominal columns are split one level
    against the rest, and a missing level is a level of its own. Missing numbers go to the side that gains more, or
    where a node had none, with most of its rows. A tree predicts the class shares of its leaf, or with
    ``combine: votes`` a whole vote for the largest; of equal ones, for the class with most training rows.
    Explanations also show the share of training rows that a tree splits on a column, and the depth of its first
    split. Whole weights count as repeats: a bag has a draw for each. Other weights are the relative probabilities
    that rows are drawn. ``min_leaf`` counts draws. Sums are whole numbers, so that the order of rows changes no
    rounding; without ``bootstrap``, weights that are not multiples of the smallest are rounded to 2⁻⁵² of their
    sum. Trees depend neither on the order of rows nor on the number of threads.
"""

from __future__ import annotations

from math import log2

from mlcli.core.abilities import EstimatesFitTime
from mlcli.core.registry import register
from mlcli.models.forests._forest import Forest
from mlcli.tasks.supervised import Classifier, Regressor


@register("random-forest", reference="Breiman 2001", revision=6)
class RandomForest(Forest, Classifier, Regressor, EstimatesFitTime):
    """The best cut of each column drawn, on rows drawn with replacement."""

    def fit_seconds(self, rows: int, columns: int, classes: int) -> float:
        """Trees on all rows, sorted by the columns that a node draws; many classes make each node slow."""
        drawn = columns**0.5 if classes else columns / 2
        return 2e-8 * self.trees * rows * drawn * (log2(rows + 1) + max(0, classes - 100))
