"""Leave domains out: a model learns in other domains, sees rows of the new one without target, is judged there.

Computed:
    The column with the role `domain` says where a row comes from (a clinic, a device, a year). Each domain is the
    target in turn, or only ``target``. Its rows are dealt to ``folds``, with a share of each class in each, where
    there are classes: every fold is judged once by what was learned from all rows of the other domains, while the
    rows of its other folds are there without class or value, for steps and methods that adapt to where they are
    used (`importance-weights`, `coral`, `self-training`). Ordinary methods do not look at these, so that they show
    what adapting is worth.

Cost:
    folds × domains fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from mlcli.core.errors import Problem
from mlcli.core.names import did_you_mean
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.rows import SplitInfo
from mlcli.core.tables import Rows
from mlcli.protocols._base import Protocol, Split


@register("leave-domains-out", reference="Gulrajani & Lopez-Paz 2021, In search of lost domain generalization")
class LeaveDomainsOut(Protocol):
    """Other domains are learned from, one is judged."""

    kinds: ClassVar[tuple[str, ...]] = ("classification", "regression")

    target: str | None = param(None, "the domain that is judged; none: each in turn", if_given=True)
    folds: int = param(
        2, "how many parts a domain is split into, one judged, the others without their target", ge=2
    )

    def problems_with_rows(self, strata: SplitInfo) -> list[Problem]:
        """No domains, one only, one that there is not, or one too small."""
        if strata.domain is None:
            what = f"{self.id} needs domains, and no column has the role domain"
            return [Problem(what, hint="give the column that says where rows come from the role domain")]
        present = [strata.domains[code] for code in np.unique(strata.domain)]
        if len(present) < 2:
            return [Problem(f"{self.id} needs at least 2 domains, and there is only {', '.join(present)}")]
        if self.target is not None and self.target not in present:
            hint = did_you_mean(self.target, present, "domains")
            return [Problem(f"{self.id}: there is no domain '{self.target}'", hint=hint)]
        small = [name for name, rows in self._targets(strata) if len(rows) < self.folds]
        return [Problem(f"{self.id}: domain {name} has fewer than {self.folds} rows") for name in small]

    def divided(self, strata: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """The folds of the first domain, then those of the next."""
        return [split for name, rows in self._targets(strata) for split in self._folds(strata, name, rows, rng)]

    def _targets(self, strata: SplitInfo) -> Iterator[tuple[str, Rows]]:
        """The rows of each domain that is judged."""
        assert strata.domain is not None
        for code in np.unique(strata.domain).tolist():
            if self.target in (None, strata.domains[code]):
                yield strata.domains[code], np.flatnonzero(strata.domain == code)

    def _folds(self, strata: SplitInfo, name: str, rows: Rows, rng: np.random.Generator) -> Iterator[Split]:
        order = rng.permutation(rows)
        if strata.strata is not None:
            order = order[np.argsort(strata.strata[order], kind="stable")]
        for fold in range(self.folds):
            yield Split(
                train=np.setdiff1d(np.arange(strata.rows), rows),
                test=np.sort(order[fold :: self.folds]),
                label=f"{name}, fold {fold + 1}",
                hidden=np.sort(np.delete(order, np.s_[fold :: self.folds])),
            )
