"""Sum-product and max-product: factors and variables send each other messages until these stay as they are.

Exact on trees once messages have crossed them; with cycles an approximation (Kschischang, Frey & Loeliger 2001).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlcli.core.tables import Array
from mlcli.engines.graphs.factors import Factor, Reduce, log_sum

Messages = dict[tuple[int, int], Array]
"""The logarithms of a message, by the place of the factor and the variable; the largest is 0."""
ROUNDS = 200
TOLERANCE = 1e-12
DAMPING = 0.5
"""How much of an old message stays, once messages have had the time to cross any tree."""


def beliefs(factors: Sequence[Factor], reduce: Reduce = log_sum) -> dict[int, Array]:
    """The logarithms (rows × levels) of what messages leave each variable to believe, but for a constant."""
    inwards: Messages = {
        (place, variable): np.zeros((1, factor.logs.shape[factor.axis(variable)]))
        for place, factor in enumerate(factors)
        for variable in factor.variables
    }
    variables = {variable for _, variable in inwards}
    for round_ in range(ROUNDS):
        crossed = round_ > 2 * len(variables)
        sent = {key: _sent(factors, inwards, *key, reduce) for key in inwards}
        if crossed:
            sent = {key: (1 - DAMPING) * new + DAMPING * inwards[key] for key, new in sent.items()}
        change = max((_change(sent[key], inwards[key]) for key in sent), default=0.0)
        inwards = sent
        if change <= TOLERANCE:
            break
    return {variable: _belief(inwards, variable) for variable in sorted(variables)}


def _sent(factors: Sequence[Factor], inwards: Messages, place: int, variable: int, reduce: Reduce) -> Array:
    """What a factor tells a variable: itself times what its other variables believe without it, reduced."""
    factor = factors[place]
    total = factor.logs
    for other in factor.variables:
        if other != variable:
            heard = Factor((other,), _belief(inwards, other, but=place))
            total = total + heard.over(factor.variables)
    others = tuple(factor.axis(other) for other in factor.variables if other != variable)
    found = reduce(total, others) if others else total
    top = found.max(axis=1, keepdims=True)
    return np.asarray(np.maximum(found - np.where(np.isneginf(top), 0.0, top), FLOOR))


FLOOR = -1e4
"""The logarithm that stands for that of 0 in a message, so that messages can be mixed."""


def _belief(inwards: Messages, variable: int, but: int | None = None) -> Array:
    """The product of the messages to a variable, but for that of one factor."""
    messages = [message for (place, to), message in inwards.items() if to == variable and place != but]
    return np.asarray(sum(messages, np.zeros((1, 1))))


def _change(new: Array, old: Array) -> float:
    return float(np.abs(np.exp(new) - np.exp(old)).max(initial=0.0))
