"""Logistic regression beside scikit-learn's, both to a small gradient."""

from benchmarks.pair import Pair

SOLVED = {"tol": 1e-6, "max_iter": 1000}

PAIRS = (
    Pair("logistic-regression", "classification", "sklearn.linear_model:LogisticRegression", peer_params=SOLVED),
)
