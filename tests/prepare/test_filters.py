"""Filters score columns as scikit-learn, SciPy and the worked examples do, and see training rows only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2_contingency, pearsonr
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.feature_selection import f_classif, r_regression
from sklearn.metrics import mutual_info_score

from mlcli.core.errors import UsageError
from mlcli.core.findings import Bars
from mlcli.core.params import build
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.prepare._selecting import best_of, ranked
from mlcli.prepare.anova import Anova
from mlcli.prepare.cfs import CorrelationBasedSelection, symmetrical_uncertainty
from mlcli.prepare.chi_square import ChiSquare, log_improbability
from mlcli.prepare.correlation import Correlation
from mlcli.prepare.discretise import codes_of, equal_frequency
from mlcli.prepare.mutual_information import MutualInformation
from mlcli.prepare.signal_to_noise import SignalToNoise
from tests.golden.weather import weather
from tests.support.rows import labelled, table_of, valued

WDBC, IRIS, DIABETES = load_breast_cancer(), load_iris(), load_diabetes()


def numbers(X: Any) -> Table:
    return Table(tuple(Column(f"x{j}") for j in range(X.shape[1])), X, np.empty((len(X), 0), np.int32))


def of_classes(loaded: Any) -> Any:
    return labelled(numbers(loaded.data), [str(y) for y in loaded.target])


def learned(step: Any, data: Any) -> Any:
    step.learn(data, np.random.default_rng(1))
    return step


@pytest.mark.parametrize(("form", "ratio"), [("golub", 4 / 3), ("squared", 16 / 3), ("fisher", 3.2)])
def test_signal_to_noise_of_the_worked_example(form: str, ratio: float) -> None:
    data = labelled(table_of({"x": [4.0, 6.0, 8.0, 1.0, 3.0, 2.0]}), ["+"] * 3 + ["-"] * 3)
    assert learned(SignalToNoise(form=form), data).scores_ == pytest.approx(ratio, rel=1e-12)
    tenths = replace(data, table=numbers(10 * data.table.numbers))
    factor = 10 if form == "squared" else 1
    assert learned(SignalToNoise(form=form), tenths).scores_ == pytest.approx(factor * ratio, rel=1e-12)


@pytest.mark.parametrize("loaded", [WDBC, IRIS], ids=["wdbc", "iris"])
def test_f_values_are_those_of_scikit_learn(loaded: Any) -> None:
    expected, chances = f_classif(loaded.data, loaded.target)
    step = learned(Anova(), of_classes(loaded))
    assert step.scores_ == pytest.approx(expected, rel=1e-9)
    (bars,) = step.explain()
    assert bars.beside[0] == pytest.approx(chances[np.argsort(-expected)], rel=1e-6, abs=1e-300)


def test_correlations_are_those_of_scikit_learn_and_of_scipy() -> None:
    data = valued(numbers(DIABETES.data), DIABETES.target.tolist())
    expected = np.abs(r_regression(DIABETES.data, DIABETES.target))
    assert learned(Correlation(), data).scores_ == pytest.approx(expected, rel=1e-9)
    one = abs(pearsonr(WDBC.data[:, 0], WDBC.target).statistic)
    assert learned(Correlation(), of_classes(WDBC)).scores_[0] == pytest.approx(one, rel=1e-9)


def test_correlation_leaves_out_empty_cells() -> None:
    X = DIABETES.data.copy()
    X[::7, 0] = np.nan
    known = ~np.isnan(X[:, 0])
    found = learned(Correlation(), valued(numbers(X), DIABETES.target.tolist())).scores_[0]
    assert found == pytest.approx(abs(pearsonr(X[known, 0], DIABETES.target[known]).statistic), rel=1e-9)


def test_information_of_the_worked_example() -> None:
    """SOURCES.md, section 5: in bits the information gain, in nats beside it."""
    found = learned(MutualInformation(keep=1), weather())
    assert found.scores_ == pytest.approx([0.246750, 0.029223, 0.151836, 0.048127], abs=1e-6)
    nats = learned(MutualInformation(unit="nats"), weather()).scores_
    assert nats == pytest.approx([0.171034, 0.020256, 0.105244, 0.033359], abs=1e-6)
    assert found.kept() == ["outlook"]


def test_information_of_numbers_in_bins_is_that_of_scikit_learn() -> None:
    found = learned(MutualInformation(bins=6, unit="nats"), of_classes(IRIS)).scores_
    for column, score in zip(IRIS.data.T, found, strict=True):
        codes = codes_of(column, equal_frequency(column, np.ones(150), 6))
        assert score == pytest.approx(mutual_info_score(codes, IRIS.target), abs=1e-12)


def test_chi_square_of_the_worked_example() -> None:
    found = learned(ChiSquare(), weather()).scores_
    assert found == pytest.approx(-np.log10([0.169766, 0.751875, 0.094264, 0.333998]), abs=1e-5)


def test_what_is_shown_of_chi_square_is_the_worked_example() -> None:
    (bars,) = learned(ChiSquare(), weather()).explain()
    assert isinstance(bars, Bars)
    assert bars.header == ("column", "−log10 p", "χ²", "degrees of freedom", "p", "")
    assert bars.labels == ("humidity", "outlook", "windy", "temperature")
    statistics, freedom, chances, _ = bars.beside
    assert statistics == pytest.approx([2.8, 3.546667, 0.933333, 0.570370], abs=1e-6)
    assert freedom == (1, 2, 1, 2)
    assert chances == pytest.approx([0.094264, 0.169766, 0.333998, 0.751875], abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_chi_square_is_that_of_scipy(seed: int) -> None:
    counts = np.random.default_rng(seed).integers(1, 30, (4, 3)).astype(float)
    expected = chi2_contingency(counts, correction=False)
    assert log_improbability(counts) == pytest.approx(-np.log10(expected.pvalue), rel=1e-9)


def test_chi_square_far_out_is_still_told() -> None:
    counts = np.array([[3000.0, 0.0, 4.0], [0.0, 3000.0, 4.0]])
    statistic, underflown, freedom, _ = chi2_contingency(counts, correction=False)
    assert (underflown, freedom) == (0.0, 2)
    # With two degrees of freedom the tail is exp(−χ²/2).
    assert log_improbability(counts) == pytest.approx(statistic / 2 / np.log(10), rel=1e-9)


def test_cfs_keeps_one_of_two_that_say_the_same() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, 400), rng.integers(0, 2, 400)
    columns = {"a": a, "again": a, "noise": rng.integers(0, 2, 400), "b": b}
    table = table_of({name: np.array(["u", "v"])[codes].tolist() for name, codes in columns.items()})
    assert learned(CorrelationBasedSelection(), labelled(table, (a + b).astype(str).tolist())).kept() == ["a", "b"]


def test_the_merit_is_that_of_the_paper() -> None:
    """Hall 1999, equation 4.2, over all subsets of four columns."""
    data = weather()
    step = learned(CorrelationBasedSelection(patience=50), data)
    codes = [*data.table.codes.T, data.y]
    su = np.array([[symmetrical_uncertainty(one, other, data.weights) for one in codes] for other in codes])
    merits = {}
    for bits in range(1, 16):
        subset = [j for j in range(4) if bits >> j & 1]
        k, pairs = len(subset), [su[i, j] for i in subset for j in subset if i < j]
        mean = np.mean(pairs) if pairs else 0.0
        merits[tuple(subset)] = k * su[subset, 4].mean() / np.sqrt(k + k * (k - 1) * mean)
    best = max(merits, key=lambda one: merits[one])
    assert step.merit_ == pytest.approx(merits[best], rel=1e-9)
    assert np.flatnonzero(step.kept_).tolist() == list(best)


def test_how_many_are_kept() -> None:
    data = of_classes(IRIS)
    kept = [learned(Anova(keep=keep), data).kept_.sum() for keep in (0.1, 0.5, 0.51, 1, 3, 99)]
    assert kept == [1, 2, 3, 1, 3, 4]
    with pytest.raises(UsageError, match=r"a share below 1; got 2\.5"):
        build(Anova, {"keep": 2.5})


def test_of_equal_scores_the_first_goes_first_and_what_is_not_known_last() -> None:
    assert ranked(np.array([0.3, np.nan, 0.1 + 0.2, np.inf, -1.0])) == [3, 0, 2, 4, 1]
    assert best_of(np.array([1.0, 1.0, 1.0]), 2).tolist() == [True, True, False]


def test_as_many_are_kept_as_serve_a_model_in_inner_folds() -> None:
    """Beside two columns that tell the class, 28 of noise do neighbours harm."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 30))
    X[:, [3, 7]] += 1.5 * y[:, None]
    step = learned(build(Anova, {"keep": None, "base": "knn"}), labelled(numbers(X), y.astype(str).tolist()))
    assert {"x3", "x7"} <= set(step.kept())
    assert len(step.kept()) <= 6
    with pytest.raises(UsageError, match="'base' is used only if keep is none"):
        build(Anova, {"keep": 2, "base": "lda"})
