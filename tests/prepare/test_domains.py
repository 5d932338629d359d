"""Steps that adapt to a second domain, beside the formulas in NumPy, SciPy and scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.linalg import fractional_matrix_power
from sklearn.linear_model import LogisticRegression

from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.params import build
from mlcli.core.pipeline import Pipeline
from mlcli.core.tables import Table
from mlcli.models.discriminants.lda import LinearDiscriminants
from mlcli.models.linear.perceptron import Perceptron
from mlcli.prepare.coral import Coral
from mlcli.prepare.importance_weights import ImportanceWeights
from mlcli.tasks.supervised import LabelledRows, ValuedRows
from tests.golden.asking import asked, fitted
from tests.golden.shipped import in_numbers, with_numbers


def shifted(seed: int = 1) -> tuple[LabelledRows, LabelledRows]:
    """Iris: half of it to learn from, and the other half, stretched and moved, without a class beside it."""
    data, rng = in_numbers("iris"), np.random.default_rng(seed)
    order = rng.permutation(len(data))
    half = data.take(np.sort(order[:75]))
    other = data.take(np.sort(order[75:]))
    turn = np.eye(4) + rng.normal(0, 0.15, (4, 4))
    other = with_numbers(other, other.table.numbers @ turn + np.array([1.0, -0.5, 0.8, 0.0]))
    return half.beside(other.with_hidden_target()), other


def changed(step: Any, data: Any) -> Any:
    """The training rows after a step."""
    step.learn(data, np.random.default_rng(1))
    return step.training_rows(data, np.random.default_rng(1))


def test_after_coral_means_and_covariances_are_equal() -> None:
    data, other = shifted()
    moved = changed(Coral(l2=1e-12), data)
    found, wanted = moved.table.numbers, other.table.numbers
    assert found.mean(axis=0) == pytest.approx(wanted.mean(axis=0), abs=1e-9)
    assert np.cov(found.T) == pytest.approx(np.cov(wanted.T), abs=1e-6)
    assert np.array_equal(moved.y, data.y)


@pytest.mark.parametrize("l2", [1e-6, 0.1, 1.0])
def test_coral_is_the_formula_of_the_paper(l2: float) -> None:
    data, other = shifted()
    X, Z = data.table.numbers, other.table.numbers
    whiten = fractional_matrix_power(np.cov(X.T) + l2 * np.eye(4), -0.5)
    colour = fractional_matrix_power(np.cov(Z.T) + l2 * np.eye(4), 0.5)
    expected = (X - X.mean(axis=0)) @ whiten @ colour
    for means, mean in (("target", Z.mean(axis=0)), ("kept", X.mean(axis=0))):
        found = changed(Coral(l2=l2, means=means), data).table.numbers
        assert found == pytest.approx(expected + mean, abs=1e-9)


@pytest.mark.parametrize("step", [Coral, ImportanceWeights])
def test_values_are_adapted_as_classes_are(step: Any) -> None:
    data, other = shifted()
    valued = [
        ValuedRows(table=rows.table, rows=rows.rows, target="value", y=rows.table.numbers[:, 0])
        for rows in (data, other)
    ]
    found, same = changed(step(), valued[0].beside(valued[1].with_hidden_target())), changed(step(), data)
    assert np.array_equal(found.table.numbers, same.table.numbers)
    assert np.array_equal(found.weights, same.weights)


def test_weights_count_as_repeats_in_coral() -> None:
    data, _ = shifted()
    times = np.arange(len(data)) % 3 + 1
    weighted = replace(data, weight=times.astype(float))
    repeated = data.take(np.repeat(np.arange(len(data)), times))
    found = changed(Coral(), weighted).table.numbers
    assert np.repeat(found, times, axis=0) == pytest.approx(changed(Coral(), repeated).table.numbers, abs=1e-9)


@pytest.mark.parametrize("largest", [1.5, 1000.0])
def test_weights_are_ratios_of_scikit_learns_probabilities(largest: float) -> None:
    data, other = shifted()
    other = with_numbers(other, data.table.numbers[: len(other)] + 0.3)
    data = data.alone().beside(other.with_hidden_target())
    base = {"use": "logistic-regression", "steps": ["min-max"]}
    step = build(ImportanceWeights, {"base": base, "largest": largest})
    X = np.vstack([data.table.numbers, other.table.numbers])
    X = (X - X.min(axis=0)) / np.ptp(X, axis=0)
    domain = np.repeat([0, 1], [len(data), len(other)])
    peer = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(X, domain)
    shares = peer.predict_proba(X[: len(data)])
    ratio = np.minimum(shares[:, 1] / shares[:, 0] * len(data) / len(other), largest)
    assert changed(step, data).weights == pytest.approx(ratio / ratio.mean(), abs=1e-5)


def test_weights_by_normal_densities_are_their_quotient() -> None:
    """Two normals of variance 1 at 0 and 1, which lda tells apart: log w = x − ½, in the limit."""
    rng = np.random.default_rng(3)
    data = in_numbers("iris").take(np.arange(4000) % 150)
    rows = data.with_table(Table.of([(data.table.columns[0], rng.normal(0, 1, 4000))], 4000))
    other = with_numbers(rows, rng.normal(1, 1, (4000, 1))).with_hidden_target()
    step = build(ImportanceWeights, {"base": "lda", "largest": 1e9})
    found = np.log(changed(step, rows.beside(other)).weights)
    x = rows.table.numbers[:, 0]
    slope, start = np.polyfit(x, found, 1)
    assert (slope, start) == pytest.approx((1.0, -0.5), abs=0.1)


def test_rows_that_are_asked_about_stay_and_models_without_unlabelled_rows_profit() -> None:
    data, other = shifted()
    true = in_numbers("iris").take(other.rows)
    other = with_numbers(true, 1.4 * true.table.numbers + np.array([1.0, -1.0, 2.0, 1.0]))
    data = data.alone().beside(other.with_hidden_target())
    plain = asked(fitted(LinearDiscriminants(), data.alone()), other)
    piped = Pipeline(steps=(Coral(),), model=LinearDiscriminants())
    assert piped.accepts.unlabelled
    moved = asked(fitted(piped, data), other)
    assert np.mean(moved.predicted == other.y) > np.mean(plain.predicted == other.y) + 0.05
    assert np.array_equal(piped.prepared(other.table).numbers, other.table.numbers)


@pytest.mark.parametrize("step", [Coral, ImportanceWeights])
def test_without_another_domain_nothing_is_changed_and_that_is_told(step: Any) -> None:
    data = in_numbers("iris")
    with pytest.warns(MlcliWarning, match="no rows of another domain"):
        found = changed(step(), data)
    assert np.array_equal(found.table.numbers, data.table.numbers)
    assert np.array_equal(found.weights, data.weights)


def test_a_model_that_takes_no_weights_is_refused() -> None:
    data, _ = shifted()
    with pytest.raises(FitError, match="importance-weights weighs rows"):
        fitted(Pipeline(steps=(ImportanceWeights(),), model=Perceptron()), data)
