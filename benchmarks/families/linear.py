"""Least squares, ridge and lasso beside scikit-learn's.

An intercept, no checks of assumptions and, for ridge, an l2 of 1 on both sides. Scikit-learn's ridge factors the
normal equations, as it does by default; its iterative solvers stop at a tolerance of 1e-4 and are not compared.
Lasso goes along the path and chooses on it by Akaike's criterion on both sides.
"""

from benchmarks.pair import Pair

LIMITS = """Of the 0.15 ms that least squares takes on `concrete` no call has more than a tenth: they are some
hundred small calls of NumPy, checks of sizes and of near copies of columns among them. Of a ridge of 2,000 ×
500 three fifths are the products of columns (in single precision, corrected afterwards) and a fifth the
Cholesky factor and its solutions."""

PAIRS = (
    Pair("linear-regression", "regression", "sklearn.linear_model:LinearRegression", {"checks": False}),
    Pair(
        "lasso", "regression", "sklearn.linear_model:LassoLarsIC", remark="path and choice by Akaike's criterion"
    ),
    Pair("ridge", "regression", "sklearn.linear_model:Ridge", {"l2": 1.0}, {"alpha": 1.0}),
)
