"""Every step can be for some columns only: the others pass by it, in places that are easy to foresee."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import StandardScaler

from mlcli.core.configuration import after, missing_steps
from mlcli.core.errors import UsageError
from mlcli.core.model import chosen, put_back
from mlcli.core.params import build
from mlcli.core.pipeline import Pipeline
from mlcli.core.registry import MODELS, STEPS
from mlcli.core.schema import Accepts, Column
from mlcli.core.tables import Table
from mlcli.data.load import load
from mlcli.prepare.impute import Impute
from mlcli.prepare.one_hot import OneHot
from mlcli.prepare.pca import PrincipalComponents
from mlcli.prepare.standardise import Standardise
from tests.contract.subjects import buildable
from tests.prepare.preparing import fitted, names, prepared
from tests.support.rows import table_of
from tests.support.samples import taken

COLUMNS = (
    Column("length"),
    Column("colour", "nominal", ("blue", "red")),
    Column("len", missing=True),
    Column("size", "ordinal", ("low", "high")),
    Column("colour=blue"),
)


@pytest.mark.parametrize(
    ("wanted", "meant"),
    [
        (["len"], ["len"]),
        (["len*"], ["length", "len"]),
        (["numeric"], ["length", "len", "colour=blue"]),
        (["size", "nominal"], ["colour", "size"]),
        (["colour"], ["colour", "colour=blue"]),
        (["*"], [column.name for column in COLUMNS]),
        (["boolean"], []),
    ],
)
def test_names_kinds_and_patterns(wanted: list[str], meant: list[str]) -> None:
    assert [column.name for column in chosen(COLUMNS, wanted)] == meant


def test_a_name_goes_before_a_kind() -> None:
    columns = (Column("x"), Column("numeric", "nominal", ("a",)))
    assert chosen(columns, ["numeric"]) == columns[1:]


def test_what_keeps_its_name_keeps_its_place_and_what_is_new_follows() -> None:
    parts = [(Column(name), name) for name in "abcd"]
    seen = (Column("b"), Column("d"))
    made = [(Column(name), name.upper()) for name in ("new", "d", "d2", "b", "a")]
    found = [(column.name, cells) for column, cells in put_back(parts, seen, made)]
    assert found == [("a", "a"), ("new", "NEW"), ("b", "B"), ("a (2)", "A"), ("c", "c"), ("d", "D"), ("d2", "D2")]


def test_the_others_pass_by_as_in_scikit_learn() -> None:
    table = taken(load("wdbc"), "anomaly", slice(0, 200)).table
    place = [index for index, column in enumerate(table.columns) if column.name.startswith("mean")]
    others = [index for index in range(len(table.columns)) if index not in place]
    theirs = ColumnTransformer([("scaled", StandardScaler(), place)], remainder="passthrough")
    changed = prepared(Standardise(columns=("mean*",)), table)
    assert changed.columns == table.columns
    expected = theirs.fit_transform(table.numbers)
    assert changed.numbers[:, [*place, *others]] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", [name for name in STEPS.names() if buildable(STEPS.load(name), {"columns": "a"})])
def test_every_step_leaves_other_columns_alone(name: str) -> None:
    table = table_of({"a": [1.0, 2.0, 4.0, 7.0], "c": ["u", "v", "u", "u"], "b": [3.0, 1.0, 2.0, 9.0]})
    step = build(STEPS.load(name), {"columns": ["a"]})
    changed = prepared(step, table)
    assert np.array_equal(changed.cells("b"), table.cells("b"))
    assert np.array_equal(changed.cells("c"), table.cells("c"))
    assert step.columns_left(table.columns) == changed.columns


def test_levels_become_columns_where_they_stood() -> None:
    table = table_of({"x": [1.0, 2.0], "c": ["u", "v"], "d": ["k", "l"], "y": [3.0, 4.0]})
    assert names(prepared(OneHot(columns=("c",), drop="none"), table)) == ["x", "c=u", "c=v", "d", "y"]


def test_two_sets_of_components_have_different_names() -> None:
    table = taken(load("iris"), "classification", slice(0, 150)).table
    columns = after([PrincipalComponents(columns=(part,)) for part in ("sepal*", "petal*")], table.columns)
    assert len({column.name for column in columns}) == len(columns) == 4


def test_a_wrong_name_is_told_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"no column 'lenght' before it\n +did you mean 'length'"):
        Standardise(columns=("lenght",)).columns_left(COLUMNS)
    with pytest.raises(UsageError, match="no column 'wid"):
        missing_steps(Accepts(nominal=True, missing=True), COLUMNS, [Standardise(columns=("wid*",))])


def test_one_word_is_short_for_a_list() -> None:
    assert build(Standardise, {"columns": "numeric"}).columns == ("numeric",)
    with pytest.raises(UsageError, match=r"columns takes text .one or a list. or none, was given 3"):
        build(Standardise, {"columns": [3]})


def test_only_what_a_step_sees_is_made_ready_for_it() -> None:
    given = [PrincipalComponents(columns=("size", "length"))]
    steps = missing_steps(Accepts(nominal=True, missing=True), COLUMNS, given)
    assert [(step.id, step.columns) for step in steps] == [("ordinal", ("size",)), ("pca", ("size", "length"))]


def test_gaps_that_a_step_for_some_columns_leaves_are_filled_alone() -> None:
    columns = (Column("a", missing=True), Column("b", missing=True), Column("c"))
    steps = missing_steps(Accepts(), columns, [Impute(columns=("a",), numbers="median")])
    assert [(step.id, step.columns) for step in steps] == [("impute", ("b",)), ("impute", ("a",))]
    assert [step.columns for step in missing_steps(Accepts(), columns, [])] == [None]


def test_a_name_stands_for_what_became_of_its_levels() -> None:
    table = table_of({"x": [1.0, 2.0, 5.0], "c": ["u", "v", "w"]})
    given = [PrincipalComponents(columns=("c",), components=1)]
    steps = missing_steps(Accepts(), table.columns, given)
    assert [column.name for column in after(steps, table.columns)] == ["x", "component_1"]


def test_a_kind_that_no_column_has_changes_nothing() -> None:
    table = table_of({"c": ["u", "v"]})
    changed: Table = fitted(Standardise(columns=("numeric",)), table).apply(table)
    assert changed.columns == table.columns
    assert np.array_equal(changed.codes, table.codes)


@pytest.mark.parametrize(("columns", "answered"), [(None, True), (("petal*",), False)])
def test_leave_one_out_at_once_leaves_chosen_columns_to_fits(columns: Any, answered: bool) -> None:
    rows = taken(load("iris"), "classification", slice(0, 150))
    steps = (Impute(), Standardise(columns=columns), OneHot())
    pipeline = Pipeline(steps=steps, model=MODELS.load("lda")())
    assert (pipeline.leave_one_out(rows) is not None) == answered
