"""Cells and datasets as plain JSON and back, so that a stored run can be shown without its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mlcli.core.schema import Column, Field, Schema
from mlcli.data.dataset import Dataset
from mlcli.experiment.spec.cells import Cell, DatasetFacts, ModelSpec, ProtocolSpec, Stages, StepSpec

ROLES_WITHOUT_LEVELS = ("id", "ignore")
"""Roles whose levels nobody shows; ids have as many levels as rows."""


def facts_of_dataset(dataset: Dataset | DatasetFacts) -> dict[str, Any]:
    """All that is remembered of a dataset."""
    return {
        "name": dataset.name,
        "content": dataset.content,
        "rows": len(dataset),
        "schema": [_facts_of_field(described) for described in dataset.schema],
        "path": None if dataset.path is None else str(dataset.path),
        "task": dataset.task,
        "notes": list(dataset.notes),
        "unlabelled": dataset.unlabelled,
    }


def dataset_from(facts: Mapping[str, Any]) -> DatasetFacts:
    """What is remembered of a dataset."""
    return DatasetFacts(
        name=facts["name"],
        content=facts["content"],
        rows=facts["rows"],
        schema=Schema(tuple(_field_from(described) for described in facts["schema"])),
        path=None if facts["path"] is None else Path(facts["path"]),
        task=facts["task"],
        notes=tuple(facts["notes"]),
        unlabelled=facts.get("unlabelled", 0),
    )


def facts_of_cell(cell: Cell) -> dict[str, Any]:
    """Everything of a cell but its dataset, which is named by name and content."""
    model = cell.model
    return {
        "dataset": cell.dataset.name,
        "content": cell.dataset.content,
        "rows": len(cell.dataset),
        "kind": cell.kind,
        "model": model.use,
        "params": dict(model.params),
        "label": model.label,
        "asked_steps": None if model.steps is None else _facts_of_steps(model.steps),
        "saved": None if model.saved is None else str(model.saved),
        "steps": _facts_of_steps(cell.steps),
        "protocol": {"use": cell.protocol.use, "params": dict(cell.protocol.params)},
        "seed": cell.seed,
        "budget": cell.budget,
        "skipped": cell.skipped,
        "learned_rows": cell.learned_rows,
        "shortcuts": cell.shortcuts,
        "stages": cell.stages,
        "training": cell.training,
    }


def cell_from(facts: Mapping[str, Any], dataset: DatasetFacts) -> Cell:
    """A cell as it was asked for."""
    asked = facts["asked_steps"]
    model = ModelSpec(
        use=facts["model"],
        params=_listless(facts["params"]),
        steps=None if asked is None else _steps_from(asked),
        label=facts["label"],
        saved=None if facts["saved"] is None else Path(facts["saved"]),
    )
    return Cell(
        dataset=dataset,
        kind=facts["kind"],
        model=model,
        steps=_steps_from(facts["steps"]),
        protocol=ProtocolSpec(facts["protocol"]["use"], _listless(facts["protocol"]["params"])),
        seed=facts["seed"],
        budget=facts["budget"],
        skipped=facts["skipped"],
        learned_rows=facts.get("learned_rows", 0),
        shortcuts=facts.get("shortcuts", True),
        stages=_stages_from(facts.get("stages", False)),
        training=facts.get("training", False),
    )


def _stages_from(stages: bool | int | list[int]) -> Stages:
    return tuple(stages) if isinstance(stages, list) else stages


def _facts_of_steps(steps: Sequence[StepSpec]) -> list[dict[str, Any]]:
    return [{"use": step.use, "params": dict(step.params)} for step in steps]


def _steps_from(facts: Sequence[Mapping[str, Any]]) -> tuple[StepSpec, ...]:
    return tuple(StepSpec(step["use"], _listless(step["params"])) for step in facts)


def _listless(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as they were: JSON has no tuples, parameters have no lists."""
    return {name: _without_lists(value) for name, value in params.items()}


def _without_lists(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_without_lists, value))
    return _listless(value) if isinstance(value, Mapping) else value


def _facts_of_field(described: Field) -> dict[str, Any]:
    facts = asdict(described)
    if described.role in ROLES_WITHOUT_LEVELS:
        facts["column"]["levels"] = ()
    return facts


def _field_from(facts: Mapping[str, Any]) -> Field:
    column = facts["column"]
    kept = Column(column["name"], column["kind"], tuple(column["levels"]), column["missing"])
    return Field(kept, facts["role"], facts["source"], facts["why"])
