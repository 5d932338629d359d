"""Over- and underfitting are named, with suggestions that help; where nothing is wrong, nothing is said."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.shell import document, typed

CODES = {"overfitting", "underfitting", "more-rows-help"}


@cache
def diagnosed(*words: str) -> Any:
    result = typed("audit", *words, "--json")
    assert result.exit_code == 0
    return document(result)


def codes(found: Any) -> set[str]:
    return {issue["code"] for issue in found["issues"]} & CODES


def test_a_tree_that_knows_its_rows_by_heart_overfits() -> None:
    found = diagnosed("diabetes_progression", "-m", "decision-tree")
    assert "overfitting" in codes(found)
    assert found["serious"]
    issue = next(one for one in found["issues"] if one["code"] == "overfitting")
    texts = [repair["text"] for repair in issue["repairs"] if repair["place"] == "option"]
    option, _, score = next(text for text in texts if text.startswith("-p max_depth=")).partition("  # rmse ")
    better = typed("eval", "diabetes_progression", "-m", "decision-tree", *option.split(), "--json")
    rmse = document(better)["cells"][1]["metrics"]["rmse"]["mean"]
    assert rmse < found["scores"]["test"]
    assert float(score) == pytest.approx(rmse, rel=1e-3)


def test_a_stump_underfits_and_a_deeper_tree_helps() -> None:
    found = diagnosed("wine", "-m", "decision-tree", "-p", "max_depth=1")
    assert codes(found) == {"underfitting"}
    (issue,) = (one for one in found["issues"] if one["code"] == "underfitting")
    assert any(repair["text"].startswith("-p max_depth=") for repair in issue["repairs"])


def test_products_of_columns_help_a_line() -> None:
    (issue,) = (
        one for one in diagnosed("concrete", "-m", "linear-regression")["issues"] if one["code"] == "underfitting"
    )
    assert any("polynomial" in repair["text"] for repair in issue["repairs"])


@pytest.mark.parametrize(
    "words",
    [("wdbc", "-m", "logistic-regression"), ("iris", "-m", "lda"), ("diabetes_progression", "-m", "ridge")],
)
def test_nothing_is_said_where_nothing_is_wrong(words: tuple[str, ...]) -> None:
    assert codes(diagnosed(*words)) == set()


def test_advice_is_shown_on_request() -> None:
    advice = "2 pieces of advice"
    shown = typed("audit", "iris", "-m", "lda").stdout
    assert f"no issue found; {advice} (nothing-tuned, duplicates): --all shows" in " ".join(shown.split())
    assert "advice: " not in shown
    shown = typed("audit", "iris", "-m", "lda", "--all").stdout
    assert f"lda: {advice}\n" in shown
    assert "advice: nothing-tuned" in shown


def test_strict_leaves_with_its_exit_code() -> None:
    words = ("audit", "diabetes_progression", "-m", "decision-tree", "--strict")
    assert typed(*words, "--json").exit_code == 8
    assert typed("audit", "iris", "-m", "lda", "--strict").exit_code == 0


def test_the_shell_shows_scores_remedies_and_with_v_the_curve() -> None:
    words = ("audit", "wine", "-m", "decision-tree", "-p", "max_depth=1")
    shown = typed(*words).stdout
    assert "decision-tree underfits: it has high bias" in shown
    assert "by training rows" not in shown
    assert "decision-tree: accuracy by training rows" in typed(*words, "-v").stdout


def test_what_cannot_be_diagnosed() -> None:
    assert "one model" in typed("audit", "iris", "-m", "{use: knn, grid: {k: [1, 3]}}").output
    assert "ridge does regression" in typed("audit", "iris", "-m", "ridge").output


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


def test_a_tree_that_is_right_about_its_own_rows_only_overfits(tmp_path: Path) -> None:
    noise = 0.25
    found = document(typed("audit", noisy(tmp_path, 400, noise, 2), "-m", "decision-tree", "--json"))
    assert found["scores"]["training"] == 1.0
    assert found["scores"]["test"] < 1 - noise
    assert issue_of(found, "overfitting")["gravity"] == "warning"


def test_a_pruned_tree_does_not_overfit(tmp_path: Path) -> None:
    path = noisy(tmp_path, 400, 0.25, 2)
    found = document(typed("audit", path, "-m", "decision-tree", "-p", "max_depth=1", "--json"))
    assert issue_of(found, "overfitting") is None


def test_a_method_without_parameters_to_tune_is_not_to_be_tuned() -> None:
    """``eval penguins -m zero-r --tune`` is refused, since zero-r has nothing that could be tuned."""
    result = typed("audit", "penguins", "-m", "zero-r", "--all")
    assert "worse-than-rival" in result.stdout
    assert "-m logistic-regression" in result.stdout
    assert "--tune" not in result.stdout
