"""Random forest: many trees on rows drawn with replacement, each node choosing among a few random columns.

Formula:
    Each tree learns from n rows drawn with replacement, and each of its nodes splits by the best of a few columns
    drawn for it, as a CART tree does (gini, or squared error). The forest answers the mean of its leaves' class
    shares, or of their means. A row is in a bag with probability 1 − (1 − 1/n)ⁿ → 1 − 1/e ≈ 0.632; the trees that
    did not see it answer it for the out-of-bag error. A column is worth the weighted impurity that its splits take
    away, as a share of all in a tree, averaged over trees; with ``shuffle`` also how much a tree's mean loss out
    of the bag grows when the column's cells are dealt out anew among those rows, averaged over trees.

Assumes:
    Little: what decision-tree assumes, with less variance and without rules that a person could read. Answers stay
    within the range of the training values.

Cost:
    trees × n log n × columns drawn, on bins of a byte; a fit uses the cores that no other process does. Memory
    grows with the leaves, up to n per tree: limit ``min_leaf`` or ``max_leaves`` on large noisy tables.

Choices:
    A column with at most ``bins`` distinct values is cut as exactly as by decision-tree, others between bins that
    share the rows evenly; thresholds lie midway between two values that a node holds. log2 draws ⌊log2 F + 1⌋
    columns, a share is rounded down to at least one, and while no drawn column gains anything the next is
    drawn. By default a column of levels counts as many as it has, since a split asks for one of them only: √ F
    columns are drawn for classes and F / 2 for values, where Breiman draws a third, up to four fifths of all,
    rounded up. With ``reuse: false`` they are drawn among the columns that no node
    above asks for, as in the notes, so that no tree is deeper than its columns are many. Nominal columns are split
    one level against the rest, and a missing level is a
    level of its own; missing numbers go to the side that gains more, or where a node had none, with most of its
    rows. A tree's answer is its leaf's shares, or with ``combine: votes`` a whole vote for the largest, of equals
    the class with most training rows. Columns are also valued by the share of training rows that a tree asks for
    them, and by the depth of the first such question. Whole weights count as repeats: a bag has a draw for each;
    other weights say how likely a row is drawn. ``min_leaf`` counts draws. Sums are whole numbers, so that no
    order of rows rounds otherwise; without ``bootstrap``, weights that are not multiples of the smallest count to
    2⁻⁵² of their sum. Trees do not depend on the order of rows, nor on threads.
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
