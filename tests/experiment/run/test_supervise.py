"""Processes that die, hang or are killed: the others finish, nothing stored is lost, nobody lingers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest

from mlcli.core.processes import PORTABLE
from mlcli.experiment.run.batch import run
from mlcli.experiment.spec.cells import Cell, ProtocolSpec
from mlcli.experiment.store.store import Store
from tests.experiment import toy
from tests.experiment.conftest import fits, plugin
from tests.support.shell import in_shell

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]
PATIENCE = 30.0
"""Seconds after which a test gives up waiting for another process."""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "runs.db") as opened:
        yield opened


def driver(code: str) -> subprocess.Popen[str]:
    """A process of its own that runs cells."""
    head = "from pathlib import Path\nfrom mlcli.experiment.run.batch import run\n"
    head += "from mlcli.experiment.store.store import Store\nfrom tests.experiment import toy\n"
    return subprocess.Popen([sys.executable, "-c", head + code], cwd=ROOT, text=True)


def wait_for_fits(log: Path, count: int) -> None:
    until = monotonic() + PATIENCE
    while len(log.read_text().splitlines()) < count:
        assert monotonic() < until, "no fits were begun"
        sleep(0.01)


def children_of(parent: int) -> set[int]:
    """Every process below one, found in /proc."""
    below: set[int] = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(stat[1]) == parent:
                below |= {int(entry.name)} | children_of(int(entry.name))
    return below


def is_running(process: int) -> bool:
    try:
        stat = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    return stat[0] not in "ZX"


def all_gone(processes: set[int]) -> bool:
    until = monotonic() + PATIENCE
    while any(is_running(process) for process in processes) and monotonic() < until:
        sleep(0.05)
    return not any(is_running(process) for process in processes)


def test_a_worker_that_dies_takes_only_its_own_cell_with_it(plugin: Path) -> None:
    cells = [
        toy.cell("troubled", seed=2),
        toy.troubled("leaves"),
        toy.cell("troubled", seed=3),
        toy.troubled("killed"),
    ]
    results = run(cells, jobs=2, patience=0.0)
    assert [result.status for result in results] == ["done", "died", "done", "died"]
    assert results[1].why == "its process left with exit code 3"
    assert results[3].why == "its process was ended by signal 9 (SIGKILL, perhaps for want of memory)"
    healthy = run([cells[0], cells[2]], jobs=1)
    assert toy.digest([results[0], results[2]]) == toy.digest(healthy)


@pytest.mark.parametrize("budget", [None, 60.0], ids=["pool", "supervised"])
@pytest.mark.parametrize(("how", "status"), [("leaves a fork", "done"), ("leaves a fork and dies", "died")])
def test_what_a_method_has_forked_ends_with_its_worker(
    fits: Path, how: str, status: str, budget: float | None
) -> None:
    (result,) = run([toy.troubled(how, budget=budget)], jobs=1)
    forks = {int(line.split()[1]) for line in fits.read_text().splitlines() if line.startswith("forked")}
    assert forks
    assert (result.status, all_gone(forks)) == (status, True)


def test_a_method_that_becomes_two_answers_once(plugin: Path) -> None:
    pooled, supervised = ([toy.troubled("two", "always", seed=s, budget=b) for s in (1, 2)] for b in (None, 60.0))
    results = run(pooled, jobs=1)
    assert [len(result.splits) for result in results] == [5, 5]
    assert toy.digest(results) == toy.digest(run(supervised, jobs=1))


def test_a_new_process_that_dies_takes_nothing_else_with_it_either(plugin: Path, another_thread: None) -> None:
    results = run([toy.cell("troubled", seed=2), toy.troubled("leaves")], jobs=2, patience=0.0)
    assert [result.status for result in results] == ["done", "died"]


def test_a_cell_that_died_is_tried_again_in_a_process_of_its_own(fits: Path, store: Store) -> None:
    cell = toy.troubled("leaves")
    (first,) = run([cell], store=store, jobs=2, patience=0.0)
    before = len(fits.read_text().splitlines())
    (again,) = run([cell], store=store, jobs=1)
    assert (first.status, again.status) == ("died", "died")
    assert len(fits.read_text().splitlines()) > before


def test_a_cell_of_our_own_that_ended_the_whole_run_is_set_apart_by_the_next(fits: Path, store: Store) -> None:
    code = (
        "from mlcli.experiment.run import batch_state\n"
        "batch_state._is_our_own = lambda cls: True\n"
        f"run([toy.troubled('leaves', 'always'), toy.cell()], store=Store.open(Path({str(store.path)!r})), jobs=1)"
    )
    assert driver(code).wait(PATIENCE) == 3
    results = run([toy.troubled("leaves", "always"), toy.cell()], store=store, jobs=1)
    assert [result.status for result in results] == ["died", "done"]


def test_what_a_child_said_before_it_died_is_heard_however_late(plugin: Path) -> None:
    cell = toy.troubled("leaves", budget=60.0)
    dies_in = run([toy.troubled("refuses")], jobs=1)[0].splits
    assert len(dies_in) > 0, "the toy must die after its first split"
    (result,) = run([cell], on_progress=lambda progress: sleep(0.1))
    assert result.status == "died"
    assert [split.index for split in result.splits] == [split.index for split in dies_in]


def test_a_cell_with_a_budget_is_stopped_when_it_is_over(plugin: Path) -> None:
    results = run([toy.troubled("endless in compiled code", budget=1.0), toy.cell(budget=60.0)], jobs=2)
    assert [result.status for result in results] == ["over-budget", "done"]
    assert results[0].why == "it took more than the 1 s that it had"
    assert toy.digest(results[1:]) == toy.digest(run([toy.cell()]))


def test_a_budget_that_was_too_small_stands_until_it_grows(fits: Path, store: Store) -> None:
    slow = [toy.troubled("slow", "always", budget=budget) for budget in (0.3, 0.3, 60.0)]
    assert run(slow[:1], store=store)[0].status == "over-budget"
    fitted = len(fits.read_text().splitlines())
    (again,) = run(slow[1:2], store=store)
    assert (again.status, again.stored) == ("over-budget", True)
    assert len(fits.read_text().splitlines()) == fitted
    (done,) = run(slow[2:], store=store)
    assert done.status == "done"
    assert toy.digest([done]) == toy.digest(run([toy.troubled("slow", "always")], jobs=1))
    assert len(fits.read_text().splitlines()) - fitted < 5 + 5, "stored splits were run again"


def test_memory_is_a_budget_too_and_what_was_out_of_it_is_run_again_with_more(fits: Path, store: Store) -> None:
    def cells(memory: int) -> list[Cell]:
        return [toy.troubled("hungry", memory=memory), toy.cell("zero-r", memory=memory)]

    little = 250 * 2**20
    results = run(cells(little), store=store, jobs=1)
    assert [result.status for result in results] == ["over-budget", "done"]
    assert results[0].why == "it took more than the 250 MiB of memory that it had"
    fitted = fits.read_text()
    assert [one.stored for one in run(cells(little), store=store, jobs=1)] == [True, True]
    assert fits.read_text() == fitted
    again = run(cells(little + 1), store=store, jobs=1)
    assert [one.stored for one in again] == [False, True]


def test_a_budget_for_all_stops_everything_and_the_next_run_goes_on(plugin: Path, store: Store) -> None:
    cells = [toy.troubled("endless", "always"), toy.cell()]
    first = run(cells, store=store, jobs=1, total=0.5)
    assert [result.status for result in first] == ["over-budget", "over-budget"]
    assert {result.why for result in first} == {"the 500 ms for all cells were over"}
    assert [result.status for result in run(cells[1:], store=store, jobs=1, total=0.000001)] == ["over-budget"]
    assert [result.status for result in run(cells[1:], store=store, jobs=1)] == ["done"]


def test_a_failure_in_a_process_of_its_own_is_told_like_any_other(plugin: Path) -> None:
    inside, outside = toy.troubled("breaks", budget=60.0), toy.troubled("breaks")
    assert toy.digest(run([inside])) == toy.digest(run([outside], jobs=1))


def test_a_batch_that_is_killed_loses_nothing_that_was_stored(fits: Path, store: Store) -> None:
    cells = [toy.troubled("slow", "always", seed=seed) for seed in (1, 2)]
    path = str(store.path)
    code = (
        f"run([toy.troubled('slow', 'always', seed=s) for s in (1, 2)], store=Store.open(Path({path!r})), jobs=1)"
    )
    process = driver(code)
    wait_for_fits(fits, 5)  # what the last but one came to may be on its way still
    process.send_signal(signal.SIGKILL)
    process.wait(PATIENCE)
    before = len(fits.read_text().splitlines())
    resumed = run(cells, store=store, jobs=1)
    again = len(fits.read_text().splitlines()) - before
    assert 0 < again <= 10 - 3
    assert [result.status for result in resumed] == ["done", "done"]
    assert toy.digest(resumed) == toy.digest(run(cells, jobs=1))


@pytest.mark.parametrize(
    ("budget", "portable"), [(None, ""), (600.0, ""), (None, "1")], ids=["pool", "supervised", "portable"]
)
def test_workers_die_with_the_process_that_started_them(
    fits: Path, monkeypatch: pytest.MonkeyPatch, budget: float | None, portable: str
) -> None:
    monkeypatch.setenv(PORTABLE, portable)
    cells = f"[toy.troubled('endless', 'always', seed=s, budget={budget}) for s in (1, 2)]"
    process = driver(f"run({cells}, jobs=2, patience=0.0)")
    wait_for_fits(fits, 2)
    workers = children_of(process.pid)
    assert len(workers) >= 2
    process.send_signal(signal.SIGKILL)
    process.wait(PATIENCE)
    assert all_gone(workers)


@pytest.mark.parametrize("budget", [None, 600.0], ids=["pool", "supervised"])
def test_ctrl_c_ends_the_workers_too(fits: Path, budget: float | None) -> None:
    cells = f"[toy.troubled('endless', 'always', seed=s, budget={budget}) for s in (1, 2)]"
    code = f"try:\n    run({cells}, jobs=2, patience=0.0)\nexcept KeyboardInterrupt:\n    raise SystemExit(130)"
    process = driver(code)
    wait_for_fits(fits, 2)
    workers = children_of(process.pid)
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(PATIENCE) == 130
    assert all_gone(workers)


def test_many_cells_share_few_children(fits: Path) -> None:
    one_split = ProtocolSpec("holdout")
    cells = [toy.cell("troubled", seed=seed, budget=60.0, protocol=one_split) for seed in range(8)]
    results = run(cells, jobs=2)
    assert {result.status for result in results} == {"done"}
    assert toy.digest(results) == toy.digest(
        run([toy.cell("troubled", seed=s, protocol=one_split) for s in range(8)])
    )


SHADOWED = ("joblib", "argparse", "numpy")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder in which files have the names of modules that children import."""
    for name in SHADOWED:
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a file of the working folder was run')")
    return tmp_path


def test_a_child_with_a_budget_imports_nothing_from_the_working_folder(folder: Path) -> None:
    (folder / "e.yaml").write_text(
        "data: [weather_nominal]\nmodels: [naive-bayes]\nprotocol: {folds: 2}\nbudget: 60s\n"
    )
    result = in_shell("run", "e.yaml", folder=folder)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "died" not in result.stdout


def test_a_new_process_of_the_portable_mode_does_not_either(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv(PORTABLE, "1")
    (result,) = run([toy.cell()], jobs=2, patience=0)
    assert result.status == "done", result.why


__all__ = ["fits", "plugin"]


def test_a_child_that_was_killed_once_is_tried_again(fits: Path, tmp_path: Path) -> None:
    cells = [toy.troubled("killed once", budget=60.0), toy.cell("decision-tree", budget=60.0)]
    with Store.open(tmp_path / "runs.db") as store:
        results = run(cells, store=store, jobs=2)
    assert [result.status for result in results] == ["done", "done"]
    in_one_go = run([toy.troubled("killed once"), toy.cell("decision-tree")], jobs=1)
    assert toy.digest(results) == toy.digest(in_one_go)


def test_a_child_that_is_killed_twice_has_died(fits: Path) -> None:
    (result,) = run([toy.troubled("killed", "always", budget=60.0)], jobs=1)
    assert (result.status, result.splits) == ("died", ())
    assert len(fits.read_text().splitlines()) == 2


SPEC = """\
data: [iris]
models: [{use: troubled, params: {how: prints, when: always}}]
protocol: {use: holdout}
"""


@pytest.mark.parametrize("more", ["", "budget: 60s\n"])
def test_what_a_method_prints_is_no_part_of_the_result(fits: Path, tmp_path: Path, more: str) -> None:
    (tmp_path / "spec.yaml").write_text(SPEC + more)
    done = in_shell("run", "spec.yaml", "--json", "--jobs", "2", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)
    assert "a remark of a method" in done.stderr
    assert "a remark of compiled code" in done.stderr


def test_what_a_method_prints_in_this_process_is_no_part_of_the_result(fits: Path, tmp_path: Path) -> None:
    words = ("-m", "troubled", "-p", "how=prints", "-p", "when=always", "-o", "m.mlcli", "--json")
    done = in_shell("train", "iris", *words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)
