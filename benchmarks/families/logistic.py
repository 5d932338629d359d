"""Logistic regression beside scikit-learn's, both until no entry of the gradient per row is above 1e-6.

Softmax, an l2 of 1 and no standard errors on both sides; scikit-learn by its two fastest solvers. On `segment`,
whose columns are not scaled, lbfgs has not arrived after 1,000 steps.
"""

from benchmarks.pair import Pair

PEER = "sklearn.linear_model:LogisticRegression"
OURS = {"tolerance": 1e-6, "standard_errors": False}
THEIRS = {"tol": 1e-6, "max_iter": 1000}

LIMITS = """Where a curvature is cheap, Newton's method goes on to 1e-10 as soon as it is below 1e-6; else L-BFGS
takes the same steps as the peer's, and both spend their time on products with the table."""

PAIRS = tuple(
    Pair("logistic-regression", "classification", PEER, OURS, {**THEIRS, "solver": solver})
    for solver in ("lbfgs", "newton-cholesky")
)
