"""Logistic regression beside scikit-learn's, both until no entry of the gradient per row is above 1e-6."""

from benchmarks.pair import Pair

OURS = {"tolerance": 1e-6}
THEIRS = {"tol": 1e-6, "max_iter": 1000}

PAIRS = (
    Pair(
        "logistic-regression",
        "classification",
        "sklearn.linear_model:LogisticRegression",
        params=OURS,
        peer_params=THEIRS,
    ),
)
