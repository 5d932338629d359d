"""Bootstrap: a model learns from rows drawn with replacement, and is judged by the rows that were not drawn.

Computed:
    Each repeat draws as many rows as there are, any row any number of times; about 63 % of them are among those
    drawn, and the others, out of the bag, are judged. Where rows are grouped, whole groups are drawn. Scores
    are averaged over repeats: the leave-one-out bootstrap by samples. A model that has seen 63 % of the rows is
    somewhat worse than one that has seen all, so that these scores lean to the low side. `estimate: .632` makes up
    for it by 0.368 of the scores of training rows, and `.632+` by less of them the more a model overfits; models
    are then asked about the rows of their bag, too. Tests of difference are by the plain scores. With
    `bias_variance: true` a table below the scores splits the error into bias and variance, from what the models of
    all bags that lack a row answer to it.

Cost:
    One fit for each repeat.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.rows import SplitInfo
from mlcli.core.tables import Codes
from mlcli.protocols._base import MOST_REPEATS, Protocol, Split, Units, all_alike, drawn, split_labels


@register(
    "bootstrap",
    reference="Efron & Tibshirani 1993, An Introduction to the Bootstrap; 1997, Improvements: the .632+ method",
)
class Bootstrap(Protocol):
    """Rows drawn with replacement to learn from, those out of the bag to judge."""

    kinds: ClassVar[tuple[str, ...]] = ("classification", "regression", "density", "projection")

    repeats: int = param(25, "how often rows are drawn anew", ge=1, le=MOST_REPEATS)
    estimate: str | float = param(
        "plain",
        "what makes up for bags that hold few of the rows",
        choices=("plain", 0.632, ".632+"),
        if_given=True,
    )
    bias_variance: bool = param(
        False,
        "whether the error is shown in its parts, bias and variance; 50 repeats or more suit it",
        if_given=True,
        changes_answers=False,
    )

    def asks_training_rows(self) -> bool:
        """Where their scores are part of the estimate."""
        return self.estimate != "plain"

    def divided(self, strata: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """One split for each repeat."""
        units = all_alike(strata)
        return [_split(units, _times(units, rng), label) for label in split_labels("bootstrap", 1, self.repeats)]


def _times(units: Units, rng: np.random.Generator) -> Codes:
    """How often each unit is drawn; anew where none is left to judge, as happens with a handful of them."""
    times = drawn(units, rng)
    while times.all():
        times = drawn(units, rng)
    return times


def _split(units: Units, times: Codes, label: str) -> Split:
    of_row = times[units.of_row]
    return Split(train=np.repeat(np.arange(len(of_row)), of_row), test=np.flatnonzero(of_row == 0), label=label)
