"""Leave groups out: every choice of some groups is judged by a model that has learned from all other groups.

Computed:
    One split for each choice of `left_out` of the groups, in order: C(groups, left_out) of them, at most 2,000.
    Groups are numbered in the order of their names. With more than one left out, a row is judged several times,
    and the scores of all splits are averaged.

Cost:
    One fit for each choice; nothing is random.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import ClassVar

import numpy as np

from mlcli.core.errors import Problem
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.rows import SplitInfo
from mlcli.core.tables import Codes
from mlcli.protocols._base import DealtSplits, Protocol, Split, all_alike, split_labels

MOST_SPLITS = 2_000


@register(
    "leave-groups-out", reference="Arlot & Celisse 2010, A survey of cross-validation procedures, section 4.3"
)
class LeaveGroupsOut(Protocol):
    """Every choice of some groups, judged by what was learned from the others."""

    kinds: ClassVar[tuple[str, ...]] = (
        *("classification", "regression", "sequence-labelling", "ranking"),
        *("clustering", "density", "projection"),
    )

    left_out: int = param(1, "how many groups are judged at a time", ge=1)

    def problems_with_rows(self, strata: SplitInfo) -> list[Problem]:
        """No groups, too few, or too many choices of them."""
        if strata.groups is None:
            what = f"{self.id} needs groups, and no column has the role group"
            hint = "give the column that names them the role group in the sidecar; leave-one-out leaves out rows"
            return [Problem(what, hint=hint)]
        count = len(all_alike(strata))
        if count <= self.left_out:
            needed = f"{self.left_out} left out need at least {self.left_out + 1} groups"
            hint = f"{count - 1} or fewer would work" if count > 1 else "check the group column"
            return [Problem(f"{self.id}: {needed}, there are {count}", hint=hint)]
        splits = math.comb(count, self.left_out)
        if splits > max(MOST_SPLITS, count):
            what = f"{self.id}: {self.left_out} of {count} groups make {splits:,} splits, over {MOST_SPLITS:,}"
            return [Problem(what, hint="leave out fewer, or k-fold, which keeps groups whole")]
        return []

    def divided(self, strata: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """One split for each choice, in order."""
        units = all_alike(strata)
        if self.left_out == 1:
            return DealtSplits([units.of_row], split_labels("group", len(units), 1))
        return [_split(units.of_row, chosen) for chosen in combinations(range(len(units)), self.left_out)]


def _split(group: Codes, chosen: Sequence[int]) -> Split:
    judged = np.isin(group, chosen)
    label = f"groups {', '.join(str(name + 1) for name in chosen)}"
    return Split(train=np.flatnonzero(~judged), test=np.flatnonzero(judged), label=label)
