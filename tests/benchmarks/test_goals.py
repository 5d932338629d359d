"""The summary of benchmarks is counted from their tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import families
from benchmarks.goals import records, summary
from benchmarks.sections import FAMILIES, NAMES, meant

FOLDER = Path(families.__path__[0])

TABLE = """Words before | and after.

| method | peer | rows | fit: ratio | predict: ratio |
| --- | --- | --- | --- | --- |
| random-forest | scikit-learn RandomForestClassifier | 150 × 4 | **9.00** (8.00 to 9.90) | **9.00** (8 to 9) |
| random-forest | scikit-learn RandomForestClassifier | 2,000 × 20 | **4.48** (4.40 to 4.50) | **1.98** (1 to 2) |
| random-forest | scikit-learn RandomForestRegressor | 2,000 × 20 | **3.99** (3.90 to 4.50) | **0.50** (0 to 1) |
| extra-trees | scikit-learn ExtraTreesClassifier | 2,000 × 20 | refused: too much |  |
"""


def test_rows_of_the_right_size_are_counted_by_method() -> None:
    lines = summary({"forests": TABLE}).splitlines()
    assert lines[2:] == [
        "| forests fit 4 × as fast, from 2,000 rows | random-forest 3.99 to 4.48 (1 of 2) | 1 of 2 | forests |",
        "| forests predict as fast, from 2,000 rows | random-forest 0.5 to 1.98 (1 of 2) | 1 of 2 | forests |",
    ]


def test_only_the_solver_that_a_goal_names_counts() -> None:
    header = "| method | peer | kind | rows | fit: ratio |\n| --- | --- | --- | --- | --- |\n"
    cells = "| logistic-regression | scikit-learn LogisticRegression ({}) | classification | {} | **{}** |\n"
    some = (("lbfgs", "segment", "8.32"), ("newton-cholesky", "segment", "1.40"), ("lbfgs", "150 × 4", "2.50"))
    (line,) = summary({"logistic": header + "".join(cells.format(*cell) for cell in some)}).splitlines()[2:]
    assert "logistic-regression 2.5 to 8.32 (2 of 2) | 2 of 2" in line


def test_a_table_as_it_was_made_before_does_not_count() -> None:
    assert len(summary({"forests": TABLE.replace("| method |", "| former |")}).splitlines()) == 2


def test_tables_are_read_by_their_headers() -> None:
    assert [record["rows"] for record in records(TABLE)] == ["150 × 4", *["2,000 × 20"] * 3]


def test_a_word_is_a_section_by_its_beginning_or_a_method_by_its_name() -> None:
    assert [section.name for section in meant([])] == list(NAMES)
    assert {path.stem for path in FOLDER.glob("[a-z]*.py")} == set(FAMILIES)
    assert [(section.name, section.only) for section in meant(["forest"])] == [("forests", frozenset())]
    assert ("forests", frozenset({"extra-trees"})) in [
        (section.name, section.only) for section in meant(["extra-trees"])
    ]
    with pytest.raises(LookupError, match="no benchmark nonsense"):
        meant(["nonsense"])
