"""The distribution of one variable in each of many rows, given the cells of the row that are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.engines.graphs.elimination import marginal
from mlcli.engines.graphs.factors import Factor, largest
from mlcli.engines.graphs.gibbs import sampled_shares
from mlcli.engines.graphs.messages import beliefs

BLOCK = 512
"""How many rows are worked through at once."""
MOST_LOOKED_UP = 16_384
"""How many where only what is asked for is unknown, so that nothing is summed out."""


@dataclass(frozen=True)
class Inference:
    """How marginals are found; sampling has its number of sweeps and its seed."""

    method: str = "exact"
    sweeps: int = 1000
    seed: int = 0

    def of(self, factors: Sequence[Factor], query: int, codes: Codes) -> Array:
        """The logarithms (rows × levels) of a variable, but for a constant unless they are exact."""
        return INFERENCES[self.method](self, factors, query, codes)


def _exact(how: Inference, factors: Sequence[Factor], query: int, codes: Codes) -> Array:
    return marginal(factors, (query,)).logs


def _by_messages(how: Inference, factors: Sequence[Factor], query: int, codes: Codes) -> Array:
    return beliefs(factors)[query]


def _by_maxima(how: Inference, factors: Sequence[Factor], query: int, codes: Codes) -> Array:
    return beliefs(factors, largest)[query]


def _by_sampling(how: Inference, factors: Sequence[Factor], query: int, codes: Codes) -> Array:
    with np.errstate(divide="ignore"):
        return np.asarray(
            np.log(sampled_shares(factors, query, codes, how.sweeps, np.random.default_rng(how.seed)))
        )


INFERENCES: dict[str, Callable[[Inference, Sequence[Factor], int, Codes], Array]] = {
    "exact": _exact,
    "sum-product": _by_messages,
    "max-product": _by_maxima,
    "gibbs": _by_sampling,
}


def log_marginals(factors: Sequence[Factor], codes: Codes, query: int, levels: int, how: Inference) -> Array:
    """The logarithms (rows × levels) of the joint probability of each level and the known cells; -1 is unknown.

    Those that are not exact leave out a constant of the row.
    """
    hidden = codes.copy()
    hidden[:, query] = -1
    found = np.zeros((len(codes), levels))
    for rows in rows_alike(hidden >= 0):
        asked = hidden[rows]
        known = np.flatnonzero(asked[0] >= 0).tolist()
        left = [factor.given(asked, known) for factor in factors]
        found[rows] = how.of(left, query, asked)
    return found


def rows_alike(known: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> Iterator[Rows]:
    """Blocks of rows in which the same cells are known."""
    if not len(known):
        return
    packed = np.packbits(known, axis=1)
    order = np.lexsort(packed.T)
    for rows in np.split(order, np.flatnonzero((packed[order[1:]] != packed[order[:-1]]).any(axis=1)) + 1):
        size = BLOCK if (~known[rows[0]]).sum() > 1 else MOST_LOOKED_UP
        yield from (rows[start : start + size] for start in range(0, len(rows), size))
