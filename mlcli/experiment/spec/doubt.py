"""A target that was guessed and may not be the one that is meant: no long work is done on it."""

from __future__ import annotations

from collections.abc import Sequence

from mlcli.core.errors import UsageError
from mlcli.data.dataset import Dataset
from mlcli.experiment.spec.cells import Cell
from mlcli.experiment.spec.panel import estimated_work

MOST_FOR_A_GUESS = 10.0
"""Seconds of work at most for a target that is in doubt."""


def doubt_of(cells: Sequence[Cell]) -> str:
    """Why the first target that is in doubt may not be the one that is meant; empty where all are sure."""
    return next((one.dataset.doubt for one in cells if isinstance(one.dataset, Dataset) and one.dataset.doubt), "")


def refuse_long_work(cells: Sequence[Cell]) -> None:
    """Stop before work on a guess that takes long, as far as methods estimate it."""
    refuse_longer(doubt_of(cells), estimated_work(cells))


def is_too_long(doubt: str, seconds: float) -> bool:
    """Whether there is a doubt, and so many seconds of work may be for nothing."""
    return bool(doubt) and seconds > MOST_FOR_A_GUESS


def refuse_longer(doubt: str, seconds: float, about: str = "about") -> None:
    """Stop work that is too long for a guess, and say how it goes on."""
    if is_too_long(doubt, seconds):
        hint = f"this takes {about} {seconds:.0f} s, so it was not done on a guess: say --target COLUMN to go on"
        raise UsageError(doubt, hint=f"{hint} (in an experiment file, target: COLUMN beside path)")
