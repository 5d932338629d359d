"""Gibbs sampling: each hidden variable is drawn again and again, given all others (Geman & Geman 1984).

All rows share their random numbers, so that what is found for a row does not depend on the rows beside it. The
shares are the mean of the conditional distributions that were drawn from, which varies less than the draws do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlcli.core.tables import Array, Codes
from mlcli.engines.graphs.factors import Factor, product, shares

BURN_IN = 0.2
"""The share of the sweeps that only forgets the start."""


def sampled_shares(
    factors: Sequence[Factor], query: int, codes: Codes, sweeps: int, rng: np.random.Generator
) -> Array:
    """The probability of each level of a variable (rows × levels); the factors have their evidence already."""
    hidden = sorted({variable for factor in factors for variable in factor.variables})
    about = {one: [factor for factor in factors if one in factor.variables] for one in hidden}
    state = codes.copy()
    state[:, hidden] = 0
    skipped, total = int(BURN_IN * sweeps), np.zeros(1)
    for sweep in range(sweeps):
        for variable in hidden:
            chances = _conditional(about[variable], variable, state)
            drawn = (rng.random() >= np.cumsum(chances, axis=1)[:, :-1]).sum(axis=1)
            state[:, variable] = drawn
            if variable == query and sweep >= skipped:
                total = total + chances
    return np.asarray(total / (sweeps - skipped))


def _conditional(factors: Sequence[Factor], variable: int, state: Codes) -> Array:
    """The chances of each level of a variable, given all others; even ones where nothing is possible."""
    others = {other for factor in factors for other in factor.variables} - {variable}
    chances = shares(product([factor.given(state, others) for factor in factors]).logs)
    chances = np.broadcast_to(chances, (len(state), chances.shape[1]))
    return np.where(np.isnan(chances), 1 / chances.shape[1], chances)
