"""Cheaper ways to a plane and to its answers: they end where the careful ones do, or say that they cannot."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.core.tables import Array
from mlcli.models.linear._by_corrections import WIDE, plane_by_corrections
from mlcli.models.linear._least_squares import nearest_plane
from mlcli.models.linear._one_pass import corrected, plane_in_one_pass
from mlcli.models.linear._scores import scores
from mlcli.models.linear.linear_regression import LinearRegression
from mlcli.models.linear.ridge import Ridge
from mlcli.tasks.regression import ValuedRows
from tests.golden.asking import fitted
from tests.rows import table_of, valued


def made(rows: int, columns: int, offset: float, weight: Array | None = None) -> ValuedRows:
    """Rows of normal columns about an offset, whole numbers of 1/1024, so that they are exact about any."""
    rng = np.random.default_rng(rows + columns)
    X = np.round(1024 * rng.normal(size=(rows, columns))) / 1024
    y = X @ rng.normal(size=columns) + rng.normal(size=rows)
    table = table_of({f"x{j}": column for j, column in enumerate(X.T + offset)})
    return valued(table, y.tolist(), weight=None if weight is None else weight.tolist())


@pytest.mark.parametrize("offset", [0.0, 3.0, 1e7])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_pass_and_a_correction_end_at_the_careful_plane(offset: float, weighted: bool) -> None:
    weight = np.random.default_rng(1).uniform(0.5, 2.0, size=120) if weighted else None
    data = made(120, 6, offset, weight)
    careful, simple = nearest_plane(data, 0.0, True), plane_in_one_pass(data, 0.0)
    assert simple is not None
    plane, squares = corrected(simple, data)
    residuals = careful.solution.residuals
    assert plane.slopes == pytest.approx(careful.solution.slopes, rel=1e-13)
    assert plane.level == pytest.approx(careful.level, rel=1e-13)
    assert plane.inverse == pytest.approx(careful.solution.inverse, rel=1e-9, abs=1e-12)
    assert squares == pytest.approx(float(residuals @ residuals), rel=1e-12)


def test_a_column_that_nearly_follows_from_others_is_left_to_the_careful_way() -> None:
    data = made(120, 6, 0.0)
    data.table.numbers[:, 5] = data.table.numbers[:, 0] + 1e-6 * data.table.numbers[:, 1]
    assert plane_in_one_pass(data, 0.0) is None


@pytest.mark.parametrize("l2", [1e-3, 1.0, 1e5])
@pytest.mark.parametrize("offset", [0.0, 2.0])
def test_corrections_of_a_rough_start_end_at_the_careful_plane(offset: float, l2: float) -> None:
    data = made(WIDE + 100, WIDE, offset)
    careful, rough = nearest_plane(data, l2, True), plane_by_corrections(data, l2)
    assert rough is not None
    size = np.abs(careful.solution.slopes).max()
    assert rough.slopes == pytest.approx(careful.solution.slopes, abs=1e-12 * size)
    assert rough.level == pytest.approx(careful.level, rel=1e-12)
    assert fitted(Ridge(l2=l2), data).coefficients_.tolist() == rough.slopes.tolist()


def test_rows_that_single_precision_cannot_tell_are_refused() -> None:
    copies, far, flat = (made(WIDE + 100, WIDE, 0.0) for _ in range(3))
    copies.table.numbers[:, 1] = copies.table.numbers[:, 0] * (1 + 1e-9)
    far.table.numbers[:, 0] += 1e7
    flat.table.numbers[:, 0] = 0.0
    assert all(plane_by_corrections(data, 1e-9) is None for data in (copies, far, flat))


@pytest.mark.parametrize("offset", [0.0, 1.0, 1e7])
def test_answers_keep_their_digits_at_any_offset(offset: float) -> None:
    data = made(200, 5, offset)
    model = fitted(LinearRegression(), data)
    told = (data.table.numbers - model.centre_) @ model.coefficients_ + model.level_
    assert model.predict_values(data.table) == pytest.approx(told, abs=1e-13)


def test_answers_of_several_outputs_are_columns() -> None:
    numbers, coefficients = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([[1.0, 0.0], [1.0, -1.0]])
    expected = numbers @ coefficients.T - np.array([1.0, 0.0]) + np.array([10.0, 20.0])
    for unit in (0.0, 1e6):
        found = scores(numbers, np.ones(2), coefficients, np.array([10.0, 20.0]), unit)
        assert found == pytest.approx(expected)
