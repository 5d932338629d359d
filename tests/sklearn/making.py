"""Estimators as their checks make them: quick ones inside, few epochs, and detectors that flag a share of rows."""

from __future__ import annotations

from typing import Any

import mlcli.sklearn

FLAGGED = "share 0.1"
"""By their own limits some detectors flag none of the rows of a check, which wants both answers."""
FLAGS_SOME = ("SvddDetector",)
"""What flags some by its own limit; a share of rows would be bounded by a row on the limit."""
FEW: dict[str, Any] = {"bags": 3, "epochs": 40, "pairs": 500, "trees": 10}
QUICK: dict[str, dict[str, Any]] = {
    "Stacking": {"models": ("knn", "lda"), "meta": None},
    "StackingRegressor": {"models": ("knn", "ridge")},
    "Voting": {"models": ("knn", "decision-tree")},
    "SelectedModel": {"models": ("knn", "decision-tree")},
    "Collective": {"base": "mahalanobis"},
    "SupervisedDetector": {"base": {"use": "random-forest", "params": {"trees": 10}}},
    "ScoreRanking": {"base": "single-best-column"},
    "GradientBoosting": {"rounds": 30},
    "Tuned": {"base": "decision-tree", "ranges": {"max_depth": [1, 4]}},
    "RandomDistance": {"base": "mahalanobis"},
}


def quick(name: str) -> Any:
    """An estimator by its name."""
    estimator = getattr(mlcli.sklearn, name)()
    known = estimator.get_params(deep=False)
    changes = {key: value for key, value in FEW.items() if key in known and isinstance(known[key], int)}
    for start, given in QUICK.items():
        changes |= given if name.startswith(start) else {}
    changes |= {"decide": FLAGGED} if name.endswith("Detector") and name not in FLAGS_SOME else {}
    return estimator.set_params(**changes)
