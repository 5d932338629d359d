"""Logistic regression beside scikit-learn's, both until no entry of the gradient per row is above 1e-6.

Softmax and an l2 of 1 on both sides; scikit-learn by its two fastest solvers. On `segment`, whose columns are not
scaled, lbfgs has not arrived after 1,000 steps.
"""

from benchmarks.pair import Pair

PEER = "sklearn.linear_model:LogisticRegression"
OURS = {"tolerance": 1e-6}
THEIRS = {"tol": 1e-6, "max_iter": 1000}

LIMITS = """On `segment`, whose columns differ in size by thousands and whose classes nearly part, Newton's
method looks at 24 places and needs 16 curvatures; half of the time is their matrix products, which the peer's
Newton needs too."""

PAIRS = tuple(
    Pair("logistic-regression", "classification", PEER, OURS, {**THEIRS, "solver": solver})
    for solver in ("lbfgs", "newton-cholesky")
)
