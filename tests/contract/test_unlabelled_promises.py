"""What every method that learns without labels promises: the labels never reach it, whatever it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from mlcli.core.errors import FitError
from mlcli.core.pipeline import predict_rows
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table
from mlcli.metrics.base import Undefined
from mlcli.metrics.registry import metric_named
from mlcli.tasks.density import DensityEstimator
from mlcli.tasks.projection import Projector
from mlcli.tasks.table import kind_named
from tests.contract.exceptions import owing
from tests.contract.subjects import UNLABELLED, Subject, parts, said_by, usual_answers
from tests.contract.toys import with_columns

DEFAULTS = [subject for subject in UNLABELLED if not subject.params]

pytestmark = pytest.mark.filterwarnings("ignore::mlcli.core.errors.MlcliWarning")


@owing("labels_unseen", UNLABELLED)
def test_other_labels_change_nothing(subject: Subject) -> None:
    train, test = parts(subject)
    dealt = np.random.default_rng(2).permutation(train.labels)
    same = said_by(usual_answers(subject, test))
    assert np.array_equal(said_by(subject.answers(replace(train, labels=dealt), test)), same)
    assert np.array_equal(said_by(subject.answers(train.unlabelled(), test)), same)


@owing("training_order", UNLABELLED)
def test_the_order_of_training_rows_does_not_matter(subject: Subject) -> None:
    train, test = parts(subject)
    order = np.random.default_rng(1).permutation(len(train))
    shuffled = train.take(order)
    straight = said_by(usual_answers(subject, test))
    other = said_by(subject.answers(shuffled, shuffled if train is test else test))
    assert other == pytest.approx(straight[order] if train is test else straight, abs=1e-6)


@owing("one_row", UNLABELLED)
def test_one_training_row_is_answered_or_refused_plainly(subject: Subject) -> None:
    one = parts(subject)[0].take(np.array([0]))
    refusal, said = None, np.empty(0)
    try:
        said = said_by(subject.answers(one, one))
    except FitError as error:
        refusal = str(error)
    assert np.isfinite(said).all()
    assert refusal is None or "row" in refusal


@owing("few_columns", UNLABELLED)
@pytest.mark.parametrize("kept", [0, 1])
def test_few_columns_are_answered_or_refused_plainly(subject: Subject, kept: int) -> None:
    data = subject.rows()
    train, test = parts(subject)
    train, test = (with_columns(part, list(part.table.parts())[:kept]) for part in (train, test))
    refusal, said = None, np.empty(0)
    try:
        said = said_by(subject.answers(train, train if len(train) == len(data) else test))
    except FitError as error:
        refusal = str(error)
    assert np.isfinite(said).all()
    assert refusal is None or "column" in refusal


@owing("constant_column", [subject for subject in UNLABELLED if not subject.piped])
def test_constant_columns_are_harmless_or_refused_plainly(subject: Subject) -> None:
    train, test = parts(subject)
    widened = [
        with_columns(part, [*part.table.parts(), (Column("always"), np.full(len(part), 7.0))])
        for part in (train, test)
    ]
    refusal, said = None, np.empty(0)
    try:
        said = said_by(subject.answers(widened[0], widened[0] if train is test else widened[1]))
    except FitError as error:
        refusal = str(error)
    assert np.isfinite(said).all()
    assert refusal is None or "always" in refusal


@owing("beats_chance", DEFAULTS)
def test_it_beats_every_baseline_by_the_first_metric_of_its_kind(subject: Subject) -> None:
    kind = kind_named(subject.kind)
    metric = metric_named(kind.metrics[0], kind.answers)
    train, test = parts(subject, n=300)
    score = metric.compute(subject.answers(train, test))
    assert isinstance(score, float)
    sign = {"high": 1.0, "low": -1.0, "zero": -1.0}[metric.better]
    for baseline in kind.baselines:
        other = metric.compute(Subject(baseline, subject.kind, piped=subject.piped).answers(train, test))
        assert isinstance(other, Undefined) or sign * score > sign * other


@dataclass(kw_only=True, eq=False)
class Foggy(DensityEstimator):
    """Has no number for the density of its second row."""

    id = "foggy"
    said: float

    def log_density(self, table: Table) -> Array:
        """Zero, but for the second."""
        return np.where(np.arange(len(table)) == 1, self.said, 0.0)


@dataclass(kw_only=True, eq=False)
class Blind(Projector):
    """Cannot show its second row."""

    id = "blind"
    said: float

    def reconstruct(self, table: Table) -> Array:
        """Every row as it is, but for the second."""
        back = table.numbers.copy()
        back[1] = self.said
        return back


@pytest.mark.parametrize("said", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("cls", "kind"), [(Foggy, "density"), (Blind, "projection")])
def test_an_infinite_or_missing_answer_is_refused(cls: Any, kind: str, said: float) -> None:
    rows = next(subject for subject in UNLABELLED if subject.kind == kind).rows()
    with pytest.raises(FitError, match="not a number for 1 of 150 rows"):
        predict_rows(cls(said=said), rows)
