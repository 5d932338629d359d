"""Forests of ten trees beside scikit-learn's, on one thread; time grows in proportion to the trees."""

from benchmarks.pair import Pair

TREES = {"trees": 10}
PEER = {"n_estimators": 10, "n_jobs": 1, "random_state": 0}
THIRD = {**PEER, "max_features": 1 / 3}

PAIRS = (
    Pair("random-forest", "classification", "sklearn.ensemble:RandomForestClassifier", TREES, PEER),
    Pair("random-forest", "regression", "sklearn.ensemble:RandomForestRegressor", TREES, THIRD),
    Pair("extra-trees", "classification", "sklearn.ensemble:ExtraTreesClassifier", TREES, PEER),
    Pair("extra-trees", "regression", "sklearn.ensemble:ExtraTreesRegressor", TREES, THIRD),
)
