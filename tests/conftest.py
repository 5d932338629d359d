"""What holds for every test: one thread, as wherever the shell runs a cell; and which are run (`--about`)."""

from __future__ import annotations

import gc
import os
import signal
from typing import Any

import pytest

from mlcli.core.processes import pin_blas_from_the_start
from tests.support.families import About, belonging_of, shared_out

pin_blas_from_the_start()
# What a shell runs in the background ignores Ctrl-C, and so would the commands that tests send it to.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Peers start threads of OpenMP, which wait for each other at full speed where other tests have the cores.
os.environ["OMP_NUM_THREADS"] = "1"
# Tests and what they import live to the end: to look for garbage among them took a third of collecting.
gc.disable()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--about", metavar="FAMILY", help="run the tests of one family of methods, or of one method")


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a family that is not there before anything is collected."""
    try:
        about(config)
    except LookupError as error:
        raise pytest.UsageError(error.args[0]) from None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what is about the family, and share it out."""
    if wanted := about(config):
        left_out = [item for item in items if not wanted.has(item.path, parameters_of(item))]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
    if (workers := int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", 1))) > 1:
        belonging = [belonging_of(item.path, parameters_of(item)) for item in items]
        items[:] = shared_out(items, belonging, workers)


def pytest_collection_finish() -> None:
    """Look for garbage again, among what comes from now on."""
    gc.freeze()
    gc.enable()


def parameters_of(item: pytest.Item) -> dict[str, Any]:
    """What a test is run with."""
    return item.callspec.params if hasattr(item, "callspec") else {}


def about(config: pytest.Config) -> About | None:
    """What is asked for."""
    word = config.getoption("--about")
    return About(word) if word else None
