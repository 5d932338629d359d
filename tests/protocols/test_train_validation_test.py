"""Train, validation, test: candidates are compared on validation rows, and test rows judge the winner once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

from mlcli.core.errors import UsageError
from mlcli.core.params import build
from mlcli.core.rows import SplitInfo
from mlcli.experiment.run.evaluation import evaluate
from mlcli.experiment.run.preparation import prepare
from mlcli.experiment.spec.cells import SELECTED, DataSpec, Experiment, ModelSpec, ProtocolSpec, StepSpec
from mlcli.experiment.spec.plan import Plan, plan
from mlcli.protocols.train_validation_test import TrainValidationTest

USE = "train-validation-test"


def cells(*models: ModelSpec, **shares: float) -> Plan:
    return plan(Experiment((DataSpec("wine"),), models, ProtocolSpec(USE, shares)))


def test_all_models_become_one_that_is_chosen() -> None:
    baseline, chosen = cells(ModelSpec("lda"), ModelSpec("knn"))
    assert (baseline.model.use, chosen.model.use, chosen.label) == ("zero-r", SELECTED, "chosen")
    assert [model["use"] for model in chosen.model.params["models"]] == ["lda", "knn"]


def test_shares_are_of_all_rows() -> None:
    _, chosen = cells(ModelSpec("lda"), ModelSpec("knn"), validation_share=0.3, test_share=0.4)
    ready = prepare(chosen)
    (split,) = ready.splits
    assert len(split.test) == round(0.4 * 178)
    assert chosen.model.params["inner"] == {"use": "stratified-holdout", "test_share": pytest.approx(0.5)}


def test_the_winner_is_refitted_and_judged_as_scikit_learn_does() -> None:
    one_neighbour = ModelSpec("knn", {"k": 1}, steps=())
    _, chosen = cells(ModelSpec("lda", steps=()), one_neighbour)
    ready = prepare(chosen)
    (result,) = evaluate(ready.block(0, 1)).results
    (split,) = ready.splits
    X, y = ready.rows.table.numbers, ready.rows.y
    assert result.explanation[0].values[0] == "lda"  # type: ignore[attr-defined]
    oracle = LinearDiscriminantAnalysis().fit(X[split.train], y[split.train])
    worse = KNeighborsClassifier(1).fit(X[split.train], y[split.train])
    said: Any = result.answers["test"]
    assert np.array_equal(said.predicted, oracle.predict(X[split.test]))
    assert not np.array_equal(said.predicted, worse.predict(X[split.test]))


def test_labels_of_test_rows_do_not_change_what_is_chosen() -> None:
    _, chosen = cells(ModelSpec("lda"), ModelSpec("knn"), ModelSpec("decision-tree", steps=(StepSpec("pca"),)))
    ready = prepare(chosen)
    (split,) = ready.splits
    y = ready.rows.y.copy()
    y[split.test] = (y[split.test] + 1) % 3
    before, after = (
        evaluate(replace(ready, rows=replace(ready.rows, y=one)).block(0, 1)) for one in (ready.rows.y, y)
    )
    assert before.results[0].explanation == after.results[0].explanation


def test_shares_must_leave_something_to_learn_from() -> None:
    with pytest.raises(UsageError, match="leave nothing to learn from"):
        build(TrainValidationTest, {"validation_share": 0.5, "test_share": 0.5})


def test_three_rows_are_the_fewest() -> None:
    (problem,) = build(TrainValidationTest, {}).problems_with_rows(SplitInfo(2))
    assert "at least 3 rows, there are 2" in problem.what
