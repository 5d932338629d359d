"""Bootstrap: models fitted to rows drawn with replacement, tested on the rows that were not drawn or on all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.rows import SplitInfo
from mlcli.core.tables import Codes
from mlcli.protocols._base import MOST_REPEATS, Protocol, Split, Units, all_alike, split_labels


@register(
    "bootstrap",
    reference="Efron & Tibshirani 1993, An Introduction to the Bootstrap; 1997, Improvements: the .632+ method",
)
class Bootstrap(Protocol):
    """Bootstrap: a model is fitted to rows drawn with replacement and tested on the rows that were not drawn.

    Computed:
        Each repeat draws as many rows as there are, any row any number of times; about 63 % of them are among
        those drawn; the others, out of the bag, are the test rows. Where rows are grouped, whole groups are drawn.
        Scores are averaged over repeats: the leave-one-out bootstrap by samples. A model that has seen 63 % of the
        rows is somewhat worse than one that has seen all, so that these scores lean to the low side. `estimate:
        .632` makes up for it by 0.368 of the scores of training rows, and `.632+` by less of them the more a model
        overfits; models then predict the rows of their bag, too. Tests of difference are by the plain
        scores. With `bias_variance: true` a table below the scores splits the error into bias and variance, from
        what the models of all bags that lack a row answer to it.

    Cost:
        One fit for each repeat.
    """

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

    def divided(self, info: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """One split for each repeat."""
        units, all_rows = all_alike(info), np.arange(info.rows)
        splits = []
        for label in split_labels("bootstrap", 1, self.repeats):
            counts = _times_drawn(units, rng)
            while counts.all():  # no test row is left, as happens with a handful of rows
                counts = _times_drawn(units, rng)
            of_row = counts[units.of_row]
            splits.append(Split(train=np.repeat(all_rows, of_row), test=np.flatnonzero(of_row == 0), label=label))
        return splits


@register("bootstrap-whole", reference="Ben-Hur, Elisseeff & Guyon 2002; Hennig 2007, Cluster-wise assessment")
class BootstrapWhole(Protocol):
    """Bootstrap, asked as a whole: a model learns from rows drawn with replacement, and predicts all rows.

    Computed:
        Each sample draws as many rows as there are, any row any number of times (of rows in groups, whole groups);
        the model that learns from it places all rows. `stability` compares what the samples make of the same rows;
        other scores are averaged. About 63 % of the rows are in a sample, so scores are not of unseen rows. With
        `asked: drawn` a model predicts the rows of its own sample only, each once, and `stability` compares
        two samples by the rows that both have, about 40 % of all: a method without a rule for new rows can be
        test rows too. For kinds that learn without labels only.

    Cost:
        One fit for each sample.
    """

    kinds: ClassVar[tuple[str, ...]] = ("clustering",)
    fewest: ClassVar[int] = 0

    samples: int = param(20, "how many samples are learned from", ge=2)
    asked: str = param("all", "which rows the model of each sample predicts", choices=("all", "drawn"))

    def divided(self, info: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """One split for each sample."""
        units, all_rows = all_alike(info), np.arange(info.rows)
        splits = []
        for index in range(self.samples):
            train = np.repeat(all_rows, _times_drawn(units, rng)[units.of_row])
            test = np.unique(train) if self.asked == "drawn" else all_rows
            splits.append(Split(train=train, test=test, label=f"sample {index + 1}"))
        return splits

    def asks_only_learned_rows(self) -> bool:
        """Whether the model of each sample predicts its own rows only."""
        return self.asked == "drawn"


def _times_drawn(units: Units, rng: np.random.Generator) -> Codes:
    """How often each unit is in a sample of as many as there are, drawn with replacement."""
    return np.bincount(rng.integers(len(units), size=len(units)), minlength=len(units)).astype(np.int32)
