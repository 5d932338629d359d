"""Cells and datasets as plain JSON and back, so that a stored run can be shown without its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mlcli.core.schema import Column, Schema, SchemaField
from mlcli.data.dataset import Dataset, Recipe
from mlcli.experiment.spec.cells import Cell, DatasetFacts, ModelSpec, ProtocolSpec, StepSpec

ROLES_WITHOUT_LEVELS = ("id", "ignore")
"""Roles whose levels nobody shows; ids have as many levels as rows."""
OF_DATASET = ("name", "content", "task", "notes", "unlabelled")
OF_CELL = ("kind", "seed", "budget", "skipped", "learned_rows", "shortcuts", "stages", "training")
"""What is kept as it is."""


def facts_of_dataset(dataset: Dataset | DatasetFacts) -> dict[str, Any]:
    """All that is remembered of a dataset."""
    return {
        **{name: getattr(dataset, name) for name in OF_DATASET},
        "rows": len(dataset),
        "schema": [_facts_of_field(described) for described in dataset.schema],
        "path": _text(dataset.path),
        **_facts_of_recipe(dataset),
    }


def dataset_from(facts: Mapping[str, Any]) -> DatasetFacts:
    """What is remembered of a dataset."""
    facts = _without_lists(facts)
    return DatasetFacts(
        **{name: facts[name] for name in OF_DATASET},
        rows=facts["rows"],
        schema=Schema(tuple(SchemaField(**{**one, "column": Column(**one["column"])}) for one in facts["schema"])),
        path=_path(facts["path"]),
        recipe=Recipe.from_facts(facts["recipe"]) if facts["recipe"] else None,
        file_hash=facts["file_hash"],
    )


def facts_of_cell(cell: Cell) -> dict[str, Any]:
    """Everything of a cell but its dataset, which is named by name and content."""
    model = cell.model
    return {
        **{name: getattr(cell, name) for name in OF_CELL},
        "dataset": cell.dataset.name,
        "content": cell.dataset.content,
        "rows": len(cell.dataset),
        "model": model.use,
        "params": dict(model.params),
        "label": model.label,
        "requested": model.requested,
        "asked_steps": None if model.steps is None else [_facts_of(step) for step in model.steps],
        "saved": None if model.saved is None else str(model.saved.absolute()),
        "steps": [_facts_of(step) for step in cell.steps],
        "protocol": _facts_of(cell.protocol),
    }


def cell_from(facts: Mapping[str, Any], dataset: DatasetFacts) -> Cell:
    """A cell as it was asked for."""
    facts = _without_lists(facts)
    asked = facts["asked_steps"]
    return Cell(
        **{name: facts[name] for name in OF_CELL},
        dataset=dataset,
        model=ModelSpec(
            use=facts["model"],
            params=facts["params"],
            steps=None if asked is None else _steps_from(asked),
            label=facts["label"],
            saved=_path(facts["saved"]),
            requested=facts["requested"],
        ),
        steps=_steps_from(facts["steps"]),
        protocol=ProtocolSpec(**facts["protocol"]),
    )


def _facts_of(spec: StepSpec | ProtocolSpec) -> dict[str, Any]:
    return {"use": spec.use, "params": dict(spec.params)}


def _steps_from(facts: Sequence[Mapping[str, Any]]) -> tuple[StepSpec, ...]:
    return tuple(StepSpec(**step) for step in facts)


def _without_lists(value: Any) -> Any:
    """Values as they were: JSON has no tuples, specs have no lists."""
    if isinstance(value, Mapping):
        return {name: _without_lists(inner) for name, inner in value.items()}
    return tuple(map(_without_lists, value)) if isinstance(value, list) else value


def _facts_of_recipe(dataset: Dataset | DatasetFacts) -> dict[str, Any]:
    """How a dataset was read, and from which bytes."""
    if dataset.recipe is None:
        return {"recipe": None, "file_hash": ""}
    file_hash = dataset.file_hash if isinstance(dataset, DatasetFacts) else dataset.recipe.file_hash
    return {"recipe": dataset.recipe.facts(), "file_hash": file_hash}


def _facts_of_field(described: SchemaField) -> dict[str, Any]:
    facts = asdict(described)
    if described.role in ROLES_WITHOUT_LEVELS:
        facts["column"]["levels"] = ()
    return facts


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)
