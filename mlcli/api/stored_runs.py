"""What the commands ``runs``, ``report`` and ``compare`` do with the runs of a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mlcli import __version__
from mlcli.api import View, Watch, unwatched
from mlcli.api.results import Results
from mlcli.experiment.run.reproduction import PLUGINS, refuse_missing_plugins, rerun_cells, versions_and_hardware
from mlcli.experiment.spec.cells import CellResult
from mlcli.experiment.store import housekeeping, transfer
from mlcli.experiment.store.runs import RunFacts
from mlcli.experiment.store.store import (
    DEFAULT_PLACE,
    Store,
    metrics_of,
    named_run,
    number_of,
    results_together,
    store_of,
)
from mlcli.experiment.store.transfer import Carried
from mlcli.report.document import Document
from mlcli.report.views.comparison import comparison_of
from mlcli.report.views.full_report import provenance_of_run
from mlcli.report.views.results import Details
from mlcli.report.views.runs import MOST_LISTED, carried_of, freed_of, removed_of, rerun_of, runs_of, verified_of
from mlcli.scoring.comparison import Comparison, compared_file, compared_results, comparison_record
from mlcli.scoring.gates import ExperimentOutcome
from mlcli.scoring.model_results import score_result
from mlcli.scoring.runs import (
    SCORES,
    VERSIONS,
    HousekeepingRecord,
    RemovedRecord,
    RunsRecord,
    agrees,
    rerun_record,
    verification_record,
    verified_cells,
)


def list_runs(store: Path = DEFAULT_PLACE) -> View:
    """The runs of a store; the document lists the newest."""

    def document() -> Document:
        with Store.read(store) as opened:
            return runs_of(opened.runs.all(MOST_LISTED), opened.runs.count())

    def record() -> RunsRecord:
        with Store.read(store) as opened:
            return RunsRecord(tuple(opened.runs.all()))

    return View(document, record)


def show_run(name: str, store: Path | None, details: Details) -> Results:
    """The results of a run: neither data nor methods are needed."""
    run, results, _ = _stored_run(name, store)
    return _results_of(run, results, details)


def report_run(name: str, store: Path | None = None) -> View:
    """The full report of a run, with pictures and how it was made."""
    run, cells, kept = _stored_run(name, store, VERSIONS, PLUGINS)
    provenance = provenance_of_run(run, kept[VERSIONS], kept[PLUGINS] or ())
    results = replace(_results_of(run, cells, Details()), provenance=(provenance,))
    return View(lambda: results.report, lambda: results.record, lambda: results.rows)


def verify_run(name: str, store: Path | None = None) -> View:
    """The scores of a run, computed again from its predictions; it fails if any score differs."""
    run, results, kept = _stored_run(name, store, SCORES)
    cells = verified_cells([score_result(result, run.metrics) for result in results], kept[SCORES])
    return View(
        lambda: verified_of(run, cells),
        lambda: verification_record(run, cells),
        failed=any(cell.faults for cell in cells),
    )


def rerun(name: str, store: Path | None = None, *, jobs: int | None = None, watch: Watch = unwatched) -> View:
    """A run, repeated without the store; it fails if any predictions differ."""
    run, results, kept = _stored_run(name, store, VERSIONS, PLUGINS)
    refuse_missing_plugins(results, kept[PLUGINS])
    with watch([result.cell for result in results]) as progress:
        cells = rerun_cells(results, jobs, progress)
    before, now = kept[VERSIONS], versions_and_hardware()
    return View(
        lambda: rerun_of(run, cells, before, now),
        lambda: rerun_record(run, cells, before, now),
        failed=not all(agrees(cell, before, now) for cell in cells),
    )


def merge_stores(stores: Sequence[Path], store: Path | None = None) -> View:
    """Copy all runs and results of other stores into one, and join shards."""
    for path in stores:
        Store.read(path).close()  # all of them can be read, or nothing is changed
    target_path = store or DEFAULT_PLACE
    with Store.open(target_path) as target:
        carried = transfer.merge([path for path in stores if not target_path.samefile(path)], target)
    return _carried_view(carried, target_path)


def export_runs(output: Path, numbers: Sequence[int] = (), store: Path | None = None) -> View:
    """Copy runs with their results into a new store; all of them if none are named."""
    with Store.read(store or DEFAULT_PLACE) as opened:
        carried = transfer.export(opened, output, numbers)
    return _carried_view(carried, output)


def import_runs(file: Path, numbers: Sequence[int] = (), store: Path | None = None) -> View:
    """Copy runs of another store into this one; all of them if none are named."""
    with Store.read(file) as source, Store.open(store or DEFAULT_PLACE) as target:
        carried = transfer.carry(source, target, numbers)
    return _carried_view(carried, store or DEFAULT_PLACE)


def collect_garbage(store: Path | None = None) -> View:
    """Delete the results that no run of a store needs."""
    with _open_existing(store) as opened:
        freed = housekeeping.collect(opened)
    return View(lambda: freed_of(freed, opened.path), lambda: HousekeepingRecord(__version__, freed))


def remove_runs(numbers: Sequence[int], store: Path | None = None) -> View:
    """Remove runs from the list; their results stay until ``collect_garbage``."""
    with _open_existing(store) as opened:
        housekeeping.remove_runs(opened, numbers)
    return View(lambda: removed_of(numbers, opened.path), lambda: RemovedRecord(tuple(numbers)))


def compare_runs(
    names: Sequence[str],
    store: Path | None = None,
    *,
    metrics: Sequence[str] = (),
    rope: float = 0.01,
    against: str = "",
    test: str = "",
) -> View:
    """Test the models of stored runs against each other, on each dataset and over all."""
    runs = [named_run(name, store) for name in names]
    comparison = compared_results(results_together(runs), metrics_of(runs), metrics, rope, against, test)
    return _comparison_view(comparison)


def compare_scores(
    path: Path, metric: str = "", *, lower_is_better: bool = False, rope: float = 0.01, against: str = ""
) -> View:
    """Test the models of a CSV file of scores against each other."""
    return _comparison_view(compared_file(path, metric, "low" if lower_is_better else "high", rope, against))


def _stored_run(
    name: str, store: Path | None, *kept_names: str
) -> tuple[RunFacts, list[CellResult], dict[str, Any]]:
    """A run, its results, and what was kept of it under each name."""
    with Store.read(store_of(name, store)) as opened:
        run, results = opened.runs.one(number_of(name, opened))
        return run, results, {kept_name: opened.runs.kept(run.id, kept_name) for kept_name in kept_names}


def _results_of(run: RunFacts, cells: Sequence[CellResult], details: Details) -> Results:
    results = [score_result(cell, run.metrics) for cell in cells]
    return Results((ExperimentOutcome(run.title, results, gates=(), skipped=()),), details)


def _open_existing(store: Path | None) -> Store:
    """Open a store to write; none is made for housekeeping."""
    Store.read(store or DEFAULT_PLACE).close()
    return Store.open(store or DEFAULT_PLACE)


def _carried_view(carried: Carried, path: Path) -> View:
    return View(lambda: carried_of(carried, path), lambda: HousekeepingRecord(__version__, carried))


def _comparison_view(comparison: Comparison) -> View:
    return View(lambda: comparison_of(comparison), lambda: comparison_record(comparison))
