"""The one table of exceptions: which checks of scikit-learn an estimator does not pass, and why."""

from __future__ import annotations

ORDER, SUBSET = "check_methods_sample_order_invariance", "check_methods_subset_invariance"
WEIGHTS = "check_sample_weight_equivalence_on_dense_data"

OF_SEQUENCES = "Tagger"
"""Taggers learn from lists of sequences, or from rows with groups; the checks pass rows that stand alone."""
FLAG_NONE = (
    *(
        "CollectiveDetector",
        "ContextualDetector",
        "GaussianAnomalyDetector",
        "GrubbsDetector",
    ),
    *("MahalanobisDetector", "PredictionErrorDetector", "RandomScoresDetector"),
    *("SupervisedDetectorDetector", "ZScoreDetector"),
)

TABLE: tuple[tuple[tuple[str, ...], tuple[str, ...], str], ...] = (
    (
        ("FixedRadius", "InverseDistance", "KnnDistance", "Lof", "RelativeDensity"),
        (ORDER, SUBSET),
        "asked about exactly the rows that it has learned from, it leaves each out of its own neighbours",
    ),
    (("Collective",), (ORDER, SUBSET), "rows are scored by those beside them"),
    (("MdsProjector", "TSne"), ("check_fit_idempotent",), "it can only place the rows that it was fitted on"),
    (
        FLAG_NONE,
        ("check_outliers_fit_predict", "check_outliers_train"),
        "by its own limit it flags none of their rows; told to flag a tenth (decide), it passes",
    ),
    (("OneCluster", "RandomClusters"), ("check_clustering",), "it is a baseline, and finds no clusters"),
    (
        ("Stacking", "SelectedModelClassifier", "Tuned"),
        (WEIGHTS,),
        "rows are dealt into inner folds, whatever they weigh",
    ),
    (("DecisionRule",), ("check_classifiers_train",), "it answers by a threshold, not the likeliest class"),
    (("SvmClassifier",), ("check_class_weight_classifiers",), "its class_weight is none or balanced, no mapping"),
)
"""How names of estimators begin, the checks, and why they do not pass them."""


def exceptions_of(name: str) -> dict[str, str]:
    """By check, why an estimator does not pass it."""
    return {check: why for starts, checks, why in TABLE if name.startswith(starts) for check in checks}
