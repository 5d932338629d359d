"""How one estimator is checked: every check passes or stands in the table of exceptions, and none is missing."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

from sklearn.utils.estimator_checks import check_estimator, check_outliers_fit_predict, check_outliers_train
from sklearn.utils.validation import has_fit_parameter

import mlcli.sklearn
from tests.sklearn.exceptions import exceptions_of

CHECKS = {"Classifier": 54, "Regressor": 51, "Clusterer": 45, "Detector": 45, "Projector": 46, "Transformer": 46}
"""How many checks scikit-learn 1.9 has, by what an estimator is."""
OF_WEIGHTS = {"Classifier": 7, "Regressor": 7}
"""How many more there are where rows may count more or less than one."""


def assert_passes(name: str) -> None:
    """Run every check."""
    estimator, expected = getattr(mlcli.sklearn, name)(), exceptions_of(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: list[Any] = check_estimator(estimator, expected_failed_checks=expected, on_skip=None, on_fail=None)
    failed = [f"{one['check_name']}: {one['exception']!r}" for one in found if one["status"] == "failed"]
    assert not failed, "\n".join(failed)
    assert {one["check_name"] for one in found if one["status"] == "xfail"} == set(expected)
    assert Counter(one["status"] for one in found)["skipped"] <= 1
    assert len(found) == expected_checks(name, estimator)


def assert_flags_a_share(name: str) -> None:
    """Run the checks that want some rows flagged, of a detector that is told to flag a tenth."""
    estimator = getattr(mlcli.sklearn, name)(decide="share 0.1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_outliers_fit_predict(name, estimator)
        check_outliers_train(name, estimator)


def expected_checks(name: str, estimator: Any) -> int:
    """How many checks there are of an estimator."""
    kind = next(kind for kind in CHECKS if name.endswith(kind))
    more = OF_WEIGHTS.get(kind, 0) if has_fit_parameter(estimator, "sample_weight") else 0
    of_class_weight = "class_weight" in estimator.get_params()
    required = kind == "Transformer" and estimator.__sklearn_tags__().target_tags.required
    return CHECKS[kind] + more + of_class_weight + required
