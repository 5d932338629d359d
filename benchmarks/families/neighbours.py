"""Nearest neighbours beside scikit-learn's; at most 2,000 rows are asked about."""

from benchmarks.pair import Pair

PAIRS = (
    Pair("knn", "classification", "sklearn.neighbors:KNeighborsClassifier", asked=2_000),
    Pair("knn", "regression", "sklearn.neighbors:KNeighborsRegressor", asked=2_000),
)
