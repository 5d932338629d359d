"""One BLAS thread wherever cells run, in libraries that are loaded late as well."""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_info

from mlcli.core.threads import one_blas_thread


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_the_body_has_one_blas_thread_and_afterwards_all_is_as_before() -> None:
    np.ones((2, 2)) @ np.ones((2, 2))
    before = blas_threads()
    for _ in range(2):
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == before


def test_a_library_that_came_since_is_pinned_as_well() -> None:
    with one_blas_thread():
        pass
    import scipy.linalg  # SciPy brings a BLAS of its own

    assert scipy.linalg.norm([3.0, 4.0]) == 5.0
    with one_blas_thread():
        assert blas_threads() == {1}
