"""A store kept in order: runs removed, carried and joined of shards, answers collected, damage found."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mlcli.core.processes import name_of
from mlcli.experiment.store.store import Store
from tests.support.shell import document, typed

SPEC = """\
data: [flowers.csv, {path: flowers.csv, target: x}]
models: [knn, lda, linear-regression, {use: decision-tree, params: {max_depth: 2}}]
protocol: {folds: 3}
expect: [{score: accuracy.mean >= 0.01, model: knn}]
"""
STORE = Path(".mlcli/runs.db")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{(7 * place) % 11},{place % 4},{'ab'[place * 3 % 5 > 2]}\n" for place in range(20))
    (tmp_path / "flowers.csv").write_text("x,z,kind\n" + rows)
    (tmp_path / "spec.yaml").write_text(SPEC)
    (tmp_path / "other.yaml").write_text("data: [flowers.csv]\nmodels: [one-r]\nprotocol: {folds: 3}\n")
    return tmp_path


def digests(run: str, store: Path = STORE) -> list[tuple[str, str]]:
    """The answers of each cell of a run."""
    return [
        (cell["model"], cell["digest"])
        for cell in document(typed("runs", "verify", run, "--store", str(store), "--json"))["cells"]
    ]


def listed(store: Path = STORE) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = document(typed("runs", "--store", str(store), "--json"))["runs"]
    return runs


def done(*words: str) -> Any:
    result = typed(*words, "--json")
    assert result.exit_code == 0, result.output
    return document(result)


def test_shards_joined_are_the_run_of_one_process(folder: Path) -> None:
    assert typed("run", "spec.yaml").exit_code == 0
    parts = [Path(f".mlcli/runs.{part}-of-3.db") for part in (1, 2, 3)]
    shards = [
        document(typed("run", "spec.yaml", "--shard", f"{part}/3", "--json"))["shards"][0] for part in (1, 2, 3)
    ]
    assert sum(len(one["cells"]) for one in shards) == shards[0]["cells_of_all"] == len(digests("1"))
    assert min(len(one["cells"]) for one in shards) > 0
    first = done("runs", "merge", str(parts[2]), "--store", "all.db")
    assert first["missing"] == {"spec": [1, 2]}
    merged = done("runs", "merge", *map(str, parts), "--store", "all.db")
    (number,) = merged["runs"]
    assert digests(str(number), Path("all.db")) == digests("1")
    assert typed("runs", "verify", str(number), "--store", "all.db").exit_code == 0
    again = done("runs", "merge", *map(str, parts), "--store", "all.db")
    assert (again["runs"], again["blocks"], again["known"]) == ([], 0, 1)
    told = typed("run", "spec.yaml", "--store", "all.db").stderr
    assert "9 of 9 cells were in all.db already" in told


@pytest.mark.parametrize("shard", ["0/3", "4/3", "1", "a/b", "1/0"])
def test_a_shard_that_is_none_is_refused(folder: Path, shard: str) -> None:
    result = typed("run", "spec.yaml", "--shard", shard)
    assert result.exit_code == 2
    assert "--shard takes PART/PARTS" in result.stderr


def test_what_no_run_needs_is_collected(folder: Path) -> None:
    typed("run", "spec.yaml")
    typed("run", "other.yaml")
    answers = digests("2")
    assert typed("runs", "remove", "1").exit_code == 0
    assert [run["id"] for run in listed()] == [2]
    assert "9 of 9 cells were in" in typed("run", "spec.yaml").stderr
    typed("runs", "remove", "3")
    freed = done("runs", "gc")
    assert (freed["runs"], freed["cells"]) == ([], 7)  # the baseline is needed by the other
    assert freed["bytes"] > 0
    assert digests("2") == answers
    assert typed("doctor").exit_code == 0
    assert typed("runs", "remove", "1").exit_code == 2


def test_answers_of_a_run_that_was_cut_short_stay_until_it_is_made_anew(folder: Path) -> None:
    typed("run", "other.yaml")
    with closing(sqlite3.connect(STORE)) as other, other:
        other.execute("DELETE FROM run_cells")
        other.execute("UPDATE runs SET finished = NULL")
        other.execute("DELETE FROM run_details")
    assert done("runs", "gc")["kept_for"] == [1]
    typed("run", "other.yaml")
    freed = done("runs", "gc")
    assert (freed["runs"], freed["cells"], freed["kept_for"]) == ([1], 0, [])


def test_a_run_that_is_being_made_is_left_alone(folder: Path) -> None:
    typed("run", "other.yaml")
    with Store.open(STORE) as store:
        store.runs.keep(1, "process", name_of(os.getpid()))
        store.database.connection.execute("UPDATE runs SET finished = NULL")
    for words in (("remove", "1"), ("gc",)):
        result = typed("runs", *words)
        assert result.exit_code == 6
        assert f"run 1 is being made, by process {os.getpid()}" in result.stderr


def test_runs_are_carried_with_their_answers(folder: Path) -> None:
    typed("run", "spec.yaml")
    typed("run", "other.yaml")
    assert done("runs", "export", "one.db", "1")["runs"] == [1]
    assert [path.name for path in folder.glob("*one.db*")] == ["one.db"]
    assert done("runs", "import", "one.db", "--store", "new.db")["runs"] == [1]
    assert digests("1", Path("new.db")) == digests("1")
    shown = [done("runs", "show", "1"), done("runs", "show", "1", "--store", "new.db")]
    assert shown[0] == shown[1]
    assert done("runs", "import", "one.db", "--store", "new.db")["known"] == 1
    assert "is there already" in typed("runs", "export", "one.db").stderr


def test_damage_is_found(folder: Path) -> None:
    typed("run", "other.yaml")
    with closing(sqlite3.connect(STORE)) as other, other:
        other.execute("UPDATE blocks SET payload = zeroblob(20) WHERE cell = 2 AND first = 1")
        other.execute("UPDATE run_cells SET facts = substr(facts, 2) WHERE position = 0")
    result = typed("doctor")
    assert result.exit_code == 6
    assert "cell 2, splits from 2: the checksum is wrong; they will be run again" in result.stdout
    assert "run 1 cannot be shown: it is damaged" in result.stdout
    merged = done("runs", "merge", str(STORE), "--store", "all.db")
    assert merged["damaged"] == 1


def test_a_command_that_is_not_there_is_named_with_the_nearest(folder: Path) -> None:
    result = typed("runs", "mrege")
    assert result.exit_code == 2
    assert "did you mean 'merge'?" in result.stderr
    assert typed("runs", "gc").exit_code == 6
    assert not STORE.exists()
