"""Ensembles of other models beside scikit-learn's: the same number of members, and as deep.

Bags are drawn by each side with its own random numbers; trees are grown out on both sides.
"""

from benchmarks.pair import Pair

PAIRS = (
    Pair(
        "bagging",
        "classification",
        "sklearn.ensemble:BaggingClassifier",
        params={"bags": 25},
        peer_params={"n_estimators": 25},
        remark="25 trees",
    ),
    Pair(
        "adaboost",
        "classification",
        "sklearn.ensemble:AdaBoostClassifier",
        params={"rounds": 50},
        peer_params={"n_estimators": 50},
        remark="50 stumps",
    ),
)
