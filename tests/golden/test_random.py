"""Random: draws follow the training distribution and depend on the row alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mlcli.core.state import check_loaded
from mlcli.core.tables import Table
from mlcli.models.baselines.random import RandomGuess
from mlcli.tasks.supervised import LabelledRows
from tests.golden.asking import answered, asked, fitted
from tests.golden.weather import weather
from tests.support.rows import labelled, table_of, valued

LABELS = ("a", "b", "b", "c", "c", "c", "c", "c", "c", "c")


def many_rows() -> LabelledRows:
    return labelled(table_of({"x": np.arange(10_000.0).tolist()}), LABELS * 1000)


def test_classes_are_drawn_by_their_shares() -> None:
    answers = answered(RandomGuess(), many_rows())
    drawn = np.bincount(answers.predicted, minlength=3)
    # A chi-squared test of shares 0.1, 0.2, 0.7 over 10,000 draws, at one in a thousand.
    assert stats.chisquare(drawn, [1000, 2000, 7000]).pvalue > 1e-3


def test_it_is_right_as_often_as_the_sum_of_squared_shares() -> None:
    answers = answered(RandomGuess(), many_rows())
    expected = 0.1**2 + 0.2**2 + 0.7**2
    assert np.mean(answers.predicted == answers.truth) == pytest.approx(expected, abs=0.02)


def test_numbers_are_drawn_from_the_training_values() -> None:
    table = table_of({"x": np.arange(5000.0).tolist()})
    answers = answered(RandomGuess(), valued(table, [1.0, 2.0, 4.0, 4.0, 4.0] * 1000))
    values, counts = np.unique(answers.predicted, return_counts=True)
    assert values.tolist() == [1.0, 2.0, 4.0]
    assert stats.chisquare(counts, [1000, 1000, 3000]).pvalue > 1e-3


def test_neighbouring_columns_and_cells_draw_independently() -> None:
    n = 4000
    model = fitted(RandomGuess(), labelled(table_of({"x": [0.0, 1.0], "y": [0.0, 0.0]}), ["a", "b"]))
    drawn = [
        model.predict_proba(table_of({"x": x.tolist(), "y": y.tolist()}))[:, 0]
        for x, y in (
            (np.arange(n) * 1.0, np.zeros(n)),
            (np.arange(n) + 1.0, np.zeros(n)),
            (np.zeros(n), np.arange(n) * 1.0),
        )
    ]
    for first, second in ((0, 1), (0, 2)):
        # Shifted by one row the first two are the same draws; at the same place they have nothing in common.
        assert abs(np.corrcoef(drawn[first], drawn[second])[0, 1]) < 0.06
    assert np.array_equal(drawn[0][1:], drawn[1][:-1])


def test_the_seed_decides_and_the_order_of_rows_does_not() -> None:
    data = many_rows()
    first, same, other = (asked(fitted(RandomGuess(), data, seed), data) for seed in (1, 1, 2))
    assert np.array_equal(first.predicted, same.predicted)
    assert not np.array_equal(first.predicted, other.predicted)
    order = np.random.default_rng(0).permutation(len(data))
    shuffled = asked(fitted(RandomGuess(), data.take(order)), data.take(order))
    assert np.array_equal(shuffled.predicted, first.predicted[order])


def test_a_class_that_training_lacks_is_never_drawn() -> None:
    data = many_rows()
    model = fitted(RandomGuess(), data.take(np.flatnonzero(data.y != 1)))
    assert set(asked(model, data).predicted.tolist()) == {0, 2}


def test_all_empty_cells_and_both_zeros_are_alike() -> None:
    model = fitted(RandomGuess(), many_rows())
    other_nan = np.array([0x7FF8000000000001], np.uint64).view(np.float64)[0]
    numbers = np.array([[np.nan], [other_nan], [0.0], [-0.0]])
    said = model.predict_proba(Table(model.columns_, numbers, np.empty((4, 0), np.int32)))
    assert np.array_equal(said[0], said[1])
    assert np.array_equal(said[2], said[3])


def test_it_says_what_it_draws_from() -> None:
    (section,) = fitted(RandomGuess(), weather()).explain()
    assert section.rows == (("no", pytest.approx(5 / 14)), ("yes", pytest.approx(9 / 14)))
    (section,) = fitted(RandomGuess(), valued(table_of({"x": [1, 2, 3]}), [5, 5, 7])).explain()
    assert section.lines == ("value is drawn from 2 different numbers",)


@pytest.mark.parametrize(("outcomes", "upper"), [([0, 9], [0.5, 1.0]), ([0], [0.5, 1.0]), ([], [])])
def test_learned_fields_that_do_not_belong_together_are_refused(outcomes: list[int], upper: list[float]) -> None:
    model = fitted(RandomGuess(), weather())
    model.outcomes_, model.upper_ = np.array(outcomes), np.array(upper)
    with pytest.raises(ValueError, match="outcome"):
        check_loaded(model)
