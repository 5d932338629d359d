"""Discrete factors, and inference with them: the distribution of a variable in many rows, given their known cells.

- Variable elimination is exact. It sums hidden variables out of a product of factors one by one, next the one
  whose neighbours lack the fewest edges among them (min-fill; Zhang & Poole 1994).
- Messages between factors and variables (sum-product, max-product) are repeated until they stay the same. They are
  exact on trees and approximate on graphs with cycles (Kschischang, Frey & Loeliger 2001).
- Gibbs sampling draws each hidden variable again and again, given all others (Geman & Geman 1984). All rows share
  their random numbers, so that the result of a row does not depend on the other rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from mlcli.core.errors import DataError
from mlcli.core.tables import Array, Codes, Flags, Rows
from mlcli.engines.posteriors import log_sum, logarithm

INFERENCES = ("exact", "sum-product", "max-product", "gibbs")


@dataclass(frozen=True, eq=False)
class Factor:
    """A non-negative function of some variables: a table of logarithms for one or many rows."""

    variables: tuple[int, ...]
    """Ascending."""
    logs: Array
    """Rows × levels of each variable; one row stands for all if they are the same."""

    @staticmethod
    def of(variables: Sequence[int], values: Array) -> Factor:
        """One for all rows, from values whose axes are variables in any order."""
        order = np.argsort(variables)
        logs = logarithm(np.transpose(values, order))
        return Factor(tuple(variables[index] for index in order), logs[None])

    def axis(self, variable: int) -> int:
        """The axis of a variable."""
        return 1 + self.variables.index(variable)

    def given(self, codes: Codes, known: Collection[int]) -> Factor:
        """The factor of the other variables, with the levels of known ones in ``codes`` (rows × all variables)."""
        inside = [index for index, variable in enumerate(self.variables) if variable in known]
        if not inside:
            return self
        left = [index for index in range(len(self.variables)) if index not in inside]
        known_first = self.logs.transpose([0, *(1 + index for index in (*inside, *left))])
        cells = tuple(codes[:, self.variables[index]] for index in inside)
        logs = known_first[(np.arange(len(codes)), *cells)] if len(self.logs) > 1 else known_first[0][cells]
        return Factor(tuple(self.variables[index] for index in left), logs)

    def over(self, variables: Sequence[int]) -> Array:
        """The logarithms with an axis for each of these variables, of length 1 for one that the factor lacks."""
        sizes = dict(zip(self.variables, self.logs.shape[1:], strict=True))
        return self.logs.reshape(len(self.logs), *(sizes.get(variable, 1) for variable in variables))


def product(factors: Sequence[Factor]) -> Factor:
    """The product of factors; of none, 1."""
    variables = tuple(sorted({variable for factor in factors for variable in factor.variables}))
    arrays = [factor.over(variables) for factor in factors]
    shape = np.broadcast_shapes(*(array.shape for array in arrays)) if arrays else ()
    entries = float(np.prod(np.array(shape, float)))
    if entries > 20_000_000:
        raise DataError(
            f"exact inference needs a table of {entries:.2g} numbers here: too many columns hang together",
            hint="choose a sparser structure, or `inference: sum-product` or `gibbs`, which are approximate",
        )
    total = np.zeros((1,) * (1 + len(variables)))
    for array in arrays:
        total = total + array
    return Factor(variables, total)


def shares(logs: Array) -> Array:
    """Probabilities (rows × ...) in proportion to exponentials; NaN in rows where nothing is possible."""
    total = log_sum(logs, tuple(range(1, logs.ndim)))
    with np.errstate(invalid="ignore"):
        return np.asarray(np.exp(logs - total.reshape(-1, *(1,) * (logs.ndim - 1))))


def log_marginals(
    factors: Sequence[Factor],
    codes: Codes,
    query: int,
    levels: int,
    method: str = "exact",
    sweeps: int = 0,
    seed: int = 0,
) -> Array:
    """Log P(level, known cells) of a variable (rows × levels); -1 is an unknown cell.

    Methods other than ``exact`` leave out a constant of the row.
    """
    hidden = codes.copy()
    hidden[:, query] = -1
    result = np.zeros((len(codes), levels))
    for rows in blocks_with_the_same_gaps(hidden >= 0):
        block = hidden[rows]
        known = np.flatnonzero(block[0] >= 0).tolist()
        with_evidence = [factor.given(block, known) for factor in factors]
        if method == "exact":
            result[rows] = marginal(with_evidence, (query,)).logs
        elif method == "gibbs":
            sampled = sampled_shares(with_evidence, query, block, sweeps, np.random.default_rng(seed))
            result[rows] = logarithm(sampled)
        else:
            result[rows] = beliefs(with_evidence, log_sum if method == "sum-product" else largest)[query]
    return result


def blocks_with_the_same_gaps(known: Flags) -> Iterator[Rows]:
    """Blocks of rows in which the same cells are known (rows × variables)."""
    if not len(known):
        return
    packed = np.packbits(known, axis=1)
    order = np.lexsort(packed.T)
    for rows in np.split(order, np.flatnonzero((packed[order[1:]] != packed[order[:-1]]).any(axis=1)) + 1):
        # More rows at once if only the query is unknown, so that nothing is summed out.
        size = 512 if (~known[rows[0]]).sum() > 1 else 16_384
        yield from (rows[start : start + size] for start in range(0, len(rows), size))


# Variable elimination.

Reduce = Callable[[Array, int | tuple[int, ...]], Array]


def largest(logs: Array, axis: int | tuple[int, ...]) -> Array:
    """The largest along axes."""
    return np.asarray(logs.max(axis=axis))


def min_fill(scopes: Iterable[Collection[int]], variables: Collection[int]) -> list[int]:
    """An order in which to eliminate variables: the next joins the fewest neighbours that were apart."""
    near: dict[int, set[int]] = {variable: set() for variable in variables}
    for scope in scopes:
        for variable in scope:
            near.setdefault(variable, set()).update(set(scope) - {variable})

    def cost(variable: int) -> tuple[int, int, int]:
        missing = sum(second not in near[first] for first, second in combinations(near[variable], 2))
        return missing, len(near[variable]), variable

    left, order = set(variables), list[int]()
    while left:
        chosen = min(left, key=cost)
        for first, second in combinations(near[chosen], 2):
            near[first].add(second)
            near[second].add(first)
        for other in near.pop(chosen):
            near[other].discard(chosen)
        left.remove(chosen)
        order.append(chosen)
    return order


def eliminate(
    factors: Sequence[Factor], variables: Collection[int], reduce: Reduce
) -> tuple[list[Factor], list[tuple[int, Factor]]]:
    """The factors without some variables, and each of these with the product that it was removed from."""
    left, removed = list(factors), list[tuple[int, Factor]]()
    for variable in min_fill([factor.variables for factor in factors], variables):
        joint = product([factor for factor in left if variable in factor.variables])
        left = [factor for factor in left if variable not in factor.variables]
        if joint.variables:
            others = tuple(other for other in joint.variables if other != variable)
            left.append(Factor(others, reduce(joint.logs, joint.axis(variable))))
            removed.append((variable, joint))
    return left, removed


def marginal(factors: Sequence[Factor], of: Collection[int]) -> Factor:
    """The product of all factors with every other variable summed out."""
    hidden = {variable for factor in factors for variable in factor.variables} - set(of)
    return product(eliminate(factors, hidden, log_sum)[0])


def most_probable(factors: Sequence[Factor], of: Collection[int], codes: Codes) -> Codes:
    """``codes`` (rows × variables) with the most probable levels of some together, the others summed out."""
    hidden = {variable for factor in factors for variable in factor.variables} - set(of)
    left, _ = eliminate(factors, hidden, log_sum)
    _, removed = eliminate(left, of, largest)
    result = codes.copy()
    for variable, joint in reversed(removed):
        others = [other for other in joint.variables if other != variable]
        result[:, variable] = np.argmax(joint.given(result, others).logs, axis=1)
    return result


# Messages.

Messages = dict[tuple[int, int], Array]
"""The logarithms of messages, by the index of the factor and the variable; the largest is 0."""


def beliefs(factors: Sequence[Factor], reduce: Reduce = log_sum) -> dict[int, Array]:
    """The log-probabilities (rows × levels) of each variable by messages, but for a constant."""
    messages: Messages = {
        (index, variable): np.zeros((1, factor.logs.shape[factor.axis(variable)]))
        for index, factor in enumerate(factors)
        for variable in factor.variables
    }
    variables = {variable for _, variable in messages}
    for round_ in range(200):
        new = {key: _message(factors, messages, *key, reduce) for key in messages}
        if round_ > 2 * len(variables):  # messages have had the time to cross any tree: damp oscillations
            new = {key: 0.5 * message + 0.5 * messages[key] for key, message in new.items()}
        changes = (np.abs(np.exp(new[key]) - np.exp(messages[key])).max(initial=0.0) for key in new)
        change = max(changes, default=0.0)
        messages = new
        if change <= 1e-12:
            break
    return {variable: _belief(messages, variable) for variable in sorted(variables)}


def _message(factors: Sequence[Factor], messages: Messages, index: int, variable: int, reduce: Reduce) -> Array:
    """From a factor to a variable: the factor times the beliefs of its other variables without it, reduced."""
    factor = factors[index]
    total = factor.logs
    for other in factor.variables:
        if other != variable:
            total = total + Factor((other,), _belief(messages, other, but=index)).over(factor.variables)
    others = tuple(factor.axis(other) for other in factor.variables if other != variable)
    result = reduce(total, others) if others else total
    top = result.max(axis=1, keepdims=True)
    # A finite logarithm of 0, so that messages can be mixed.
    return np.asarray(np.maximum(result - np.where(np.isneginf(top), 0.0, top), -1e4))


def _belief(messages: Messages, variable: int, but: int | None = None) -> Array:
    """The product of the messages to a variable, except that of one factor."""
    received = [message for (index, to), message in messages.items() if to == variable and index != but]
    return np.asarray(sum(received, np.zeros((1, 1))))


# Gibbs sampling.


def sampled_shares(
    factors: Sequence[Factor], query: int, codes: Codes, sweeps: int, rng: np.random.Generator
) -> Array:
    """The probability of each level of a variable (rows × levels); the factors have their evidence already."""
    hidden = sorted({variable for factor in factors for variable in factor.variables})
    state = codes.copy()
    state[:, hidden] = 0
    burn_in, total = int(0.2 * sweeps), np.zeros(1)
    for sweep in range(sweeps):
        for variable in hidden:
            near = [factor for factor in factors if variable in factor.variables]
            others = {other for factor in near for other in factor.variables} - {variable}
            probabilities = shares(product([factor.given(state, others) for factor in near]).logs)
            probabilities = np.broadcast_to(probabilities, (len(state), probabilities.shape[1]))
            # Equal probabilities if nothing is possible.
            probabilities = np.where(np.isnan(probabilities), 1 / probabilities.shape[1], probabilities)
            state[:, variable] = (rng.random() >= np.cumsum(probabilities, axis=1)[:, :-1]).sum(axis=1)
            if variable == query and sweep >= burn_in:
                total = total + probabilities
    return np.asarray(total / (sweeps - burn_in))
