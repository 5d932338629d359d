"""An interval is shown by its ends if its sides differ by more than a fifth, else by its half-width."""

from __future__ import annotations

import pytest

from mlcli.metrics.base import Summary
from mlcli.report.document import GridCell, grid
from mlcli.report.formats.csv import csv_of
from mlcli.report.page import Page
from mlcli.report.views.score_table import score_cell
from tests.support.shell import document, typed


@pytest.mark.parametrize(
    ("mean", "low", "high", "shown"),
    [
        (1.074, 0.698, 2.882, "1.074 [0.698, 2.882]"),  # was 1.074 ±1.808
        (0.980, 0.955, 0.991, "0.980 [0.955, 0.991]"),
        (0.600, 0.500, 0.690, "0.600 ±0.100"),  # 0.09 is nine tenths of 0.10
        (0.600, 0.500, 0.679, "0.600 [0.500, 0.679]"),
        (0.600, 0.500, 0.681, "0.600 ±0.100"),
        (0.500, 0.4997, 0.5001, "0.500 ±<.001"),  # what differs is not seen in three decimals
        (-0.30, -0.90, 0.10, "-0.300 [-0.900, 0.100]"),
        (0.5, None, None, "0.500"),
    ],
)
def test_ends_are_shown_where_the_sides_differ_by_more_than_a_fifth(
    mean: float, low: float | None, high: float | None, shown: str
) -> None:
    summary = Summary("accuracy", mean, low=low, high=high)
    assert score_cell(summary, 3, None).written == shown
    assert score_cell(summary, 3, f"{mean:.3f}").written == f"*{shown}"


def test_both_forms_are_explained_and_agree_with_json() -> None:
    """The table of a command beside its JSON, metric by metric."""
    words = ("eval", "iris", "-m", "lda", "-m", "zero-r", "--metric", "accuracy", "-j", "1")
    shown = typed(*words).stdout
    assert "± half-width of the 95 % confidence interval" in shown
    assert "[low, high] 95 % confidence interval whose sides differ by more than a fifth" in " ".join(
        shown.split()
    )
    (lda,) = (
        cell["metrics"]["accuracy"]
        for cell in document(typed(*words, "--json"))["cells"]
        if cell["model"] == "lda"
    )
    assert f"*{lda['mean']:.3f} [{lda['low']:.3f}, {lda['high']:.3f}]" in shown


def test_csv_has_a_column_for_each_part_of_an_interval() -> None:
    cells: list[list[str | GridCell]] = [
        ["a", GridCell("0.9", "best", mark="*", ends=("0.5", "0.95"))],
        ["b", GridCell("0.8", reach="0.1")],
        ["c", "undefined"],
    ]
    shown = csv_of((grid(["model", "auc"], cells, right=[1]),), Page(80)).splitlines()
    assert shown == ["model,auc,auc ±,auc low,auc high", "a,0.9,,0.5,0.95", "b,0.8,0.1,,", "c,undefined,,,"]
