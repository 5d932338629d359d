from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread, active_count
from time import monotonic, sleep

import pytest

from mlcli.core.registry import MODELS

PLUGIN = Path(__file__).parent / "plugin"


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The method "troubled" is installed, here and in child processes."""
    monkeypatch.syspath_prepend(PLUGIN)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(PLUGIN), os.environ.get("PYTHONPATH", "")]))
    vars(MODELS).pop("_entry_points", None)
    yield PLUGIN
    vars(MODELS).pop("_entry_points", None)


@pytest.fixture
def fits(plugin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file in which "troubled" notes every fit, a line each."""
    log = tmp_path / "fits.log"
    log.touch()
    monkeypatch.setenv("TROUBLED_LOG", str(log))
    return log


@pytest.fixture
def another_thread() -> Iterator[None]:
    """A thread beside the main one, so that workers are new processes rather than copies of this one."""
    done = Event()
    thread = Thread(target=done.wait)
    thread.start()
    yield
    done.set()
    thread.join()
    until = monotonic() + 10.0
    while active_count() > 1 and monotonic() < until:  # those of the pool go a little later
        sleep(0.01)
