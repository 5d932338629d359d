"""The recipes in CONTRIBUTING.md are true: their code runs, registers and does what it is for."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import numpy as np
import pytest

from mlcli.checks.context import context_of
from mlcli.core.params import build
from mlcli.core.pipeline import learn, predict_rows
from mlcli.data.load import load
from mlcli.metrics.registry import METRICS, metric_named
from mlcli.report.document import Sentence, grid
from mlcli.report.page import Page
from mlcli.tasks.supervised import ValueAnswers
from tests.contract.subjects import Subject
from tests.contract.toys import halves
from tests.metrics.making import value_answers

ROOT = Path(__file__).parent.parent.parent
BLOCK = re.compile(r"^ *```python\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| \[(.*?)\]\(#(.*?)\) \| (\d) \| (.*?) \|$", re.MULTILINE)
AT_MOST = {
    "a method": 3,
    "a wrapper": 3,
    "a step": 2,
    "a metric": 3,
    "a protocol": 2,
    "a check": 2,
    "a report format": 2,
    "a kind of task": 4,
}


def page() -> str:
    return (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def recipe(name: str, imports: str = "") -> ModuleType:
    """The code block of the page that defines a name, as a module."""
    (block,) = (dedent(block) for block in BLOCK.findall(page()) if f" {name}(" in block)
    module = ModuleType("recipe")
    sys.modules["recipe"] = module
    exec(imports, module.__dict__)
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
        assert len(which.split(", ")) == count


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


@pytest.mark.usefixtures("metrics_restored")
def test_the_recipe_for_a_metric_is_found_by_its_name() -> None:
    recipe("largest_error")
    assert metric_named("largest-error", ValueAnswers).compute(value_answers([1, 2, 3], [1, 5, 2])) == 3.0


def test_the_recipe_for_a_check_finds_round_numbers(tmp_path: Path) -> None:
    check = recipe("rounded", "from mlcli.checks.data.numbers import *").rounded
    (tmp_path / "my.csv").write_text("a,b,y\n10,1,u\n20,2,v\n30,3,u\n", encoding="utf-8")
    issues = list(check(context_of(load(str(tmp_path / "my.csv")))))
    assert [issue.columns for issue in issues] == [("a",)]


def test_the_recipe_for_a_report_format_renders_a_document() -> None:
    document = (Sentence("all of it"), grid(["model", "score"], [["knn", "0.9"]]))
    assert recipe("tabs_of").tabs_of(document, Page()) == "all of it\nmodel\tscore\nknn\t0.9\n"
