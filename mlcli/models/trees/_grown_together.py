"""The trees of many splits grown together: a level of all of them costs few more steps than that of one.

Each split has a root of its own, under which are its training rows. Questions are asked between the values of the
rows of a node, so it does not matter to a tree what others hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlcli.core.held_out import HeldOut, Round
from mlcli.core.step import Step
from mlcli.core.tables import Array, Rows
from mlcli.models.trees._features import features, level_counts
from mlcli.models.trees._growing import Rules
from mlcli.models.trees._levels import Targets
from mlcli.models.trees._predicting import node_of
from mlcli.models.trees._routes import grown

MOST_TOGETHER = 20_000
"""Up to how many cells a table has; trees of larger ones may be shared out between workers."""
ROWS_TOGETHER = 2**15
"""About how many training rows are under all roots."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """The rows that one split trains on, and those that it asks about, as steps leave them."""

    train: Any
    asked: Any
    rows: Rows
    """The numbers of those that it asks about."""


def grown_together(rules: Rules, data: Any, round_: Round, steps: Sequence[Step]) -> HeldOut | None:
    """The answers of each part by a tree of the rows outside it; None where steps need more than rows."""
    if any(type(step).in_sums is Step.in_sums for step in steps):
        return None
    answers, refused = np.zeros((len(data), data.outputs.shape[1])), np.ones(round_.parts, bool)
    together = max(1, ROWS_TOGETHER // len(data))
    for first in range(0, round_.parts, together):
        parts = [part for part in range(first, min(first + together, round_.parts)) if _learns(data, round_, part)]
        if parts:
            splits = [_prepared(data, round_, part, steps) for part in parts]
            _answer(rules, splits, answers)
            refused[parts] = False
    return HeldOut(answers, refused, "trees grown together")


def _learns(data: Any, round_: Round, part: int) -> bool:
    return bool((data.weights[round_.part != part] > 0).any())


def _prepared(data: Any, round_: Round, part: int, steps: Sequence[Step]) -> Prepared:
    train, asked = data.take(np.flatnonzero(round_.part != part)), data.take(round_.rows_of[part])
    for step in steps:
        own = step.fresh()
        own.columns_ = train.table.columns
        own.fit(train, np.random.default_rng(0))
        train, asked = train.transformed(own.transform), asked.transformed(own.transform)
    return Prepared(train.counted(), asked, round_.rows_of[part])


def _answer(rules: Rules, splits: Sequence[Prepared], answers: Array) -> None:
    """Fill in the answers about the rows of some splits."""
    columns = splits[0].train.table.columns
    fills = np.full(len(columns), np.nan)
    targets = Targets.of(
        np.concatenate([split.train.outputs for split in splits]),
        np.concatenate([split.train.weights for split in splits]),
    )
    cells = _joined(features(split.train.table, fills) for split in splits)
    root = _numbered(split.train for split in splits)
    tree = grown(cells, level_counts(columns), targets, rules, root, trees=1)
    asked = _joined(features(split.asked.table, fills) for split in splits)
    node = node_of(tree, asked, _numbered(split.asked for split in splits))
    answers[np.concatenate([split.rows for split in splits])] = tree.value[node]


def _joined(blocks: Iterator[Array]) -> Array:
    return np.concatenate(list(blocks))


def _numbered(blocks: Iterator[Any]) -> Rows:
    sizes = [len(block) for block in blocks]
    return np.repeat(np.arange(len(sizes)), sizes)
