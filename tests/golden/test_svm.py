"""Support vector machines beside LIBSVM, beside refits, and a pair worked out by hand (docs/notes.md 15-17)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from mlcli.core.errors import FitError, MlcliWarning, UsageError
from mlcli.core.findings import Histogram
from mlcli.core.params import build
from mlcli.models.kernel_methods.svm import SupportVectorMachine
from tests.golden.asking import answered, asked, fitted, right_by_leave_one_out
from tests.golden.discriminants import rows
from tests.support.rows import labelled, table_of
from tests.support.shell import document, typed

TIGHT = 1e-9
KERNELS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"gamma": 0.3}, {"gamma": 0.3}),
    ({"sigma": 2.0}, {"gamma": 1 / 8}),
    ({"kernel": "linear"}, {"kernel": "linear"}),
    ({"kernel": "polynomial", "offset": 2.0, "degree": 2}, {"kernel": "poly", "coef0": 2.0, "degree": 2}),
    ({"C": 30.0}, {"C": 30.0}),
    ({"class_weight": "balanced"}, {"class_weight": "balanced"}),
]


def scaled(load: Any, some: slice = slice(None, None, 3)) -> Any:
    """Every third row of a dataset, on one scale."""
    X, y = load(return_X_y=True)
    X, y = X[some], y[some]
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def theirs(X: Any, y: Any, weight: Any = None, **params: Any) -> Any:
    """What LIBSVM decides between each pair: above 0 for the second class, as it is here."""
    model = SVC(**params, tol=TIGHT, decision_function_shape="ovo").fit(X, y, sample_weight=weight)
    decided = model.decision_function(X).reshape(len(X), -1)
    return decided if len(model.classes_) == 2 else -decided


def near(expected: Any) -> Any:
    """To six digits of the largest: LIBSVM keeps its matrix in single precision."""
    return pytest.approx(expected, abs=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
@pytest.mark.parametrize(("params", "their_params"), KERNELS)
def test_every_machine_decides_as_libsvm_does(load: Any, params: Any, their_params: Any) -> None:
    X, y = scaled(load)
    data = rows(X, y)
    model = fitted(SupportVectorMachine(tolerance=TIGHT, **params), data)
    assert model.decisions(data.table) == near(theirs(X, y, **their_params))


def test_weights_are_costs_as_in_libsvm() -> None:
    X, y = scaled(load_breast_cancer)
    weight = np.random.default_rng(0).uniform(0.2, 3.0, len(y))
    data = rows(X, y, weight)
    model = fitted(SupportVectorMachine(tolerance=TIGHT, gamma=0.1), data)
    assert model.decisions(data.table) == near(theirs(X, y, weight, gamma=0.1))


def test_one_against_rest_is_a_machine_for_each_class_and_the_largest_wins() -> None:
    X, y = scaled(load_wine)
    data = rows(X, y)
    model = fitted(SupportVectorMachine(multiclass="one-against-rest", tolerance=TIGHT, gamma=0.1), data)
    rest = OneVsRestClassifier(SVC(gamma=0.1, tol=TIGHT)).fit(X, y)
    assert model.decisions(data.table) == near(rest.decision_function(X))
    assert np.array_equal(asked(model, data).predicted, rest.predict(X))


def test_two_rows_have_the_plane_half_way_between_them() -> None:
    """(0, 0) is -1 and (2, 0) is +1: α = ½ and ½, w = (1, 0), b = -1, margin 1, both are support vectors."""
    data = labelled(table_of({"x": [0.0, 2.0], "y": [0.0, 0.0]}), ["minus", "plus"])
    model = fitted(SupportVectorMachine(kernel="linear", C=None), data)
    signed = dict(zip(model.points_[:, 0].tolist(), model.coefficients_[:, 0].tolist(), strict=True))
    assert signed == pytest.approx({0.0: -0.5, 2.0: 0.5})
    assert model.coefficients_.T @ model.points_ == pytest.approx(np.array([[1.0, 0.0]]))
    assert (model.offsets_[0], 1 / model.norms_[0]) == pytest.approx((-1.0, 1.0))
    machines, support, bounds, multipliers, weights, _ = model.explain()
    assert machines.rows == (("plus against minus", pytest.approx(1.0), pytest.approx(-1.0), 2),)
    assert support.rows == (("minus", 1, 0, 0), ("plus", 1, 0, 0))
    assert dict(multipliers.rows) == pytest.approx({"1": -0.5, "2": 0.5})
    assert weights.rows == (("x", pytest.approx(1.0)), ("y", pytest.approx(0.0)))
    assert dict(bounds.rows)["support vectors / (N − 1)"] == 1.0


def test_a_hard_margin_is_a_soft_one_of_any_large_cost() -> None:
    X, y = scaled(load_iris, slice(0, 100))
    data = rows(X, y)
    model = fitted(SupportVectorMachine(kernel="linear", C=None, tolerance=TIGHT), data)
    assert model.decisions(data.table) == near(theirs(X, y, kernel="linear", C=1e6))
    assert np.abs(model.decisions(data.table)).min() == pytest.approx(1.0)


def test_a_hard_margin_between_classes_that_overlap_is_told() -> None:
    X, y = scaled(load_iris, slice(50, 150))
    with pytest.warns(MlcliWarning, match="no plane keeps all rows off a hard margin"):
        fitted(SupportVectorMachine(kernel="linear", C=None), rows(X, y))


def test_support_vectors_are_counted_by_where_they_lie() -> None:
    X, y = scaled(load_breast_cancer)
    model = fitted(SupportVectorMachine(tolerance=TIGHT, gamma=0.02), rows(X, y))
    peer = SVC(gamma=0.02, tol=TIGHT).fit(X, y)
    costs = np.abs(peer.dual_coef_[0])
    for k, counts in enumerate(model.support_):
        of = costs[y[peer.support_] == k]
        assert counts.tolist() == [(of < 1).sum(), (of == 1).sum(), (y == k).sum() - len(of)]


def test_the_span_tells_what_leaving_a_row_out_would_do() -> None:
    X, y = scaled(load_breast_cancer, slice(None, None, 6))
    model = SupportVectorMachine(gamma=0.02, C=2.0, tolerance=1e-6)
    errors = fitted(model, rows(X, y)).errors_
    right = right_by_leave_one_out(model, rows(X, y))
    assert errors[1] * len(y) == pytest.approx(len(y) - right, abs=1)
    assert len(y) - right <= model.support_[:, :2].sum()


def test_probabilities_are_as_likely_as_platts_on_inner_folds() -> None:
    X, y = scaled(load_breast_cancer, slice(None))
    train, test = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
    ours = asked(fitted(SupportVectorMachine(), rows(X[train], y[train])), rows(X[test], y[test])).probabilities
    platt = CalibratedClassifierCV(SVC(), ensemble=False, cv=5).fit(X[train], y[train])
    peer = platt.predict_proba(X[test])
    loss, their_loss = (-np.log(shares[np.arange(len(test)), y[test]]).mean() for shares in (ours, peer))
    assert loss < their_loss + 0.02


def matrix_rows(K: Any, y: Any) -> Any:
    """Rows of a kernel matrix, beside a column that is none of it."""
    columns = {f"k_{j + 1}": column.tolist() for j, column in enumerate(K.T)}
    return labelled(table_of({"other": list(map(float, y)), **columns}), [str(label) for label in y])


def test_a_precomputed_kernel_gives_what_its_function_gives() -> None:
    X, y = scaled(load_iris)
    data = matrix_rows(np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2)), y)
    train, test = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
    model = fitted(SupportVectorMachine(kernel="precomputed", matrix="k_", tolerance=TIGHT), data.take(train))
    plain = fitted(SupportVectorMachine(gamma=0.3, tolerance=TIGHT), rows(X[train], y[train]))
    expected = plain.decisions(rows(X[test], y[test]).table)
    assert model.decisions(data.take(test).table) == pytest.approx(expected, abs=1e-6)
    assert not model.accepts.prefers_scaled


@pytest.mark.parametrize(
    ("K", "refusal"),
    [
        ([[1.0, 0.5], [0.4, 1.0]], "not symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], "negative eigenvalue"),
        ([[1.0], [0.0]], "1 columns, and there is a row 2"),
    ],
)
def test_a_matrix_that_is_no_kernel_is_refused(K: Any, refusal: str) -> None:
    with pytest.raises(FitError, match=refusal):
        answered(SupportVectorMachine(kernel="precomputed", matrix="k_"), matrix_rows(np.array(K), [0, 1]))


@pytest.mark.parametrize("params", [{"kernel": "precomputed"}, {"matrix": "k_"}, {"gamma": 1.0, "sigma": 1.0}])
def test_parameters_that_contradict_each_other_are_refused(params: Any) -> None:
    with pytest.raises(UsageError):
        build(SupportVectorMachine, params)


def test_the_distances_of_two_classes_are_shown() -> None:
    X, y = scaled(load_breast_cancer)
    shown = [one for one in fitted(SupportVectorMachine(), rows(X, y)).explain() if isinstance(one, Histogram)]
    assert [sum(counts) for _, counts in shown[0].counts] == np.bincount(y).tolist()


def test_of_many_coefficients_the_largest_are_shown_and_of_many_machines_none() -> None:
    X, y = scaled(load_breast_cancer)
    model = fitted(SupportVectorMachine(C=30.0), rows(X, y))
    (told,) = [one for one in model.explain() if one.title == "Coefficients αy"]
    largest = np.sort(np.abs(model.coefficients_[:, 0]))[::-1][:10]
    assert [abs(value) for _, value in told.rows] == pytest.approx(largest.tolist())
    by_row = dict(zip((model.rows_ + 1).tolist(), model.coefficients_[:, 0].tolist(), strict=True))
    assert all(by_row[int(row)] == value for row, value in told.rows)
    five = fitted(SupportVectorMachine(), rows(X, np.arange(len(X)) % 5))
    assert not [one for one in five.explain() if one.title == "Coefficients αy"]


def test_coefficients_are_those_of_the_positive_class() -> None:
    words = ("train", "weather_nominal", "-m", "{use: svm, params: {kernel: linear}}", "--json")
    found = {}
    for positive in ("yes", "no"):
        tables = {table["title"]: table for table in document(typed(*words, "--positive", positive))["findings"]}
        found[positive] = [tables[title] for title in ("Binary classifiers", "Coefficients αy", "Weights")]
        other = "no" if positive == "yes" else "yes"
        assert found[positive][0]["rows"][0][0] == f"{positive} against {other}"
        assert found[positive][1]["header"][-1] == f"{positive} against {other}"
    for of_yes, of_no in zip(found["yes"][1:], found["no"][1:], strict=True):
        assert {name: -value for name, value in of_no["rows"]} == pytest.approx(dict(of_yes["rows"]))
