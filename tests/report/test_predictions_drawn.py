"""What a kept model answers along a column or over a plane, beside worked examples (section 6)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.shell import typed

LANDMARKS = "x1,x2,y\n0,0,1\n2,0,1\n0,2,0\n"
INTERPOLATED = "x,y\n0,1\n1,-1\n3,2\n"
CIRCLE = "a,b,inside\n0,0,yes\n0.2,0.1,yes\n-0.1,0.2,yes\n2,0,no\n-2,0,no\n0,2,no\n0,-2,no\n"


def drawn(tmp_path: Path, rows: str, *words: str) -> list[Any]:
    """The findings whose titles say that answers are drawn."""
    path = tmp_path / "rows.csv"
    path.write_text(rows)
    result = typed("train", str(path), *words, "--json")
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)["findings"]
    return [one for one in found if one["title"].startswith(("Predictions by", "Decision regions by"))]


@pytest.mark.parametrize(
    ("form", "corners"), [("plain", (1.135335, 0.153651)), ("normalised", (0.893493, 0.133187))]
)
def test_the_surface_of_three_landmarks(tmp_path: Path, form: str, corners: tuple[float, float]) -> None:
    model = f"{{use: similarity, params: {{sigma: 1, form: {form}}}, steps: []}}"
    (plane,) = drawn(tmp_path, LANDMARKS, "--target", "y", "--task", "regression", "-m", model)
    assert (plane["x"][0], plane["x"][-1], plane["y"][0], plane["y"][-1]) == (0, 2, 0, 2)
    assert (plane["answers"][0][0], plane["answers"][-1][0]) == pytest.approx(corners, abs=1e-6)


def test_the_curve_that_interpolates_three_rows(tmp_path: Path) -> None:
    model = "{use: rbf-network, params: {gamma: 1, every_row: true, bias: false, rounds: 0}, steps: []}"
    (curve,) = drawn(tmp_path, INTERPOLATED, "--target", "y", "--task", "regression", "-m", model)
    ((name, values),) = curve["series"]
    assert (name, curve["points"][0], curve["points"][-1]) == ("y", 0, 3)
    assert (values[0], values[-1]) == pytest.approx((1.0, 2.0))


def test_decision_regions_of_a_class_in_the_middle(tmp_path: Path) -> None:
    (plane,) = drawn(tmp_path, CIRCLE, "--target", "inside", "-m", "svm")
    middle, corner = plane["answers"][18][24], plane["answers"][0][0]
    assert (plane["names"][int(middle)], plane["names"][int(corner)]) == ("yes", "no")
    assert [len(points) for _, points in plane["groups"]] == [4, 3]


@pytest.mark.parametrize(
    "rows", ["a,b,c,y\n1,2,3,u\n2,1,1,v\n4,2,2,u\n5,5,1,v\n", "a,b,y\n1,p,u\n2,q,v\n4,p,u\n5,q,v\n"]
)
def test_other_columns_are_no_plane(tmp_path: Path, rows: str) -> None:
    assert drawn(tmp_path, rows, "--target", "y", "-m", "naive-bayes") == []
