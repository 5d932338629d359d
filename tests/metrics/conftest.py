"""What tests of metrics share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mlcli.core.answers import Answers
from mlcli.metrics.registry import METRICS, names_for


@pytest.fixture
def registry_restored() -> Iterator[None]:
    """A test may declare metrics; afterwards they are gone."""
    names_for(Answers)  # every metric is loaded once
    before = dict(METRICS)
    yield
    METRICS.clear()
    METRICS.update(before)
