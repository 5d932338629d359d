"""Cluster, then label: clusters of scikit-learn's k-means with labels counted by hand, and rules of the notes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.naive_bayes import GaussianNB

from mlcli.core.errors import UsageError
from mlcli.core.params import build
from mlcli.core.tables import Table
from mlcli.models.few_labels.cluster_then_label import ClusterThenLabel
from tests.golden.asking import asked, fitted
from tests.golden.shipped import in_numbers


def around(base: Any, **params: Any) -> Any:
    """The method around a clustering, as it would be written in a file."""
    return build(ClusterThenLabel, {"base": base, **params})


def on_a_line(labelled: dict[float, int], unlabelled: list[float]) -> Any:
    """Rows of one number, some with a class."""
    data = in_numbers("iris")
    places = [*labelled, *unlabelled]
    count = len(places)
    table = Table.of([(data.table.columns[0], np.array(places))], count)
    y = np.array([*labelled.values(), *[0] * len(unlabelled)], np.int32)
    rows = replace(data.take(np.arange(count)).with_table(table), y=y)
    return rows.hiding(np.arange(len(labelled)), np.arange(len(labelled), count))


THREE = {"use": "k-means", "params": {"clusters": 3}}


@pytest.mark.parametrize("classifier", [None, {"use": "naive-bayes", "params": {"zero_variance": "add"}}])
def test_answers_are_those_of_scikit_learn_and_counting(classifier: Any) -> None:
    data = in_numbers("iris")
    order = np.random.default_rng(1).permutation(len(data))
    known, hidden, judged = np.sort(order[:40]), np.sort(order[40:110]), np.sort(order[110:])
    X, test = data.table.numbers, data.table.numbers[judged]
    peer = KMeans(3, n_init=20, random_state=0).fit(X[np.concatenate([known, hidden])])
    of_known = peer.predict(X[known])
    shares = np.array([np.bincount(data.y[known][of_known == g], minlength=3) for g in range(3)], float)
    shares /= shares.sum(axis=1, keepdims=True)
    expected = shares[peer.predict(test)]
    if classifier:
        labels = np.concatenate([data.y[known], shares.argmax(axis=1)[peer.predict(X[hidden])]])
        bayes = GaussianNB().fit(X[np.concatenate([known, hidden])], labels)
        expected = bayes.predict_proba(test)
    model = fitted(around(THREE, classifier=classifier), data.hiding(known, hidden))
    found = asked(model, data.take(judged)).probabilities
    assert found == pytest.approx(expected, abs=1e-6)


def test_labels_reach_the_members_of_their_cluster() -> None:
    train = on_a_line({0.0: 0, 10.0: 1, 20.0: 2}, [0.5, 1.0, 9.5, 10.5, 19.0])
    model = fitted(around(THREE), train)
    assert asked(model, train.unlabelled.with_target(np.zeros(5, np.int32))).predicted.tolist() == [0, 0, 1, 1, 2]


@pytest.mark.parametrize(("fallback", "expected"), [("nearest", [0.0, 1.0, 0.0]), ("all", [2 / 3, 1 / 3, 0.0])])
def test_a_cluster_without_labels_takes_those_of_the_nearest_or_all(fallback: str, expected: list[float]) -> None:
    train = on_a_line({0.0: 0, 0.5: 0, 10.0: 1}, [0.2, 10.2, 14.0, 14.2])
    model = fitted(around(THREE, without_labels=fallback), train)
    alone = model._cluster_of(train.unlabelled.table)[2]
    assert model.shares_[alone] == pytest.approx(expected)
    assert any("none of its own" in str(row[-1]) for row in model.explain()[0].rows)


def test_a_clustering_that_places_no_new_rows_needs_a_classifier() -> None:
    with pytest.raises(UsageError, match="agglomerative places no new rows"):
        around("agglomerative")
    train = on_a_line({0.0: 0, 10.0: 1, 20.0: 2}, [0.5, 1.0, 9.5, 10.5, 19.0])
    model = fitted(around({"use": "agglomerative", "params": {"clusters": 3}}, classifier="naive-bayes"), train)
    assert asked(model, train.alone()).predicted.tolist() == [0, 1, 2]
