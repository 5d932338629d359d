"""Hidden Markov chains: the most probable tags of a sequence (Viterbi), how probable each is (forward-backward).

All sequences of one block take a step together, those that have ended resting, so that a step is one NumPy
operation. A state is the last tags, oldest first, the boundary symbol standing before the first row. All is in
logarithms, so that of impossible paths those with the fewest impossible steps count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

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


@dataclass(frozen=True, eq=False)
class Chain:
    """Steps (oldest tag × others of the state × next tag), and what the end of a sequence adds to each state."""

    steps: Array
    ends: Array

    @classmethod
    def of(cls, transitions: Array, stop: bool) -> Chain:
        """Of logarithms (histories × tags and boundary); without ``stop`` every end is as good."""
        symbols, states = len(transitions), transitions.size // len(transitions)
        ends = transitions.reshape(states, symbols)[:, -1] if stop else np.zeros(states)
        return cls(transitions.reshape(symbols, states // symbols, symbols), ends)

    def start(self, sequences: int) -> Array:
        """The scores of states before the first rows: nothing but boundary symbols."""
        score = np.full((sequences, len(self.ends)), -np.inf)
        score[:, -1] = 0.0
        return score

    def onwards(self, score: Array) -> Array:
        """The scores of all steps (sequences × oldest tag × others × next tag)."""
        symbols, others, _ = self.steps.shape
        return score.reshape(len(score), symbols, others, 1) + self.steps

    def met(self, reached: Array, emitted: Array) -> Array:
        """The scores of states at a row that emits so (sequences × tags); none is the boundary."""
        reached[..., -1] = -np.inf
        reached[..., :-1] += emitted[:, None, :]
        return reached.reshape(len(reached), len(self.ends))


def most_probable_tags(
    emitted: Array, transitions: Array, sequence: Codes, stop: bool, block_cells: int = BLOCK_CELLS
) -> Codes:
    """The tags of each sequence that maximise Σ log P(tag given history) + log P(observation given tag).

    ``emitted`` (rows × tags) and ``transitions`` (histories × tags and boundary) are logarithms. Of equally
    probable tags the first is taken, from the last row backwards.
    """
    tags, chain = np.empty(len(emitted), np.int32), Chain.of(transitions, stop)
    for starts, sizes in _blocks(sequence, transitions, block_cells):
        _decode(emitted, chain, starts, sizes, tags)
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


def _decode(emitted: Array, chain: Chain, starts: Rows, sizes: Rows, tags: Codes) -> None:
    """The tags of some sequences, the longest first, written into ``tags``."""
    score = chain.start(len(starts))
    came_from = np.empty((int(sizes.max(initial=0)), *score.shape), np.int16)
    for place in range(len(came_from)):
        going = int((sizes > place).sum())
        candidates = chain.onwards(score[:going])
        oldest = candidates.argmax(axis=1)
        best = np.take_along_axis(candidates, oldest[:, None], axis=1)[:, 0]
        score[:going] = chain.met(best, emitted[starts[:going] + place])
        came_from[place, :going] = oldest.reshape(going, -1)
    state, symbols = (score + chain.ends).argmax(axis=1), len(chain.steps)
    others = len(chain.ends) // symbols
    for place in range(len(came_from) - 1, -1, -1):  # the newest tag of a state is answered, the oldest was noted
        going_on = np.arange(int((sizes > place).sum()))
        now = state[going_on]
        tags[starts[going_on] + place] = now % symbols
        state[going_on] = came_from[place, going_on, now].astype(np.intp) * others + now // symbols


def best_paths(emitted: Array, transitions: Array) -> Array:
    """Of one sequence, the largest log P(tags, observations) up to each row for each last tag (rows × tags)."""
    chain, best = Chain.of(transitions, stop=False), np.empty(emitted.shape)
    score = chain.start(1)
    for place in range(len(emitted)):
        score = chain.met(chain.onwards(score).max(axis=1), emitted[place : place + 1])
        best[place] = score.reshape(-1, len(chain.steps))[:, :-1].max(axis=0)
    return best


def tag_probabilities(
    emitted: Array, transitions: Array, sequence: Codes, stop: bool, block_cells: int = BLOCK_CELLS
) -> Array:
    """P(tag of the row given all observations of its sequence), rows × tags, by forward-backward.

    Sums take the place of the maxima of Viterbi, whose arguments these are.
    """
    shares, chain = np.empty(emitted.shape), Chain.of(transitions, stop)
    for starts, sizes in _blocks(sequence, transitions, block_cells):
        _smooth(emitted, chain, starts, sizes, shares)
    return shares


def log_probabilities(emitted: Array, transitions: Array, sequence: Codes, stop: bool) -> Array:
    """The logarithm of P(observations) of each sequence: the sum over all tags, by the forward pass."""
    first_rows, chain = lengths(sequence)[0], Chain.of(transitions, stop)
    found = np.empty(len(first_rows))
    for starts, sizes in _blocks(sequence, transitions, BLOCK_CELLS):
        before = _forward(emitted, chain, starts, sizes)
        last = before[sizes - 1, np.arange(len(sizes))] + chain.ends
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


def _smooth(emitted: Array, chain: Chain, starts: Rows, sizes: Rows, shares: Array) -> None:
    """The probabilities of some sequences, the longest first, written into ``shares``."""
    symbols, others, _ = chain.steps.shape
    before = _forward(emitted, chain, starts, sizes)
    after = np.tile(chain.ends, (len(starts), 1))
    for place in range(len(before) - 1, -1, -1):
        going_on, here = int((sizes > place + 1).sum()), int((sizes > place).sum())
        newest = after[:going_on].reshape(going_on, others, symbols).copy()
        newest = chain.met(newest, emitted[starts[:going_on] + place + 1]).reshape(newest.shape)
        after[:going_on] = log_sum(newest[:, None] + chain.steps, axis=3).reshape(going_on, len(chain.ends))
        both = log_sum((before[place, :here] + after[:here]).reshape(here, others, symbols), axis=1)[:, :-1]
        shares[starts[:here] + place] = np.exp(both - log_sum(both, axis=1)[:, None])


def _forward(emitted: Array, chain: Chain, starts: Rows, sizes: Rows) -> Array:
    """The logarithm of P(observations up to a row, state there), by place, sequence and state."""
    score = chain.start(len(starts))
    found = np.empty((int(sizes.max(initial=0)), *score.shape))
    for place in range(len(found)):
        going = int((sizes > place).sum())
        reached = log_sum(chain.onwards(score[:going]), axis=1)
        score[:going] = chain.met(reached, emitted[starts[:going] + place])
        found[place, :going] = score[:going]
    return found
