"""What every recommender promises: rated items are not offered again, and judged ratings reach nothing."""

from __future__ import annotations

import json
import warnings
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pytest

from mlcli.core.errors import FitError
from mlcli.core.pipeline import Pipeline, learn, predict_rows
from mlcli.core.schema import Column
from mlcli.core.state import check_loaded, packed, unpacked
from mlcli.core.tables import Table
from mlcli.models.recommendation.global_mean import GlobalMean
from mlcli.prepare.impute import Impute
from mlcli.tasks.recommendation import TOP
from tests.contract.exceptions import owing
from tests.contract.subjects import EVERYONE, Subject
from tests.support.ratings import drawn, halves, ratings

RECOMMENDERS = [subject for subject in EVERYONE if subject.kind == "recommendation"]
DEFAULTS = [subject for subject in RECOMMENDERS if not subject.params]


def said(model: Any, data: Any) -> Any:
    """What a model says of ratings."""
    return predict_rows(model, data)


def same(one: Any, two: Any) -> bool:
    """Whether two answers hold the same arrays to the bit."""
    pairs = zip(one.arrays().values(), two.arrays().values(), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


@owing("same_seed_same_answer", RECOMMENDERS)
def test_the_same_seed_gives_the_same_answer_whatever_the_order_of_training_rows(subject: Subject) -> None:
    train, test = halves(drawn())
    order = np.random.default_rng(1).permutation(len(train))
    answers = subject.answers(train, test)
    assert same(answers, subject.answers(train, test))
    assert same(answers, subject.answers(train.take(order), test))


@owing("asked_order", RECOMMENDERS)
def test_an_answer_does_not_depend_on_the_other_rows_that_are_asked(subject: Subject) -> None:
    train, test = halves(drawn())
    order = np.random.default_rng(1).permutation(len(test))
    assert same(subject.answers(train, test).take(order), subject.answers(train, test.take(order)))
    alone = np.array([4])
    assert same(subject.answers(train, test).take(alone), subject.answers(train, test.take(alone)))


@owing("judged_ratings_unseen", RECOMMENDERS)
def test_other_judged_ratings_change_no_answer(subject: Subject) -> None:
    train, test = halves(drawn())
    first, second = subject.answers(train, test), subject.answers(train, replace(test, y=test.y[::-1].copy()))
    assert np.array_equal(first.predicted, second.predicted)
    assert np.array_equal(first.top, second.top)


@owing("input_untouched", RECOMMENDERS)
def test_the_rows_that_it_is_given_stay_as_they_were(subject: Subject) -> None:
    train, test = halves(drawn())
    arrays = [array for data in (train, test) for array in (data.table.codes, data.y)]
    for array in arrays:
        array.setflags(write=False)
    before = [array.copy() for array in arrays]
    subject.answers(train, test)
    assert all(np.array_equal(a, b) for a, b in zip(arrays, before, strict=True))


@owing("saved_equals_fitted", RECOMMENDERS)
def test_saved_and_loaded_equals_fitted_to_the_bit(subject: Subject) -> None:
    train, test = halves(drawn())
    model = subject.fitted(train)
    arrays: dict[str, Any] = {}
    written = json.dumps(packed(model, arrays), allow_nan=False)
    assert same(predict_rows(model, test), predict_rows(unpacked(json.loads(written), arrays), test))


@owing("damaged_state_refused", [subject for subject in DEFAULTS if not subject.piped])
@pytest.mark.parametrize("name", ["user_ratings_", "item_ratings_", "seen_user_", "seen_item_"])
def test_learned_arrays_that_do_not_fit_are_refused(subject: Subject, name: str) -> None:
    model = subject.fitted(halves(drawn())[0])
    setattr(model, name, getattr(model, name)[:-1])
    with pytest.raises(ValueError, match=r"fit|was seen"):
        check_loaded(model)


@owing("lists_of_unseen_items", RECOMMENDERS)
def test_a_list_holds_ten_different_items_that_are_known_and_that_the_user_has_not_rated(subject: Subject) -> None:
    train, test = halves(drawn())
    answers = subject.answers(train, test)
    known = set(train.items.tolist())
    for user, top in zip(answers.user.tolist(), answers.top.tolist(), strict=True):
        rated = set(train.items[train.users == user].tolist())
        listed = [item for item in top if item >= 0]
        assert len(listed) == len(set(listed)) == min(TOP, len(known - rated))
        assert set(listed) <= known - rated


@owing("lists_in_order", RECOMMENDERS)
def test_a_list_is_in_the_order_of_the_ratings_that_it_predicts(subject: Subject) -> None:
    train, test = halves(drawn())
    model = subject.fitted(train)
    user, top = test.users[0], said(model, test).top[0]
    listed = top[top >= 0]
    others = [item for item in np.unique(train.items) if item not in listed]
    others = [item for item in others if item not in train.items[train.users == user]]
    predicted = model.final.predict_values(ratings([user] * 20, list(range(20)), [3.0] * 20).table)
    assert (np.diff(predicted[listed]) <= 1e-12).all()
    assert not others or predicted[others].max() <= predicted[listed].min() + 1e-12


@owing("cold_start", RECOMMENDERS)
def test_who_and_what_was_never_rated_is_answered_and_told_apart(subject: Subject) -> None:
    train = drawn().take(np.arange(300))
    train = train.take(np.flatnonzero((train.users != 3) & (train.items != 5)))
    rows = ratings([3, 3, 4, 4, -1], [5, 6, 5, 6, -1], [3.0] * 5, known=29)
    rows = replace(rows, table=Table(train.table.columns, rows.table.numbers, rows.table.codes))
    answers = subject.answers(train, rows)
    assert np.isfinite(answers.predicted).all()
    assert answers.cold.tolist() == [True, True, True, False, True]
    assert answers.predicted[[0, 4]] == pytest.approx(np.full(2, train.y.mean()))


@owing("one_row", RECOMMENDERS)
def test_one_rating_is_enough_to_answer_with_it(subject: Subject) -> None:
    train, test = halves(drawn())
    one = train.take(np.array([0]))
    assert subject.answers(one, test).predicted == pytest.approx(np.full(len(test), one.y[0]))


@owing("no_rows_asked", RECOMMENDERS)
def test_no_rows_asked_no_answers(subject: Subject) -> None:
    train, test = halves(drawn())
    assert len(subject.answers(train, test.take(np.arange(0)))) == 0


@owing("weights_count_as_repeats", RECOMMENDERS)
def test_a_whole_weight_counts_as_that_many_rows(subject: Subject) -> None:
    train, test = halves(drawn())
    times = np.random.default_rng(5).integers(0, 4, len(train))
    weighted = subject.answers(replace(train, weight=times.astype(float)), test)
    repeated = subject.answers(train.take(np.repeat(np.arange(len(train)), times)), test)
    assert weighted.predicted == pytest.approx(repeated.predicted, abs=1e-6)
    assert np.array_equal(weighted.cold, repeated.cold)


def error(answers: Any) -> float:
    """Mean squared error."""
    return float(np.mean((answers.predicted - answers.truth) ** 2))


@owing("beats_the_baseline", DEFAULTS)
def test_it_beats_the_baseline_on_a_learnable_toy(subject: Subject) -> None:
    train, test = halves(drawn(rows=590, traits=0))
    baseline = Subject("global-mean", subject.kind).answers(train, test)
    assert error(subject.answers(train, test)) < 0.7 * error(baseline)


@owing("nothing_from_shuffled_targets", DEFAULTS)
def test_it_learns_nothing_from_shuffled_ratings(subject: Subject) -> None:
    ratios = []
    for seed in (11, 12, 13, 14, 15):
        data = drawn(seed)
        train, test = halves(replace(data, y=np.random.default_rng(seed).permutation(data.y)))
        baseline = Subject("global-mean", subject.kind).answers(train, test)
        ratios.append(error(subject.answers(train, test)) / error(baseline))
    assert np.mean(ratios) > 0.9


@owing("explains_itself", RECOMMENDERS)
def test_what_it_says_of_itself_is_plain(subject: Subject) -> None:
    sections = subject.fitted(halves(drawn())[0]).explain()
    assert sections
    assert json.dumps([asdict(section) for section in sections])


@owing("quiet", DEFAULTS)
def test_it_learns_the_toy_without_a_warning(subject: Subject) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        answers = subject.answers(*halves(drawn()))
    assert len(answers) > 0


@pytest.mark.parametrize("subject", DEFAULTS, ids=str)
def test_steps_before_it_are_refused(subject: Subject) -> None:
    model = Pipeline(steps=(Impute(),), model=subject.model_alone())
    with pytest.raises(FitError, match="leave out the steps"):
        learn(model, drawn(), np.random.default_rng(1))


def test_a_row_without_user_or_item_cannot_be_learned_from() -> None:
    rows = ratings([0, -1], [0, 0], [3.0, 4.0])
    with pytest.raises(FitError, match="lacks its user or its item"):
        Subject("global-mean", "recommendation").fitted(rows)
    assert Column("user", "nominal", ("user0",)) == rows.table.columns[0]


@dataclass(kw_only=True, eq=False)
class Silent(GlobalMean):
    """Has no rating for the second user."""

    def rate(self, users: Any, items: Any) -> Any:
        """The mean, but for the second user."""
        return np.where(users == 1, np.nan, super().rate(users, items))


def test_an_infinite_or_missing_rating_is_refused() -> None:
    model = Silent()
    data = ratings([0, 1, 2], [0, 0, 1], [1.0, 2.0, 3.0])
    learn(model, data, np.random.default_rng(0))
    with pytest.raises(FitError, match="not a number for 1 of 3 rows"):
        predict_rows(model, data)
