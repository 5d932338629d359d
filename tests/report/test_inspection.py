"""What a model does with its columns, beside what must be so: slopes, planes, and columns that mean nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn import inspection as peer
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB

from mlcli.core.findings import Boxplots, Cloud, Curve, Finding, Points, Regions
from mlcli.data.dataset import Dataset
from mlcli.experiment.run.batch import run
from mlcli.experiment.spec.cells import DataSpec, Experiment, ModelSpec, ProtocolSpec, StepSpec
from mlcli.experiment.spec.plan import plan
from mlcli.metrics.registry import metric_named
from mlcli.scoring.clusters import cluster_planes
from mlcli.scoring.importance import inspection_of, permutation_importance
from mlcli.scoring.model_results import ModelResult, score_result
from mlcli.tasks.supervised import LabelAnswers

ROWS = 120


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """y = 3 a - b, and a column that means nothing; the class is whether a is above 0."""
    rng = np.random.default_rng(0)
    a, b, noise = rng.normal(size=(3, ROWS)).round(3)
    rows = (f"{x},{y},{z},{3 * x - y},{'high' if x > 0 else 'low'}\n" for x, y, z in zip(a, b, noise, strict=True))
    path = tmp_path / "line.csv"
    path.write_text("a,b,noise,y,side\n" + "".join(rows), encoding="utf-8")
    return path


def tried(path: Path, target: str, other: str, use: str, kind: str) -> ModelResult:
    """One model, judged; a second target is no feature."""
    text = path.read_text(encoding="utf-8").splitlines()
    place = text[0].split(",").index(other)
    path.write_text("\n".join(",".join(np.delete(line.split(","), place)) for line in text), encoding="utf-8")
    protocol = ProtocolSpec(
        "whole" if kind == "clustering" else "k-fold", {} if kind == "clustering" else {"folds": 3}
    )
    experiment = Experiment((DataSpec(str(path), target, kind),), (ModelSpec(use),), protocol)
    cell = next(cell for cell in plan(experiment) if cell.model.use == use)
    return score_result(run([cell], jobs=1)[0])


def data_of(one: ModelResult) -> Dataset:
    assert isinstance(one.cell_result.cell.dataset, Dataset)
    return one.cell_result.cell.dataset


def found(path: Path, target: str, other: str, use: str, kind: str) -> tuple[ModelResult, list[Finding]]:
    one = tried(path, target, other, use, kind)
    return one, inspection_of(one, use, data_of(one))


def test_a_linear_model_answers_along_its_slopes(table: Path) -> None:
    _, (worth, *curves, plane) = found(table, "y", "side", "linear-regression", "regression")
    assert isinstance(worth, Boxplots)
    assert [name for name, _ in worth.boxes] == ["a", "b", "noise"]
    assert worth.boxes[-1][1] == pytest.approx((0.0,) * 5, abs=1e-9)
    by = {curve.over: curve for curve in curves if isinstance(curve, Curve)}
    for column, slope in (("a", 3.0), ("b", -1.0), ("noise", 0.0)):
        values = [value or 0.0 for value in by[column].series[0][1]]
        assert np.polyfit(by[column].points, values, 1)[0] == pytest.approx(slope, abs=1e-9)
    assert isinstance(plane, Regions)
    x, y = np.meshgrid(plane.x, plane.y)
    assert np.asarray(plane.answers) - (3 * x - y) == pytest.approx(np.zeros_like(x), abs=1e-9)


def test_the_mean_answer_is_that_of_scikit_learn(table: Path) -> None:
    one, (_, curve, *_) = found(table, "y", "side", "linear-regression", "regression")
    worth = permutation_importance(one.cell_result.cell, one.metrics[0])
    assert worth is not None
    assert isinstance(curve, Curve)
    theirs = LinearRegression().fit(worth.train.table.numbers, worth.train.y)
    wanted = peer.partial_dependence(
        theirs, worth.test_rows.table.numbers, [0], custom_values={0: np.array(curve.points)}, method="brute"
    )
    assert curve.series[0][1] == pytest.approx(wanted["average"][0], abs=1e-9)


def test_a_long_file_that_is_sorted_by_class_has_the_importances_of_all_its_rows(tmp_path: Path) -> None:
    """Oracle: scikit-learn's permutation importance of all rows; the first 3,000 are of one class."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(9_600, 2)), np.repeat([0, 1], 4_800)
    X[:, 0] += 1.5 * y
    path = tmp_path / "sorted.csv"
    rows = (f"{a},{b},{'pq'[c]}" for (a, b), c in zip(X.tolist(), y.tolist(), strict=True))
    path.write_text("\n".join(["a,b,y", *rows]), encoding="utf-8")
    experiment = Experiment((DataSpec(str(path), "y"),), (ModelSpec("naive-bayes"),))
    cell = next(cell for cell in plan(experiment) if cell.model.use == "naive-bayes")
    worth = permutation_importance(cell, metric_named("accuracy", LabelAnswers))
    assert worth is not None
    theirs = peer.permutation_importance(GaussianNB().fit(X, y), X, y, n_repeats=2, random_state=0)
    assert list(worth.lost.values()) == pytest.approx(theirs.importances_mean, abs=0.04)


def test_partial_dependence_is_the_mean_over_rows_of_a_whole_sorted_file(tmp_path: Path) -> None:
    """y = a b with a from 0 to 10 in ascending order: by b the mean answer rises by the mean of a, which is 5."""
    a, b = np.linspace(0, 10, 900), np.random.default_rng(1).normal(size=900)
    path = tmp_path / "sorted.csv"
    rows = (f"{x},{z},{x * z}" for x, z in zip(a.tolist(), b.tolist(), strict=True))
    path.write_text("\n".join(["a,b,y", *rows]), encoding="utf-8")
    asked = ModelSpec("linear-regression", steps=(StepSpec("interaction"),))
    experiment = Experiment((DataSpec(str(path), "y"),), (asked,), ProtocolSpec("holdout"))
    cell = next(cell for cell in plan(experiment) if cell.model.use == "linear-regression")
    curves = inspection_of(score_result(run([cell], jobs=1)[0]), "linear", cell.dataset)  # type: ignore[arg-type]
    (by_b,) = (curve for curve in curves if isinstance(curve, Curve) and curve.over == "b")
    slope = np.polyfit(by_b.points, [value or 0.0 for value in by_b.series[0][1]], 1)[0]
    assert slope == pytest.approx(5, abs=0.3)


def test_partial_dependence_weighs_rows_as_scikit_learn_does(table: Path) -> None:
    weights = np.random.default_rng(2).integers(0, 9, ROWS)
    lines = table.read_text(encoding="utf-8").splitlines()
    weighed = [f"{lines[0]},w", *(f"{line},{w}" for line, w in zip(lines[1:], weights, strict=True))]
    table.write_text("\n".join(weighed), encoding="utf-8")
    table.with_suffix(".yaml").write_text("columns: {w: {role: weight}}\n", encoding="utf-8")
    one, (_, curve, *_) = found(table, "y", "side", "linear-regression", "regression")
    worth = permutation_importance(one.cell, one.metrics[0])
    assert worth is not None
    assert isinstance(curve, Curve)
    held = worth.test_rows
    theirs = LinearRegression().fit(worth.train.table.numbers, worth.train.y, worth.train.weights)
    values = {0: np.array(curve.points)}
    wanted = peer.partial_dependence(
        theirs, held.table.numbers, [0], sample_weight=held.weights, custom_values=values, method="brute"
    )
    assert curve.series[0][1] == pytest.approx(wanted["average"][0], abs=1e-9)
    copies = np.repeat(theirs.predict(held.table.numbers), held.weights.astype(int))
    answers = copies - 3 * np.repeat(held.table.numbers[:, 0], held.weights.astype(int)) + 3 * curve.points[0]
    quarters = np.quantile(answers, (0.25, 0.75), method="averaged_inverted_cdf")
    assert curve.bands[0][1][0] == pytest.approx(quarters, abs=1e-9)


def test_classes_have_their_sides_of_the_plane(table: Path) -> None:
    _, (*_, plane) = found(table, "side", "y", "one-r", "classification")
    assert isinstance(plane, Regions)
    assert plane.across == "a"
    wanted = [plane.names.index("high" if x > 0 else "low") for x in plane.x if abs(x) > 0.2]
    for line in plane.answers:
        assert [answer for x, answer in zip(plane.x, line, strict=True) if abs(x) > 0.2] == wanted
    for name, points in plane.groups:
        assert all((x > 0) == (name == "high") for x, _ in points)


def test_clusters_lie_in_the_planes_of_columns_that_tell_them_apart(table: Path) -> None:
    one = tried(table, "side", "y", "k-means", "clustering")
    planes = cluster_planes(one, "k-means", data_of(one))
    assert [type(plane) for plane in planes] == [Points, Cloud]
    assert all(sum(len(points) for _, points in plane.groups) == ROWS for plane in planes)  # type: ignore[attr-defined, misc]
    assert inspection_of(one, "k-means", data_of(one)) == []
