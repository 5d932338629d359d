"""How compiled growing keeps a tree that is not finished: which number stands where in its arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Nodes = NDArray[np.int64]
Places = NDArray[np.int64]

RANK = 32
ROW = 2**RANK - 1
"""A place is rank × 2³² + row."""
SQUARES = 0
ENTROPY = 1
"""Impurities by their code; any other is the share that the largest class is wrong about."""
ROW_WEIGHT, AMOUNT, OUTPUT = range(3)
"""Columns of ``facts`` about rows: AMOUNT is what a row adds to its sum."""
LEFT, RIGHT, ALL, LOST = range(4)
"""Rows of ``sums``: of the rows on either side of a cut, of all of the node, and of those with a missing cell."""
FEATURE, FIRST, CHILDREN, EMPTY, BELOW, ABOVE, CODE, ORDERED, BUFFER, BEGIN, END, NEXT, DEPTH, WAITING = range(14)
"""Columns of ``nodes``: what a node asks, its first child, how many there are, and the one for missing cells; the
places on both sides of a threshold; the level that leads to the node; where its rows are, and whether they are in
the order of every column. WAITING is a stack of nodes beside them."""
WEIGHT, SPREAD, MEAN = range(3)
"""Columns of ``settled``: numbers about nodes; the means are the last ones."""
MISSING_RANK, CUT, ABOVE_CUT, SIDE = range(4)
"""Columns of ``columns``: the rank of missing cells or -1; the place of the best cut and the next, or their bins;
and whether missing cells go left."""
GAIN, INFORMATION = range(2)
"""Columns of ``found``: what the best cut by each column gains, and the entropy of its branches."""
CRITERION, OF_SHARES, EACH, RATIO, GATED, WHOLE, MAX_DEPTH, MIN_SPLIT, LEAST, MIN_GAIN, PURITY = range(11)
"""What is in ``rules``: the impurity, and whether it is of shares; whether each level has a branch, gain ratios
are compared, only columns with the mean gain compete; whether squared sums of weights are exact; and limits."""
