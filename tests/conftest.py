"""One BLAS thread, as wherever a cell runs: two of them wait for each other where tests share the cores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np  # noqa: F401 - its BLAS is there before it is pinned
import pytest

from mlcli.core.threads import one_blas_thread


@pytest.fixture(scope="session", autouse=True)
def pinned() -> Iterator[None]:
    """One thread for all tests."""
    with one_blas_thread():
        yield
