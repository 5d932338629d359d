"""What every detector promises beside what all methods without labels do: scores that are numbers, and rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from mlcli.core.errors import FitError
from mlcli.core.pipeline import predict_rows
from mlcli.core.tables import Array, Table
from mlcli.tasks.anomaly import Detector
from tests.contract.exceptions import owing
from tests.contract.subjects import UNLABELLED, Subject
from tests.contract.toys import halves

DETECTORS = [subject for subject in UNLABELLED if subject.kind == "anomaly"]

pytestmark = pytest.mark.filterwarnings("ignore::mlcli.core.errors.MlcliWarning")


def good_rows(subject: Subject) -> Any:
    """The rows of a toy that are no anomalies."""
    data = subject.rows()
    return data.take(np.flatnonzero(data.labels == 0))


@owing("far_row_is_oddest", DETECTORS)
def test_a_row_far_from_all_others_scores_highest(subject: Subject) -> None:
    train, test = halves(good_rows(subject))
    test.table.numbers[3] = 50.0
    assert np.argmax(subject.answers(train, test).score) == 3


@owing("reasons_of_the_oddest", DETECTORS)
def test_the_oddest_row_is_told_the_column_that_made_it_so(subject: Subject) -> None:
    train, test = halves(good_rows(subject))
    test.table.numbers[3, 1] = -50.0
    answers = subject.answers(train, test)
    assert answers.columns[answers.reasons[3, 0]] == test.table.number_columns[1].name
    assert answers.shares[3, 0] < -0.5
    assert (np.abs(answers.shares).sum(axis=1) <= 1 + 1e-9).all()


@dataclass(kw_only=True, eq=False)
class Broken(Detector):
    """Scores its second row with what is no number."""

    id = "broken"
    said: float = np.nan

    def score_rows(self, table: Table) -> Array:
        """Rising, but for the second."""
        scores = np.arange(len(table), dtype=float)
        scores[1] = self.said
        return scores


@pytest.mark.parametrize("said", [np.nan, np.inf, -np.inf])
def test_an_infinite_or_missing_score_is_refused(said: float) -> None:
    with pytest.raises(FitError, match="not a number for 1 of 150 rows"):
        predict_rows(Broken(said=said), DETECTORS[0].rows())
