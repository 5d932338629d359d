"""scikit-learn's own checks of every estimator."""

from __future__ import annotations

import pytest

import mlcli.sklearn
from tests.sklearn.checking import assert_flags_a_share, assert_passes
from tests.sklearn.exceptions import FLAG_NONE, OF_SEQUENCES

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", [name for name in mlcli.sklearn.names() if not name.endswith(OF_SEQUENCES)])
def test_an_estimator_passes_the_checks_of_scikit_learn(name: str) -> None:
    assert_passes(name)


@pytest.mark.parametrize("name", FLAG_NONE)
def test_a_detector_flags_as_many_rows_as_it_is_told(name: str) -> None:
    assert_flags_a_share(name)
