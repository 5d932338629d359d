"""Good only: a model learns from good rows alone and is judged by its scores of unseen good and bad rows.

Computed:
    round(good rows × train_share) good rows are learned from. The other good rows and all bad ones are split
    into two halves: validation, by which a threshold is chosen, and test, which is judged. Of an odd number test
    has the larger part. Rows whose label is not known are in no part. Groups are never cut: a group with a bad
    row counts as bad, and shares and halves are of groups.

Cost:
    One fit for each repeat.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlcli.core.errors import Problem, warn
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.rows import SplitInfo
from mlcli.core.tables import Codes, Rows
from mlcli.protocols._base import MOST_REPEATS, MoreBadRowsWarning, Protocol, Split, Units, all_alike, split_labels
from mlcli.tasks.anomaly import ANOMALY, GOOD
from mlcli.tasks.unsupervised import UNKNOWN

FEWEST_GOOD, FEWEST_BAD = 3, 2
"""One unit for each part that holds such rows."""
TRAIN, VALIDATION, TEST = range(3)


@register(
    "good-only", reference="Ng, Machine Learning (Coursera), lecture 15: developing and evaluating a detector"
)
class GoodOnly(Protocol):
    """Train on good rows, choose the threshold on validation rows, judge test rows."""

    train_share: float = param(0.6, "the share of the good rows that is learned from", gt=0, lt=1)
    repeats: int = param(1, "how often rows are split anew", ge=1, le=MOST_REPEATS)

    def problems_with_rows(self, strata: SplitInfo) -> list[Problem]:
        """No labels, or too few rows of either."""
        hint = "protocol: whole scores all rows, and needs no labels"
        if strata.strata is None:
            return [Problem(f"{self.id} needs labels: which rows are good, and which are not", hint=hint)]
        good, bad = np.bincount(_labelled(strata)[1].stratum, minlength=2)[:2]
        needed = f"{self.id} needs at least {FEWEST_GOOD} good rows and {FEWEST_BAD} bad ones (groups, if grouped)"
        enough = good >= FEWEST_GOOD and bad >= FEWEST_BAD
        return [] if enough else [Problem(f"{needed}, there are {good} and {bad}", hint=hint)]

    def divided(self, strata: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """One split for each repeat."""
        rows, units = _labelled(strata)
        unlabelled = strata.rows - len(rows)
        bad = int((units.stratum == ANOMALY).sum())
        if unlabelled:
            warn(f"{unlabelled} rows without a label are in no part")
        # half of fewer bad rows say little
        if bad < 20:
            warn(f"there are {bad} bad rows or groups, and half of them choose the threshold: this says little")
        labels = split_labels(self.id, 1, self.repeats)
        splits = [
            _split(rows, assigned_parts(units, self.train_share, rng)[units.of_row], label) for label in labels
        ]
        _warn_of_more_bad_rows(strata.strata, rows, splits[0])
        return splits


def assigned_parts(units: Units, train_share: float, rng: np.random.Generator) -> Codes:
    """The part of each unit: a share of the good ones is learned from, all others are halved."""
    part = np.empty(len(units), np.int32)
    good, bad = (rng.permutation(np.flatnonzero(units.stratum == stratum)) for stratum in (GOOD, ANOMALY))
    learned = min(max(round(len(good) * train_share), 1), len(good) - 2)
    part[good[:learned]] = TRAIN
    for judged in (good[learned:], bad):
        half = len(judged) // 2
        part[judged[:half]], part[judged[half:]] = VALIDATION, TEST
    return part


def _labelled(strata: SplitInfo) -> tuple[Rows, Units]:
    """The rows whose label is known, and their units; a unit is bad if any of its rows is."""
    assert strata.strata is not None
    rows = np.flatnonzero(strata.strata != UNKNOWN)
    labels = strata.strata[rows]
    units = all_alike(SplitInfo(len(rows), labels, None if strata.groups is None else strata.groups[rows]))
    stratum = np.zeros(len(units), np.int32)
    np.maximum.at(stratum, units.of_row, labels)
    return rows, Units(units.noun, units.of_row, stratum)


def _split(rows: Rows, part: Codes, label: str) -> Split:
    train, validation, test = (rows[part == index] for index in (TRAIN, VALIDATION, TEST))
    return Split(train=train, test=test, label=label, validation=validation)


def _warn_of_more_bad_rows(stratum: Codes | None, known: Rows, split: Split) -> None:
    """Good rows are learned from, so that bad ones are more frequent among the others than they are."""
    assert stratum is not None
    bad = stratum == ANOMALY
    assert split.validation is not None
    parts = (
        f"{(~bad[rows]).sum():,} good and {bad[rows].sum():,} bad rows" for rows in (split.validation, split.test)
    )
    learned = f"{len(split.train):,} good rows are learned from"
    parted = f"{learned}, {next(parts)} choose the threshold, {next(parts)} are judged"
    everywhere, there = (100 * bad[rows].mean() for rows in (known, split.test))
    message = (
        f"{parted}: {there:.2g} % of these are bad, of all {everywhere:.2g} %, as good ones were learned from"
    )
    warn(f"{message}; among rows such as all, precision and f1 are lower", MoreBadRowsWarning)
