"""The mean row: what is lost by it is the variance."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.metrics.base import Undefined
from mlcli.metrics.registry import metric_named
from mlcli.models.projection.mean_row import MeanRow
from tests.golden.asking import answered
from tests.golden.densities import numbers_of, unlabelled


def test_its_reconstruction_error_is_the_variance_of_the_columns() -> None:
    X = numbers_of("iris")
    answers = answered(MeanRow(), unlabelled(X, "projection"))
    error = metric_named("reconstruction-error", type(answers)).compute(answers)
    assert error == pytest.approx(X.var(axis=0).sum(), rel=1e-12)
    assert metric_named("explained-variance", type(answers)).compute(answers) == pytest.approx(0, abs=1e-12)


def test_nothing_is_explained_where_nothing_varies() -> None:
    answers = answered(MeanRow(), unlabelled(np.ones((4, 2)), "projection"))
    assert isinstance(metric_named("explained-variance", type(answers)).compute(answers), Undefined)
