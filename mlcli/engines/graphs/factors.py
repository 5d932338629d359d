"""Discrete factors: tables of logarithms over a few variables, multiplied, summed out, maximised, given evidence.

A factor has its values for one or many rows, so that the evidence of many rows is worked through at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.errors import DataError
from mlcli.core.tables import Array, Codes
from mlcli.engines.posteriors import log_sum, logarithm

MOST_ENTRIES = 20_000_000
"""A table beyond this size is refused."""


@dataclass(frozen=True, eq=False)
class Factor:
    """A non-negative function of some variables."""

    variables: tuple[int, ...]
    """Ascending."""
    logs: Array
    """Logarithms, rows × levels of each variable; one row stands for all where they are the same."""

    @staticmethod
    def of(variables: Sequence[int], values: Array) -> Factor:
        """One for all rows, of values whose axes are variables in any order."""
        order = np.argsort(variables)
        logs = logarithm(np.transpose(values, order))
        return Factor(tuple(variables[place] for place in order), logs[None])

    def axis(self, variable: int) -> int:
        """The axis of a variable."""
        return 1 + self.variables.index(variable)

    def given(self, codes: Codes, known: Collection[int]) -> Factor:
        """What is left where some variables are known: ``codes`` are rows × all variables."""
        seen = [place for place, variable in enumerate(self.variables) if variable in known]
        if not seen:
            return self
        left = [place for place in range(len(self.variables)) if place not in seen]
        by_known = self.logs.transpose([0, *(1 + place for place in (*seen, *left))])
        cells = tuple(codes[:, self.variables[place]] for place in seen)
        logs = by_known[(np.arange(len(codes)), *cells)] if len(self.logs) > 1 else by_known[0][cells]
        return Factor(tuple(self.variables[place] for place in left), logs)

    def over(self, variables: Sequence[int]) -> Array:
        """The logarithms with an axis for each of these variables, of length 1 where it does not matter."""
        sizes = dict(zip(self.variables, self.logs.shape[1:], strict=True))
        return self.logs.reshape(len(self.logs), *(sizes.get(variable, 1) for variable in variables))


def product(factors: Sequence[Factor]) -> Factor:
    """The product of factors; of none, 1."""
    variables = tuple(sorted({variable for factor in factors for variable in factor.variables}))
    arrays = [factor.over(variables) for factor in factors]
    _refuse_too_wide(arrays)
    total = np.zeros((1,) * (1 + len(variables)))
    for array in arrays:
        total = total + array
    return Factor(variables, total)


def _refuse_too_wide(arrays: Sequence[Array]) -> None:
    shape = np.broadcast_shapes(*(array.shape for array in arrays)) if arrays else ()
    entries = float(np.prod(np.array(shape, float)))
    if entries > MOST_ENTRIES:
        raise DataError(
            f"exact inference needs a table of {entries:.2g} numbers here: too many columns hang together",
            hint="choose a sparser structure, or `inference: sum-product` or `gibbs`, which are approximate",
        )


def largest(logs: Array, axis: int | tuple[int, ...]) -> Array:
    """The largest along axes."""
    return np.asarray(logs.max(axis=axis))


Reduce = Callable[[Array, int | tuple[int, ...]], Array]


def without(factor: Factor, variable: int, reduce: Reduce) -> Factor:
    """A factor with a variable summed out, or maximised."""
    left = tuple(other for other in factor.variables if other != variable)
    return Factor(left, reduce(factor.logs, factor.axis(variable)))


def shares(logs: Array) -> Array:
    """Probabilities (rows × ...) in proportion to exponentials; NaN in rows where nothing is possible."""
    total = log_sum(logs, tuple(range(1, logs.ndim)))
    with np.errstate(invalid="ignore"):
        return np.asarray(np.exp(logs - total.reshape(-1, *(1,) * (logs.ndim - 1))))
