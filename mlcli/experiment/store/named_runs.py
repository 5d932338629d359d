"""Runs as they are named in the shell: by their number, or by the experiment file whose newest run is meant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mlcli.core.errors import UsageError
from mlcli.core.registry import MODELS
from mlcli.experiment.spec.cells import CellResult
from mlcli.experiment.store.runs import RunFacts
from mlcli.experiment.store.store import DEFAULT_PLACE, Store

SUFFIXES = (".yaml", ".yml")
Run = tuple[RunFacts, list[CellResult]]


def named_run(name: str, store: Path | None) -> Run:
    """The run of a number in a store, or the newest of an experiment file in the store beside it."""
    with Store.read(store_of(name, store)) as opened:
        return opened.runs.one(number_of(name, opened))


def store_of(name: str, store: Path | None) -> Path:
    """The store that a run is looked for in."""
    file = Path(name)
    if name.isdigit() or store is not None:
        return store or DEFAULT_PLACE
    if file.suffix.lower() not in SUFFIXES:
        hint = "name it by its number, see mlcli runs, or by its experiment file"
        if name in MODELS:
            hint = f"models are compared while they are judged: mlcli eval my.csv -m {name} -m ANOTHER"
        raise UsageError(f"'{name}' is no run", hint=hint)
    if not file.is_file():
        raise UsageError(f"there is no file '{name}'", hint="name a run by its number, see mlcli runs")
    return file.parent / DEFAULT_PLACE


def number_of(name: str, store: Store) -> int:
    """The number of a run in its store."""
    return int(name) if name.isdigit() else store.runs.newest_of(Path(name))


def results_together(runs: Sequence[Run]) -> list[CellResult]:
    """The results of several runs: what two have in common once, and namesakes told apart by their runs."""
    kept: dict[tuple[str, ...], CellResult] = {}
    for about, results in runs:
        for result in results:
            _keep(result, about.id, kept)
    return list(kept.values())


def _keep(result: CellResult, run: int, kept: dict[tuple[str, ...], CellResult]) -> None:
    cell = result.cell
    place = cell.dataset.name, cell.kind, cell.protocol.use, str(cell.protocol.params)
    known = kept.setdefault((*place, cell.label), result)
    if known is result or (known.key == result.key and result.key):
        return
    renamed = f"{cell.label} (run {run})"
    kept[*place, renamed] = _called(result, renamed)


def _called(result: CellResult, label: str) -> CellResult:
    cell = result.cell
    return replace(result, cell=replace(cell, model=replace(cell.model, label=label)))


def metrics_of(runs: Sequence[Run]) -> tuple[str, ...]:
    """The metrics that the runs were asked for, each once."""
    return tuple(dict.fromkeys(metric for about, _ in runs for metric in about.metrics))
