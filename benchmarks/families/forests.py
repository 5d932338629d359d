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

PAIRS = (
    Pair("random-forest", "classification", "sklearn.ensemble:RandomForestClassifier", TREES, PEER),
    Pair("random-forest", "regression", "sklearn.ensemble:RandomForestRegressor", TREES, THIRD),
    Pair("extra-trees", "classification", "sklearn.ensemble:ExtraTreesClassifier", TREES, PEER),
    Pair("extra-trees", "regression", "sklearn.ensemble:ExtraTreesRegressor", TREES, THIRD),
)
