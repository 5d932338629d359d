"""Answers: the header stays with its rows, whatever is done with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mlcli.core.answers import Header
from mlcli.core.schema import Column, Schema, SchemaField
from mlcli.core.tables import Table
from mlcli.tasks.supervised import ValueAnswers, ValuedRows

SEX = Column("sex", "nominal", ("f", "m"))
AGE = Column("age")


def rows() -> ValuedRows:
    """Five rows with a sensitive column of levels, a context column of numbers, weights and groups."""
    columns = (Column("x"), SEX, AGE, Column("w"), Column("g"), Column("y"))
    roles = ("feature", "sensitive", "context", "weight", "group", "target")
    cells = [
        np.arange(5.0),
        [0, 1, 1, 0, -1],
        [30.0, 41, 52, 63, 74],
        np.arange(1.0, 6),
        [7, 7, 8, 8, 9],
        np.ones(5),
    ]
    table = Table.of([(column, np.array(one)) for column, one in zip(columns, cells, strict=True)], 5)
    return ValuedRows.from_table(table, Schema(tuple(map(SchemaField, columns, roles))))


def answers() -> ValueAnswers:
    """About these rows, twice the number of each row."""
    known = rows()
    return ValueAnswers(header=known.header(), truth=known.y, predicted=2.0 * known.rows.astype(np.float64))


def assert_consistent(some: ValueAnswers) -> None:
    """What the header says fits the rows that it names."""
    context, whole = some.header.context, rows().take(some.rows)
    assert context is not None
    assert whole.context is not None
    assert [column.name for column in context.columns] == ["sex", "age"]
    assert np.array_equal(context.numbers, whole.context.numbers)
    assert np.array_equal(context.codes, whole.context.codes)
    assert np.array_equal(some.weights, whole.weights)
    assert np.array_equal(some.predicted, 2.0 * some.rows)
    assert some.header.group is not None
    assert np.array_equal(some.header.group, np.array([0, 0, 1, 1, 2])[some.rows])


def test_the_header_has_what_is_known_of_the_rows() -> None:
    assert_consistent(answers())
    assert answers().header.fold is None


def test_context_columns_are_seen_by_no_model_and_sensitive_ones_are() -> None:
    assert [column.name for column in rows().table.columns] == ["x", "sex"]


def test_taking_parting_and_pooling_keep_the_header() -> None:
    assert_consistent(answers().take(np.array([4, 1])))
    parts = list(answers().parted([slice(0, 2), np.array([3, 2])]))
    for part in parts:
        assert_consistent(part)
    pooled = ValueAnswers.pooled([part.judged_in(fold) for fold, part in enumerate(parts)])
    assert_consistent(pooled)
    assert pooled.rows.tolist() == [0, 1, 3, 2]
    assert pooled.arrays()["header.fold"].tolist() == [0, 0, 1, 1]


def test_what_steps_make_of_a_column_does_not_change_the_header() -> None:
    empty = rows().transformed(lambda table: table.select(["x"]))
    assert_consistent(
        ValueAnswers(header=empty.header(), truth=empty.y, predicted=2.0 * empty.rows.astype(np.float64))
    )


def test_arrays_and_facts_make_the_answers_again() -> None:
    back = ValueAnswers.restored(answers().arrays(), answers().facts())
    assert_consistent(back)
    assert back.header.columns == (replace(SEX, sensitive=True), AGE)


def test_a_header_without_more_has_the_rows_alone() -> None:
    plain = ValueAnswers(header=Header(rows=np.arange(2)), truth=np.zeros(2), predicted=np.ones(2))
    assert list(plain.arrays()) == ["header.rows", "truth", "predicted"]
    assert plain.facts() == {}
    assert plain.header.context is None
    with pytest.raises(TypeError):
        ValueAnswers.restored({"truth": plain.truth, "predicted": plain.predicted}, {})
