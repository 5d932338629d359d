"""What a method with stages promises: a stage is what it would answer had its fit stopped there."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from mlcli.core.abilities import Staged
from mlcli.core.params import parameters
from mlcli.core.registry import MODELS
from tests.contract.subjects import DEFAULTS, Subject
from tests.contract.toys import halves

STAGED = [subject for subject in DEFAULTS if not subject.piped and issubclass(MODELS.load(subject.model), Staged)]
FEW = 8
every_staged = pytest.mark.parametrize("subject", STAGED, ids=str)


def predicted(model: Any, table: Any) -> Any:
    return model.predict_proba(table) if model.classes_ is not None else model.predict_values(table)


def of_length(subject: Subject, count: int) -> Subject:
    """The same method with so many stages at most, where a parameter of their name says how many."""
    declared = {parameter.name for parameter in parameters(MODELS.load(subject.model))}
    name = subject.model_alone().stage_name
    assert name in declared
    return Subject(subject.model, subject.kind, ((name, count),))


@every_staged
def test_the_last_stage_is_the_answer(subject: Subject) -> None:
    train, test = halves(subject.rows())
    model = of_length(subject, FEW).fitted(train)
    assert 0 < model.stages() <= FEW
    at = range(1, model.stages() + 1)
    staged = list(model.staged(test.table, at))
    assert len(staged) == len(at)
    np.testing.assert_allclose(staged[-1], predicted(model, test.table), rtol=1e-12, atol=1e-12)
    some = list(model.staged(test.table, at[1::3]))
    assert all(np.array_equal(one, other) for one, other in zip(some, staged[1::3], strict=True))


@every_staged
def test_a_stage_is_the_answer_of_a_shorter_fit(subject: Subject) -> None:
    train, test = halves(subject.rows())
    model = of_length(subject, FEW).fitted(train)
    for stage, staged in zip((1, 3), model.staged(test.table, (1, 3)), strict=True):
        shorter = of_length(subject, stage).fitted(train)
        np.testing.assert_allclose(staged, predicted(shorter, test.table), rtol=1e-12, atol=1e-12)


@every_staged
def test_asking_for_stages_changes_no_answer(subject: Subject) -> None:
    train, test = halves(subject.rows())
    model = of_length(subject, FEW).fitted(train)
    before = predicted(model, test.table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(model.staged(test.table, range(1, model.stages() + 1)))
    assert np.array_equal(predicted(model, test.table), before)
