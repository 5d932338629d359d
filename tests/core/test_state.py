"""Learned state as JSON and arrays: what comes back is what went in, and what was made up is refused."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from mlcli.core.errors import UsageError
from mlcli.core.pipeline import Pipeline, learn
from mlcli.core.schema import Column
from mlcli.core.state import packed, unpacked
from mlcli.core.tables import Table
from mlcli.models.baselines.zero_r import ZeroR
from tests.experiment import toy


def through_json(value: Any) -> Any:
    arrays: dict[str, Any] = {}
    return unpacked(json.loads(json.dumps(packed(value, arrays), allow_nan=False)), arrays)


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        2**70,
        "text ☂",
        0.1 + 0.2,
        -0.0,
        math.inf,
        -math.inf,
        (),
        (1, (2.5, None), "x"),
        {"a": 1, "array": {"b": (2,)}},
        Column("c", "nominal", ("x", "y"), True),
    ],
    ids=repr,
)
def test_plain_values_come_back_as_they_were(value: Any) -> None:
    back = through_json(value)
    assert back == value
    assert type(back) is type(value)
    assert repr(back) == repr(value)


def test_nan_comes_back() -> None:
    assert math.isnan(through_json(math.nan))


def test_lists_come_back_as_tuples() -> None:
    assert through_json([1, [2]]) == (1, (2,))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "int64", "uint8", "uint64", "bool"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_come_back_to_the_bit_in_their_memory_order(dtype: str, order: Any) -> None:
    array = np.asarray(np.arange(6).reshape(2, 3), dtype, order=order)
    back = through_json({"x": array})["x"]
    assert (back.dtype, back.shape, back.tobytes()) == (array.dtype, array.shape, array.tobytes())
    assert back.flags.f_contiguous == array.flags.f_contiguous


@pytest.mark.parametrize("value", [np.float64(0.1), np.float32(0.1), np.int32(7), np.bool_(True)], ids=repr)
def test_numpy_numbers_keep_their_type(value: Any) -> None:
    back = through_json(value)
    assert back == value
    assert type(back) is type(value)


def test_a_table_comes_back() -> None:
    table = toy.dataset().table
    back = through_json(table)
    assert back.columns == table.columns
    assert back.numbers.tobytes() == table.numbers.tobytes()
    assert back.codes.tobytes() == table.codes.tobytes()


def fitted() -> Pipeline:
    from mlcli.tasks.supervised import LabelledRows

    data = toy.dataset()
    pipeline = Pipeline(steps=(), model=ZeroR())
    learn(pipeline, LabelledRows.from_table(data.table, data.schema), np.random.default_rng(0))
    return pipeline


def test_a_pipeline_comes_back_with_all_that_it_learned() -> None:
    pipeline = fitted()
    back = through_json(pipeline)
    assert isinstance(back, Pipeline)
    assert isinstance(back.model, ZeroR)
    assert isinstance(pipeline.model, ZeroR)
    assert (back.columns_, back.target_, back.model.classes_) == (pipeline.columns_, "y", ("no", "yes"))
    assert back.model.mean_.tobytes() == pipeline.model.mean_.tobytes()


@pytest.mark.parametrize(
    "value",
    [object(), {1: "x"}, np.array(["text"]), np.array([object()]), {"deep": [{1, 2}]}, 1j],
    ids=lambda value: type(value).__name__,
)
def test_what_cannot_be_saved_is_named(value: Any) -> None:
    with pytest.raises(TypeError, match=r"model.*cannot be saved"):
        packed(value, {})


def tampered(change: Any) -> tuple[Any, dict[str, Any]]:
    arrays: dict[str, Any] = {}
    structure = json.loads(json.dumps(packed(fitted(), arrays)))
    change(structure, structure["pipeline"]["dict"]["model"], arrays)
    return structure, arrays


MADE_UP = {
    "an unknown model": lambda whole, model, arrays: model["model"].update(id="no-such-model"),
    "a path for an id": lambda whole, model, arrays: model["model"].update(id="../../os"),
    "an unknown parameter": lambda whole, model, arrays: model["model"].update(params={"dict": {"k": 1}}),
    "a missing learned field": lambda whole, model, arrays: model["learned"].pop("mean_"),
    "an unknown learned field": lambda whole, model, arrays: model["learned"].update(fit=1),
    "a missing array": lambda whole, model, arrays: arrays.clear(),
    "an unknown structure": lambda whole, model, arrays: model["learned"].update(mean_={"call": "os.system"}),
    "two structures in one": lambda whole, model, arrays: whole.update(list=[]),
    "a bare list": lambda whole, model, arrays: model["learned"].update(mean_=[1]),
    "an unknown order": lambda whole, model, arrays: model["learned"]["mean_"].update(order="A"),
    "an unknown kind of column": lambda whole, model, arrays: whole["learned"]["columns_"]["list"][0][
        "column"
    ].update(kind="code"),
}


@pytest.mark.parametrize("what", MADE_UP)
def test_what_was_made_up_is_refused(what: str) -> None:
    structure, arrays = tampered(MADE_UP[what])
    with pytest.raises((ValueError, UsageError)):
        unpacked(structure, arrays)


def test_a_step_where_a_model_belongs_is_refused() -> None:
    with pytest.raises((ValueError, UsageError)):
        unpacked({"model": {"id": "impute", "params": {"dict": {}}}, "learned": {}}, {})


@pytest.mark.parametrize(
    "wrong",
    [
        {"codes": np.full((40, 2), 3, np.int32)},
        {"codes": np.full((40, 2), -2, np.int32)},
        {"codes": np.zeros((40, 2), np.int64)},
        {"codes": np.zeros((40, 1), np.int32)},
        {"codes": np.zeros((39, 2), np.int32)},
        {"numbers": np.zeros((40, 2), np.float32)},
    ],
    ids=["code too high", "code too low", "wrong integers", "too few columns", "too few rows", "wrong floats"],
)
def test_a_table_that_does_not_fit_its_columns_is_refused(wrong: dict[str, Any]) -> None:
    table = toy.dataset().table
    parts = {"columns": table.columns, "numbers": table.numbers, "codes": table.codes} | wrong
    arrays: dict[str, Any] = {}
    structure = packed(Table(**parts), arrays)
    with pytest.raises(ValueError, match="a table"):
        unpacked(structure, arrays)
