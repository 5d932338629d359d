"""Discrete factors, and inference with them: exact, by messages, or by Gibbs sampling.

A factor is a table of logarithms over a few variables. It holds its values for one or many rows, so that the
evidence of many rows is processed at once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from mlcli.core.errors import DataError
from mlcli.core.tables import Array, Codes, Rows
from mlcli.engines.posteriors import log_sum, logarithm


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
        seen = [index for index, variable in enumerate(self.variables) if variable in known]
        if not seen:
            return self
        left = [index for index in range(len(self.variables)) if index not in seen]
        by_known = self.logs.transpose([0, *(1 + index for index in (*seen, *left))])
        cells = tuple(codes[:, self.variables[index]] for index in seen)
        logs = by_known[(np.arange(len(codes)), *cells)] if len(self.logs) > 1 else by_known[0][cells]
        return Factor(tuple(self.variables[index] for index in left), logs)

    def over(self, variables: Sequence[int]) -> Array:
        """The logarithms with an axis for each of these variables, of length 1 where it does not matter."""
        sizes = dict(zip(self.variables, self.logs.shape[1:], strict=True))
        return self.logs.reshape(len(self.logs), *(sizes.get(variable, 1) for variable in variables))


def product(factors: Sequence[Factor]) -> Factor:
    """The product of factors; of none, 1."""
    variables = tuple(sorted({variable for factor in factors for variable in factor.variables}))
    arrays = [factor.over(variables) for factor in factors]
    shape = np.broadcast_shapes(*(array.shape for array in arrays)) if arrays else ()
    entries = float(np.prod(np.array(shape, float)))
    # A table beyond this size is refused
    if entries > 20_000_000:
        raise DataError(
            f"exact inference needs a table of {entries:.2g} numbers here: too many columns hang together",
            hint="choose a sparser structure, or `inference: sum-product` or `gibbs`, which are approximate",
        )
    total = np.zeros((1,) * (1 + len(variables)))
    for array in arrays:
        total = total + array
    return Factor(variables, total)


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


# Inference: the distribution of one variable in each of many rows, given the known cells of the row.
#
# - Variable elimination is exact. It sums hidden variables out of a product of factors one by one, next the one
# whose neighbours lack the fewest edges among them (min-fill; Zhang & Poole 1994). - Messages between factors
# and variables (sum-product, max-product) are repeated until they stay the same. They are   exact on trees and
# approximate on graphs with cycles (Kschischang, Frey & Loeliger 2001). - Gibbs sampling draws each hidden
# variable again and again, given all others (Geman & Geman 1984). All rows share   their random numbers, so that
# the result of a row does not depend on the other rows.


def min_fill(scopes: Iterable[Collection[int]], variables: Collection[int]) -> list[int]:
    """An order in which to eliminate variables: the next joins the fewest neighbours that were apart."""
    near: dict[int, set[int]] = {variable: set() for variable in variables}
    for scope in scopes:
        for variable in scope:
            near.setdefault(variable, set()).update(set(scope) - {variable})
    left, order = set(variables), list[int]()
    while left:
        chosen = min(left, key=lambda variable: (_fill(near, variable), len(near[variable]), variable))
        for index, other in combinations(near[chosen], 2):
            near[index].add(other)
            near[other].add(index)
        for other in near.pop(chosen):
            near[other].discard(chosen)
        left.remove(chosen)
        order.append(chosen)
    return order


def _fill(near: dict[int, set[int]], variable: int) -> int:
    return sum(other not in near[index] for index, other in combinations(near[variable], 2))


def eliminated(
    factors: Sequence[Factor], variables: Collection[int], reduce: Reduce
) -> tuple[list[Factor], list[tuple[int, Factor]]]:
    """The factors that are left, and each variable with the product that it was taken from."""
    left, taken = list(factors), list[tuple[int, Factor]]()
    for variable in min_fill([factor.variables for factor in factors], variables):
        about = product([factor for factor in left if variable in factor.variables])
        left = [factor for factor in left if variable not in factor.variables]
        if about.variables:
            left.append(without(about, variable, reduce))
            taken.append((variable, about))
    return left, taken


def marginal(factors: Sequence[Factor], of: Collection[int]) -> Factor:
    """The product of all factors with every other variable summed out."""
    hidden = {variable for factor in factors for variable in factor.variables} - set(of)
    return product(eliminated(factors, hidden, log_sum)[0])


def most_probable(factors: Sequence[Factor], of: Collection[int], codes: Codes) -> Codes:
    """``codes`` (rows × variables) with the most probable levels of some together, the others summed out."""
    hidden = {variable for factor in factors for variable in factor.variables} - set(of)
    left, _ = eliminated(factors, hidden, log_sum)
    _, taken = eliminated(left, of, largest)
    result = codes.copy()
    for variable, about in reversed(taken):
        others = [other for other in about.variables if other != variable]
        result[:, variable] = np.argmax(about.given(result, others).logs, axis=1)
    return result


Messages = dict[tuple[int, int], Array]
"""The logarithms of a message, by the place of the factor and the variable; the largest is 0."""
ROUNDS = 200
TOLERANCE = 1e-12
DAMPING = 0.5
"""How much of an old message stays, once messages have had the time to cross any tree."""


def beliefs(factors: Sequence[Factor], reduce: Reduce = log_sum) -> dict[int, Array]:
    """The logarithms (rows × levels) of what messages leave each variable to believe, but for a constant."""
    inwards: Messages = {
        (index, variable): np.zeros((1, factor.logs.shape[factor.axis(variable)]))
        for index, factor in enumerate(factors)
        for variable in factor.variables
    }
    variables = {variable for _, variable in inwards}
    for round_ in range(ROUNDS):
        crossed = round_ > 2 * len(variables)
        sent = {key: _sent(factors, inwards, *key, reduce) for key in inwards}
        if crossed:
            sent = {key: (1 - DAMPING) * new + DAMPING * inwards[key] for key, new in sent.items()}
        changes = (np.abs(np.exp(sent[key]) - np.exp(inwards[key])).max(initial=0.0) for key in sent)
        change = max(changes, default=0.0)
        inwards = sent
        if change <= TOLERANCE:
            break
    return {variable: _belief(inwards, variable) for variable in sorted(variables)}


def _sent(factors: Sequence[Factor], inwards: Messages, index: int, variable: int, reduce: Reduce) -> Array:
    """What a factor tells a variable: itself times what its other variables believe without it, reduced."""
    factor = factors[index]
    total = factor.logs
    for other in factor.variables:
        if other != variable:
            heard = Factor((other,), _belief(inwards, other, but=index))
            total = total + heard.over(factor.variables)
    others = tuple(factor.axis(other) for other in factor.variables if other != variable)
    result = reduce(total, others) if others else total
    top = result.max(axis=1, keepdims=True)
    # a finite logarithm of 0, so that messages can be mixed
    return np.asarray(np.maximum(result - np.where(np.isneginf(top), 0.0, top), -1e4))


def _belief(inwards: Messages, variable: int, but: int | None = None) -> Array:
    """The product of the messages to a variable, but for that of one factor."""
    messages = [message for (index, to), message in inwards.items() if to == variable and index != but]
    return np.asarray(sum(messages, np.zeros((1, 1))))


def sampled_shares(
    factors: Sequence[Factor], query: int, codes: Codes, sweeps: int, rng: np.random.Generator
) -> Array:
    """The probability of each level of a variable (rows × levels); the factors have their evidence already."""
    hidden = sorted({variable for factor in factors for variable in factor.variables})
    about = {index: [factor for factor in factors if index in factor.variables] for index in hidden}
    state = codes.copy()
    state[:, hidden] = 0
    # burn-in: the first sweeps only forget the start
    skipped, total = int(0.2 * sweeps), np.zeros(1)
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


@dataclass(frozen=True)
class Inference:
    """How marginals are found; sampling has its number of sweeps and its seed."""

    method: str = "exact"
    sweeps: int = 1000
    seed: int = 0

    def of(self, factors: Sequence[Factor], query: int, codes: Codes) -> Array:
        """The logarithms (rows × levels) of a variable, but for a constant unless they are exact."""
        return INFERENCES[self.method](self, factors, query, codes)


INFERENCES: dict[str, Callable[[Inference, Sequence[Factor], int, Codes], Array]] = {
    "exact": lambda how, factors, query, codes: marginal(factors, (query,)).logs,
    "sum-product": lambda how, factors, query, codes: beliefs(factors)[query],
    "max-product": lambda how, factors, query, codes: beliefs(factors, largest)[query],
    "gibbs": lambda how, factors, query, codes: logarithm(
        sampled_shares(factors, query, codes, how.sweeps, np.random.default_rng(how.seed))
    ),
}


def log_marginals(factors: Sequence[Factor], codes: Codes, query: int, levels: int, how: Inference) -> Array:
    """The logarithms (rows × levels) of the joint probability of each level and the known cells; -1 is unknown.

    Those that are not exact leave out a constant of the row.
    """
    hidden = codes.copy()
    hidden[:, query] = -1
    result = np.zeros((len(codes), levels))
    for rows in rows_alike(hidden >= 0):
        asked = hidden[rows]
        known = np.flatnonzero(asked[0] >= 0).tolist()
        left = [factor.given(asked, known) for factor in factors]
        result[rows] = how.of(left, query, asked)
    return result


def rows_alike(known: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> Iterator[Rows]:
    """Blocks of rows in which the same cells are known."""
    if not len(known):
        return
    packed = np.packbits(known, axis=1)
    order = np.lexsort(packed.T)
    for rows in np.split(order, np.flatnonzero((packed[order[1:]] != packed[order[:-1]]).any(axis=1)) + 1):
        # rows at once
        # more if only the requested variable is unknown, so that nothing is summed out
        size = 512 if (~known[rows[0]]).sum() > 1 else 16_384
        yield from (rows[start : start + size] for start in range(0, len(rows), size))
