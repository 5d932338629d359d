"""The recipes for methods in CONTRIBUTING.md are true: their code runs, registers and learns."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import numpy as np
import pytest

from mlcli.core.learning import ask, learn
from mlcli.core.params import build
from tests.contract.subjects import Subject
from tests.contract.test_promises import error
from tests.contract.toys import halves

ROOT = Path(__file__).parent.parent.parent


def recipe(place: int) -> ModuleType:
    """A code block of the page as a module."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    block = re.findall(r"^ *```python\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)[place]
    module = ModuleType("recipe")
    sys.modules["recipe"] = module
    exec(compile(dedent(block), "CONTRIBUTING.md", "exec"), module.__dict__)
    return module


def test_the_recipe_for_a_method_learns_as_it_stands() -> None:
    cls = recipe(0).NearestMean
    model = build(cls, {"power": 1.0})
    train, test = halves(Subject("zero-r", "classification").rows(n=300))
    numbers_only = [data.with_table(data.table.select(["length", "width"])) for data in (train, test)]
    numbers_only = [data.take(np.flatnonzero(~np.isnan(data.table.numbers).any(axis=1))) for data in numbers_only]
    learn(model, numbers_only[0], np.random.default_rng(0))
    answers = ask(model, numbers_only[1])
    assert cls.id == "nearest-mean"
    assert np.mean(answers.predicted == answers.truth) > 0.9  # type: ignore[attr-defined]


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_the_recipe_for_a_method_around_others_learns_as_it_stands(kind: str) -> None:
    cls = recipe(1).TwoHalves
    model = build(cls, {"base": "knn", "base.k": 3})
    train, test = halves(Subject("zero-r", kind).rows(n=300))
    learn(model, train, np.random.default_rng(0))
    baseline = Subject("zero-r", kind).answers(train, test)
    assert error(ask(model, test)) < 0.5 * error(baseline)
    assert model.explain()
