"""Values that methods choose themselves: a warning where the choice is at the end of the values tried."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mlcli.core.errors import MlcliWarning
from mlcli.core.tables import Array
from mlcli.models.linear.elastic_net import ElasticNet, PenaltyPath
from mlcli.models.linear.lasso import Lasso
from mlcli.tasks.supervised import ValuedRows
from tests.golden.asking import fitted
from tests.support.rows import table_of, valued
from tests.support.shell import typed

SMALLEST = "is the smallest of those it tries"


def plane(noise: float, unit: float = 1.0) -> ValuedRows:
    """Rows near a plane in five columns, with a target in some unit."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 5))
    y = unit * (X @ [3.0, -2.0, 1.0, 0.5, 0.2] + noise * rng.standard_normal(400))
    return valued(table_of({f"x{j}": X[:, j].tolist() for j in range(5)}), y.tolist())


def squares(y: Array, predicted: Array) -> float:
    """The sum of squared errors."""
    return float(((y - predicted) ** 2).sum())


@pytest.mark.parametrize("unit", [1.0, 4_000.0])
def test_the_unit_of_the_target_does_not_end_the_path_early(unit: float) -> None:
    """Least squares by NumPy. In large units the old end of the path was still a large penalty on squares."""
    data = plane(0.1, unit)
    X = np.column_stack([np.ones(len(data)), data.table.numbers])
    least = squares(data.y, X @ np.linalg.lstsq(X, data.y)[0])
    with pytest.warns(MlcliWarning, match=SMALLEST):
        model = fitted(ElasticNet(), data)
    assert squares(data.y, model.predict_values(data.table)) < 1.001 * least


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", [ElasticNet, Lasso])
@pytest.mark.parametrize("noise", [0.01, 0.3, 3.0])
def test_the_path_ends_where_the_criterion_turns_or_levels(method: type[PenaltyPath], noise: float) -> None:
    model = fitted(method(), plane(noise, 1_000.0))
    before, last = model.criterion_[-2:]
    assert last > model.criterion_.min() or before - last < 1e-3


@pytest.mark.filterwarnings("ignore")
def test_tuning_tries_as_far_as_the_path_goes() -> None:
    data = plane(0.1, 4_000.0)
    model = fitted(ElasticNet(), data)
    tried = model.search_range("strength", data)
    assert tried is not None
    assert tried.low == pytest.approx(model.strengths_[-1])


def write_csv(path: Path, X: Array, y: Array) -> str:
    """A table of numbers with the target y."""
    names = [f"x{j}" for j in range(X.shape[1])]
    np.savetxt(path, np.column_stack([X, y]), delimiter=",", header=",".join([*names, "y"]), comments="")
    return str(path)


@pytest.fixture
def wave(tmp_path: Path) -> str:
    """Thirty periods on 600 rows: a kernel that sees them is narrower than any that is tried."""
    x = np.linspace(0, 1, 600)
    return write_csv(tmp_path / "wave.csv", x[:, None], np.sin(60 * np.pi * x))


def test_similarity_says_that_its_width_lies_at_the_end(wave: str, tmp_path: Path) -> None:
    printed = typed("eval", wave, "-m", "similarity", "--store", str(tmp_path / "s.db")).output
    assert "the gamma that similarity chose is the largest of those it tries" in " ".join(printed.split())


def test_kde_says_that_its_bandwidth_lies_at_the_end(tmp_path: Path) -> None:
    """Two tight heaps far apart: Scott's bandwidth follows from their distance."""
    x = np.random.default_rng(1).standard_normal(200) * 1e-3 + np.repeat([0.0, 1.0], 100)
    path = tmp_path / "heaps.csv"
    np.savetxt(path, np.column_stack([x, x]), delimiter=",", header="a,b", comments="")
    words = ("eval", str(path), "--task", "density", "-m", "kde", "-p", "bandwidth=likelihood")
    printed = typed(*words, "-p", "covariance=diagonal", "--store", str(tmp_path / "s.db")).output
    assert "the bandwidth that kde chose is the smallest of those it tries" in " ".join(printed.split())


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        (("gradient-boosting", "-p", "rounds=2", "-p", "stop_after=1"), "more rounds may be better"),
        (("newton-boosting", "-p", "rounds=2", "-p", "stop_after=1"), "more rounds may be better"),
        (("mlp", "-p", "epochs=2", "-p", "validation=0.2"), "more epochs may be better"),
    ],
)
def test_early_stopping_says_that_the_last_stage_was_best(
    settings: tuple[str, ...], text: str, tmp_path: Path
) -> None:
    x = np.random.default_rng(1).uniform(0, 1, (400, 2))
    path = write_csv(tmp_path / "bend.csv", x, 10 * x[:, 0] + x[:, 1] ** 2)
    printed = typed("eval", path, "-m", *settings, "--store", str(tmp_path / "s.db")).output
    assert text in " ".join(printed.split())


def test_validation_curve_says_that_the_best_value_is_the_last_tried(wave: str) -> None:
    printed = typed("curve", "validation", wave, "-m", "similarity", "-p", "gamma=1,16,1000").output
    assert "1000 is at the end of the values tried" in " ".join(printed.split())
