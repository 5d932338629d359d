"""Copies of rows: said whatever the width of a table, and no proof that a column tells the target."""

from __future__ import annotations

import random
from pathlib import Path

from mlcli.checks.audit import issues_of_data
from mlcli.data.load import load


def codes_of(path: Path, lines: list[str]) -> set[str]:
    path.write_text("\n".join(["x,y", *lines]) + "\n")
    return {issue.code for issue in issues_of_data(load(str(path))) if issue.gravity != "advice"}


def test_each_row_twice_is_said_of_a_table_of_one_feature(tmp_path: Path) -> None:
    rng = random.Random(1)
    lines = [f"{rng.random():.6f},{rng.choice('ab')}" for _ in range(50)]
    found = codes_of(tmp_path / "twice.csv", lines * 2)
    assert "duplicates" in found
    assert "leaks" not in found


def test_a_column_tells_nothing_of_a_target_that_is_always_the_same(tmp_path: Path) -> None:
    rng = random.Random(1)
    assert "leaks" not in codes_of(tmp_path / "same.csv", [f"{rng.random():.6f},a" for _ in range(40)])
