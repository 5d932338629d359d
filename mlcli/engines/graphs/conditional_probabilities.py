"""Tables of conditional probabilities: by counting rows, and by EM where cells are empty (Lauritzen 1995)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.engines.graphs.factors import Factor, shares
from mlcli.engines.graphs.inference import marginal, rows_alike
from mlcli.engines.graphs.structures import counts

MOST_ROUNDS = 200
SETTLED = 1e-7
"""The gain per row below which EM ends."""

Tables = tuple[Array, ...]


@dataclass(frozen=True, eq=False)
class Families:
    """Each variable behind its parents, with how many levels all have, and what is added to counts."""

    members: tuple[tuple[int, ...], ...]
    levels: tuple[int, ...]
    alpha: float
    smoothing: str
    """``laplace``: added to each level; ``bdeu``: spread over each table."""

    def counted(self, codes: Codes, weights: Array) -> Tables:
        """The weight of each combination, in rows where the whole family is known."""
        return tuple(counts(codes, self.levels, family, weights) for family in self.members)

    def chances(self, met: Sequence[Array]) -> Tables:
        """Shares of counts, smoothed."""
        return tuple(map(self._shares, met))

    def _added(self, met: Array) -> float:
        return self.alpha / met.size if self.smoothing == "bdeu" else self.alpha

    def _shares(self, met: Array) -> Array:
        added = self._added(met)
        totals = met.sum(axis=-1, keepdims=True) + added * met.shape[-1]
        even = np.full_like(met, 1 / met.shape[-1])
        return np.asarray(np.divide(met + added, totals, out=even, where=totals > 0))

    def factors(self, chances: Sequence[Array]) -> tuple[Factor, ...]:
        """The conditional probabilities of each variable as a factor."""
        return tuple(Factor.of(family, table) for family, table in zip(self.members, chances, strict=True))

    def by_em(self, codes: Codes, weights: Array, rng: np.random.Generator) -> tuple[Tables, list[float]]:
        """Chances at which the likelihood of the known cells is highest nearby, and the way there.

        It begins with counts of what is known; families that no row knows whole begin at drawn chances.
        """
        met = self.counted(codes, weights)
        chances = tuple(_drawn(one, rng) if not one.any() else self._shares(one) for one in met)
        path = list[float]()
        for _ in range(MOST_ROUNDS):
            expected, likely = self._expected(codes, weights, chances)
            path.append(likely + self._prior(chances))
            if len(path) > 1 and path[-1] - path[-2] < SETTLED * weights.sum():
                break
            chances = self.chances(expected)
        return chances, path

    def _prior(self, chances: Sequence[Array]) -> float:
        """What smoothing adds to the likelihood that EM climbs."""
        with np.errstate(divide="ignore"):
            logs = ((self._added(table), np.log(table)) for table in chances)
            return sum(float(added * one.sum()) for added, one in logs if added)

    def _expected(self, codes: Codes, weights: Array, chances: Sequence[Array]) -> tuple[list[Array], float]:
        """What counts are on average over the unknown cells, and the log-likelihood of the known ones."""
        factors, expected, likely = self.factors(chances), list(self.counted(codes, weights)), 0.0
        for rows in rows_alike(codes >= 0):
            known = set(np.flatnonzero(codes[rows[0]] >= 0).tolist())
            left = [factor.given(codes[rows], known) for factor in factors]
            likely += float(weights[rows] @ np.broadcast_to(marginal(left, ()).logs, len(rows)))
            for family, table in zip(self.members, expected, strict=True):
                hidden = [one for one in family if one not in known]
                if hidden:
                    _spread(table, family, codes[rows], weights[rows], marginal(left, hidden))
        return expected, likely


def _spread(table: Array, family: tuple[int, ...], codes: Codes, weights: Array, about: Factor) -> None:
    """Add each row to the combinations of what it does not know, by how probable they are."""
    of_hidden = shares(about.logs)
    rows: Rows = np.arange(len(codes)) if len(of_hidden) > 1 else np.zeros(len(codes), np.intp)
    for levels in np.ndindex(of_hidden.shape[1:]):
        place = dict(zip(about.variables, levels, strict=True))
        cells = tuple(np.full(len(codes), place[one]) if one in place else codes[:, one] for one in family)
        np.add.at(table, cells, weights * np.nan_to_num(of_hidden[(rows, *levels)]))


def _drawn(met: Array, rng: np.random.Generator) -> Array:
    return np.asarray(rng.dirichlet(np.ones(met.shape[-1]), met.shape[:-1]))
