"""The answers of several splits as one, made once for all metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from mlcli.core.answers import Answers

_POOLED: WeakKeyDictionary[Answers, tuple[tuple[Answers, ...], Answers]] = WeakKeyDictionary()
"""By the answers of the first split: those of the others, and all of them together; gone with the first."""


def joined(splits: Sequence[Answers]) -> Any:
    """The answers of all splits together, in their order."""
    first, *others = splits
    if not others:
        return first
    known, together = _POOLED.get(first, ((), first))
    if known != tuple(others):
        together = type(first).pooled(splits)
        _POOLED[first] = (tuple(others), together)
    return together


def distinct(answers: Answers) -> Any:
    """The first answer to each row: a repeated protocol asks about a row more than once."""
    first = np.unique(answers.rows, return_index=True)[1]
    return answers if len(first) == len(answers) else answers.take(np.sort(first))
