"""Maximum entropy Markov model: scikit-learn's logistic regression with the tag before, and every path in turn."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from mlcli.core.tables import Array
from mlcli.models.sequences.crf import FeatureMap
from mlcli.models.sequences.memm import MaximumEntropyMarkovModel
from mlcli.tasks.sequence_labelling import TaggedRows, lengths
from tests.golden.asking import asked, fitted
from tests.support.sequences import drawn

L2 = 0.6


def columns_of(model: MaximumEntropyMarkovModel, data: TaggedRows, before: Array) -> Array:
    """Features and the tag before as columns of 0 and 1; -1 for none."""
    features = FeatureMap.of(data.table.columns, model.templates)
    rows, width = features.of_rows(data.table, data.sequence), len(features.names)
    dense = np.zeros((len(data), width + 3))
    dense[np.repeat(np.arange(len(data)), np.diff(rows.begins)), rows.features] = rows.values
    dense[np.flatnonzero(before >= 0), width + before[before >= 0]] = 1.0
    return dense


def tags_before(data: TaggedRows) -> Array:
    """The true tag of the row before; -1 at the start of a sequence."""
    inside = np.diff(data.sequence, prepend=-1) == 0
    return np.where(inside, np.roll(data.y, 1), -1)


def test_it_is_logistic_regression_with_the_tag_before() -> None:
    train, test = drawn(seed=1), drawn(seed=2, sentences=12)
    model = fitted(MaximumEntropyMarkovModel(l2=L2, tolerance=1e-11), train)
    oracle = LogisticRegression(C=1 / L2, fit_intercept=False, tol=1e-12, max_iter=10_000)
    oracle.fit(columns_of(model, train, tags_before(train)), train.y)
    weights = np.vstack([model.weights_, model.follows_])
    assert weights - weights.mean(axis=1, keepdims=True) == pytest.approx(
        oracle.coef_.T - oracle.coef_.T.mean(axis=1, keepdims=True), abs=1e-5
    )
    predicted, shares = asked(model, test).predicted, model.tag_shares(test.table, test.sequence)
    steps = [
        oracle.predict_log_proba(columns_of(model, test, np.full(len(test), before))) for before in (-1, 0, 1, 2)
    ]
    for start, size in zip(*lengths(test.sequence), strict=True):
        paths = list(product(range(3), repeat=int(size)))
        found = np.array(
            [sum(steps[(path[i - 1] if i else -1) + 1][start + i, path[i]] for i in range(size)) for path in paths]
        )
        assert np.exp(found).sum() == pytest.approx(1.0)
        assert tuple(predicted[start : start + size]) == paths[found.argmax()]
        expected = [[np.exp(found[[p[i] == tag for p in paths]]).sum() for tag in range(3)] for i in range(size)]
        assert shares[start : start + size] == pytest.approx(np.array(expected), abs=1e-5)


def test_it_is_explained_by_products_of_softmaxes() -> None:
    # S0 (127): log p(y | x) is the sum of the logarithms of a softmax for each row, given the tag before.
    model = fitted(MaximumEntropyMarkovModel(l2=L2), drawn(seed=1))
    data = drawn(seed=2, sentences=1)
    weights = np.vstack([model.weights_, model.follows_])
    steps = [
        np.array(log_softmax(columns_of(model, data, np.full(len(data), before)) @ weights, axis=1))
        for before in (-1, 0, 1, 2)
    ]
    (table,) = model.explain_answer(data.table)
    for place, line in enumerate(table.rows):
        paths = product(range(3), repeat=place + 1)
        found: dict[int, float] = {}
        for path in paths:
            score = sum(steps[(path[i - 1] if i else -1) + 1][i, path[i]] for i in range(place + 1))
            found[path[-1]] = max(score, found.get(path[-1], -np.inf))
        assert line[-4:-1] == pytest.approx([found[tag] for tag in range(3)], abs=1e-9)
