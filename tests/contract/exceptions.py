"""The one table of exceptions: which promise a model does not make, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.contract.subjects import Subject

EXCEPTIONS: dict[tuple[str, str], str] = {
    ("zero-r", "beats_the_baseline"): "it is the baseline",
    ("random", "beats_the_baseline"): "it guesses",
}


def owing(promise: str, subjects: Sequence[Subject]) -> Callable[[Any], Any]:
    """Run a test for every subject that owes a promise."""
    chosen = [subject for subject in subjects if (subject.model, promise) not in EXCEPTIONS]
    return pytest.mark.parametrize("subject", chosen, ids=str)
