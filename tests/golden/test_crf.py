"""Conditional random field: crfsuite's objective and answers, gradients by differences, every path."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite
import pytest

from mlcli.core.errors import FitError, MlcliError
from mlcli.core.params import build
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table
from mlcli.models.sequences.crf import (
    ALWAYS,
    ChainObjective,
    ConditionalRandomField,
    FeatureMap,
)
from mlcli.tasks.sequence_labelling import TaggedRows, lengths
from tests.golden.asking import asked, fitted
from tests.support.sequences import drawn, tagged

TEMPLATES = ("word@-1", "word", "word@2", "suffix:1", "shape")


def objective_of(model: Any, data: TaggedRows) -> ChainObjective:
    """What a model with all tags minimises."""
    features = FeatureMap.of(data.table.columns, model.templates)
    rows = features.of_rows(data.table, data.sequence)
    return ChainObjective(
        rows, len(features.names), data.y, data.sequence, len(data.classes), model.l2, model.by_row
    )


def weights_of(model: Any) -> Array:
    """In one line."""
    return np.append(model.weights_.ravel(), model.follows_.ravel())


def items(data: TaggedRows, templates: tuple[str, ...]) -> list[tuple[list[list[str]], list[str]]]:
    """The attributes and tags of each sequence, as crfsuite takes them."""
    features = FeatureMap.of(data.table.columns, templates)
    rows, names = features.of_rows(data.table, data.sequence), features.names
    of_row = [
        [names[f] for f in rows.features[rows.begins[i] : rows.begins[i + 1]].tolist()] for i in range(len(data))
    ]
    tags = [data.classes[tag] for tag in data.y]
    return [(of_row[s : s + n], tags[s : s + n]) for s, n in zip(*lengths(data.sequence), strict=True)]


@pytest.mark.parametrize(("l2", "l1"), [(0.2, 0.0), (2.0, 0.0), (0.2, 1.0)])
def test_objective_tags_and_probabilities_are_those_of_crfsuite(l2: float, l1: float, tmp_path: Path) -> None:
    train, test = drawn(seed=1), drawn(seed=2, sentences=30)
    model = fitted(ConditionalRandomField(templates=TEMPLATES, l2=l2, l1=l1, tolerance=1e-10), train)
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    every = {"feature.possible_states": True, "feature.possible_transitions": True}
    trainer.set_params({"c1": l1, "c2": l2 / 2, "epsilon": 1e-9, "delta": 1e-16, "max_iterations": 5000, **every})
    for attributes, tags in items(train, TEMPLATES):
        trainer.append(attributes, tags)
    trainer.train(str(tmp_path / "model"))
    w = weights_of(model)
    value = objective_of(model, train).at(w).value + l1 * np.abs(w).sum()
    assert value == pytest.approx(trainer.logparser.last_iteration["loss"], rel=1e-6)
    assert l1 == 0 or (w == 0).mean() > 0.2
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "model"))
    answers, shares, row = asked(model, test), model.tag_shares(test.table, test.sequence), 0
    for attributes, tags in items(test, TEMPLATES):
        found = [test.classes[tag] for tag in answers.predicted[row : row + len(tags)]]
        assert found == tagger.tag(attributes)
        theirs = [[tagger.marginal(name, i) for name in test.classes] for i in range(len(tags))]
        assert shares[row : row + len(tags)] == pytest.approx(np.array(theirs), abs=1e-4)
        row += len(tags)


@pytest.mark.parametrize("by_row", [False, True])
def test_the_gradient_is_that_of_differences(by_row: bool) -> None:
    data = drawn(sentences=8)
    features = FeatureMap.of(data.table.columns, TEMPLATES)
    rows = features.of_rows(data.table, data.sequence)
    objective = ChainObjective(rows, len(features.names), data.y, data.sequence, 3, 0.7, by_row)
    w = np.random.default_rng(1).normal(size=(len(features.names) + 3) * 3)
    steps = 1e-5 * np.eye(len(w))
    by_differences = [(objective.at(w + step).value - objective.at(w - step).value) / 2e-5 for step in steps]
    assert objective.at(w).gradient == pytest.approx(np.array(by_differences), abs=1e-6)


def test_tags_and_probabilities_are_those_of_every_path() -> None:
    train, test = drawn(seed=3), drawn(seed=4, sentences=10)
    model = fitted(ConditionalRandomField(), train)
    scores, shares = model.scores(test.table, test.sequence), model.tag_shares(test.table, test.sequence)
    predicted = asked(model, test).predicted
    for start, size in zip(*lengths(test.sequence), strict=True):
        rows = np.arange(start, start + size)
        paths = np.array(list(product(range(3), repeat=int(size))))
        costs = scores[rows, paths].sum(axis=1) + model.follows_[paths[:, :-1], paths[:, 1:]].sum(axis=1)
        assert tuple(predicted[rows]) == tuple(paths[costs.argmax()])
        weight = np.exp(costs) / np.exp(costs).sum()
        expected = [[weight[paths[:, row] == tag].sum() for tag in range(3)] for row in range(size)]
        assert shares[rows] == pytest.approx(np.array(expected), abs=1e-9)


def test_templates_look_where_they_say() -> None:
    data = tagged([[("The", "D"), ("dogs", "N"), ("ran", "V")], [("X-9", "N")]])
    features = FeatureMap.of(data.table.columns, ("word@-1", "prefix:2", "suffix:1@1", "shape"))
    rows, names = features.of_rows(data.table, data.sequence), features.names
    found = [
        {names[f] for f in rows.features[rows.begins[i] : rows.begins[i + 1]].tolist()} - {ALWAYS[0]}
        for i in range(len(data))
    ]
    assert found == [
        {"(first row)", "word prefix2=Th", "word suffix1@+1=s", "word shape=Xx"},
        {"word@-1=The", "word prefix2=do", "word suffix1@+1=n", "word shape=x"},
        {"(last row)", "word@-1=dogs", "word prefix2=ra", "word shape=x"},
        {"(first row)", "(last row)", "word prefix2=X-", "word shape=X-d"},
    ]


def test_numbers_are_features_as_they_stand_and_gaps_are_none() -> None:
    table = Table.of([(Column("height"), np.array([1.5, np.nan, -2.0]))], 3)
    rows = FeatureMap.of(table.columns, ("word", "word@1", "suffix:2")).of_rows(table, np.zeros(3, np.int32))
    dense = np.zeros((3, 5))
    dense[np.repeat(np.arange(3), np.diff(rows.begins)), rows.features] = rows.values
    assert dense[:, 3:] == pytest.approx(np.array([[1.5, 0], [0, -2.0], [-2.0, 0]]))


def test_templates_and_columns_that_mean_nothing_are_refused() -> None:
    with pytest.raises(MlcliError, match="'letters' is none; a template is word, shape"):
        build(ConditionalRandomField, {"templates": ["letters"]})
    with pytest.raises(FitError, match="there is no column 'wrod'"):
        fitted(ConditionalRandomField(columns=("wrod",)), drawn())
