"""What is put to the test: something that is attempted again and again, and what must hold each time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Protocol

from typer.testing import Result

from tests.support.shell import typed

MOST_SECONDS = 10.0
"""Of processor time; an answer that takes longer is a fault."""
BUG = 1


class BrokenPromiseError(Exception):
    """What must hold did not."""


class Subject(Protocol):
    """Something that is attempted; ``promise`` is what must hold, in a sentence of the documentation."""

    promise: str

    def prepare(self, folder: Path) -> None:
        """Make once what every attempt needs."""

    def attempt(self, folder: Path, rng: Random) -> None:
        """Do something to what was prepared, or beside it; raises BrokenPromiseError."""


def answered(*words: str, codes: tuple[int, ...]) -> Result:
    """What a command answers; a bug, an exit code that is not among these, or a long time breaks the promise."""
    started = time.process_time()
    result = typed(*words)
    line = f"mlcli {' '.join(words)}"
    if result.exit_code == BUG or "Traceback" in result.stderr:
        raise BrokenPromiseError(f"{line}: a bug: {result.stderr[-2000:]}") from result.exception
    if result.exit_code not in codes:
        raise BrokenPromiseError(f"{line}: exit code {result.exit_code}: {result.stderr[:500]}")
    if (spent := time.process_time() - started) > MOST_SECONDS:
        raise BrokenPromiseError(f"{line}: took {spent:.0f} s")
    return result


@contextmanager
def unbroken(what: str) -> Iterator[None]:
    """Run the body; whatever it raises breaks the promise."""
    try:
        yield
    except BrokenPromiseError:
        raise
    except Exception as problem:
        raise BrokenPromiseError(f"{what}: {type(problem).__name__}: {problem}") from problem
