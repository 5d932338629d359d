"""The store: what goes in comes out to the bit, damage is noticed, trouble is said, runs are shown again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from mlcli.core.answers import Coordinate, Header
from mlcli.core.errors import ExitCode, StoreError, UsageError
from mlcli.core.findings import Bars, Lines, Table
from mlcli.experiment.results import SplitResult, decoded, encoded
from mlcli.experiment.run.batch import run
from mlcli.experiment.run.batch_state import BatchProgress
from mlcli.experiment.spec.cells import CellResult, ProtocolSpec, StepSpec
from mlcli.experiment.store.runs import RunFacts, facts_of_cell, facts_of_dataset
from mlcli.experiment.store.store import Ending, Store
from mlcli.tasks.supervised import LabelAnswers
from tests.experiment import toy


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / ".mlcli" / "runs.db") as opened:
        yield opened


def split() -> SplitResult:
    answers = LabelAnswers(
        header=Header(rows=np.array([4, 2]), weight=np.array([0.1, np.nan])),
        truth=np.array([0, 1], np.int32),
        predicted=np.array([1, 1], np.int32),
        classes=("no", "ja ☂"),
        probabilities=np.asfortranarray([[0.1 + 0.2, 0.7], [1e-300, 1.0]]),
    )
    found = (
        Table("T", ("a", "b"), (("x", 0.1 + 0.2), (None, 3)), note="n"),
        Lines("L", ("one", "two")),
        Bars("B", ("which", "how long", "share"), ("a", "b"), (1.0, 0.1 + 0.2), (("10 %", None),)),
    )
    return SplitResult(
        3,
        "fold 4",
        10,
        {"test": answers.judged_in(3)},
        0.1,
        0.2,
        ("careful",),
        found,
        coordinate=Coordinate("labelled share", 0.1 + 0.2),
    )


def test_answers_come_back_to_the_bit() -> None:
    (back,) = decoded(encoded([split()]), LabelAnswers)
    first = split()
    assert replace(back, answers={}).__dict__ == replace(first, answers={}).__dict__
    for name, array in first.answers["test"].arrays().items():
        restored = back.answers["test"].arrays()[name]
        assert (restored.dtype, restored.shape, restored.tobytes()) == (array.dtype, array.shape, array.tobytes())
        assert restored.flags.f_contiguous == array.flags.f_contiguous
    assert back.answers["test"].facts() == first.answers["test"].facts()


def test_what_is_not_answers_is_refused() -> None:
    whole = encoded([split()])
    for wrong in (b"", b"\x80\x04.", whole[:-9], encoded([])[:4]):
        with pytest.raises(ValueError):
            decoded(wrong, LabelAnswers)


def test_a_cell_is_found_by_its_key_with_its_blocks_and_ending(store: Store) -> None:
    number = store.find_or_add("k", toy.cell(), 5)
    store.put_block(number, 3, 1, encoded([split()]), 0.25)
    store.put_ending(number, Ending("failed", "why", "trace", 4, 2.5))
    assert store.find_or_add("another", toy.cell(), 5) != number
    found = store.cell(store.find_or_add("k", toy.cell(), 5), "classification")
    assert [one.label for one in found.splits] == ["fold 4"]
    assert found.ending == Ending("failed", "why", "trace", 4, 2.5)
    assert (found.seconds, found.damaged, found.risky) == (0.25, 0, False)


def test_the_newest_cell_of_a_key_is_the_one_that_is_found(store: Store) -> None:
    first, second = store.add("k", toy.cell(), 5), store.add("k", toy.cell(), 5)
    store.put_block(first, 3, 1, encoded([split()]), 0.1)
    found = store.cell(store.find_or_add("k", toy.cell(), 5), "classification")
    assert first != second
    assert (found.id, found.splits) == (second, ())


def test_a_damaged_block_is_run_again_and_said(store: Store) -> None:
    (before,) = run([toy.cell()], store=store)
    with closing(sqlite3.connect(store.path)) as other, other:
        other.execute("UPDATE blocks SET payload = zeroblob(20) WHERE first = 0")
    (again,) = run([toy.cell()], store=store)
    assert toy.digest([again]) == toy.digest([before])
    assert not again.stored
    assert again.notes == (*before.notes, "damaged blocks of the store that were run again: 1")
    assert run([toy.cell()], store=store)[0].notes == before.notes


def test_a_failure_with_a_damaged_block_does_not_stand(store: Store, plugin: Path) -> None:
    (before,) = run([toy.troubled("refuses")], store=store)
    assert (before.status, len(before.splits) > 0) == ("failed", True)
    with closing(sqlite3.connect(store.path)) as other, other:
        other.execute("UPDATE blocks SET checksum = 'wrong' WHERE first = 0")
    (again,) = run([toy.troubled("refuses")], store=store)
    assert toy.digest([again]) == toy.digest([before])


def test_two_who_run_the_same_at_once_share_their_cells_and_both_runs_are_whole(store: Store) -> None:
    cells = [toy.cell(), toy.cell("random")]
    first = store.runs.begin(RunFacts(), 2)
    results: list[CellResult] = []
    with Store.open(store.path) as other:

        def interrupt(progress: BatchProgress) -> None:
            if not results:
                results.extend(run(cells, store=other, jobs=1))
                other.add("a newer key", toy.cell(), 5)

        mine = run(cells, store=store, jobs=1, on_progress=interrupt)
        store.runs.finish(first, mine)
    assert toy.digest(mine) == toy.digest(results) == toy.digest(store.runs.one(first)[1])
    with closing(sqlite3.connect(store.path)) as looked:
        assert looked.execute("SELECT count(*), count(DISTINCT key) FROM cells").fetchone() == (3, 3)


@pytest.mark.parametrize("replaced", [False, True])
def test_a_store_that_is_taken_away_is_noticed_before_more_is_lost(store: Store, replaced: bool) -> None:
    run([toy.cell()], store=store, jobs=1)
    store.path.unlink()
    if replaced:
        store.path.touch()
    with pytest.raises(StoreError, match="deleted, moved or replaced"):
        run([toy.cell("random")], store=store, jobs=1)


def test_a_store_keeps_itself_out_of_version_control(store: Store) -> None:
    assert (store.path.parent / ".gitignore").read_text() == "*\n"


def test_a_named_store_leaves_its_folder_alone(tmp_path: Path) -> None:
    Store.open(tmp_path / "mine.db").close()
    assert not (tmp_path / ".gitignore").exists()


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("CREATE TABLE customers (name TEXT)")


def in_format(number: int, path: Path) -> None:
    Store.open(path).close()
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"PRAGMA user_version = {number}")


def damaged(path: Path) -> None:
    Store.open(path).close()
    content = bytearray(path.read_bytes())
    content[100:] = b"\xff" * (len(content) - 100)
    path.write_bytes(content)


def damaged_where_it_is_described(path: Path) -> None:
    """By letters that are none: what SQLite says of them is no text either."""
    Store.open(path).close()
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE risks", b"CREATE T\xceBLE risks"))


UNUSABLE: dict[str, Callable[[Path], object]] = {
    "not a store": foreign,
    "not a store of": lambda path: path.write_bytes(b"age,income\n1,2\n" * 50),
    "by another version of mlcli": partial(in_format, 99),
    "damaged": damaged,
    "it is damaged": damaged_where_it_is_described,
    "is a folder": Path.mkdir,
}


@pytest.mark.parametrize("what", UNUSABLE)
def test_a_file_that_is_no_store_is_refused_and_left_as_it_was(tmp_path: Path, what: str) -> None:
    path = tmp_path / "runs.db"
    UNUSABLE[what](path)
    before = path.read_bytes() if path.is_file() else None
    for way in (Store.open, Store.read):
        with pytest.raises(StoreError, match=what) as problem:
            way(path)
        assert problem.value.exit_code == ExitCode.STORE
        assert problem.value.problems[0].where == str(path)
        assert problem.value.problems[0].hint
    assert (path.read_bytes() if path.is_file() else None) == before


def test_a_store_that_is_not_there_can_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store"):
        Store.read(tmp_path / "runs.db")
    assert not (tmp_path / "runs.db").exists()


def test_a_place_where_nothing_can_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError) as problem:
        Store.open(tmp_path / "file" / "runs.db")
    assert "--store FILE" in problem.value.problems[0].hint


def test_a_full_disk_is_said_and_what_was_stored_before_stays(store: Store) -> None:
    run([toy.cell()], store=store)
    limited = store.database.connection
    pages = limited.execute("PRAGMA page_count").fetchone()[0]
    limited.execute(f"PRAGMA max_page_count = {pages}")
    number = store.add("k", toy.cell(), 5)
    with pytest.raises(StoreError, match="the disk is full"):
        store.put_block(number, 0, 1, bytes(200_000), 0.0)
    assert run([toy.cell()], store=store)[0].stored


def test_a_store_can_be_read_while_it_is_written(store: Store) -> None:
    run([toy.cell()], store=store)
    with store.database.transaction(), Store.read(store.path) as other:
        assert other.runs.all() == []


def test_a_run_is_shown_again_as_it_was_without_its_data_or_methods(store: Store, plugin: Path) -> None:
    steps = (StepSpec("impute", {}),)
    cells = [
        toy.cell(label="baseline"),
        toy.cell(steps=steps, budget=60.0, protocol=ProtocolSpec("leave-one-out")),
        toy.troubled("refuses"),
        toy.cell(skipped="it cannot"),
    ]
    number = store.runs.begin(RunFacts(title="mine", source="a.yaml", seed=1, metrics=("accuracy",)), len(cells))
    results = run(cells, store=store, jobs=1)
    store.runs.finish(number, results)
    run(cells, store=store, fresh=True, retry=True, jobs=1)
    with Store.read(store.path) as other:
        about, again = other.runs.one(number)
    assert (about.title, about.source, about.metrics, about.cells) == ("mine", "a.yaml", ("accuracy",), 4)
    assert [result.status for result in again] == ["done", "done", "failed", "skipped"]
    assert toy.digest(again) == toy.digest(results)
    assert [[one.fit_seconds for one in result.splits] for result in again] == [
        [one.fit_seconds for one in result.splits] for result in results
    ]
    for mine, theirs in zip(results, again, strict=True):
        assert facts_of_cell(theirs.cell) == facts_of_cell(mine.cell)
        assert facts_of_dataset(theirs.cell.dataset) == facts_of_dataset(mine.cell.dataset)
        for name in ("pooled", "stored", "notes", "key", "trace"):
            assert getattr(theirs, name) == getattr(mine, name)


def test_a_run_whose_words_are_damaged_is_refused_in_words(store: Store) -> None:
    for table, column in (("run_cells", "facts"), ("datasets", "facts"), ("runs", "metrics")):
        number = store.runs.begin(RunFacts(), 1)
        store.runs.finish(number, run([toy.cell()], store=store, jobs=1))
        with closing(sqlite3.connect(store.path)) as other, other:
            other.execute(f"UPDATE {table} SET {column} = substr({column}, 2)")
        with pytest.raises(StoreError, match="it is damaged"):
            store.runs.one(number)
    with pytest.raises(StoreError, match="it is damaged"):
        store.runs.all()


def test_runs_are_listed_and_an_unfinished_one_says_so(store: Store) -> None:
    number = store.runs.begin(RunFacts(title="cut short"), 3)
    (listed,) = store.runs.all()
    assert (listed.id, listed.title, listed.finished, listed.cells) == (number, "cut short", None, 3)
    with pytest.raises(StoreError, match="was not finished"):
        store.runs.one(number)


def test_a_run_that_is_not_there_is_a_matter_of_usage(store: Store) -> None:
    with pytest.raises(UsageError, match="there is no run 7") as caught:
        store.runs.one(7)
    assert caught.value.problems[0].hint == f"mlcli runs --store {store.path} lists all"
