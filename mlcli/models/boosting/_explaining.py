"""Boosted trees in words: how many there are, how the loss fell round by round, and what columns gained."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlcli.core.explanation import Explanation, Section
from mlcli.core.schema import Column
from mlcli.core.tables import Array
from mlcli.models.boosting._trees import Trees

MOST_POINTS = 12
"""How many rounds of a curve are shown."""
MOST_NAMES = 10
"""How many columns that are not asked for are named."""


def explained(trees: Trees, columns: Sequence[Column], training: Array, aside: Array, outputs: int) -> Explanation:
    """Rounds, the curve of the loss, and importances."""
    sections = [_rounds(trees, training, aside, outputs), _curve(training, aside)]
    if trees.gain.any():
        sections.append(_importances(trees, columns))
    return tuple(sections)


def _rounds(trees: Trees, training: Array, aside: Array, outputs: int) -> Section:
    kept, made = len(trees.roots) // outputs, len(training) - 1
    why = "after that, the loss of the rows held aside was not smaller" if kept < made else ""
    rows = ((kept, made, len(trees.roots), trees.leaves / max(len(trees.roots), 1)),)
    return Section("Rounds", header=("kept", "made", "trees", "leaves of a tree"), rows=rows, note=why)


def _curve(training: Array, aside: Array) -> Section:
    """The loss before the first round and after some of them, the last and the best included."""
    shown = np.linspace(0, len(training) - 1, min(MOST_POINTS, len(training))).round().astype(int)
    if not len(aside):
        rows = tuple((int(k), float(training[k])) for k in shown)
        return Section("Loss", header=("rounds", "training"), rows=rows)
    shown = np.union1d(shown, np.argmin(aside))
    both = tuple((int(k), float(training[k]), float(aside[k])) for k in shown)
    return Section("Loss", header=("rounds", "training", "held aside"), rows=both)


def _importances(trees: Trees, columns: Sequence[Column]) -> Section:
    """What each column's questions gained, as a share of all."""
    gains = trees.gains(len(columns))
    order = np.argsort(-gains, kind="stable")
    questions = np.bincount(trees.column[trees.left >= 0], minlength=len(columns))
    asked = [j for j in order if questions[j]]
    rows = tuple((columns[j].name, float(gains[j] / gains.sum()), int(questions[j])) for j in asked)
    never = [column.name for j, column in enumerate(columns) if not questions[j]]
    shown = ", ".join(never[:MOST_NAMES]) + (
        f" and {len(never) - MOST_NAMES} more" if len(never) > MOST_NAMES else ""
    )
    header = ("column", "share of all gains", "questions")
    return Section("What columns are worth", header, rows, note=f"not asked for: {shown}" if never else "")
