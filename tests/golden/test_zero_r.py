"""Zero-R on the weather table (SOURCES.md, section 1.1) and beside scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor

from mlcli.models.baselines.zero_r import ZeroR
from tests.golden.asking import answered, fitted, right_by_leave_one_out
from tests.golden.weather import weather
from tests.support.rows import labelled, table_of, valued


def test_it_answers_yes_and_is_right_9_times_of_14_in_sample_and_by_leave_one_out() -> None:
    answers = answered(ZeroR(), weather())
    assert {answers.classes[code] for code in answers.predicted} == {"yes"}
    assert (answers.predicted == answers.truth).sum() == 9
    assert right_by_leave_one_out(ZeroR(), weather()) == 9


def test_its_probabilities_are_those_of_scikit_learn() -> None:
    data = weather()
    theirs = DummyClassifier(strategy="prior").fit(data.table.codes, data.y).predict_proba(data.table.codes)
    assert answered(ZeroR(), data).probabilities == pytest.approx(theirs, abs=1e-15)


def test_its_value_is_the_weighted_mean_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    values, weights = rng.normal(size=20), rng.random(20)
    theirs = DummyRegressor().fit(np.zeros((20, 1)), values, sample_weight=weights).predict(np.zeros((1, 1)))
    data = valued(table_of({"x": [0.0] * 20}), values.tolist(), weights.tolist())
    assert answered(ZeroR(), data).predicted == pytest.approx(np.full(20, theirs[0]), abs=1e-12)


def test_it_says_the_shares_of_the_classes() -> None:
    section, _ = fitted(ZeroR(), weather()).explain()
    assert section.rows == (("no", pytest.approx(5 / 14)), ("yes", pytest.approx(9 / 14)))


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ((16, 0), (0, 0, 0)),
        ((15, 1), (0.0625, 0.1171875, 0.337290)),
        ((8, 8), (0.5, 0.5, 1)),
        ((3, 6, 1), (0.4, 0.54, 1.295462)),
        ((9, 5), (0.357143, 0.459184, 0.940286)),
    ],
)
def test_it_tells_how_mixed_the_classes_are(counts: tuple[int, ...], expected: tuple[float, ...]) -> None:
    """Worked examples, sections 1.3 and 2: the nodes of the notes."""
    names = [f"c{k}" for k in range(len(counts))]
    labels = [name for name, count in zip(names, counts, strict=True) for _ in range(count)]
    data = labelled(table_of({"x": [0.0] * len(labels)}), labels, names)
    _, impurity = fitted(ZeroR(), data).explain()
    assert [value for _, value in impurity.rows] == pytest.approx(expected, abs=1e-6)
