"""Forests of ten trees beside scikit-learn's, on one thread; time grows in proportion to the trees.

Equal: trees, grown until leaves are pure or hold one row; the columns drawn at a node (the root of their number
for classes, half for values); rows drawn with replacement for random-forest, all rows for extra-trees. Ours
sorts cells into at most 255 bins and also keeps the out-of-bag error and what columns are worth; scikit-learn's
cuts between all values, and values columns only when asked.
"""

from benchmarks.pair import Pair

TREES = {"trees": 10, "min_leaf": 1}
PEER = {"n_estimators": 10, "min_samples_leaf": 1, "n_jobs": 1, "random_state": 0}
HALF = {**PEER, "max_features": 0.5}

LIMITS = """At 20,000 × 20 a forest for classes spends somewhat less than two thirds of a fit on growing, a tenth
on rows out of the bag, which the peer does not ask, and the rest on binning, on an order of rows that follows
from their content, and on nodes as arrays; extra-trees also about two thirds on growing and its arrays. Values
cost a pass more per node, to centre them. The peer does not sort for extra-trees either, and most of their nodes
hold fewer than ten rows, where branches that nobody could foresee cost more than arithmetic. Ten trees carry the
binning of all: at 2,000 × 500 it takes more than a quarter of a fit of classes, and the order of rows a sixth.
With a hundred trees the ratios are higher."""

PAIRS = (
    Pair("random-forest", "classification", "sklearn.ensemble:RandomForestClassifier", TREES, PEER),
    Pair("random-forest", "regression", "sklearn.ensemble:RandomForestRegressor", TREES, HALF),
    Pair("extra-trees", "classification", "sklearn.ensemble:ExtraTreesClassifier", TREES, PEER),
    Pair("extra-trees", "regression", "sklearn.ensemble:ExtraTreesRegressor", TREES, HALF),
)
