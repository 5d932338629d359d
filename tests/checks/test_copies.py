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


def test_copies_that_differ_in_the_seventh_digit_are_copies(tmp_path: Path) -> None:
    rng = random.Random(1)
    rows = [(rng.gauss(0, 1), rng.gauss(0, 1), rng.choice("ab")) for _ in range(50)]
    lines = [f"{a + far},{b + far},{label}" for far in (0, 1e-7) for a, b, label in rows]
    path = tmp_path / "nearly.csv"
    path.write_text("\n".join(["x,z,y", *lines]) + "\n")
    (found,) = (issue for issue in issues_of_data(load(str(path))) if issue.code == "duplicates")
    assert (found.gravity, found.sentence[:38]) == ("warning", "50 rows repeat earlier ones, or nearly")


def test_a_column_tells_nothing_of_a_target_that_is_always_the_same(tmp_path: Path) -> None:
    rng = random.Random(1)
    assert "leaks" not in codes_of(tmp_path / "same.csv", [f"{rng.random():.6f},a" for _ in range(40)])
