"""Variable elimination: hidden variables are summed out of a product of factors one by one (Zhang & Poole 1994).

Each time the variable goes whose neighbours lack the fewest edges among them (min-fill).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations

import numpy as np

from mlcli.core.tables import Codes
from mlcli.engines.graphs.factors import Factor, Reduce, largest, log_sum, product, without


def min_fill(scopes: Iterable[Collection[int]], variables: Collection[int]) -> list[int]:
    """An order in which to eliminate variables: the next joins the fewest neighbours that were apart."""
    near: dict[int, set[int]] = {variable: set() for variable in variables}
    for scope in scopes:
        for variable in scope:
            near.setdefault(variable, set()).update(set(scope) - {variable})
    left, order = set(variables), list[int]()
    while left:
        chosen = min(left, key=lambda variable: (_fill(near, variable), len(near[variable]), variable))
        for one, other in combinations(near[chosen], 2):
            near[one].add(other)
            near[other].add(one)
        for other in near.pop(chosen):
            near[other].discard(chosen)
        left.remove(chosen)
        order.append(chosen)
    return order


def _fill(near: dict[int, set[int]], variable: int) -> int:
    return sum(other not in near[one] for one, other in combinations(near[variable], 2))


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
    found = codes.copy()
    for variable, about in reversed(taken):
        others = [other for other in about.variables if other != variable]
        found[:, variable] = np.argmax(about.given(found, others).logs, axis=1)
    return found
