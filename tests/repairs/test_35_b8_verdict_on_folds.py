"""The verdict on folds is shown unasked where they vary by more than their rows explain, else with -v."""

from __future__ import annotations

from pathlib import Path

from tests.cli.shell import typed

NOT_CONSISTENT = "naive-bayes: accuracy over the splits is not consistent"


def shown_for(shares: tuple[int, ...], rows: int, folder: Path, *options: str) -> str:
    """Folds of which `x` tells the class in so many percent of the rows."""
    lines = ["x,fold,y"]
    for fold, share in enumerate(shares):
        for row in range(rows):
            label, right = row % 2, 100 * row < share * rows
            lines.append(f"{label if right else 1 - label},{fold},{'yes' if label else 'no'}")
    (folder / "folds.csv").write_text("\n".join(lines) + "\n")
    words = ("-m", "naive-bayes", "--protocol", "given", "--metric", "accuracy", "-j", "1", *options)
    return " ".join(typed("eval", str(folder / "folds.csv"), *words).stdout.split())


def test_the_inconsistent_folds_of_the_notes_are_told_unasked(tmp_path: Path) -> None:
    assert NOT_CONSISTENT in shown_for((80, 44, 99, 60, 87), 100, tmp_path)


def test_a_fold_that_stands_apart_is_named_unasked(tmp_path: Path) -> None:
    said = shown_for((92, 91, 92, 60, 92), 100, tmp_path)
    assert f"{NOT_CONSISTENT}: outlier split: fold 4 (0.600)" in said


def test_what_chance_explains_is_told_where_it_is_asked_for(tmp_path: Path) -> None:
    """34 rows a fold, of which one has 3 wrong: a verdict by the rule of the notes, yet what chance gives."""
    shares = (100, 100, 100, 100, 91, 100, 100)
    assert NOT_CONSISTENT not in shown_for(shares, 34, tmp_path)
    assert NOT_CONSISTENT in shown_for(shares, 34, tmp_path, "-v")


def test_consistent_folds_have_no_verdict_below_the_table(tmp_path: Path) -> None:
    assert "not consistent" not in shown_for((92, 91, 92, 93, 92), 100, tmp_path, "-v")
