"""Least squares and ridge beside scikit-learn's."""

from benchmarks.pair import Pair

PAIRS = (
    Pair("linear-regression", "regression", "sklearn.linear_model:LinearRegression"),
    Pair("ridge", "regression", "sklearn.linear_model:Ridge"),
)
