"""An elbow is shown with how certain it is: the places that may as well be it are named."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mlcli.engines.principal_components import elbow, elbow_note, range_of_elbow
from tests.cli.shell import typed

TABLE = Path(__file__).parents[1] / "golden" / "haematology.csv"
COVARIANCE = np.array([31.378604, 4.459708, 3.061992, 1.053974, 0.029136, 0.001793, 0.000380])
CORRELATION = np.array([2.469806, 2.256864, 1.700473, 0.556669, 0.012687, 0.002476, 0.001025])
"""Eigenvalues of the haematology table, by NumPy; the notes read an elbow of 3 to 4 from its plot."""


@pytest.mark.parametrize(("variances", "bend", "places"), [(COVARIANCE, 2, (2, 4)), (CORRELATION, 5, (4, 5))])
def test_the_elbow_of_the_haematology_table_is_uncertain(
    variances: np.ndarray, bend: int, places: tuple[int, int]
) -> None:
    """By hand, in parts of the largest distance below the line: 1, 0.82, 0.68, 0.48; scaled 0.84, 1, 0.50."""
    assert elbow(variances) == bend
    assert range_of_elbow(variances) == places
    first, last = places
    certain = f"which is uncertain: {first} to {last} lie nearly as far below the line"
    assert elbow_note(variances) == f"; the elbow of the plot is at {bend}, {certain}"


@pytest.mark.parametrize("count", [5, 10, 50])
def test_a_sharp_elbow_is_certain(count: int) -> None:
    curve = np.array([10.0, *np.linspace(1.0, 0.9, count)])
    assert range_of_elbow(curve) == (2, 2)
    assert elbow_note(curve) == "; the elbow of the plot is at 2"


def test_the_shell_says_how_certain(tmp_path: Path) -> None:
    path = tmp_path / "haematology.csv"
    path.write_text(TABLE.read_text())
    (tmp_path / "haematology.yaml").write_text("task: projection\n")
    for model, said in (("{use: pca, steps: []}", "uncertain: 2 to 4"), ("pca", "uncertain: 4 to 5")):
        result = typed("train", str(path), "-m", model, "-o", str(tmp_path / "m.mlcli"), "--force")
        assert result.exit_code == 0, result.output
        assert said in " ".join(result.stdout.split())


@pytest.mark.parametrize("points", [np.ones((5, 5), int), np.eye(5, dtype=int)], ids=["equal", "equally far"])
def test_a_straight_line_has_no_elbow(points: np.ndarray, tmp_path: Path) -> None:
    """By hand: equal rows have no inertia; k clusters leave (5 - k) / 4 of that of 5 points equally far apart."""
    path = tmp_path / "line.csv"
    np.savetxt(path, np.tile(points, (6, 1)), fmt="%d", delimiter=",", header="a,b,c,d,e", comments="")
    words = ("--task", "clustering", "-m", "k-means", "-p", "clusters=2..5")
    result = typed("curve", "validation", str(path), *words)
    assert result.exit_code == 0, result.output
    assert "No elbow: no number of clusters lies below the straight line" in " ".join(result.stdout.split())
