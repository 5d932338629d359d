"""Decision trees beside scikit-learn's, grown by the same rules."""

from benchmarks.pair import Pair

PAIRS = (
    Pair("decision-tree", "classification", "sklearn.tree:DecisionTreeClassifier"),
    Pair(
        "decision-tree",
        "regression",
        "sklearn.tree:DecisionTreeRegressor",
        {"min_leaf": 5},
        {"min_samples_leaf": 5},
    ),
)
