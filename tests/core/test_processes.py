"""One BLAS thread wherever cells run, in libraries that are loaded late as well.

Each test is a process of its own, which has as many threads as the machine: the tests themselves have one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from textwrap import dedent

from mlcli.core.processes import BLAS_VARIABLES

OPENING = """
    import numpy as np
    from threadpoolctl import threadpool_info, threadpool_limits

    from mlcli.core.processes import one_blas_thread


    def blas_threads():
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


    np.ones((2, 2)) @ np.ones((2, 2))
    threadpool_limits(2, "blas")
"""


def complaint_of(code: str) -> str:
    """What some lines of Python complain of, run as a process that nobody has pinned."""
    free = {name: value for name, value in os.environ.items() if name not in BLAS_VARIABLES}
    words = [sys.executable, "-c", dedent(OPENING) + dedent(code)]
    return subprocess.run(words, env=free, capture_output=True, text=True, check=False).stderr


def test_the_body_has_one_blas_thread_and_afterwards_all_is_as_before() -> None:
    complaint = complaint_of("""
        for _ in range(2):
            with one_blas_thread():
                assert blas_threads() == {1}
            assert blas_threads() == {2}
    """)
    assert not complaint


def test_a_library_that_came_since_is_pinned_as_well() -> None:
    complaint = complaint_of("""
        with one_blas_thread():
            pass
        import scipy.linalg  # SciPy brings a BLAS of its own

        assert scipy.linalg.norm([3.0, 4.0]) == 5.0
        with one_blas_thread():
            assert blas_threads() == {1}
    """)
    assert not complaint
