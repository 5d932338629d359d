"""The compiled forces of t-SNE are those of a few lines of NumPy, compiled or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mlcli.kernels.repulsion import forces, pulls


def forms(kernel: Any) -> list[Any]:
    """Compiled, and as Python runs it."""
    return [kernel, getattr(kernel, "py_func", kernel)]


def rows(n: int = 40) -> Any:
    return np.random.default_rng(0).normal(size=(3, n)).astype(np.float32)


@pytest.mark.parametrize("run", forms(forces))
def test_all_pairs_push(run: Any) -> None:
    y = rows()
    push = np.empty_like(y)
    total = run(y, push)
    apart = y[:, :, None].astype(float) - y[:, None, :]
    q = 1 / (1 + (apart**2).sum(axis=0))
    assert total == pytest.approx(q.sum() - 40, rel=1e-5)
    assert push == pytest.approx((q**2 * apart).sum(axis=2), abs=1e-4)


@pytest.mark.parametrize("run", forms(pulls))
def test_near_rows_pull(run: Any) -> None:
    y, rng = rows(), np.random.default_rng(1)
    p = np.where(rng.random((40, 40)) < 0.2, rng.random((40, 40)), 0.0)
    start = np.concatenate([[0], np.cumsum((p > 0).sum(axis=1))]).astype(np.int32)
    near = np.nonzero(p)[1].astype(np.int32)
    pull = np.empty_like(y)
    run(y, start, near, p[p > 0].astype(np.float32), pull)
    apart = y[:, :, None].astype(float) - y[:, None, :]
    q = 1 / (1 + (apart**2).sum(axis=0))
    assert pull == pytest.approx((p * q * apart).sum(axis=2), abs=1e-5)
