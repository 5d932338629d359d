"""The scores and the verdict of a sweep over training sizes are those of the largest size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from tests.cli.shell import document, typed


def xor_table(folder: Path) -> str:
    """Two columns of which only both together tell the class: naive Bayes never learns it, neighbours soon do."""
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, size=(400, 2))
    table = pd.DataFrame(X, columns=["left", "right"]).assign(y=np.where(X[:, 0] * X[:, 1] > 0, "yes", "no"))
    table.to_csv(folder / "xor.csv", index=False)
    return str(folder / "xor.csv")


def test_scores_are_those_of_the_largest_size(tmp_path: Path) -> None:
    """Each row counts once, and interval and p are what the last point of the curve alone gives."""
    words = ("eval", xor_table(tmp_path), "-m", "naive-bayes", "-m", "knn", "--metric", "accuracy", "-j", "1")
    swept = document(typed(*words, "--protocol", "{use: training-size, sizes: [4, 8, 1.0]}", "--json"))
    for cell in swept["cells"]:
        points = {point["value"]: point["metrics"] for point in cell["series"]["values"]}
        assert list(points) == [4, 8, 320]
        assert cell["metrics"] == points[320]
        assert np.sum(cell["confusion"]["counts"]) == 400
    (compared,) = swept["comparisons"]
    assert {pair["test"] for pair in compared["pairs"]} == {"paired t over 400 rows, variance × 1.75"}


def test_a_model_that_leads_where_it_counts_is_told_from_the_others(tmp_path: Path) -> None:
    """With 4 and 8 rows nobody knows anything; with 320 neighbours are right in over nine of ten rows."""
    shown = typed(
        *("eval", xor_table(tmp_path), "-m", "naive-bayes", "-m", "knn", "--metric", "accuracy", "-j", "1"),
        *("--protocol", "{use: training-size, sizes: [4, 6, 8, 10, 1.0]}"),
    ).stdout
    said = " ".join(shown.split())
    verdict = said[said.index("Best by accuracy: knn with 0.9") :]
    assert "not distinguishable" not in verdict.partition("Chosen")[0]
    assert "the scores and tests further up are those of the largest size" in said
