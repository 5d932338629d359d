"""An infinite log-loss is reported once; a warning lists equal values once, with their count."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.shell import document, typed


def shown_for(*models: str) -> str:
    named = [word for model in models for word in ("-m", model)]
    return typed("eval", "iris", *named, "--folds", "5", "-j", "1").stdout


def test_an_infinite_log_loss_is_said_once_with_what_to_do() -> None:
    said = " ".join(shown_for("knn", "decision-tree", "lda").split())
    assert said.count("is infinite") == 1
    assert "knn, decision-tree: log-loss is infinite" in said
    assert "`--metric brier`" in said


def test_a_column_of_nothing_but_infinite_scores_is_left_out() -> None:
    of_two = shown_for("knn", "decision-tree")
    assert not any(line.rstrip().endswith("inf") or " inf " in line for line in of_two.splitlines())
    assert "log-loss is infinite" in of_two
    assert " inf " in shown_for("knn", "decision-tree", "lda")


def test_json_keeps_the_metric_with_the_number_of_rows() -> None:
    words = ("eval", "iris", "-m", "knn", "--folds", "5", "--json", "-j", "1")
    (knn,) = (cell for cell in document(typed(*words))["cells"] if cell["model"] == "knn")
    assert knn["metrics"]["log-loss"]["mean"] is None
    assert "probability 0 in" in knn["metrics"]["log-loss"]["why"]


@pytest.mark.parametrize(
    ("far", "written"),
    [([99999.0] * 24, "99999 (24 rows) lies"), ([9e4, 9e4, 9.5e4], "90000 (2 rows), 95000 lie")],
)
def test_equal_values_far_outside_are_written_once(tmp_path: Path, far: list[float], written: str) -> None:
    usual = np.random.default_rng(1).uniform(0, 900, 5000)
    lines = ["gain,y", *(f"{value:.2f},{'ab'[k % 2]}" for k, value in enumerate([*usual, *far]))]
    (tmp_path / "gain.csv").write_text("\n".join(lines) + "\n")
    said = " ".join(typed("audit", str(tmp_path / "gain.csv")).stdout.split())
    assert f"column 'gain': {written} far outside all other numbers" in said
