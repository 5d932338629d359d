"""Least squares and ridge beside scikit-learn's.

An intercept and, for ridge, an l2 of 1 on both sides. Scikit-learn's ridge factors the normal equations, as it
does by default; its iterative solvers stop at a tolerance of 1e-4 and are not compared.
"""

from benchmarks.pair import Pair

PAIRS = (
    Pair("linear-regression", "regression", "sklearn.linear_model:LinearRegression"),
    Pair("ridge", "regression", "sklearn.linear_model:Ridge", {"l2": 1.0}, {"alpha": 1.0}),
)
