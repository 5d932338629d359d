"""The recipes in CONTRIBUTING.md are true: their code runs, registers and does what it is for."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from mlcli.core.params import build
from mlcli.core.pipeline import learn, predict_rows
from mlcli.core.rows import SplitInfo
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.metrics.declaring import METRICS
from mlcli.metrics.registry import metric_named
from mlcli.report.document import Sentence, grid
from mlcli.report.page import Page
from mlcli.tasks.regression import ValueAnswers
from mlcli.tasks.table import BY_NAME
from tests.contract.subjects import Subject
from tests.contract.test_promises import error
from tests.contract.toys import halves
from tests.metrics.making import value_answers

ROOT = Path(__file__).parent.parent.parent
BLOCK = re.compile(r"^ *```python\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| \[(.*?)\]\(#(.*?)\) \| (\d) \| (.*?) \|$", re.MULTILINE)
AT_MOST = {
    "a method": 4,
    "a method around others": 4,
    "a step": 3,
    "a metric": 3,
    "a protocol": 2,
    "a kind of task": 4,
    "a report format": 3,
}


def page() -> str:
    return (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def recipe(name: str) -> ModuleType:
    """The code block of the page that defines a name, as a module."""
    (block,) = (dedent(block) for block in BLOCK.findall(page()) if f" {name}(" in block)
    module = ModuleType("recipe")
    sys.modules["recipe"] = module
    exec(compile(block, "CONTRIBUTING.md", "exec"), module.__dict__)
    return module


@pytest.fixture
def metrics_restored() -> Iterator[None]:
    """A test may declare a metric; afterwards it is gone."""
    metric_named("rmse", ValueAnswers)
    before = dict(METRICS)
    yield
    METRICS.clear()
    METRICS.update(before)


def test_every_recipe_lists_no_more_files_than_it_may_touch() -> None:
    listed = {what: (int(count), which) for what, _, count, which in ROW.findall(page())}
    assert listed.keys() == AT_MOST.keys()
    for what, (count, which) in listed.items():
        assert count <= AT_MOST[what]
        assert which == "the same" or len(which.split(", ")) == count


@pytest.mark.parametrize("anchor", [anchor for _, anchor, _, _ in ROW.findall(page())])
def test_every_recipe_that_the_table_names_is_there(anchor: str) -> None:
    assert f"\n## {anchor.replace('-', ' ').capitalize()}\n" in page()


def test_the_recipe_for_a_method_learns_as_it_stands() -> None:
    cls = recipe("NearestMean").NearestMean
    model = build(cls, {"power": 1.0})
    train, test = halves(Subject("zero-r", "classification").rows(n=300))
    numbers_only = [data.with_table(data.table.select(["length", "width"])) for data in (train, test)]
    numbers_only = [data.take(np.flatnonzero(~np.isnan(data.table.numbers).any(axis=1))) for data in numbers_only]
    learn(model, numbers_only[0], np.random.default_rng(0))
    answers = predict_rows(model, numbers_only[1])
    assert cls.id == "nearest-mean"
    assert np.mean(answers.predicted == answers.truth) > 0.9  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_the_recipe_for_a_method_around_others_learns_as_it_stands(kind: str) -> None:
    cls = recipe("TwoHalves").TwoHalves
    model = build(cls, {"base": "knn", "base.k": 3})
    train, test = halves(Subject("zero-r", kind).rows(n=300))
    learn(model, train, np.random.default_rng(0))
    baseline = Subject("zero-r", kind).answers(train, test)
    assert error(predict_rows(model, test)) < 0.5 * error(baseline)
    assert model.explain()


def test_the_recipe_for_a_step_takes_roots() -> None:
    step = build(recipe("SignedRoot").SignedRoot, {})
    table = Table.of([(Column("x"), np.array([-4.0, 0.0, 9.0])), (Column("c", "nominal", ("u",)), np.zeros(3))], 3)
    assert step.transform(table).numbers.ravel().tolist() == [-2.0, 0.0, 3.0]
    assert step.transform(table).codes.tolist() == table.codes.tolist()


@pytest.mark.usefixtures("metrics_restored")
def test_the_recipe_for_a_metric_is_found_by_its_name() -> None:
    recipe("largest_error")
    assert metric_named("largest-error", ValueAnswers).compute(value_answers([1, 2, 3], [1, 5, 2])) == 3.0


def test_the_recipe_for_a_protocol_judges_the_last_rows() -> None:
    cls: Any = recipe("LaterRows").LaterRows
    (split,) = build(cls, {"test_share": 0.2}).splits(SplitInfo(10, None, None), np.random.default_rng(0))
    assert (split.train.tolist(), split.test.tolist()) == (list(range(8)), [8, 9])
    assert set(cls.kinds) <= BY_NAME.keys()


def test_the_recipe_for_a_report_format_renders_a_document() -> None:
    document = (Sentence("all of it"), grid(["model", "score"], [["knn", "0.9"]]))
    assert recipe("tabs_of").tabs_of(document, Page()) == "all of it\nmodel\tscore\nknn\t0.9\n"
