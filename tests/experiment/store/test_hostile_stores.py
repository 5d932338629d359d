"""Damaged and malicious stores are refused with a message; files that killed commands leave are removed."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from mlcli.core.processes import replacing, temporary_prefix
from mlcli.experiment.results import decoded
from mlcli.tasks.supervised import LabelAnswers
from tests.support.shell import in_shell, typed

pytestmark = pytest.mark.slow

COMMANDS = ("runs", "runs show 1", "doctor", "runs verify 1", "compare 1", "runs gc", "runs export out.db")
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
DEEP = "[" * 200_000 + "]" * 200_000
RUN = ("2020-01-01T00:00:00+00:00", "2020-01-01T00:00:00+00:00", "t", 1, "[]", 0)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with one run, in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("e.yaml").write_text("data: [weather_nominal]\nmodels: [naive-bayes]\nprotocol: {folds: 2}\n")
    assert typed("run", "e.yaml", "--store", "s.db").exit_code == 0
    return tmp_path / "s.db"


def change(store: Path, how: Callable[[sqlite3.Connection], object]) -> None:
    with sqlite3.connect(store) as database:
        how(database)
    database.close()


def refused(*words: str) -> None:
    """A command ends in words of the store, whatever it asks."""
    result = typed(*words, "--store", "s.db")
    assert result.exit_code == 6, (words, result.stderr)


def endless_view(database: sqlite3.Connection) -> None:
    database.execute("ALTER TABLE runs RENAME TO others")
    columns = "i AS id, '' started, '' finished, '' title, NULL source, 1 seed, '[]' metrics, 1 cells"
    database.execute(f"CREATE VIEW runs AS {ENDLESS} SELECT {columns} FROM n")


def endless_trigger(database: sqlite3.Connection) -> None:
    inserted = f"INSERT INTO datasets {ENDLESS} SELECT i, '' FROM n"
    database.execute(f"CREATE TRIGGER t AFTER INSERT ON runs BEGIN {inserted}; END")


def computed_column(database: sqlite3.Connection) -> None:
    database.execute("ALTER TABLE runs ADD COLUMN large AS (zeroblob(900000000)) VIRTUAL")


@pytest.mark.parametrize("how", [endless_view, endless_trigger, computed_column])
def test_what_no_store_of_mlcli_holds_is_refused(store: Path, how: Callable[[sqlite3.Connection], object]) -> None:
    change(store, how)
    for command in COMMANDS:
        refused(*command.split())
    refused("run", "e.yaml")


def test_json_that_is_nested_200_000_deep_is_damage(store: Path) -> None:
    whole = store.read_bytes()
    for table, column in (("runs", "metrics"), ("run_cells", "facts"), ("datasets", "facts")):
        store.write_bytes(whole)
        change(
            store,
            lambda database, table=table, column=column: database.execute(  # type: ignore[misc]
                f"UPDATE {table} SET {column} = ?", (DEEP,)
            ),
        )
        refused("runs", "show", "1")
        refused("doctor")


def test_answers_that_are_a_bomb_or_nested_deep_are_refused() -> None:
    packer = zlib.compressobj(9)
    bomb = b"".join(packer.compress(bytes(10**7)) for _ in range(10)) + packer.flush()
    nested = zlib.compress(len(DEEP).to_bytes(8, "little") + DEEP.encode())
    for blob in (bomb, nested):
        with pytest.raises(ValueError, match=r"not the answers of splits|no head"):
            decoded(blob, LabelAnswers)


def test_a_store_with_a_bomb_is_shown_without_its_answers(store: Path) -> None:
    bomb = zlib.compress(bytes(10**7), 9)
    digest = hashlib.sha256(bomb).hexdigest()
    change(store, lambda database: database.execute("UPDATE blocks SET payload = ?, checksum = ?", (bomb, digest)))
    assert "damaged in the store" in typed("runs", "show", "1", "--store", "s.db").stdout
    refused("doctor")


def test_of_300_000_runs_the_newest_are_listed_and_no_command_reads_all(store: Path) -> None:
    columns = "started, finished, title, seed, metrics, cells"
    rows = [RUN] * 300_000
    change(
        store,
        lambda database: database.executemany(f"INSERT INTO runs ({columns}) VALUES (?, ?, ?, ?, ?, ?)", rows),
    )
    listed = typed("runs", "--store", "s.db")
    assert listed.exit_code == 0
    assert "299,001 earlier runs" in listed.stdout
    assert len(listed.stdout.splitlines()) < 1010
    assert typed("runs", "show", "1", "--store", "s.db").exit_code == 0
    refused("doctor")
    refused("runs", "export", "out.db")


def killed_in(folder: Path, code: str) -> None:
    """Run Python code in a folder, and kill its process behind it as ``kill -9`` does."""
    kill = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{kill}"], cwd=folder, check=False)
    assert done.returncode == -signal.SIGKILL


def test_the_next_command_removes_what_a_killed_one_has_left(store: Path) -> None:
    folder = store.parent
    written = "from mlcli.experiment.store.store import Store\nfrom mlcli.core.processes import replacing\n"
    written += "from pathlib import Path\nc = replacing(Path('out.db')); p = c.__enter__(); s = Store.open(p)"
    killed_in(folder, written)
    made = "import tempfile\nfrom mlcli.core.processes import temporary_prefix\n"
    killed_in(folder, f"{made}tempfile.mkdtemp(prefix=temporary_prefix(), dir='.')")
    assert list(folder.glob(".out.db.*"))
    assert list(folder.glob("mlcli-*"))
    done = in_shell("run", "e.yaml", "--store", "s.db", folder=folder, TMPDIR=str(folder))
    assert done.returncode == 0, done.stderr
    assert not list(folder.glob(".out.db.*"))
    assert not list(folder.glob("mlcli-*"))


def test_what_a_process_still_writes_is_left_alone(tmp_path: Path) -> None:
    mine = tmp_path / f"{temporary_prefix()}x"
    mine.mkdir()
    with replacing(tmp_path / "one") as beside, replacing(tmp_path / "two"):
        assert beside.exists()
        assert mine.exists()
        assert os.listdir(tmp_path)


BEYOND_64_BITS = str(2**64)

EXPERIMENT = "data: [weather_nominal]\nmodels: [naive-bayes]\nprotocol: {folds: 2}\n"


@pytest.mark.parametrize(
    "verb", ["runs show", "report", "runs verify", "runs rerun", "compare", "runs export out.db"]
)
def test_a_run_number_beyond_64_bits_is_a_run_that_is_not_there(store: Path, verb: str) -> None:
    result = typed(*verb.split(), BEYOND_64_BITS, "--store", "s.db")
    assert result.exit_code == 2
    assert f"there is no run {BEYOND_64_BITS}" in result.stderr


def test_a_digit_of_another_script_is_no_run_number(store: Path) -> None:
    assert typed("runs", "show", "²").exit_code == 2


def facts(store: Path, change: Any) -> None:
    """Change what a store says of each cell and dataset of its run."""
    with sqlite3.connect(store) as database:
        for table in ("run_cells", "datasets"):
            for number, text in database.execute(f"SELECT rowid, facts FROM {table}").fetchall():
                told = json.loads(text)
                change(told)
                database.execute(f"UPDATE {table} SET facts = ? WHERE rowid = ?", (json.dumps(told), number))
    database.close()


KEYS = ("model", "label", "dataset", "schema", "notes", "protocol", "params", "steps", "seed")

OTHER_TYPES: tuple[Any, ...] = (5, [], None)


def _replace(key: str, value: Any, told: dict[str, Any]) -> None:
    if key in told:
        told[key] = value


def test_facts_of_another_type_in_a_store_are_refused_or_shown(store: Path) -> None:
    whole = store.read_bytes()
    for key, value in product(KEYS, OTHER_TYPES):
        store.write_bytes(whole)
        facts(store, partial(_replace, key, value))
        for words in (("runs", "show", "1", "-v"), ("runs", "verify", "1"), ("compare", "1"), ("doctor")):
            result = typed(*words, "--store", "s.db")
            assert result.exit_code != 1, (key, value, words, result.stderr)


def test_names_of_columns_of_another_type_in_a_store_are_refused_or_shown(store: Path) -> None:
    def rename(told: Any) -> None:
        for field in told.get("schema", ()):
            field["column"]["name"] = 5

    facts(store, rename)
    assert typed("runs", "show", "1", "-v", "--store", "s.db").exit_code in (0, 6)
    assert typed("report", "1", "--store", "s.db", "--format", "text").exit_code in (0, 6)


def test_nothing_is_left_beside_a_damaged_store_that_is_exported(store: Path) -> None:
    with sqlite3.connect(store) as database:
        database.execute("UPDATE runs SET title = x'ff'")
    database.close()
    assert typed("runs", "export", "out.db", "--store", "s.db").exit_code == 6
    assert not list(store.parent.glob("*out.db*")) + list(store.parent.glob(".*.db*"))
