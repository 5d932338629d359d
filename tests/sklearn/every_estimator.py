"""scikit-learn's own checks of every estimator: they take minutes, so that `make test-sklearn` runs them."""

from __future__ import annotations

import pytest

import mlcli.sklearn
from tests.sklearn.checking import assert_passes


@pytest.mark.parametrize("name", mlcli.sklearn.names())
def test_an_estimator_passes_the_checks_of_scikit_learn(name: str) -> None:
    assert_passes(name)
