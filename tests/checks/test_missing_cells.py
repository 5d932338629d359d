"""Missing cells: whether they are missing at random, and what each way of filling them does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import fisher_exact

from mlcli.checks.audit import issues_of_data
from mlcli.checks.context import best_condition
from mlcli.core.findings import Table
from mlcli.core.schema import Column
from mlcli.data.load import load
from tests.checks.faults import csv_of, sound
from tests.support.shell import typed


def with_gaps(folder: Path, empty: np.ndarray) -> Path:
    columns, _ = sound()
    columns["b"] = ["" if gap else cell for gap, cell in zip(empty, columns["b"], strict=True)]
    (folder / "my.csv").write_text(csv_of(columns), encoding="utf-8")
    (folder / "my.yaml").write_text("target: y\n")
    return folder / "my.csv"


def test_cells_that_chance_removed_are_missing_at_random(tmp_path: Path) -> None:
    path = with_gaps(tmp_path, np.random.default_rng(3).random(200) < 0.25)
    codes = {issue.code: issue for issue in issues_of_data(load(str(path)))}
    assert codes["missing-at-random"].columns == ("b",)
    assert "missing-by-rule" not in codes
    page = " ".join(typed("audit", str(path), "--all").stdout.split())
    assert "missing at random, as far as other columns tell (tested with 200 rows): b" in page


def test_cells_that_a_rule_removed_are_not(tmp_path: Path) -> None:
    columns, _ = sound()
    path = with_gaps(tmp_path, np.array([float(cell) < 45 for cell in columns["a"]]))
    codes = {issue.code: issue for issue in issues_of_data(load(str(path)))}
    assert codes["missing-by-rule"].columns == ("b",)
    assert "missing-at-random" not in codes


@pytest.mark.parametrize("gaps", [0.25, 0.05])
def test_mean_and_spread_are_shown_for_every_filling(tmp_path: Path, gaps: float) -> None:
    """Beside NumPy: the column filled by hand with its mean, its median and its most frequent number."""
    path = with_gaps(tmp_path, np.random.default_rng(3).random(200) < gaps)
    dataset = load(str(path))
    cells = dataset.table.cells("b").astype(np.float64)
    present = cells[~np.isnan(cells)]
    values, counts = np.unique(present, return_counts=True)
    fillings = {"mean": present.mean(), "median": np.median(present), "most-frequent": values[counts.argmax()]}
    (issue,) = (issue for issue in issues_of_data(dataset) if issue.code == "imputing")
    (table,) = issue.shown
    assert isinstance(table, Table)
    rows = {row[1]: row[2:] for row in table.rows}
    assert rows["nothing"] == pytest.approx((np.isnan(cells).mean(), present.mean(), present.std()))
    for filling, value in fillings.items():
        filled = np.where(np.isnan(cells), value, cells)
        assert rows[filling] == pytest.approx((0.0, filled.mean(), filled.std()))
    lowered = 1 - np.where(np.isnan(cells), present.mean(), cells).std() / present.std()
    assert f"lowers the standard deviation of b by {lowered:.1%}" in issue.sentence
    assert bool(issue.repairs) == (gaps > 0.2)


def test_a_rule_is_tested_as_fisher_would() -> None:
    rng = np.random.default_rng(1)
    cells = rng.integers(0, 3, 100).astype(float)
    flags = rng.random(100) < np.where(cells == 1, 0.6, 0.2)
    rule = best_condition(flags, cells, Column("colour", "nominal", ("red", "green", "blue")))
    assert rule is not None
    assert rule.words == "colour = green"
    met = cells == 1
    counts = [[(flags & met).sum(), (~flags & met).sum()], [(flags & ~met).sum(), (~flags & ~met).sum()]]
    assert rule.probability_by_chance == pytest.approx(fisher_exact(counts, "greater").pvalue)
