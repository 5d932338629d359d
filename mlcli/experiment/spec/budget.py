"""Budgets: what one cell may take, in seconds and in memory, and what all of a run may take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mlcli.core.errors import Problem, UsageError, raise_all
from mlcli.core.names import did_you_mean
from mlcli.core.quantities import DURATION, SIZE, bytes_in, seconds_in
from mlcli.experiment.spec.written import Written

EXAMPLE = "such as 60s, or {cell: 60s, total: 2h, memory: 4GiB}"


@dataclass(frozen=True)
class Budget:
    """What may be taken; None: as much as it needs."""

    cell: float | None = None
    """Seconds of one cell, those of its stored splits included."""
    total: float | None = None
    """Seconds on the clock for everything that is run now."""
    memory: int | None = None
    """Bytes of the process that runs a cell."""


READERS: Mapping[str, tuple[Callable[[object], float | None], str]] = {
    "cell": (seconds_in, DURATION),
    "total": (seconds_in, DURATION),
    "memory": (bytes_in, SIZE),
}


def budget_of(written: Written, found: list[Problem]) -> Budget:
    """The budget of an experiment: a duration for each cell, or a mapping; what is wrong is added to ``found``."""
    if not isinstance(written.value, dict):
        return _with_values({"cell": written}, found, "budget")
    parts = written.named()
    found += [
        part.problem(f"a budget has no key '{key}'", did_you_mean(key, READERS, "keys"))
        for key, part in parts.items()
        if key not in READERS
    ]
    if not parts:
        found.append(written.problem("'budget' takes at least one limit", EXAMPLE))
    return _with_values({key: part for key, part in parts.items() if key in READERS}, found)


def _with_values(parts: Mapping[str, Written], found: list[Problem], name: str = "") -> Budget:
    values: dict[str, Any] = {}
    for key, part in parts.items():
        read, form = READERS[key]
        values[key] = read(part.value)
        if values[key] is None:
            found.append(part.problem(f"'{name or key}' takes {form}; was given {part.given}", EXAMPLE))
    return Budget(**values)


def budget_from_text(text: str) -> Budget:
    """A budget as it is typed in a shell: 60s, or a mapping in braces."""
    found: list[Problem] = []
    budget = budget_of(Written.typed(text, "--budget"), found)
    raise_all(UsageError, found)
    return budget
