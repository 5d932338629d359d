"""doctor: what it says of an installation that is sound, and of one that is not."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from tests.support.shell import document, typed


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store with a run."""
    monkeypatch.chdir(tmp_path)
    assert typed("eval", "weather_nominal", "-m", "one-r", "--store", "runs.db").exit_code == 0
    return "runs.db"


def test_a_sound_installation_has_no_problems(store: str) -> None:
    text = typed("doctor", "--store", store).stdout
    for word in ("numpy", np.__version__, "BLAS", "mlcli/kernels", "sound", "Problems\nnone"):
        assert word in text
    found = document(typed("doctor", "--json"))
    assert (found["problems"], set(found)) == (
        [],
        {"versions", "threads", "compiled_kernels", "store", "problems"},
    )
    assert "no fault before the first run" in found["store"]["file"]


def test_a_damaged_block_is_found_and_named_with_what_follows(store: str) -> None:
    with sqlite3.connect(store) as connection:
        connection.execute("UPDATE blocks SET payload = x'00' WHERE rowid = (SELECT min(rowid) FROM blocks)")
    result = typed("doctor", "--store", store)
    assert result.exit_code == 6
    assert "damaged" in result.stdout
    assert "again" in result.stdout


@pytest.mark.parametrize(
    ("content", "said"), [(None, "there is no store; a run makes one"), ("a,b\n", "it is not a store of mlcli")]
)
def test_a_store_that_is_none_is_a_problem(store: str, content: str | None, said: str) -> None:
    if content is not None:
        Path("other.db").write_text(content)
    result = typed("doctor", "--store", "other.db")
    assert result.exit_code == 6
    assert said in result.stdout


def test_what_makes_kernels_slow_is_said(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert any("unset it" in one for one in document(typed("doctor", "--json"))["problems"])
