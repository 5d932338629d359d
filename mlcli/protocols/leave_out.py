"""Leave-out protocols: every row, every choice of groups, or every domain is tested in turn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import ClassVar

import numpy as np

from mlcli.core.errors import Problem
from mlcli.core.names import did_you_mean
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.rows import SplitInfo
from mlcli.core.tables import Rows
from mlcli.protocols._base import DealtSplits, Protocol, Split, all_alike, split_labels


@register(
    "leave-one-out", reference="Lachenbruch & Mickey 1968, Estimation of error rates in discriminant analysis"
)
class LeaveOneOut(Protocol):
    """Leave-one-out: every row is tested by a model that is fitted to all others.

    Computed:
        One split for each row; metrics are pooled over all answers, since one row has no spread, no class balance
        and no variance of its own. Where rows are grouped, a whole group is left out at a time.

    Cost:
        As many fits as there are rows, or groups; nothing is random.
    """

    pooled: ClassVar[bool] = True

    def divided(self, info: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """One split for each row, or group, in order."""
        units = all_alike(info)
        return DealtSplits([units.of_row], split_labels(units.noun.removesuffix("s"), len(units), 1))


@register(
    "leave-groups-out", reference="Arlot & Celisse 2010, A survey of cross-validation procedures, section 4.3"
)
class LeaveGroupsOut(Protocol):
    """Leave groups out: every choice of some groups is tested by a model that is fitted to all other groups.

    Computed:
        One split for each choice of `left_out` of the groups, in order: C(groups, left_out) of them, at most
        2,000. Groups are numbered in the order of their names. With more than one left out, a row is tested
        several times, and the scores of all splits are averaged.

    Cost:
        One fit for each choice; nothing is random.
    """

    kinds: ClassVar[tuple[str, ...]] = (
        *("classification", "regression", "sequence-labelling", "ranking"),
        *("clustering", "density", "projection"),
    )

    left_out: int = param(1, "how many groups are tested at a time", ge=1)

    def problems_with_rows(self, info: SplitInfo) -> list[Problem]:
        """No groups, too few, or too many choices of them."""
        if info.groups is None:
            what = f"{self.id} needs groups, and no column has the role group"
            hint = "give the column that names them the role group in the sidecar; leave-one-out leaves out rows"
            return [Problem(what, hint=hint)]
        count = len(all_alike(info))
        if count <= self.left_out:
            needed = f"{self.left_out} left out need at least {self.left_out + 1} groups"
            hint = f"{count - 1} or fewer would work" if count > 1 else "check the group column"
            return [Problem(f"{self.id}: {needed}, there are {count}", hint=hint)]
        splits, most = math.comb(count, self.left_out), 2_000
        if splits > max(most, count):
            what = f"{self.id}: {self.left_out} of {count} groups make {splits:,} splits, over {most:,}"
            return [Problem(what, hint="leave out fewer, or k-fold, which keeps groups whole")]
        return []

    def divided(self, info: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """One split for each choice, in order."""
        units = all_alike(info)
        if self.left_out == 1:
            return DealtSplits([units.of_row], split_labels("group", len(units), 1))
        splits = []
        for groups in combinations(range(len(units)), self.left_out):
            tested = np.isin(units.of_row, groups)
            label = f"groups {', '.join(str(group + 1) for group in groups)}"
            splits.append(Split(train=np.flatnonzero(~tested), test=np.flatnonzero(tested), label=label))
        return splits


@register("leave-domains-out", reference="Gulrajani & Lopez-Paz 2021, In search of lost domain generalization")
class LeaveDomainsOut(Protocol):
    """Leave domains out: a model learns in other domains, sees one without its target, and is tested there.

    Computed:
        The column with the role `domain` says where a row comes from (a clinic, a device, a year). Each domain is
        the target in turn, or only ``target``. Its rows are dealt to ``folds``, with a share of each class in
        each, where there are classes: every fold is tested once by what was learned from all rows of the other
        domains, while the rows of its other folds are there without class or value, for steps and methods that
        adapt to where they are used (`importance-weights`, `coral`, `self-training`). Ordinary methods do not look
        at these, so that they show what adapting is worth.

    Cost:
        folds × domains fits.
    """

    kinds: ClassVar[tuple[str, ...]] = ("classification", "regression")

    target: str | None = param(None, "the domain that is tested; none: each in turn", if_given=True)
    folds: int = param(
        2, "how many parts a domain is split into: one is tested, the others are seen without their target", ge=2
    )

    def problems_with_rows(self, info: SplitInfo) -> list[Problem]:
        """No domains, one only, one that there is not, or one too small."""
        if info.domain is None:
            what = f"{self.id} needs domains, and no column has the role domain"
            return [Problem(what, hint="give the column that says where rows come from the role domain")]
        present = [info.domains[code] for code in np.unique(info.domain)]
        if len(present) < 2:
            return [Problem(f"{self.id} needs at least 2 domains, and there is only {', '.join(present)}")]
        if self.target is not None and self.target not in present:
            hint = did_you_mean(self.target, present, "domains")
            return [Problem(f"{self.id}: there is no domain '{self.target}'", hint=hint)]
        small = [name for name, rows in self._rows_by_domain(info) if len(rows) < self.folds]
        return [Problem(f"{self.id}: domain {name} has fewer than {self.folds} rows") for name in small]

    def divided(self, info: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """The folds of the first domain, then those of the next."""
        splits = []
        for name, rows in self._rows_by_domain(info):
            order = rng.permutation(rows)
            if info.strata is not None:
                order = order[np.argsort(info.strata[order], kind="stable")]
            for fold in range(self.folds):
                split = Split(
                    train=np.setdiff1d(np.arange(info.rows), rows),
                    test=np.sort(order[fold :: self.folds]),
                    label=f"{name}, fold {fold + 1}",
                    hidden=np.sort(np.delete(order, np.s_[fold :: self.folds])),
                )
                splits.append(split)
        return splits

    def _rows_by_domain(self, info: SplitInfo) -> Iterator[tuple[str, Rows]]:
        """The rows of each domain that is tested."""
        assert info.domain is not None
        for code in np.unique(info.domain).tolist():
            if self.target in (None, info.domains[code]):
                yield info.domains[code], np.flatnonzero(info.domain == code)
