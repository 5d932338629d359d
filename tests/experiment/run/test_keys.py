"""Keys: what a result depends on is in them, names and circumstances are not, and the revision of a method is."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mlcli.core.configuration import parts_of
from mlcli.core.params import build
from mlcli.core.registry import MODELS, STEPS
from mlcli.core.schema import Schema
from mlcli.data.dataset import Dataset
from mlcli.experiment.run import preparation
from mlcli.experiment.run.preparation import cell_key, prepare, revisions_of, splits_digest
from mlcli.experiment.spec.cells import Cell, ProtocolSpec, StepSpec
from tests.experiment import toy


def key(cell: Cell) -> str:
    made = prepare(cell)
    return cell_key(cell, made)


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
    made = prepare(toy.cell())
    others = [replace(split, label=f"part {i}") for i, split in enumerate(made.splits)]
    assert splits_digest(others) != splits_digest(made.splits)


def raised(monkeypatch: pytest.MonkeyPatch, cls: Any) -> None:
    monkeypatch.setattr(cls, "revision", cls.revision + 1)


STEPPED = toy.cell("knn", steps=(StepSpec("impute"), StepSpec("one-hot")))


@pytest.mark.parametrize(
    ("catalogue", "name", "counts"),
    [(MODELS, "knn", True), (STEPS, "one-hot", True), (MODELS, "zero-r", False), (STEPS, "standardise", False)],
)
def test_the_revisions_of_the_model_and_of_its_steps_are_in_the_key(
    monkeypatch: pytest.MonkeyPatch, catalogue: Any, name: str, counts: bool
) -> None:
    before = key(STEPPED)
    raised(monkeypatch, catalogue.load(name))
    assert (key(STEPPED) != before) is counts


def test_one_revision_counts_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key(toy.cell())
    monkeypatch.setattr(preparation, "CORE_REVISION", preparation.CORE_REVISION + 1)
    assert key(toy.cell()) != before


SCALED = {"use": "knn", "params": {"k": 3}, "steps": [{"use": "min-max"}, "pca"]}
NESTED: dict[str, Any] = {
    "an id": "knn",
    "a mapping": {"use": "knn"},
    "a mapping with steps": SCALED,
}


@pytest.mark.parametrize("how", NESTED)
def test_the_revision_of_a_nested_model_is_in_the_key(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    cell = toy.cell("self-training", params={"base": NESTED[how]})
    before = key(cell)
    raised(monkeypatch, MODELS.load("ridge"))
    assert key(cell) == before
    raised(monkeypatch, MODELS.load("knn"))
    assert key(cell) != before


@pytest.mark.parametrize("step", ["min-max", "pca"])
def test_the_revision_of_a_step_before_a_nested_model_is_in_the_key(
    monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    cell = toy.cell("self-training", params={"base": SCALED})
    before = key(cell)
    raised(monkeypatch, STEPS.load(step))
    assert key(cell) != before


def test_what_is_nested_counts_at_any_depth_by_default_too() -> None:
    inner = {"use": "self-training", "params": {"threshold": 0.8}, "steps": ["pca"]}
    model = build(MODELS.load("bagging"), {"base": {"use": "bagging", "params": {"base": inner}}})
    found = revisions_of(parts_of(model))
    assert found.keys() == {"model bagging", "model self-training", "model naive-bayes", "step pca"}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A method of somebody's package, in a file of its own."""
    home, about = tmp_path / "someones", tmp_path / "someones-1.0.dist-info"
    home.mkdir()
    about.mkdir()
    (home / "__init__.py").write_text("from someones.method import Mine\n")
    (home / "method.py").write_text(METHOD)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: someones\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[mlcli.models]\nmine = someones:Mine\n")
    monkeypatch.syspath_prepend(tmp_path)
    vars(MODELS).pop("_entry_points", None)
    yield tmp_path
    vars(MODELS).pop("_entry_points", None)
    for name in [name for name in sys.modules if name.startswith("someones")]:
        del sys.modules[name]


METHOD = """
from dataclasses import dataclass
from mlcli.core.registry import register
from mlcli.models.baselines.zero_r import ZeroR

@register("mine", reference="mine")
class Mine(ZeroR):
    pass
"""


def test_a_method_from_elsewhere_counts_by_the_bytes_of_its_file(installed: Path) -> None:
    before = key(toy.cell("mine"))
    assert key(toy.cell("mine")) == before
    with (installed / "someones" / "method.py").open("a") as file:
        file.write("# changed\n")
    assert key(toy.cell("mine")) != before


def test_a_method_from_elsewhere_counts_by_the_version_of_its_package(installed: Path) -> None:
    before = key(toy.cell("mine"))
    (installed / "someones-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: someones\nVersion: 1.1\n"
    )
    vars(MODELS).pop("_entry_points", None)
    assert key(toy.cell("mine")) != before


def test_the_content_of_a_dataset_is_its_cells_columns_and_roles() -> None:
    data = toy.dataset()
    other = replace(data, name="other", notes=(), path=Path("x.csv"))
    assert other.content == data.content
    assert replace(data, schema=Schema(data.schema.fields[::-1])).content != data.content
