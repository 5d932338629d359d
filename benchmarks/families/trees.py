"""Decision trees beside scikit-learn's, grown by the same rules."""

from benchmarks.pair import Pair

OURS = {"min_leaf": 5}
THEIRS = {"min_samples_leaf": 5}

PAIRS = (
    Pair("decision-tree", "classification", "sklearn.tree:DecisionTreeClassifier"),
    Pair("decision-tree", "regression", "sklearn.tree:DecisionTreeRegressor", OURS, THEIRS),
)
