"""Forward-backward: how probable each tag is at each row of a sequence, whatever the tags of the other rows are.

As in Viterbi, all sequences of one block take a step together and a state is the last tags; sums take the place of
maxima. All is in logarithms, so that of impossible paths those with the fewest impossible steps count.
"""

from __future__ import annotations

import numpy as np

from mlcli.core.tables import Array, Codes, Rows
from mlcli.models.sequences._viterbi import BLOCK_CELLS, blocks_of
from mlcli.tasks.sequence_labelling import lengths


def tag_probabilities(
    emitted: Array, transitions: Array, sequence: Codes, stop: bool, block_cells: int = BLOCK_CELLS
) -> Array:
    """P(tag of the row given all observations of its sequence), rows × tags; arguments as for Viterbi."""
    shares = np.empty(emitted.shape)
    starts, sizes = lengths(sequence)
    by_length = np.argsort(-sizes, kind="stable")
    for block in blocks_of(by_length, sizes, transitions, block_cells):
        _smooth(emitted, transitions, starts[block], sizes[block], stop, shares)
    return shares


def _smooth(emitted: Array, transitions: Array, starts: Rows, sizes: Rows, stop: bool, shares: Array) -> None:
    """The probabilities of some sequences, the longest first, written into ``shares``."""
    symbols = len(transitions)
    boundary, states = symbols - 1, transitions.size // symbols
    steps = transitions.reshape(symbols, states // symbols, symbols)
    before = _forward(emitted, steps, starts, sizes)
    after = np.zeros((len(starts), states))
    after += transitions.reshape(states, symbols)[:, boundary] if stop else 0.0
    for place in range(len(before) - 1, -1, -1):
        going_on, here = int((sizes > place + 1).sum()), int((sizes > place).sum())
        newest = after[:going_on].reshape(going_on, states // symbols, symbols).copy()
        newest[..., :boundary] += emitted[starts[:going_on] + place + 1][:, None, :]
        newest[..., boundary] = -np.inf
        after[:going_on] = _log_sum(newest[:, None] + steps, axis=3).reshape(going_on, states)
        both = _log_sum((before[place, :here] + after[:here]).reshape(here, -1, symbols), axis=1)[:, :boundary]
        shares[starts[:here] + place] = np.exp(both - _log_sum(both, axis=1)[:, None])


def _forward(emitted: Array, steps: Array, starts: Rows, sizes: Rows) -> Array:
    """The logarithm of P(observations up to a row, state there), by place, sequence and state."""
    symbols, others, _ = steps.shape
    boundary, states = symbols - 1, symbols * others
    score = np.full((len(starts), states), -np.inf)
    score[:, -1] = 0.0  # nothing but boundary symbols
    found = np.empty((int(sizes.max(initial=0)), len(starts), states))
    for place in range(len(found)):
        going = int((sizes > place).sum())
        reached = _log_sum(score[:going].reshape(going, symbols, others, 1) + steps, axis=1)
        reached[..., boundary] = -np.inf
        reached[..., :boundary] += emitted[starts[:going] + place][:, None, :]
        score[:going] = reached.reshape(going, states)
        found[place, :going] = score[:going]
    return found


def _log_sum(logarithms: Array, axis: int) -> Array:
    """The logarithm of the sum of what the logarithms stand for; that of nothing is -infinity."""
    largest = logarithms.max(axis=axis, keepdims=True)
    largest = np.where(np.isfinite(largest), largest, 0.0)
    total = np.exp(logarithms - largest).sum(axis=axis)
    sums = np.log(total, out=np.full(total.shape, -np.inf), where=total > 0)
    return np.asarray(sums + largest.squeeze(axis))
