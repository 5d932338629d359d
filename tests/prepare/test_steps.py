"""What every step promises, in each of its configurations."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest

from mlcli.core.errors import MlcliWarning, UsageError
from mlcli.core.params import build, parameters
from mlcli.core.registry import STEPS
from mlcli.core.schema import Column
from mlcli.core.state import packed, unpacked
from mlcli.core.tables import Table
from mlcli.prepare._selecting import Selection
from mlcli.prepare.impute import Impute
from tests.contract.illegal import illegal_values
from tests.contract.subjects import configurations
from tests.prepare.preparing import fitted, prepared
from tests.support.rows import table_of

ALSO: dict[str, list[dict[str, Any]]] = {
    "discretise": [{"by": "boundaries", "boundaries": (2.0, 5.0), "labels": ("low", "mid", "high")}],
    "anova": [{"keep": None}],
    "indicator": [{"at": 5.0}],
    "ratio": [{"by": "width"}],
    "waterfall": [{"edges": (2.0, 5.0)}],
    "log": [{"k": 100.0}],
    "polynomial": [{"degree": 3}],
}
"""Configurations that make a step another one, though no choice of a parameter says so."""


def all_configurations() -> Iterator[Any]:
    """The defaults of each step, each other choice of its parameters, and what is told apart above."""
    for name in STEPS.names():
        for params in (*map(dict, configurations(STEPS.load(name))), *ALSO.get(name, ())):
            said = ",".join(f"{one}={value}" for one, value in params.items())
            yield pytest.param(name, params, id=f"{name}[{said}]")


every_step = pytest.mark.parametrize(("name", "params"), list(all_configurations()))
HALVES_ROWS = ("embedded-selection", {"rounds": "forward"})
"""Draws random halves of the rows; a row that stands twice may be in both of them, a weighted one cannot."""
each_step_without_halves = pytest.mark.parametrize(
    ("name", "params"), [case for case in all_configurations() if case.values != HALVES_ROWS]
)


def made(name: str, params: dict[str, Any]) -> Any:
    return build(STEPS.load(name), params)


def everything(n: int = 60, seed: int = 3) -> Table:
    """Every kind of column, with gaps."""
    rng = np.random.default_rng(seed)
    columns = (
        Column("length", missing=True),
        Column("colour", "nominal", ("blue", "green", "red", "never"), missing=True),
        Column("always"),
        Column("size", "ordinal", ("low", "mid", "high"), missing=True),
        Column("old", "boolean", ("no", "yes")),
        Column("width"),
    )
    length = rng.normal(5, 3, n)
    numbers = np.column_stack([length, np.full(n, 7.0), length + rng.normal(0, 1, n)])
    codes = np.column_stack([rng.integers(0, 3, n), rng.integers(0, 3, n), rng.integers(0, 2, n)]).astype(np.int32)
    numbers[rng.random(n) < 0.2, 0] = np.nan
    codes[rng.random(n) < 0.2, :2] = -1
    return Table(columns, numbers, codes)


def rows(name: str, params: dict[str, Any], seed: int = 3) -> Table:
    """Of everything, what the step takes as it is."""
    table, accepts = everything(seed=seed), made(name, params).accepts
    if not accepts.nominal:
        table = table.select(column.name for column in table.number_columns)
    return table if accepts.missing else prepared(Impute(), table)


def chooses(step: Any) -> bool:
    """Whether which columns it keeps is learned, so that it announces all."""
    return isinstance(step, Selection)


def same(one: Table, other: Table) -> bool:
    alike = np.array_equal(one.numbers, other.numbers, equal_nan=True) and np.array_equal(one.codes, other.codes)
    return alike and one.columns == other.columns


@every_step
def test_it_gives_the_columns_that_it_announces(name: str, params: dict[str, Any]) -> None:
    step = fitted(made(name, params), rows(name, params))
    changed = step.transform(rows(name, params))
    announced = made(name, params).columns_after(rows(name, params).columns)
    assert changed.columns == tuple(one for one in announced if one in changed.columns or not chooses(step))
    assert changed.numbers.shape == (60, len(changed.number_columns))
    assert changed.codes.shape == (60, len(changed.code_columns))
    assert changed.numbers.flags.c_contiguous
    assert changed.codes.flags.c_contiguous


@every_step
def test_saved_and_loaded_equals_fitted_to_the_bit(name: str, params: dict[str, Any]) -> None:
    step = fitted(made(name, params), rows(name, params))
    arrays: dict[str, Any] = {}
    written = json.dumps(packed(step, arrays), allow_nan=False)
    loaded = unpacked(json.loads(written), arrays)
    assert same(loaded.transform(rows(name, params, seed=4)), step.transform(rows(name, params, seed=4)))
    assert loaded.explain() == step.explain()


@every_step
def test_the_table_that_it_is_given_stays_as_it_was(name: str, params: dict[str, Any]) -> None:
    table = rows(name, params)
    table.numbers.setflags(write=False)
    table.codes.setflags(write=False)
    fitted(made(name, params), table).transform(table)
    assert same(table, rows(name, params))


@every_step
def test_a_row_changes_alike_alone_and_among_others(name: str, params: dict[str, Any]) -> None:
    step = fitted(made(name, params), rows(name, params))
    order = np.random.default_rng(1).permutation(60)
    assert same(step.transform(rows(name, params).take(order)), step.transform(rows(name, params)).take(order))
    assert same(
        step.transform(rows(name, params).take(slice(7, 8))), step.transform(rows(name, params)).take(slice(7, 8))
    )


@every_step
def test_the_order_of_training_rows_does_not_matter(name: str, params: dict[str, Any]) -> None:
    order = np.random.default_rng(1).permutation(60)
    straight, shuffled = (
        fitted(made(name, params), rows(name, params)),
        fitted(made(name, params), rows(name, params).take(order)),
    )
    assert straight.transform(rows(name, params)).numbers == pytest.approx(
        shuffled.transform(rows(name, params)).numbers, abs=1e-12, nan_ok=True
    )


@each_step_without_halves
def test_a_whole_weight_counts_as_that_many_rows(name: str, params: dict[str, Any]) -> None:
    times = np.random.default_rng(2).integers(0, 4, 60)
    weighted = fitted(made(name, params), rows(name, params), times)
    repeated = fitted(made(name, params), rows(name, params).take(np.repeat(np.arange(60), times)))
    one, other = weighted.transform(rows(name, params)), repeated.transform(rows(name, params))
    assert one.numbers == pytest.approx(other.numbers, abs=1e-12, nan_ok=True)
    assert np.array_equal(one.codes, other.codes)


@every_step
def test_one_row_no_column_or_no_rows_asked_is_enough(name: str, params: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", MlcliWarning)
        one = fitted(made(name, params), rows(name, params).take(slice(0, 1)))
        assert len(one.transform(rows(name, params))) == 60
        assert len(one.transform(rows(name, params).take(slice(0, 0)))) == 0
        bare = rows(name, params).select(())
        assert len(fitted(made(name, params), bare).transform(bare)) == 60


@every_step
def test_what_it_says_of_itself_is_plain(name: str, params: dict[str, Any]) -> None:
    sections = fitted(made(name, params), rows(name, params)).explain()
    assert sections
    assert json.dumps([asdict(section) for section in sections])


@pytest.mark.parametrize("name", STEPS.names())
def test_illegal_parameters_are_refused_from_the_declaration(name: str) -> None:
    for parameter in parameters(STEPS.load(name)):
        for value in illegal_values(parameter):
            with pytest.raises(UsageError, match=parameter.name):
                made(name, {parameter.name: value})


@pytest.mark.parametrize("name", STEPS.names())
def test_a_step_that_is_fresh_has_learned_nothing(name: str) -> None:
    step = fitted(made(name, {}), table_of({"x": [1.0, 2.0]}))
    assert step.fresh().columns_ is None
