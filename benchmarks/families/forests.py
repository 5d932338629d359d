"""Forests of ten trees beside scikit-learn's, on one thread; time grows in proportion to the trees.

Equal: trees, grown until leaves are pure or hold one row; the columns drawn at a node (the root of their number
for classes, a third for values); rows drawn with replacement for random-forest, all rows for extra-trees. Ours
sorts cells into at most 255 bins and also keeps the out-of-bag error and what columns are worth; scikit-learn's
cuts between all values, and values columns only when asked.
"""

from benchmarks.pair import Pair

TREES = {"trees": 10, "min_leaf": 1}
PEER = {"n_estimators": 10, "min_samples_leaf": 1, "n_jobs": 1, "random_state": 0}
THIRD = {**PEER, "max_features": 1 / 3}

LIMITS = """At 20,000 × 20 a forest for classes spends about two thirds of a fit on growing (in it, by samples
of a forest of values, 40 % on sorting and scoring nodes of at most 64 rows, 20 % on histograms and their scan,
10 % on dealing rows), 8 % on rows out of the bag, which the peer does not ask, and the rest on binning and on
an order of rows that follows from their content. Values cost a pass more per node, to centre them. Of
extra-trees three quarters are growing. The peer does not sort there either; ours takes about 65 ns for each
node and column drawn (bins of the rows, the drawn cut, sums and score), and most nodes hold fewer than ten
rows, where branches that nobody could foresee cost more than arithmetic. Ten trees carry the binning of all: at
2,000 × 500 it takes 20 ms, a third of a fit of a forest and two fifths of extra-trees. With a hundred trees the
ratios are higher (2,000 × 20, classes: 4.7)."""

PAIRS = (
    Pair("random-forest", "classification", "sklearn.ensemble:RandomForestClassifier", TREES, PEER),
    Pair("random-forest", "regression", "sklearn.ensemble:RandomForestRegressor", TREES, THIRD),
    Pair("extra-trees", "classification", "sklearn.ensemble:ExtraTreesClassifier", TREES, PEER),
    Pair("extra-trees", "regression", "sklearn.ensemble:ExtraTreesRegressor", TREES, THIRD),
)
