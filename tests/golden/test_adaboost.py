"""AdaBoost: the weather rows of the worked examples, and scikit-learn's SAMME round by round."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier
from sklearn.naive_bayes import GaussianNB

from mlcli.core.errors import MlcliWarning
from mlcli.core.params import build
from mlcli.models.ensembles.adaboost import AdaBoost
from tests.golden.asking import answered, asked, fitted
from tests.golden.shipped import in_numbers
from tests.golden.weather import weather


def adaboost(**params: Any) -> Any:
    return build(AdaBoost, params)


def test_the_weather_rows_over_one_r() -> None:
    """SOURCES.md, 1.4."""
    model = fitted(adaboost(base="one-r", rounds=3), weather())
    assert model.errors_ == pytest.approx([4 / 14, 0.275, 0.263323], abs=1e-6)
    assert model.alphas_ == pytest.approx([0.458145, 0.484700, 0.514384], abs=1e-6)
    assert model.training_ * 14 == pytest.approx([4, 4, 2])
    _, rounds, curve = model.explain()
    learned, norms = [row[1] for row in rounds.rows], [row[4] for row in rounds.rows]
    assert learned == [f"One rule on {column}" for column in ("outlook", "humidity", "outlook")]
    assert norms == pytest.approx([0.903508, 0.893029, 0.880872], abs=1e-6)
    # Each of 14 rows weighs 1/14 before the first round, then 0.05 where that is right and 0.125 where it is not.
    assert rounds.rows[0][5:] == pytest.approx((0.05 * 14, 0.125 * 14), abs=1e-6)
    bound = dict(curve.series)["bound on it"]
    assert bound == pytest.approx(np.cumprod([0.903508, 0.893029, 0.880872]), abs=1e-6)


def test_a_row_is_explained_by_the_votes_of_rounds() -> None:
    """The votes α of SOURCES.md, 1.4, of which each goes to the class that its round answers."""
    data = weather()
    model = fitted(adaboost(base="one-r", rounds=3), data)
    (table,) = model.explain_answer(data.table.take(np.array([11])))
    assert [line[0] for line in table.rows[:2]] == ["1 One rule on outlook", "2 One rule on humidity"]
    assert [line[1] for line in table.rows[:3]] == pytest.approx([0.458145, 0.484700, 0.514384], abs=1e-6)
    shares = np.array([line[2:] for line in table.rows[:3]])
    assert table.rows[3][2:] == pytest.approx(model.alphas_ @ shares / model.alphas_.sum())


@pytest.mark.parametrize("name", ["wine", "iris"])
def test_rounds_are_those_of_scikit_learn(name: str) -> None:
    """Gaussian naive Bayes has no ties to decide; scikit-learn's weights are twice α."""
    data = in_numbers(name)
    oracle = AdaBoostClassifier(GaussianNB(var_smoothing=0), n_estimators=12)
    oracle.fit(data.table.numbers, data.y)
    model = fitted(adaboost(base="naive-bayes", rounds=12), data)
    rounds = len(model.models_)
    assert rounds >= 3
    assert 2 * model.alphas_ == pytest.approx(oracle.estimator_weights_[:rounds], rel=1e-6)
    assert model.errors_ == pytest.approx(oracle.estimator_errors_[:rounds], abs=1e-9)
    assert np.array_equal(asked(model, data).predicted, oracle.predict(data.table.numbers))


def test_stumps_are_right_as_often_as_those_of_scikit_learn() -> None:
    right = np.zeros(2)
    for name in ("ionosphere", "wdbc", "glass"):
        data = in_numbers(name)
        part = np.random.default_rng(1).permutation(len(data)) % 4
        train, test = (data.take(np.flatnonzero(mask)) for mask in (part != 0, part == 0))
        theirs = AdaBoostClassifier(n_estimators=100).fit(train.table.numbers, train.y).predict(test.table.numbers)
        ours = asked(fitted(adaboost(), train), test).predicted
        right += [np.mean(ours == test.y), np.mean(theirs == test.y)]
    assert abs(right[0] - right[1]) / 3 < 0.05


def test_resampled_rows_teach_a_base_that_takes_no_weights() -> None:
    answers = answered(adaboost(by="resampling", rounds=20), in_numbers("wine"))
    assert np.mean(answers.predicted == answers.truth) > 0.95


def test_a_base_without_errors_ends_the_fit() -> None:
    model = fitted(adaboost(base="decision-tree", rounds=10), in_numbers("wine"))
    assert len(model.models_) == 1
    assert model.alphas_[0] == pytest.approx(0.5 * np.log(2 * (1 - 1e-10) / 1e-10))
    assert "makes no error" in model.explain()[0].lines[0]


def test_a_base_that_is_not_better_than_chance_is_said_to_be_alone() -> None:
    data = in_numbers("wine")
    with pytest.warns(MlcliWarning, match="not better than chance"):
        model = fitted(adaboost(base="random", rounds=5, multiclass="m1"), data)
    assert len(model.models_) == 1


def test_a_stage_is_the_fit_of_so_many_rounds() -> None:
    data = in_numbers("wine")
    whole, short = fitted(adaboost(rounds=9), data), fitted(adaboost(rounds=4), data)
    staged = list(whole.staged(data.table, [4, 9]))
    assert staged[0] == pytest.approx(short.predict_proba(data.table))
    assert staged[1] == pytest.approx(whole.predict_proba(data.table))
