"""Bagging beside scikit-learn: exact where both have the same bags, alike on shipped data where each draws."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import BaggingClassifier, BaggingRegressor
from sklearn.linear_model import Ridge as SklearnRidge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from mlcli.core.configuration import with_steps
from mlcli.core.params import build
from mlcli.core.state import packed, unpacked
from mlcli.engines.content_seeds import Bag
from mlcli.engines.ensemble import fitted, mean_of, outputs, votes
from mlcli.models.bayes.naive_bayes import NaiveBayes
from mlcli.models.discriminants.lda import LinearDiscriminants
from mlcli.models.ensembles.bagging import Bagging, OutOfBagAnswers
from mlcli.models.linear.linear_regression import LinearRegression
from mlcli.models.linear.ridge import Ridge
from mlcli.models.neighbours.knn import NearestNeighbours
from mlcli.tasks.supervised import CLASSIFICATION, REGRESSION
from tests.golden.asking import answered, asked
from tests.golden.asking import fitted as learned
from tests.golden.shipped import in_numbers


def on_the_bags_of(oracle: Any, model: Any, data: Any) -> tuple[list[Any], OutOfBagAnswers]:
    """Copies of a model on the rows and columns that scikit-learn has drawn, and what they say of rows outside."""
    members, outside = [], OutOfBagAnswers.of(data)
    names = [column.name for column in data.table.columns]
    for rows, columns in zip(oracle.estimators_samples_, oracle.estimators_features_, strict=True):
        drawn = data.take(np.sort(rows))
        drawn = drawn.with_table(drawn.table.select([names[place] for place in columns]))
        members.append(fitted(model, drawn, np.random.default_rng(0)))
        outside.add(members[-1], ~np.isin(np.arange(len(data)), rows))
    return members, outside


THREE = NearestNeighbours(k=3, tied_distance="first")
"""A row that was drawn twice is two of the three, as it is to scikit-learn."""


@pytest.mark.parametrize("columns", [1.0, 0.5])
@pytest.mark.parametrize(
    ("base", "theirs"),
    [(THREE, KNeighborsClassifier(3)), (LinearDiscriminants(ddof=0), LinearDiscriminantAnalysis())],
)
def test_probabilities_and_those_out_of_the_bag_are_those_of_scikit_learn(
    base: Any, theirs: Any, columns: float
) -> None:
    data = in_numbers("wine")
    X = data.table.numbers
    oracle = BaggingClassifier(theirs, 25, max_features=columns, oob_score=True, random_state=1).fit(X, data.y)
    members, outside = on_the_bags_of(oracle, base, data)
    assert mean_of(members, data.table, CLASSIFICATION) == pytest.approx(oracle.predict_proba(X), abs=1e-9)
    assert outside.answered.all()
    assert outside.total / outside.members[:, None] == pytest.approx(oracle.oob_decision_function_, abs=1e-9)
    first, second = np.sort(oracle.oob_decision_function_)[:, :-3:-1].T
    tied = np.isclose(first, second).mean()  # between equals, the larger class is ours, the first is theirs
    assert outside.loss(learned(base.fresh(), data)) == pytest.approx(1 - oracle.oob_score_, abs=tied + 1e-12)


def test_values_and_the_error_out_of_the_bag_are_those_of_scikit_learn() -> None:
    data = in_numbers("cpu")
    X = data.table.numbers
    oracle = BaggingRegressor(SklearnRidge(2.0), 25, oob_score=True, random_state=1).fit(X, data.y)
    members, outside = on_the_bags_of(oracle, Ridge(l2=2.0), data)
    assert mean_of(members, data.table, REGRESSION)[:, 0] == pytest.approx(oracle.predict(X), rel=1e-6)
    assert outside.loss(members[0]) == pytest.approx(np.var(data.y) * (1 - oracle.oob_score_), rel=1e-6)


def test_steps_in_the_base_learn_from_each_bag_as_those_of_a_pipeline() -> None:
    data = in_numbers("wine")
    X = data.table.numbers
    theirs = make_pipeline(StandardScaler(), KNeighborsClassifier(3))
    oracle = BaggingClassifier(theirs, 10, random_state=1).fit(X, data.y)
    scaled = with_steps(THREE, data.table.columns)
    members, _ = on_the_bags_of(oracle, scaled, data)
    assert mean_of(members, data.table, CLASSIFICATION) == pytest.approx(oracle.predict_proba(X), abs=1e-9)


@pytest.mark.parametrize(("name", "base"), [("cpu", LinearRegression()), ("wine", NaiveBayes())])
def test_one_bag_of_all_rows_is_the_method(name: str, base: Any) -> None:
    data = in_numbers(name)
    whole = answered(Bagging(base=base, bags=1, replacement=False), data)
    plain = answered(base.fresh(), data)
    said = "probabilities" if name == "wine" else "predicted"
    assert getattr(whole, said) == pytest.approx(getattr(plain, said), rel=1e-9, abs=1e-9)


def test_votes_count_decisions() -> None:
    data = in_numbers("wine")
    model = learned(Bagging(base=NearestNeighbours(k=3), bags=4, combine="votes"), data)
    shares = [outputs(member, data.table, CLASSIFICATION) for member in model.models_]
    decided = [member.final.decide(share) for member, share in zip(model.models_, shares, strict=True)]
    counts = np.stack([np.bincount(column, minlength=3) for column in np.stack(decided).T])
    assert model.predict_proba(data.table) == pytest.approx(counts / 4)
    assert votes(model.models_[0], data.table, CLASSIFICATION).sum() == len(data)


@pytest.mark.parametrize("share", [1.0, 0.4])
@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize("weights", [(1, 1, 1, 1, 1), (2, 1, 3, 1, 3), (0.5, 0.25, 2, 1, 1.5)])
def test_a_bag_has_the_share_of_the_draws(share: float, replacement: bool, weights: Any) -> None:
    weight = np.array(weights, float)
    units = weight.sum() if (weight % 1 == 0).all() else len(weight)
    bag, rng = Bag.of(weight, share, replacement), np.random.default_rng(1)
    drawn = np.array([bag.repeats(rng) for _ in range(4000)])
    assert (drawn.sum(axis=1) == max(1, round(share * units))).all()
    if not replacement:
        assert (drawn <= (weight if units == weight.sum() else 1)).all()
    if replacement or units == weight.sum():  # without, uneven weights are drawn one after another
        expected = share * units * weight / weight.sum()
        assert drawn.mean(axis=0) == pytest.approx(expected, abs=0.1)


def test_models_see_a_share_of_the_columns() -> None:
    model = learned(Bagging(base=NaiveBayes(), bags=6, column_share=0.5), in_numbers("wine"))
    seen = [tuple(column.name for column in member.columns_) for member in model.models_]
    assert {len(names) for names in seen} == {round(0.5 * 13)}
    assert len(set(seen)) > 1


FOLDS = 10


def test_bagged_trees_are_right_as_often_as_those_of_scikit_learn_and_more_often_than_one() -> None:
    """Breiman 1996, table 1: on glass the error of a tree falls by a fifth."""
    data = in_numbers("glass")
    part = np.random.default_rng(1).permutation(len(data)) % FOLDS
    right = np.zeros(3)
    for fold in range(FOLDS):
        train, test = (data.take(np.flatnonzero(mask)) for mask in (part != fold, part == fold))
        ours = asked(learned(Bagging(bags=25), train), test).predicted
        one = asked(learned(build(type(Bagging().base), {}), train), test).predicted
        trees = BaggingClassifier(DecisionTreeClassifier(), 25, random_state=fold)
        theirs = trees.fit(train.table.numbers, train.y).predict(test.table.numbers)
        right += [(said == test.y).sum() for said in (ours, theirs, one)]
    ours, theirs, one = right / len(data)
    # Twice the standard deviation of a difference of two shares of n rows, at worst.
    assert abs(ours - theirs) < 2 * np.sqrt(0.5 / len(data))
    assert ours > one


@pytest.mark.parametrize("name", ["wine", "cpu"])
def test_a_stage_is_the_bagging_of_the_first_bags(name: str) -> None:
    data = in_numbers(name)
    model = learned(Bagging(base=NearestNeighbours(k=3), bags=6), data)
    task = data.task
    first = mean_of(model.models_[:2], data.table, task)
    staged = list(model.staged(data.table, [2, 6]))
    assert (model.stages(), len(staged)) == (6, 2)
    assert staged[0].reshape(len(data), -1) == pytest.approx(first)
    assert staged[1].reshape(len(data), -1) == pytest.approx(task.outputs_of(model, data.table))


def test_the_error_out_of_the_bag_is_near_that_of_new_rows() -> None:
    data = in_numbers("segment")
    order = np.random.default_rng(1).permutation(len(data))
    train, test = data.take(order[:1000]), data.take(order[1000:])
    model = learned(Bagging(bags=40), train)
    answers = asked(model, test)
    assert model.outside_ == 1000
    assert model.loss_ == pytest.approx(np.mean(answers.predicted != answers.truth), abs=0.02)


def test_it_says_how_wrong_it_is_out_of_the_bag() -> None:
    said, error = learned(Bagging(bags=20), in_numbers("cpu")).explain()
    assert said.lines == ("decision-tree, fitted to each of 20 bags",)
    assert error.header == ("rows answered", "root mean squared error")
    assert error.rows[0][0] == 209
    whole = learned(Bagging(bags=2, replacement=False), in_numbers("cpu")).explain()
    assert [section.title for section in whole] == ["Bagging"]


def test_members_that_are_not_what_was_asked_for_are_refused() -> None:
    model = learned(Bagging(base=NearestNeighbours(k=3), bags=2), in_numbers("iris"))
    arrays: dict[str, Any] = {}
    written = json.loads(json.dumps(packed(model, arrays)))
    written["model"]["params"]["dict"]["base"]["dict"]["params"]["dict"]["k"] = 4
    with pytest.raises(ValueError, match="a base that is not the one asked for"):
        unpacked(written, arrays)
    written["model"]["params"]["dict"]["bags"] = 3
    with pytest.raises(ValueError, match=r"models_ .* does not fit bags"):
        unpacked(written, arrays)


def test_of_many_models_the_first_are_shown_of_a_row() -> None:
    data = in_numbers("cpu")
    (found,) = learned(Bagging(bags=30), data).explain_answer(data.table.take(np.array([0])))
    assert [len(found.rows), found.rows[-1][:2], found.note] == [26, ("weighted mean", 30.0), "the first 25 of 30"]
