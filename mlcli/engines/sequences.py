"""Hidden Markov chains: the most probable tags of a sequence (Viterbi), how probable each is (forward-backward).

All sequences of one block take a step together, those that have ended resting, so that a step is one NumPy
operation. A state is the last tags, oldest first, the boundary symbol standing before the first row. All is in
logarithms, so that of impossible paths those with the fewest impossible steps count.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mlcli.core.tables import Array, Codes, Rows
from mlcli.engines.posteriors import log_sum
from mlcli.tasks.sequence_labelling import lengths

IMPOSSIBLE = -1e6
"""The logarithm of 0: finite, so that of impossible paths the one with the fewest impossible steps is taken."""
BLOCK_CELLS = 4_000_000
"""How many candidates, or places to read back from, a block may hold."""


def logarithm(shares: Array) -> Array:
    """Natural logarithms, that of 0 being ``IMPOSSIBLE``."""
    return np.log(shares, out=np.full(shares.shape, IMPOSSIBLE), where=shares > 0)


def most_probable_tags(
    emitted: Array, transitions: Array, sequence: Codes, stop: bool, block_cells: int = BLOCK_CELLS
) -> Codes:
    """The tags of each sequence that maximise Σ log P(tag given history) + log P(observation given tag).

    ``emitted`` (rows × tags) and ``transitions`` (histories × tags and boundary) are logarithms. Of equally
    probable tags the first is taken, from the last row backwards.
    """
    tags = np.empty(len(emitted), np.int32)
    for starts, sizes in _blocks(sequence, transitions, block_cells):
        _decode(emitted, transitions, starts, sizes, stop, tags)
    return tags


def _blocks(sequence: Codes, transitions: Array, block_cells: int) -> Iterator[tuple[Rows, Rows]]:
    """Where sequences start and how long they are, the longest first, as many together as fit."""
    starts, sizes = lengths(sequence)
    by_length = np.argsort(-sizes, kind="stable")
    while len(by_length):
        per_sequence = transitions.size + int(sizes[by_length[0]]) * transitions.size // len(transitions)
        count = max(1, block_cells // per_sequence)
        yield starts[by_length[:count]], sizes[by_length[:count]]
        by_length = by_length[count:]


def _decode(emitted: Array, transitions: Array, starts: Rows, sizes: Rows, stop: bool, tags: Codes) -> None:
    """The tags of some sequences, the longest first, written into ``tags``."""
    symbols = len(transitions)
    boundary, states = symbols - 1, transitions.size // symbols
    steps = transitions.reshape(symbols, states // symbols, symbols)
    score = np.full((len(starts), states), -np.inf)
    score[:, -1] = 0.0  # nothing but boundary symbols
    came_from = np.empty((int(sizes.max(initial=0)), len(starts), states), np.int16)
    for place in range(len(came_from)):
        going = int((sizes > place).sum())
        candidates = score[:going].reshape(going, symbols, -1, 1) + steps
        oldest = candidates.argmax(axis=1)
        best = np.take_along_axis(candidates, oldest[:, None], axis=1)[:, 0]
        best[..., boundary] = -np.inf
        best[..., :boundary] += emitted[starts[:going] + place][:, None, :]
        score[:going] = best.reshape(going, states)
        came_from[place, :going] = oldest.reshape(going, states)
    last = (score + transitions.reshape(states, symbols)[:, boundary] if stop else score).argmax(axis=1)
    _read_back(came_from, last, symbols, starts, sizes, tags)


def _read_back(
    came_from: NDArray[np.int16], last: Rows, symbols: int, starts: Rows, sizes: Rows, tags: Codes
) -> None:
    """From the last state of each sequence to its first: its newest tag is answered, the oldest was noted."""
    states = came_from.shape[2]
    state = last.copy()
    for place in range(len(came_from) - 1, -1, -1):
        going = np.arange(int((sizes > place).sum()))
        now = state[going]
        tags[starts[going] + place] = now % symbols
        state[going] = came_from[place, going, now].astype(np.intp) * (states // symbols) + now // symbols


def best_paths(emitted: Array, transitions: Array) -> Array:
    """Of one sequence, the largest log P(tags, observations) up to each row for each last tag (rows × tags)."""
    symbols = len(transitions)
    boundary, states = symbols - 1, transitions.size // symbols
    steps = transitions.reshape(symbols, states // symbols, symbols)
    score = np.full(states, -np.inf)
    score[-1] = 0.0  # nothing but boundary symbols
    best = np.empty(emitted.shape)
    for place, here in enumerate(emitted):
        reached = (score.reshape(symbols, -1, 1) + steps).max(axis=0)
        reached[:, boundary] = -np.inf
        reached[:, :boundary] += here
        score, best[place] = reached.reshape(states), reached[:, :boundary].max(axis=0)
    return best


def tag_probabilities(
    emitted: Array, transitions: Array, sequence: Codes, stop: bool, block_cells: int = BLOCK_CELLS
) -> Array:
    """P(tag of the row given all observations of its sequence), rows × tags, by forward-backward.

    Sums take the place of the maxima of Viterbi, whose arguments these are.
    """
    shares = np.empty(emitted.shape)
    for starts, sizes in _blocks(sequence, transitions, block_cells):
        _smooth(emitted, transitions, starts, sizes, stop, shares)
    return shares


def log_probabilities(emitted: Array, transitions: Array, sequence: Codes, stop: bool) -> Array:
    """The logarithm of P(observations) of each sequence: the sum over all tags, by the forward pass."""
    first_rows, symbols = lengths(sequence)[0], len(transitions)
    states = transitions.size // symbols
    steps = transitions.reshape(symbols, states // symbols, symbols)
    ends = transitions.reshape(states, symbols)[:, -1] if stop else np.zeros(states)
    found = np.empty(len(first_rows))
    for starts, sizes in _blocks(sequence, transitions, BLOCK_CELLS):
        before = _forward(emitted, steps, starts, sizes)
        last = before[sizes - 1, np.arange(len(sizes))] + ends
        found[np.searchsorted(first_rows, starts)] = log_sum(last, axis=1)
    return found


def drawn_tags(transitions: Array, most: Rows, stop: bool, rng: np.random.Generator) -> list[Codes]:
    """The tags of a sequence of each length; with ``stop`` it may end before, but has one row at least."""
    boundary, order = len(transitions) - 1, transitions.ndim - 1
    up_to = np.cumsum(np.exp(transitions), axis=-1)
    found = []
    for length in most.tolist():
        tags = [boundary] * order
        for _ in range(length):
            chances = up_to[tuple(tags[len(tags) - order :])]
            may_end = stop and len(tags) > order
            total = chances[boundary if may_end else boundary - 1]
            tag = int((rng.random() * total >= chances[:boundary]).sum())
            if tag == boundary:
                break
            tags.append(tag)
        found.append(np.array(tags[order:], np.int32))
    return found


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
        after[:going_on] = log_sum(newest[:, None] + steps, axis=3).reshape(going_on, states)
        both = log_sum((before[place, :here] + after[:here]).reshape(here, -1, symbols), axis=1)[:, :boundary]
        shares[starts[:here] + place] = np.exp(both - log_sum(both, axis=1)[:, None])


def _forward(emitted: Array, steps: Array, starts: Rows, sizes: Rows) -> Array:
    """The logarithm of P(observations up to a row, state there), by place, sequence and state."""
    symbols, others, _ = steps.shape
    boundary, states = symbols - 1, symbols * others
    score = np.full((len(starts), states), -np.inf)
    score[:, -1] = 0.0  # nothing but boundary symbols
    found = np.empty((int(sizes.max(initial=0)), len(starts), states))
    for place in range(len(found)):
        going = int((sizes > place).sum())
        reached = log_sum(score[:going].reshape(going, symbols, others, 1) + steps, axis=1)
        reached[..., boundary] = -np.inf
        reached[..., :boundary] += emitted[starts[:going] + place][:, None, :]
        score[:going] = reached.reshape(going, states)
        found[place, :going] = score[:going]
    return found
