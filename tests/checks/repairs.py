"""Apply the repairs that ``audit`` and ``diagnose`` print, and assert that they resolve what was found."""

from __future__ import annotations

import json
import shlex
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mlcli.checks.audit import audits_of, issues_in
from mlcli.checks.context import AuditContext, context_of
from mlcli.core.errors import UsageError
from mlcli.core.findings import Issue, Repair, is_serious
from mlcli.core.schema import Schema, SchemaField
from mlcli.core.strict_yaml import parse
from mlcli.core.tables import Table
from mlcli.data.dataset import Dataset
from mlcli.data.load import load
from mlcli.data.shipped import shipped_paths
from mlcli.experiment.run.preparation import train
from mlcli.experiment.spec.cells import Cell
from mlcli.experiment.spec.entries import protocol_from_text
from mlcli.experiment.spec.file import read_experiment
from mlcli.experiment.spec.plan import plan
from tests.support.shell import document, typed

WITH_PROTOCOL = {"time-ignored": "forward-chaining", "given-parts": "given"}
"""The protocol that a repair names beside the role of a column."""
JUDGED_OTHERWISE = {"rare-classes", "imbalance", "unlabelled"}
"""What stays true of the rows: the repair is a metric, or a method, that suits such rows."""


def yaml(text: str) -> Any:
    return parse(text, "sidecar", UsageError).value


def write_sidecar(path: Path, declared: dict[str, Any]) -> None:
    """JSON is YAML, too, and quotes every text."""
    path.with_suffix(".yaml").write_text(json.dumps(declared), encoding="utf-8")


def with_repair(path: Path, declared: dict[str, Any], repair: Repair) -> Dataset:
    """The file, its sidecar with the lines of a repair in the place of what it says of the same columns."""
    pasted = yaml(repair.text)
    columns = {**declared.get("columns", {}), **pasted["columns"]}
    roles = {
        role: [one for one in names if one not in columns] for role, names in declared.get("roles", {}).items()
    }
    write_sidecar(path, {**declared, "columns": columns, "roles": roles})
    return load(str(path))


def is_left(issue: Issue, before: AuditContext, after: AuditContext) -> bool:
    """Whether the same is still found: of one of the columns, or as a warning of a protocol of the same kind."""
    if issue.code == "splitting":
        category = before.splits_with_warnings[1][issue.sentence]
        return category in after.splits_with_warnings[1].values()
    same = [one for one in issues_in(after) if one.code == issue.code]
    return any(not issue.columns or set(one.columns) & set(issue.columns) for one in same)


def with_steps(cell: Cell) -> AuditContext:
    """The dataset of a cell as the steps that its model names leave it."""
    dataset = cell.dataset
    assert isinstance(dataset, Dataset)
    named = {step.use for step in cell.model.steps or ()}
    steps = tuple(step for step in cell.steps if step.use in named)
    table = dataset.table.select(column.name for column in dataset.schema.features())
    for step in train(replace(cell, steps=steps)).pipeline.steps:
        table = step.apply(table)
    others = [field for field in dataset.schema if field.column not in dataset.schema.features()]
    fields = (*(SchemaField(column) for column in table.columns), *others)
    beside = [(field.column, dataset.table.cells(field.column.name)) for field in others]
    changed = Table.of([*table.parts(), *beside], len(dataset))
    return replace(context_of(dataset), dataset=replace(dataset, table=changed, schema=Schema(fields)))


def baseline_of(dataset: Dataset) -> str:
    planned = context_of(dataset).planned
    assert planned is not None
    return planned.kind.baseline


def assert_evaluates(path: Path, *options: str) -> None:
    result = typed("eval", str(path), *options)
    assert result.exit_code == 0, result.output


def apply_to_sidecar(
    path: Path, declared: dict[str, Any], issue: Issue, repair: Repair, before: AuditContext
) -> None:
    repaired = with_repair(path, declared, repair)
    protocol = WITH_PROTOCOL.get(issue.code) if "protocol" in repair.text else None
    after = context_of(repaired, protocol_from_text(protocol))
    assert not is_left(issue, before, after)
    new = {one.code for one in issues_in(after) if is_serious(one)} - {one.code for one in issues_in(before)}
    assert not new
    assert_evaluates(path, "-m", baseline_of(repaired))


def apply_to_experiment(path: Path, issue: Issue, repair: Repair, before: AuditContext) -> None:
    spec = path.with_name("experiment.yaml")
    models = "" if "models:" in repair.text else f"models: [{baseline_of(before.dataset)}]\n"
    spec.write_text(f"data: [{path.name}]\n{models}{repair.text}\n", encoding="utf-8")
    experiment = read_experiment(spec)
    cells = plan(experiment)
    assert [cell.skipped for cell in cells if cell.model.steps and cell.skipped] == []
    if issue.code not in JUDGED_OTHERWISE:
        stepped = next((cell for cell in cells if cell.model.steps), None)
        after = audits_of(experiment)[0].context if stepped is None else with_steps(stepped)
        assert not is_left(issue, before, after)


def apply_as_option(path: Path, issue: Issue, repair: Repair, before: AuditContext) -> None:
    words = shlex.split(repair.text)
    if words[0] == "--protocol":
        assert not is_left(issue, before, context_of(before.dataset, protocol_from_text(words[1])))
    assert_evaluates(path, *words, *(() if "-m" in words else ("-m", baseline_of(before.dataset))))


def apply_all(path: Path, declared: dict[str, Any], code: str = "") -> None:
    """Apply each repair by itself, and see that it resolves what it is for."""
    write_sidecar(path, declared)
    before = context_of(load(str(path)))
    for issue in issues_in(before):
        for repair in issue.repairs if code in ("", issue.code) else ():
            write_sidecar(path, declared)
            try:
                if repair.place == "sidecar":
                    apply_to_sidecar(path, declared, issue, repair, before)
                elif repair.place == "experiment":
                    apply_to_experiment(path, issue, repair, before)
                elif repair.place == "option":
                    apply_as_option(path, issue, repair, before)
            except Exception as error:
                error.add_note(f"{issue.code}: {issue.sentence}\n{repair.text}")
                raise


def apply_to_shipped(name: str, folder: Path, *, with_sidecar: bool = True) -> None:
    """Apply each repair to a copy of a shipped dataset, with its sidecar or with its target alone."""
    source = shipped_paths()[name]
    declared = yaml(source.with_suffix(".yaml").read_text(encoding="utf-8"))
    if not with_sidecar:
        declared = {"target": declared["target"]} if declared.get("target") else {}
    shutil.copy(source, folder / "my.csv")
    apply_all(folder / "my.csv", declared)


RESOLVED_BY_DROPPING = {"correlated-columns", "useless-columns", "misleading-importances"}
"""Issues of a model that are gone when the columns that they name are dropped."""


def diagnosed(name: str, *words: str) -> Any:
    result = typed("audit", name, *words, "--json")
    assert result.exit_code == 0, result.output
    return document(result)


def assert_options_work(name: str, model: str) -> None:
    """Type every option that ``diagnose`` prints: it runs, gives the promised score, and resolves its issue."""
    for issue in diagnosed(name, "-m", model)["issues"]:
        for repair in issue["repairs"]:
            if repair["place"] == "option":
                assert_option_works(name, model, issue, repair["text"])


def assert_option_works(name: str, model: str, issue: Any, option: str) -> None:
    text, _, promised = option.partition("  # ")
    words = shlex.split(text)
    if words[0] == "mlcli":
        assert typed(*words[1:], "--help").exit_code == 0
        assert "DATA" not in words
        return
    own = () if "-m" in words else ("-m", model)
    result = typed("eval", name, *own, *words, "--json")
    assert result.exit_code == 0, f"{issue['code']}: {text}\n{result.output}"
    if promised:
        metric, _, score = promised.partition(" ")
        cells = [cell for cell in document(result)["cells"] if cell["status"] == "done"]
        means = [cell["metrics"][metric]["mean"] for cell in cells]
        assert any(mean == pytest.approx(float(score), rel=1e-3) for mean in means)
    if issue["code"] in RESOLVED_BY_DROPPING:
        again = diagnosed(name, "-m", model, *words)["issues"]
        same = [other for other in again if other["code"] == issue["code"]]
        assert not any(set(other["columns"]) & set(issue["columns"]) for other in same)
