"""Good only: a model is fitted to good rows alone and tested on unseen good and bad rows.

Computed:
    round(good rows × train_share) good rows are learned from. The other good rows and all bad ones are split
    into two halves: validation, by which a threshold is chosen, and test, which is scored. Of an odd number test
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
from mlcli.core.tables import Codes, Flags, Rows
from mlcli.protocols._base import MOST_REPEATS, MoreBadRowsWarning, Protocol, Split, Units, all_alike, split_labels
from mlcli.tasks.anomaly import ANOMALY, GOOD
from mlcli.tasks.unsupervised import UNKNOWN

TRAIN, VALIDATION, TEST = range(3)


@register(
    "good-only", reference="Ng, Machine Learning (Coursera), lecture 15: developing and evaluating a detector"
)
class GoodOnly(Protocol):
    """Train on good rows, choose the threshold on validation rows, score test rows."""

    train_share: float = param(0.6, "the share of the good rows that is learned from", gt=0, lt=1)
    repeats: int = param(1, "how often rows are split anew", ge=1, le=MOST_REPEATS)

    def problems_with_rows(self, info: SplitInfo) -> list[Problem]:
        """No labels, or too few rows of either."""
        hint = "protocol: whole scores all rows, and needs no labels"
        if info.strata is None:
            return [Problem(f"{self.id} needs labels: which rows are good, and which are not", hint=hint)]
        good, bad = np.bincount(_labelled(info)[1].stratum, minlength=2)[:2]
        # one for each part that holds such rows
        if good >= 3 and bad >= 2:
            return []
        needed = f"{self.id} needs at least 3 good rows and 2 bad ones (groups, if grouped)"
        return [Problem(f"{needed}, there are {good} and {bad}", hint=hint)]

    def divided(self, info: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """One split for each repeat."""
        rows, units = _labelled(info)
        if unlabelled := info.rows - len(rows):
            warn(f"{unlabelled} rows without a label are in no part")
        bad = int((units.stratum == ANOMALY).sum())
        if bad < 20:  # half of which say little
            warn(f"there are {bad} bad rows or groups, and half of them choose the threshold: this says little")
        splits = []
        for label in split_labels(self.id, 1, self.repeats):
            part = assigned_parts(units, self.train_share, rng)[units.of_row]
            train, validation, test = (rows[part == code] for code in (TRAIN, VALIDATION, TEST))
            splits.append(Split(train=train, test=test, label=label, validation=validation))
        assert info.strata is not None
        _warn_of_more_bad_rows(info.strata == ANOMALY, rows, splits[0])
        return splits


def assigned_parts(units: Units, train_share: float, rng: np.random.Generator) -> Codes:
    """The part of each unit: a share of the good ones is learned from, all others are halved."""
    part = np.empty(len(units), np.int32)
    good, bad = (rng.permutation(np.flatnonzero(units.stratum == stratum)) for stratum in (GOOD, ANOMALY))
    learned = min(max(round(len(good) * train_share), 1), len(good) - 2)
    part[good[:learned]] = TRAIN
    for unseen in (good[learned:], bad):
        half = len(unseen) // 2
        part[unseen[:half]], part[unseen[half:]] = VALIDATION, TEST
    return part


def _labelled(info: SplitInfo) -> tuple[Rows, Units]:
    """The rows whose label is known, and their units; a unit is bad if any of its rows is."""
    assert info.strata is not None
    rows = np.flatnonzero(info.strata != UNKNOWN)
    labels = info.strata[rows]
    units = all_alike(SplitInfo(len(rows), labels, None if info.groups is None else info.groups[rows]))
    stratum = np.zeros(len(units), np.int32)
    np.maximum.at(stratum, units.of_row, labels)
    return rows, Units(units.noun, units.of_row, stratum)


def _warn_of_more_bad_rows(bad: Flags, labelled: Rows, split: Split) -> None:
    """Good rows are learned from, so bad ones are more frequent among the others than among all."""
    validation, test = (
        f"{(~bad[rows]).sum():,} good and {bad[rows].sum():,} bad rows" for rows in (split.validation, split.test)
    )
    of_test, of_all = (100 * bad[rows].mean() for rows in (split.test, labelled))
    warn(
        f"{len(split.train):,} good rows are learned from, {validation} choose the threshold, {test} are tested: "
        f"{of_test:.2g} % of these are bad, of all {of_all:.2g} %, as good ones were learned from; "
        "among rows such as all, precision and f1 are lower",
        MoreBadRowsWarning,
    )
