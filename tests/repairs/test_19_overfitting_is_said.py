"""A tree that knows its training rows by heart and few others is said to overfit, even if no remedy is sure."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cli.shell import document, typed


def noisy(folder: Path, rows: int, noise: float, seed: int) -> str:
    """Two classes, of which noise swaps some: no model can be right about more than 1 - noise of the rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 8))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0) ^ (rng.random(rows) < noise)
    table = np.column_stack([X.round(3).astype(str), np.where(y, "a", "b")])
    header = ",".join([*(f"x{place}" for place in range(8)), "y"])
    path = folder / "noisy.csv"
    path.write_text("\n".join([header, *map(",".join, table.tolist())]) + "\n", encoding="utf-8")
    return str(path)


def issue_of(found: Any, code: str) -> Any:
    return next((issue for issue in found["issues"] if issue["code"] == code), None)


@pytest.mark.parametrize(("rows", "noise", "seed"), [(400, 0.25, 2), (300, 0.1, 5)])
def test_a_tree_that_is_right_about_its_own_rows_only_overfits(
    tmp_path: Path, rows: int, noise: float, seed: int
) -> None:
    path = noisy(tmp_path, rows, noise, seed)
    result = typed("diagnose", path, "-m", "decision-tree")
    assert "warning: overfitting" in result.stdout
    assert "no issue found" not in result.stdout
    found = document(typed("diagnose", path, "-m", "decision-tree", "--json"))
    assert found["scores"]["training"] == 1.0
    assert found["scores"]["judged"] < 1 - noise
    assert issue_of(found, "overfitting")["gravity"] == "warning"


def test_a_pruned_tree_does_not_overfit(tmp_path: Path) -> None:
    path = noisy(tmp_path, 400, 0.25, 2)
    found = document(typed("diagnose", path, "-m", "decision-tree", "-p", "max_depth=1", "--json"))
    assert issue_of(found, "overfitting") is None


def test_a_method_without_parameters_to_tune_is_not_to_be_tuned() -> None:
    """``eval penguins -m zero-r --tune`` is refused, since zero-r has nothing that could be tuned."""
    result = typed("diagnose", "penguins", "-m", "zero-r", "--all")
    assert "worse-than-rival" in result.stdout
    assert "-m logistic-regression" in result.stdout
    assert "--tune" not in result.stdout
