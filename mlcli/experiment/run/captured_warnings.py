"""What is warned of while something runs, as sentences for the user."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from mlcli.core.errors import MlcliWarning

NOT_FOR_USERS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ResourceWarning)
"""Warnings for programmers; all others are shown beside the results."""


@contextmanager
def heard() -> Iterator[list[str]]:
    """What the body warns of, each sentence once, in order; the list is filled when the body ends."""
    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for category in NOT_FOR_USERS:
            warnings.simplefilter("ignore", category)
        yield said
    said += dict.fromkeys(_sentence(warning) for warning in caught)


def _sentence(warning: warnings.WarningMessage) -> str:
    text = str(warning.message)
    return text if issubclass(warning.category, MlcliWarning) else f"{warning.category.__name__}: {text}"
