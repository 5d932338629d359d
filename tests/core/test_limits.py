"""Rows from which nothing can be learned are refused in words, for every method; others are answered quietly.

The limits follow from IEEE 754: a float64 holds 1e-308 to 1e308, so squares need numbers from 1e-154 to 1e154.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.schema import Accepts, Column
from mlcli.core.tables import Table
from tests.contract.subjects import DEFAULTS, Subject, said_by
from tests.contract.toys import rows_for

EVERY_MODEL = pytest.mark.parametrize("subject", [one for one in DEFAULTS if one.piped], ids=str)
EXTREMES = [1e300, 1e155, 1e-160, 1e-300]


def numbers_of(subject: Subject) -> Any:
    return rows_for(subject.kind, Accepts(), 40)


def scaled(data: Any, factor: float) -> Any:
    table = data.table
    return data.with_table(Table(table.columns, table.numbers * np.array([1.0, factor, 1.0]), table.codes))


@EVERY_MODEL
@pytest.mark.parametrize("factor", EXTREMES)
def test_columns_whose_squares_are_no_numbers_are_refused_by_name(subject: Subject, factor: float) -> None:
    with pytest.raises(FitError, match="column 'width' goes up to"):
        subject.fitted(scaled(numbers_of(subject), factor))


@EVERY_MODEL
def test_rows_of_such_numbers_are_not_answered(subject: Subject) -> None:
    data = numbers_of(subject)
    with pytest.raises(FitError, match="'width' goes up to"):
        subject.answers(data, scaled(data, 1e300))


@pytest.mark.parametrize("subject", [one for one in DEFAULTS if one.kind == "regression" and one.piped], ids=str)
@pytest.mark.parametrize("factor", EXTREMES)
def test_targets_whose_squares_are_no_numbers_are_refused_by_name(subject: Subject, factor: float) -> None:
    data = numbers_of(subject)
    with pytest.raises(FitError, match="the target 'weight' goes up to"):
        subject.fitted(replace(data, y=data.y * factor))


@EVERY_MODEL
@pytest.mark.parametrize(
    ("weight", "said"), [(0.0, "every training row has weight 0"), (1e300, "weights go"), (1e-300, "weights go")]
)
def test_weights_that_cannot_be_summed_or_multiplied_are_refused(
    subject: Subject, weight: float, said: str
) -> None:
    data = numbers_of(subject)
    with pytest.raises(FitError, match=said):
        subject.fitted(replace(data, weight=np.full(len(data), weight)))


@EVERY_MODEL
def test_the_extremes_of_rows_that_do_not_count_do_no_harm(subject: Subject) -> None:
    data = numbers_of(subject)
    table, weight = data.table, np.ones(len(data))
    numbers = table.numbers.copy()
    numbers[0, 1], weight[0] = 1e200, 0.0
    with_extreme = replace(data, table=Table(table.columns, numbers, table.codes), weight=weight)
    assert len(said_by(subject.answers(with_extreme, data))) == len(data)


@EVERY_MODEL
@pytest.mark.parametrize("factor", [1e99, 1e-98], ids=str)
@pytest.mark.parametrize("weight", [1e29, 1e-29], ids=str)
def test_within_the_limits_all_is_quiet(subject: Subject, factor: float, weight: float) -> None:
    data = replace(scaled(numbers_of(subject), factor), weight=np.full(40, weight))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", MlcliWarning)
        assert np.isfinite(said_by(subject.answers(data, data))).all()


def test_a_bucket_of_one_r_ends_even_where_its_rows_vanish_beside_the_weights() -> None:
    data = replace(rows_for("classification", Accepts(), 40), weight=np.full(40, 1e20))
    assert Subject("one-r", "classification").answers(data, data).truth.tolist() == data.y.tolist()


def test_numbers_at_an_offset_keep_their_digits() -> None:
    """A shift of a column changes no plane (beside 1e12 a cell keeps four decimals)."""
    data = rows_for("regression", Accepts(), 60)
    subject = Subject("linear-regression", "regression")
    plain = said_by(subject.answers(data, data))
    for offset, digits in ((1e7, 1e-7), (1e12, 1e-2)):
        table = Table(data.table.columns, data.table.numbers + offset, data.table.codes)
        moved = data.with_table(table)
        assert said_by(subject.answers(moved, moved)) == pytest.approx(plain, abs=digits)


def test_missing_columns_have_no_size() -> None:
    data = rows_for("classification", Accepts(missing=True), 30)
    table = Table.of([*data.table.parts(), (Column("empty", missing=True), np.full(30, np.nan))], 30)
    assert (
        len(
            said_by(
                Subject("naive-bayes", "classification").answers(data.with_table(table), data.with_table(table))
            )
        )
        == 30
    )
