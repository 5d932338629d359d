"""Many cells: in order, in parallel, again from the store, and past those that fail: always the same answers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing import active_children
from pathlib import Path

import pytest

from mlcli.core.errors import ModelFileError
from mlcli.core.processes import PORTABLE
from mlcli.experiment.run.batch import run, workers_for
from mlcli.experiment.run.batch_state import BatchProgress
from mlcli.experiment.run.workers import WorkerPool, packed
from mlcli.experiment.spec.cells import Cell, ModelSpec, ProtocolSpec
from mlcli.experiment.store.store import Store
from tests.experiment import toy

ROOT = Path(__file__).parents[3]
AT_ONCE = 0.0
"""The patience that hands everything to other processes."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "runs.db") as opened:
        yield opened


def batch() -> list[Cell]:
    many = ProtocolSpec("repeated-holdout", {"repeats": 70})
    return [
        toy.cell(),
        toy.cell("troubled", seed=3),
        toy.troubled("warns"),
        toy.troubled("refuses"),
        toy.cell("troubled", protocol=many),
        toy.cell(data=toy.values(), kind="regression"),
        toy.cell(skipped="it does not do this"),
    ]


STATUSES = ["done", "done", "done", "failed", "done", "done", "skipped"]


def test_results_come_in_the_order_of_the_cells(plugin: Path) -> None:
    cells = batch()
    results = run(cells, jobs=1)
    assert [result.cell for result in results] == cells
    assert [result.status for result in results] == STATUSES
    assert results[-1].why == "it does not do this"


def test_other_processes_and_another_order_give_the_same_answers_to_the_bit(plugin: Path, tmp_path: Path) -> None:
    alone = toy.digest(run(batch(), jobs=1))
    assert toy.digest(run(batch(), jobs=2, patience=AT_ONCE)) == alone
    with Store.open(tmp_path / "pool.db") as store:
        assert toy.digest(run(batch()[::-1], jobs=2, patience=AT_ONCE, store=store))[::-1] == alone
        again = run(batch(), store=store, jobs=1)
    assert toy.digest(again) == alone
    assert [result.stored for result in again] == [True] * 6 + [False]


def test_with_only_what_every_system_has_the_answers_are_the_same(
    plugin: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cells = [*batch(), toy.cell(budget=60.0, memory=2**40), toy.cell("knn", memory=2**40)]
    alone = toy.digest(run(cells, jobs=1))
    monkeypatch.setenv(PORTABLE, "1")
    monkeypatch.setenv("MLCLI_MEMORY", "40 kB")
    assert not WorkerPool(2).forks
    with Store.open(tmp_path / "runs.db") as store:
        assert toy.digest(run(cells, jobs=2, patience=AT_ONCE, store=store)) == alone
        assert all(one.stored for one in run(cells, store=store, jobs=1) if one.status == "done")


def test_new_processes_that_are_not_needed_after_all_leave_in_silence(
    another_thread: None, capfd: pytest.CaptureFixture[str]
) -> None:
    with WorkerPool(2) as pool:
        assert not pool.forks
        pool.call()
        assert not pool.ready
    assert not pool.called
    assert capfd.readouterr().err == ""


def test_copies_are_here_at_once_and_leave_in_silence(capfd: pytest.CaptureFixture[str]) -> None:
    with WorkerPool(2) as pool:
        pool.call()
        assert pool.ready == (sys.platform == "linux")
    assert not pool.called
    assert active_children() == []
    assert capfd.readouterr().err == ""


def test_no_more_processes_come_than_there_are_splits(plugin: Path) -> None:
    counts: list[int] = []
    run([toy.cell("troubled")], jobs=50, patience=0.0, on_progress=lambda _: counts.append(len(active_children())))
    assert max(counts) == 5


def test_what_a_copy_knows_already_is_not_sent_to_it() -> None:
    rows = toy.dataset(rows=5_000).table
    known, unknown = packed(rows, [rows]), packed(rows, [])
    assert len(known) < 100 < len(unknown)


def test_workers_that_come_early_find_the_rest_of_the_work(plugin: Path) -> None:
    cells = [toy.troubled("slow", "always", seed=seed) for seed in (1, 2)]
    assert toy.digest(run(cells, jobs=2, patience=0.2)) == toy.digest(run(cells, jobs=1))


def test_big_rows_reach_other_processes_unchanged(plugin: Path) -> None:
    data = toy.dataset(rows=60_000)
    assert data.table.numbers.nbytes + data.table.codes.nbytes > 1e6
    cells = [toy.cell("troubled", data=data, seed=seed) for seed in (1, 2)]
    assert toy.digest(run(cells, jobs=2, patience=AT_ONCE)) == toy.digest(run(cells, jobs=1))


def test_what_is_stored_is_not_run_again_and_says_so(fits: Path, store: Store) -> None:
    first = run([toy.cell("troubled")], store=store)
    again = run([toy.cell("troubled", label="renamed", data=toy.dataset(name="other"))], store=store)
    assert len(fits.read_text().splitlines()) == 5
    assert toy.digest(again) == toy.digest(first)
    assert (first[0].stored, again[0].stored) == (False, True)
    assert (again[0].cell.label, again[0].cell.dataset.name) == ("renamed", "other")


def test_fresh_runs_everything_again(fits: Path, store: Store) -> None:
    first = run([toy.cell("troubled")], store=store)
    again = run([toy.cell("troubled")], store=store, fresh=True)
    assert len(fits.read_text().splitlines()) == 10
    assert toy.digest(again) == toy.digest(first)
    assert not again[0].stored


def test_the_same_question_twice_is_run_once(fits: Path, store: Store) -> None:
    results = run([toy.cell("troubled", label=label) for label in ("one", "two")], store=store)
    assert len(fits.read_text().splitlines()) == 5
    assert [result.cell.label for result in results] == ["one", "two"]
    assert toy.digest(results[:1]) == toy.digest(results[1:])


def test_without_a_store_nothing_is_written_and_no_key_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (result,) = run([toy.cell()])
    assert (result.key, result.stored) == ("", False)
    assert list(tmp_path.iterdir()) == []


def test_a_failure_is_a_recorded_fact_until_it_is_to_be_tried_again(fits: Path, store: Store) -> None:
    (first,) = run([toy.troubled("refuses")], store=store)
    after = len(fits.read_text().splitlines())
    (again,) = run([toy.troubled("refuses")], store=store)
    assert toy.digest([again]) == toy.digest([first])
    assert again.stored
    assert len(fits.read_text().splitlines()) == after
    (retried,) = run([toy.troubled("refuses")], store=store, retry=True)
    assert toy.digest([retried]) == toy.digest([first])
    assert len(fits.read_text().splitlines()) > after


def test_the_failing_split_that_is_named_is_the_first_whatever_comes_back_first(plugin: Path) -> None:
    cells = [
        toy.troubled("refuses", "always", seed=seed, protocol=ProtocolSpec("leave-one-out")) for seed in (1, 2)
    ]
    for result in run(cells, jobs=2, patience=AT_ONCE):
        assert result.why.endswith("these rows cannot be learned")
        assert result.splits == ()
        assert result.why == run(cells[:1], jobs=1)[0].why


def test_a_cell_whose_splits_cannot_be_made_fails_and_the_others_finish() -> None:
    impossible = toy.cell(protocol=ProtocolSpec("k-fold", {"folds": 41}))
    results = run([impossible, toy.cell()])
    assert [result.status for result in results] == ["failed", "done"]
    assert "41 folds" in results[0].why


def test_a_model_file_that_is_refused_stops_the_batch_before_anything_runs(fits: Path, tmp_path: Path) -> None:
    (tmp_path / "broken").write_bytes(b"x" * 100)
    saved = replace(toy.cell(), model=ModelSpec("broken", saved=tmp_path / "broken"))
    with pytest.raises(ModelFileError):
        run([toy.cell("troubled"), saved])
    assert fits.read_text() == ""


def test_ctrl_c_keeps_what_is_done_and_the_rest_runs_next_time(fits: Path, store: Store) -> None:
    cells = [toy.cell(), toy.troubled("interrupted", "always")]
    with pytest.raises(KeyboardInterrupt):
        run(cells, store=store, jobs=1)
    assert len(fits.read_text().splitlines()) == 1
    assert run(cells[:1], store=store)[0].stored


def test_progress_counts_splits_and_names_the_cell_that_moved(plugin: Path, store: Store) -> None:
    run([toy.cell()], store=store)
    seen: list[BatchProgress] = []
    run([toy.cell(label="again"), toy.troubled("refuses", label="bad")], store=store, on_progress=seen.append)
    assert seen[0] == BatchProgress(5, 10, "toy", "again", "done")
    assert seen[-1] == BatchProgress(10, 10, "toy", "bad", "failed")
    assert [one.done_splits for one in seen] == sorted(one.done_splits for one in seen)


def test_a_cell_that_has_failed_is_counted_once_whatever_else_comes_back(plugin: Path, store: Store) -> None:
    seen: list[BatchProgress] = []
    cells = [toy.troubled("refuses", "always", seed=seed) for seed in (1, 2)]
    run(cells, store=store, jobs=2, patience=AT_ONCE, on_progress=seen.append)
    assert [one.status for one in seen].count("failed") == 2
    assert seen[-1].done_splits == 10


def test_jobs_are_as_many_as_asked_or_as_there_are_cores() -> None:
    assert workers_for(3) == 3
    assert workers_for(None) >= 1
    assert workers_for(-1) == workers_for(None)


def test_a_small_batch_without_a_store_loads_nothing_that_only_large_or_stored_ones_need() -> None:
    code = (
        "import sys\nfrom tests.experiment import toy\nfrom mlcli.experiment.run.batch import run\n"
        "assert run([toy.cell()])[0].status == 'done'\n"
        "heavy = ('joblib', 'sqlite3', 'multiprocessing', 'safetensors', 'scipy', 'numba', 'pandas')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
