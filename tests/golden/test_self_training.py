"""Self-training: round by round as scikit-learn's SelfTrainingClassifier, and rules that follow from the notes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

from mlcli.core.errors import UsageError
from mlcli.core.params import build
from mlcli.core.state import packed, unpacked
from mlcli.core.tables import Table
from mlcli.models.bayes.naive_bayes import NaiveBayes
from mlcli.models.few_labels.self_training import SelfTraining
from mlcli.tasks.supervised import LabelledRows
from tests.golden.asking import asked, fitted
from tests.golden.shipped import in_numbers, with_numbers


def parted(name: str, share: float, seed: int = 1) -> tuple[Any, Any]:
    """Rows of a shipped dataset in numbers, to learn from (most without their class) and to be asked about."""
    data = in_numbers(name)
    order = np.random.default_rng(seed).permutation(len(data))
    cut = 2 * len(data) // 3
    known = int(share * cut)
    return data.hiding(np.sort(order[:known]), np.sort(order[known:cut])), data.take(np.sort(order[cut:]))


@pytest.mark.parametrize(("name", "share"), [("iris", 0.1), ("wine", 0.15), ("wdbc", 0.05), ("glass", 0.3)])
@pytest.mark.parametrize("threshold", [0.75, 0.9, 0.99])
def test_rounds_and_answers_are_those_of_scikit_learn(name: str, share: float, threshold: float) -> None:
    train, test = parted(name, share)
    X = np.vstack([train.table.numbers, train.unlabelled.table.numbers])
    y = np.concatenate([train.y, train.unlabelled.y])
    oracle = SelfTrainingClassifier(GaussianNB(), threshold=threshold, max_iter=None).fit(X, y)
    model = fitted(SelfTraining(base=NaiveBayes(zero_variance="add"), threshold=threshold), train)
    answers = asked(model, test)
    assert len(model.moved_) == len(set(oracle.labeled_iter_.tolist()) - {-1, 0})
    for place, counts in enumerate(model.moved_, start=1):
        labels = oracle.transduction_[oracle.labeled_iter_ == place]
        assert np.array_equal(counts, np.bincount(labels, minlength=len(test.classes)))
    assert model.left_ == int((oracle.transduction_ == -1).sum())
    expected = np.zeros((len(test), len(test.classes)))
    expected[:, oracle.classes_] = oracle.predict_proba(test.table.numbers)
    assert answers.probabilities == pytest.approx(expected, abs=1e-6)


def test_without_unlabelled_rows_it_is_its_base() -> None:
    data = in_numbers("iris")
    base = asked(fitted(NaiveBayes(), data), data)
    assert np.array_equal(asked(fitted(SelfTraining(), data), data).probabilities, base.probabilities)


def test_the_safety_net_keeps_unsure_rows_out() -> None:
    train, test = parted("iris", 0.1)
    unsure = replace(train, unlabelled=train.unlabelled.with_table(with_middles(train)))
    model = fitted(around("knn", threshold=1.0), unsure)
    assert (len(model.moved_), model.left_) == (0, len(train.unlabelled))
    assert "none had a class at least 1 probable" in model.explain()[0].lines[0]
    alone = fitted(build(type(model.base_), {}), train.alone())
    assert np.array_equal(asked(model, test).probabilities, asked(alone, test).probabilities)


def around(base: Any, **params: Any) -> Any:
    """Self-training around a base, as it would be written in a file."""
    return build(SelfTraining, {"base": base, **params})


def with_middles(train: LabelledRows) -> Any:
    """Unlabelled rows that lie between the classes."""
    assert train.unlabelled is not None
    means = np.stack([train.table.numbers[train.y == code].mean(axis=0) for code in range(3)])
    return with_numbers(train.unlabelled, np.tile(means[1:].mean(axis=0), (len(train.unlabelled), 1))).table


def test_it_stops_after_the_last_round() -> None:
    train, _ = parted("wdbc", 0.05)
    all_rounds = fitted(SelfTraining(), train)
    one = fitted(SelfTraining(max_rounds=1), train)
    assert len(all_rounds.moved_) > 1
    assert np.array_equal(one.moved_, all_rounds.moved_[:1])
    assert one.left_ > all_rounds.left_


@pytest.mark.parametrize(
    ("base", "why"),
    [
        ("naive-byes", "base: there is no model 'naive-byes'\n  did you mean 'naive-bayes'"),
        ("hmm", "base: hmm is no classifier"),
        ("self-training", "base: it must be another method"),
        ({"use": "self-training", "steps": ["min-max"]}, "base: it must be another method"),
        ({"use": "knn", "params": {"q": 3}}, "base: knn has no parameter 'q'"),
        ({"use": "knn", "params": {"k": 0}}, "base: knn: k must be at least 1"),
        ({"use": "knn", "params": 3}, "base: 'params' takes a mapping, was given 3"),
        ({"use": "knn", "steps": "min-max"}, "base: 'steps' takes a list, was given 'min-max'"),
        (
            {"use": "knn", "steps": [{"use": "min-mx"}]},
            "base: there is no step 'min-mx'\n  did you mean 'min-max'",
        ),
        ({"use": "knn", "as": "x"}, "base: a model has no key 'as'"),
        ({"params": {}}, "base: which model"),
    ],
)
def test_a_base_that_cannot_be_taught_is_refused(base: Any, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        around(base)


@pytest.mark.parametrize("threshold", [0.7, 0.9])
@pytest.mark.parametrize("steps", [[], ["standardise"]])
def test_a_base_with_parameters_and_steps_is_that_of_scikit_learn(threshold: float, steps: list[str]) -> None:
    """Steps in the base learn anew in each round, as those of a Pipeline that scikit-learn teaches."""
    train, test = parted("wine", 0.2)
    X = np.vstack([train.table.numbers, train.unlabelled.table.numbers])
    y = np.concatenate([train.y, train.unlabelled.y])
    voters = KNeighborsClassifier(3)
    base = make_pipeline(StandardScaler(), voters) if steps else voters
    oracle = SelfTrainingClassifier(base, threshold=threshold, max_iter=None).fit(X, y)
    model = fitted(around({"use": "knn", "params": {"k": 3}, "steps": steps}, threshold=threshold), train)
    assert model.left_ == int((oracle.transduction_ == -1).sum())
    expected = oracle.predict_proba(test.table.numbers)
    assert asked(model, test).probabilities == pytest.approx(expected, abs=1e-9)


def test_a_base_with_parameters_and_steps_is_saved_and_loaded() -> None:
    train, test = parted("iris", 0.2)
    model = fitted(around({"use": "knn", "params": {"k": 3}, "steps": ["standardise"]}), train)
    arrays: dict[str, Any] = {}
    written = packed(model, arrays)
    loaded = unpacked(json.loads(json.dumps(written)), arrays)
    assert np.array_equal(asked(loaded, test).probabilities, asked(model, test).probabilities)
    written["model"]["params"]["dict"]["base"]["dict"]["params"]["dict"]["k"] = 4
    with pytest.raises(ValueError, match="a base that is not the one asked for"):
        unpacked(written, arrays)


def test_it_says_why_it_stopped() -> None:
    train, _ = parted("wdbc", 0.05)

    def reason(**params: Any) -> str:
        line: str = fitted(SelfTraining(**params), train).explain()[0].lines[0]
        return line

    assert reason(max_rounds=1).endswith("it stopped after round 1 (max_rounds)")
    assert reason().endswith("none of them has a class at least 0.9 probable (threshold)")
    assert reason(threshold=0.5) == "all unlabelled rows have a label now"
    assert fitted(SelfTraining(), in_numbers("iris")).explain()[0].lines == ("there was no unlabelled row",)


def test_it_accepts_what_its_base_accepts() -> None:
    assert not around({"use": "logistic-regression", "steps": ["min-max"]}).accepts.prefers_scaled
    assert not around({"use": "naive-bayes", "steps": ["pca"]}).accepts.nominal
    assert around("logistic-regression").accepts.prefers_scaled
    assert not around("logistic-regression").accepts.nominal
    assert around("naive-bayes").accepts.nominal


def test_the_net_of_one_nearest_neighbour_is_a_largest_distance() -> None:
    """On a line: labels at 0 and 10, others at 1, 2, 3, 6, 9; steps of at most 1.5 reach all but 6."""
    data = in_numbers("iris")
    places = [0.0, 10.0, 1.0, 2.0, 3.0, 6.0, 9.0]
    table = Table.of([(data.table.columns[0], np.array(places))], 7)
    rows = replace(data.take(np.arange(7)).with_table(table), y=np.array([0, 1, 0, 0, 0, 0, 0], np.int32))
    train = rows.hiding(np.arange(2), np.arange(2, 7))
    model = fitted(around({"use": "knn", "params": {"k": 1}}, largest_distance=1.5), train)
    assert model.moved_[:, :2].tolist() == [[1, 1], [1, 0], [1, 0]]
    assert model.left_ == 1
    assert "within 1.5 (largest_distance)" in model.explain()[0].lines[0]
    free = fitted(around({"use": "knn", "params": {"k": 1}}), train)
    assert (len(free.moved_), free.left_) == (1, 0)


def test_a_base_that_measures_no_distances_has_no_largest_one() -> None:
    with pytest.raises(UsageError, match="largest_distance: naive-bayes measures no distances"):
        around("naive-bayes", largest_distance=1.0)


def test_the_rounds_say_how_sure_they_were() -> None:
    train, _ = parted("wdbc", 0.05)
    table = fitted(SelfTraining(), train).explain()[1]
    assert table.header[:2] == ("round", "rows")
    assert all(0.9 <= row[-2] <= row[-1] <= 1 + 1e-12 for row in table.rows)
    assert all(row[1] == sum(row[2:-2]) for row in table.rows)
