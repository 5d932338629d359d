"""The recipe for a method in CONTRIBUTING.md is true: its code runs, registers and learns."""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import numpy as np

from mlcli.core.learning import ask, learn
from mlcli.core.params import build
from tests.contract.subjects import Subject
from tests.contract.toys import halves

ROOT = Path(__file__).parent.parent.parent


def recipe() -> ModuleType:
    """The code block of the recipe as a module."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    block = text.partition("   ```python\n")[2].partition("   ```\n")[0]
    module = ModuleType("recipe")
    sys.modules["recipe"] = module
    exec(compile(dedent(block), "CONTRIBUTING.md", "exec"), module.__dict__)
    return module


def test_the_recipe_for_a_method_learns_as_it_stands() -> None:
    cls = recipe().NearestMean
    model = build(cls, {"power": 1.0})
    train, test = halves(Subject("zero-r", "classification").rows(n=300))
    numbers_only = [data.with_table(data.table.select(["length", "width"])) for data in (train, test)]
    numbers_only = [data.take(np.flatnonzero(~np.isnan(data.table.numbers).any(axis=1))) for data in numbers_only]
    learn(model, numbers_only[0], np.random.default_rng(0))
    answers = ask(model, numbers_only[1])
    assert cls.id == "nearest-mean"
    assert np.mean(answers.predicted == answers.truth) > 0.9  # type: ignore[attr-defined]
