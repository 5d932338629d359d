"""Decision trees beside scikit-learn's, grown by the same rules.

Both search all values, by gini or squared error; leaves are pure or hold 1 row (classes) or at least 5
(values). Of equal gains ours takes the first column, the peer any, so that scores differ a little. With
``bins`` ours searches between bins alone, which the peer does not do. Pruned, both let the same weakest links go.
"""

from benchmarks.pair import Pair

PAIRS = (
    Pair("decision-tree", "classification", "sklearn.tree:DecisionTreeClassifier"),
    Pair(
        "decision-tree",
        "classification",
        "sklearn.tree:DecisionTreeClassifier",
        {"bins": 255},
        remark="bins=255",
    ),
    Pair(
        "decision-tree",
        "classification",
        "sklearn.tree:DecisionTreeClassifier",
        {"prune": "cost-complexity", "prune_alpha": 0.001},
        {"ccp_alpha": 0.001},
        remark="pruned",
    ),
    Pair(
        "decision-tree",
        "regression",
        "sklearn.tree:DecisionTreeRegressor",
        {"min_leaf": 5},
        {"min_samples_leaf": 5},
    ),
)
