"""Keys: what a result depends on is in them, names and circumstances are not, and the source of a method is."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlcli.core.held_out import Round, totals_outside
from mlcli.core.moments import extent, moments
from mlcli.core.registry import MODELS, Catalogue, Entry
from mlcli.core.schema import Schema
from mlcli.core.seeds import rng_for
from mlcli.data.dataset import Dataset
from mlcli.experiment.run.judge import judge
from mlcli.experiment.run.learner import Learner
from mlcli.experiment.run.preparation import Block, Preparation
from mlcli.experiment.spec.cells import Cell, ProtocolSpec, StepSpec
from mlcli.experiment.store.keys import (
    CORE_VERSION,
    COUNTED_BY_NUMBER,
    HOME,
    _reached,
    cell_key,
    method_version,
    splits_digest,
)
from mlcli.protocols._base import Split
from mlcli.protocols._parts import Parts
from tests.experiment import toy


def key(cell: Cell) -> str:
    made = Preparation().ready(cell)
    return cell_key(cell, made, splits_digest(made.splits))


def renamed(dataset: Dataset, role: str) -> Dataset:
    return replace(dataset, schema=dataset.schema.changed("a", role=role))


def test_what_a_result_depends_on_changes_the_key() -> None:
    others = [
        toy.cell(),
        toy.cell("random"),
        toy.cell(data=toy.dataset(seed=1)),
        toy.cell(data=renamed(toy.dataset(), "ignore")),
        toy.cell(seed=2),
        toy.cell(protocol=ProtocolSpec("k-fold", {"folds": 4})),
        toy.cell(protocol=ProtocolSpec("stratified-k-fold", {"folds": 5})),
        toy.cell(steps=(StepSpec("impute"),)),
        toy.cell(steps=(StepSpec("impute"), StepSpec("standardise"))),
    ]
    keys = [key(cell) for cell in others]
    assert len(set(keys)) == len(keys)


def test_a_parameter_is_in_the_key_and_its_default_is_the_same_as_saying_it(plugin: Path) -> None:
    assert key(toy.cell("troubled")) == key(toy.troubled("none"))
    assert key(toy.cell("troubled")) != key(toy.troubled("none", params={"lines": 2}))


def test_names_budgets_and_the_form_of_asking_are_not_in_the_key() -> None:
    plain = key(toy.cell())
    assert key(toy.cell(label="mine", budget=3.0, data=toy.dataset(name="other"))) == plain
    assert key(toy.cell(protocol=ProtocolSpec("k-fold", {"folds": 5}))) == plain


def test_the_labels_of_splits_are_in_the_key_since_they_are_stored() -> None:
    made = Preparation().ready(toy.cell())
    others = [replace(split, label=f"part {i}") for i, split in enumerate(made.splits)]
    assert splits_digest(others) != splits_digest(made.splits)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A plugin of several modules that would fail if it were imported."""
    home = tmp_path / "someones"
    home.mkdir()
    (home / "__init__.py").touch()
    (home / "method.py").write_text("from . import near\nimport someones.far as f\nraise SystemError\n")
    (home / "near.py").write_text("def inner():\n    from .deep import thing\n")
    (home / "far.py").write_text("import numpy\nimport mlcli.core.seeds\n")
    (home / "deep.py").write_text("thing = 1\n")
    (home / "unused.py").write_text("thing = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield home
    for name in [name for name in sys.modules if name.startswith("someones")]:
        del sys.modules[name]


class OneMethod(Catalogue):
    """A catalogue in which one module is registered."""

    def entry(self, name: str) -> Entry:
        return Entry(name, "someones.method", "")


def version() -> str:
    return method_version(OneMethod("mlcli.models", "model"), "someones")


@pytest.mark.parametrize("module", ["method", "near", "far", "deep"])
def test_the_version_follows_imports_without_importing(package: Path, module: str) -> None:
    before = version()
    assert version() == before
    with (package / f"{module}.py").open("a") as file:
        file.write("changed = 1\n")
    assert version() != before
    assert "someones.method" not in sys.modules


def test_comments_docstrings_and_layout_are_not_in_the_version(package: Path) -> None:
    before = version()
    lean = (package / "near.py").read_text()
    told = lean.replace("inner():\n", 'inner():\n    """What it does."""\n\n    # why\n')
    (package / "near.py").write_text(f'"""Near by."""\n\n{told}')
    assert lean != told
    assert version() == before
    (package / "deep.py").write_text("thing = (1)  # once\n")
    assert version() == before
    (package / "deep.py").write_text("thing = 1.0\n")
    assert version() != before


def test_a_module_that_is_not_imported_is_not_in_the_version(package: Path) -> None:
    before = version()
    (package / "unused.py").write_text("thing = 2\n")
    assert version() == before


def test_methods_have_versions_of_their_own() -> None:
    assert method_version(MODELS, "zero-r") != method_version(MODELS, "random")


CANARIES = {
    1: {
        "seeds": "58dc95ac319bc179",
        "classification": "6d1a9fc2d517c023",
        "regression": "4d304345ee790e8b",
        "moments": "6eacfe80e75c3eae",
        "splits": "fcd4272f626c04f6",
    }
}
CANARIES[2] = {**CANARIES[1], "held_out": "19763b92fd929322"}
"""Rounded answers by CORE_VERSION. Where one changes, results have changed: raise CORE_VERSION, add a row here."""


def canary(*arrays: Any) -> str:
    seen = hashlib.sha256()
    for array in arrays:
        seen.update(repr(np.round(np.asarray(array, float), 6).tolist()).encode())
    return seen.hexdigest()[:16]


def answered(cell: Cell) -> str:
    """What a cell answers on fixed splits: a change of a protocol is seen in the digest of splits anyway."""
    rows = Preparation().ready(cell).rows
    odd = np.arange(len(rows)) % 2 == 1
    halves = ((odd, ~odd, "even"), (~odd, odd, "odd"))
    splits = tuple(Split(np.flatnonzero(train), np.flatnonzero(test), label) for train, test, label in halves)
    outcome = judge(Block(Learner(cell.dataset.content, cell.model, cell.steps, cell.seed), rows, 0, splits))
    every = (array for split in outcome.results for array in split.answers["test"].arrays().items())
    return canary(*(array for name, array in every if name != "header.fold"))


def test_results_change_only_with_the_number_of_core() -> None:
    rng = rng_for("canary", {"k": 5, "share": 0.25}, ["a", None, True])
    numbers = np.where(np.arange(60).reshape(20, 3) % 7 == 0, np.nan, np.arange(60).reshape(20, 3) ** 1.5)
    of_parts = Parts([np.array([0, 1, -1, 1], np.int32), np.array([1, 0, 0, -1], np.int32)], list("abcd"))
    dealt = Round(np.array([1, 0, -1, 2, 1], np.int32), 3)
    sums_outside = totals_outside(np.arange(10.0).reshape(5, 2) ** 2, dealt)
    found = {
        "held_out": canary(*dealt.rows_of, dealt.sizes, sums_outside),
        "seeds": canary(rng.integers(0, 1000, 5), rng.normal(size=5), rng.permutation(10)),
        "classification": answered(toy.cell()),
        "regression": answered(toy.cell(data=toy.values(), kind="regression")),
        "splits": canary(*(rows for split in of_parts for rows in (split.train, split.test))),
        "moments": canary(*vars(moments(numbers, rng.random(20), ddof=1)).values(), *extent(numbers, np.ones(20))),
    }
    assert found == CANARIES[CORE_VERSION]


CONTRACT = {
    "bases",
    "containers",
    "errors",
    "explanation",
    "learning",
    "names",
    "params",
    "registry",
    "schema",
    "tables",
    "threads",
}
"""What methods take from ``core`` that carries numbers about; the canaries above see how it is put together."""


def test_what_methods_compute_with_from_core_has_a_canary() -> None:
    taken: set[str] = set()
    for room in ("models", "prepare", "kernels"):
        for file in (HOME / room).rglob("*.py"):
            taken |= set(
                re.findall(r"^\s*from mlcli\.core\.(\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
            )
    assert (taken - CONTRACT) & COUNTED_BY_NUMBER <= CANARIES[CORE_VERSION].keys()


def test_what_belongs_to_a_kind_counts_by_its_source() -> None:
    assert "mlcli.tasks.groups" in _reached(MODELS.entry("one-cluster"))
    assert "mlcli.core.seeds" not in _reached(MODELS.entry("one-cluster"))


def test_the_content_of_a_dataset_is_its_cells_columns_and_roles() -> None:
    data = toy.dataset()
    other = replace(data, name="other", notes=(), path=Path("x.csv"))
    assert other.content == data.content
    assert replace(data, schema=Schema(data.schema.fields[::-1])).content != data.content
