"""Markov chains of tags: Viterbi, forward-backward, and n-gram counts.

All sequences of a block take a step together, so that a step is one NumPy operation; sequences that have ended
wait. A state is the last tags, oldest first, with the boundary symbol before the first row. Everything is in
logarithms, so that among impossible paths those with the fewest impossible steps win.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core import findings
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.names import did_you_mean, listed
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Rows, Table
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
    for index in range(len(came_from)):
        going = int((sizes > index).sum())
        candidates = chain.onwards(score[:going])
        oldest = candidates.argmax(axis=1)
        best = np.take_along_axis(candidates, oldest[:, None], axis=1)[:, 0]
        score[:going] = chain.met(best, emitted[starts[:going] + index])
        came_from[index, :going] = oldest.reshape(going, -1)
    state, symbols = (score + chain.ends).argmax(axis=1), len(chain.steps)
    others = len(chain.ends) // symbols
    for index in range(len(came_from) - 1, -1, -1):  # the newest tag of a state is answered, the oldest was noted
        going_on = np.arange(int((sizes > index).sum()))
        now = state[going_on]
        tags[starts[going_on] + index] = now % symbols
        state[going_on] = came_from[index, going_on, now].astype(np.intp) * others + now // symbols


def best_paths(emitted: Array, transitions: Array) -> Array:
    """Of one sequence, the largest log P(tags, observations) up to each row for each last tag (rows × tags)."""
    chain, best = Chain.of(transitions, stop=False), np.empty(emitted.shape)
    score = chain.start(1)
    for index in range(len(emitted)):
        score = chain.met(chain.onwards(score).max(axis=1), emitted[index : index + 1])
        best[index] = score.reshape(-1, len(chain.steps))[:, :-1].max(axis=0)
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
    result = np.empty(len(first_rows))
    for starts, sizes in _blocks(sequence, transitions, BLOCK_CELLS):
        before = _forward(emitted, chain, starts, sizes)
        last = before[sizes - 1, np.arange(len(sizes))] + chain.ends
        result[np.searchsorted(first_rows, starts)] = log_sum(last, axis=1)
    return result


def drawn_tags(transitions: Array, most: Rows, stop: bool, rng: np.random.Generator) -> list[Codes]:
    """The tags of a sequence of each length; with ``stop`` it may end before, but has one row at least."""
    boundary, order = len(transitions) - 1, transitions.ndim - 1
    up_to = np.cumsum(np.exp(transitions), axis=-1)
    result = []
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
        result.append(np.array(tags[order:], np.int32))
    return result


def _smooth(emitted: Array, chain: Chain, starts: Rows, sizes: Rows, shares: Array) -> None:
    """The probabilities of some sequences, the longest first, written into ``shares``."""
    symbols, others, _ = chain.steps.shape
    before = _forward(emitted, chain, starts, sizes)
    after = np.tile(chain.ends, (len(starts), 1))
    for index in range(len(before) - 1, -1, -1):
        going_on, here = int((sizes > index + 1).sum()), int((sizes > index).sum())
        newest = after[:going_on].reshape(going_on, others, symbols).copy()
        newest = chain.met(newest, emitted[starts[:going_on] + index + 1]).reshape(newest.shape)
        after[:going_on] = log_sum(newest[:, None] + chain.steps, axis=3).reshape(going_on, len(chain.ends))
        both = log_sum((before[index, :here] + after[:here]).reshape(here, others, symbols), axis=1)[:, :-1]
        shares[starts[:here] + index] = np.exp(both - log_sum(both, axis=1)[:, None])


def _forward(emitted: Array, chain: Chain, starts: Rows, sizes: Rows) -> Array:
    """The logarithm of P(observations up to a row, state there), by place, sequence and state."""
    score = chain.start(len(starts))
    result = np.empty((int(sizes.max(initial=0)), *score.shape))
    for index in range(len(result)):
        going = int((sizes > index).sum())
        reached = log_sum(chain.onwards(score[:going]), axis=1)
        score[:going] = chain.met(reached, emitted[starts[:going] + index])
        result[index, :going] = score[:going]
    return result


# N-grams of tags: counts, smoothing and tables; and the columns that taggers observe.

OF_SCORES = (
    "The largest score of tags up to a row that end with each tag: a logarithm of probability but for a constant; "
    "the tags taken are read back from the best of the last row."
)
UNKNOWN, BOUNDARY, END = "(unknown)", "(start)", "(end)"
AS_COUNTED = "The probabilities are as counted, not smoothed."
NOTE = (
    "The logarithm of the probability of the best tags up to a row that end with each tag, with what is observed; "
    "the tags taken are read back from the best of the last row."
)


def viterbi_table(
    table: Table, best: Array, tags: Codes, classes: Sequence[str], target: str, note: str = NOTE
) -> findings.Table:
    """Of each row what is observed, the score of the best path to each tag, if there is any, and the tag taken."""
    columns = [_entries(column, cells) for column, cells in table.parts()]
    observed = list(zip(*columns, strict=True)) if columns else [() for _ in tags]
    possible = [[score if score > IMPOSSIBLE / 2 else None for score in row] for row in best.tolist()]
    rows = zip(observed, possible, (classes[tag] for tag in tags), strict=True)
    header = (*(column.name for column, _ in table.parts()), *classes, target)
    lines = tuple((*seen, *scores, tag) for seen, scores, tag in rows)
    left_out = " Where nothing stands, no tags are possible." if (best <= IMPOSSIBLE / 2).any() else ""
    return findings.Table("Viterbi, row by row", header, lines, note=note + left_out)


def _entries(column: Column, cells: NDArray[Any]) -> list[findings.Entry]:
    """The cells of a column as they are written."""
    if not column.coded:
        return [None if cell != cell else float(cell) for cell in cells]
    return [column.levels[code] if code >= 0 else UNKNOWN for code in cells]


def how_smoothed(alpha: float, what: str = "tag", smoothing: str = "alpha") -> str:
    """How shares came from counts."""
    if smoothing == "interpolation":
        return "The probabilities after histories of every length are mixed (interpolation)."
    return f"{alpha:g} is added to the count of every {what} (alpha)." if alpha else AS_COUNTED


def transition_table(transitions: Array, classes: Sequence[str], stop: bool, note: str) -> findings.Table:
    """The probability of each tag, and where it is an outcome of the end, after each history."""
    symbols, shares = (*classes, BOUNDARY), np.exp(transitions)
    outcomes = (*classes, END) if stop else tuple(classes)
    rows: list[tuple[findings.Entry, ...]] = []
    for history in np.ndindex(shares.shape[:-1]):
        # whether no tag stands before the start of a sequence
        boundary = len(classes)
        can_be = all(later != boundary or earlier == boundary for earlier, later in pairwise(history))
        if can_be:
            after = " ".join(symbols[tag] for tag in history)
            rows.append((after, *shares[history][: len(outcomes)].tolist()))
    title = "Transition probabilities"
    return findings.Table(title, ("after", *outcomes), tuple(rows), note=note)


def observed_columns(table: Table, wanted: str | None, method: str) -> tuple[Column, ...]:
    """The column asked for, or the first one that holds levels, or all numbers; others are warned of."""
    if wanted is not None:
        return (_named(table, wanted, method),)
    if not table.code_columns and table.columns:
        return table.columns
    return (observed_column(table, None, method),)


def observed_column(table: Table, wanted: str | None, method: str) -> Column:
    """The column of levels asked for, or the first one; others, not looked at, are warned of."""
    if wanted is not None:
        return _with_levels(_named(table, wanted, method), method)
    if not table.code_columns:
        what = (
            f"{method} observes levels, and no column has any: {listed([c.name for c in table.columns]) or 'none'}"
        )
        raise FitError(what, hint="declare a column nominal in the sidecar, or cut its numbers into levels")
    first = table.code_columns[0]
    others = [column.name for column in table.columns if column != first]
    if others:
        text = f"{method} observes '{first.name}' only, not {listed(others)}; choose with the parameter column"
        warnings.warn(text, MlcliWarning, stacklevel=3)
    return first


def counted(codes: Codes, y: Codes, weights: Array, levels: int, tags: int) -> Array:
    """The summed weight of each level with each tag (levels × tags); empty cells are not counted."""
    known = codes >= 0
    cells = codes[known].astype(np.intp) * tags + y[known]
    counts = np.bincount(cells, weights=weights[known], minlength=levels * tags)
    return np.asarray(counts.reshape(levels, tags), dtype=np.float64)


def observations(table: Table, name: str) -> Codes:
    """The codes of the observed column; -1 where empty, or never met in training."""
    return table.cells(name).astype(np.int32)


def _named(table: Table, wanted: str, method: str) -> Column:
    columns = {column.name: column for column in table.columns}
    if wanted not in columns:
        raise FitError(f"{method}: there is no column '{wanted}'", hint=did_you_mean(wanted, columns, "columns"))
    return columns[wanted]


def _with_levels(column: Column, method: str) -> Column:
    if not column.coded:
        hint = "declare it nominal in the sidecar, or choose another column"
        raise FitError(f"{method} observes levels, and column '{column.name}' holds numbers", hint=hint)
    return column


def count_ngrams(y: Codes, sequence: Codes, tags: int, order: int, stop: bool) -> Array:
    """How often each tag (last axis) follows each history of ``order`` - 1 tags (the other axes)."""
    starts, sizes = lengths(sequence)
    counts = np.zeros((tags + 1,) * order)
    followed = histories(y, sequence, tags, order - 1)
    np.add.at(counts, (*followed, y), 1.0)
    if stop:
        ends = starts + sizes - 1
        before_ends = [earlier[ends] for earlier in followed[1:]]
        np.add.at(counts, (*before_ends, y[ends], tags), 1.0)
    return counts


def free_transitions(tags: int, order: int, stop: bool) -> int:
    """How many probabilities of tags after histories are free: after each all but one, the stop being one more."""
    within = sum(tags**length for length in range(1, order))
    at_start, with_stop = tags - 1, tags - 1 + int(stop)
    return int(at_start + within * with_stop)


def histories(y: Codes, sequence: Codes, tags: int, length: int) -> list[Codes]:
    """The tags before each row, the one that stands ``length`` rows before it first."""
    starts, sizes = lengths(sequence)
    place = np.arange(len(y)) - np.repeat(starts, sizes)
    return [_before(y, place, lag, tags) for lag in range(length, 0, -1)]


def _before(y: Codes, place: Rows, lag: int, boundary: int) -> Codes:
    """The tag that stands ``lag`` rows before each row of its sequence."""
    earlier = np.full(len(y), boundary, y.dtype)
    earlier[lag:] = np.where(place[lag:] >= lag, y[: len(y) - lag], boundary)
    return earlier


def with_alpha(counts: Array, alpha: float) -> Array:
    """(count + α) / (total + α × outcomes); a history never met, where α is 0, has the shares of all tags.

    Outcomes are the tags met in training and, where ends were counted, the end: others have probability 0.
    """
    overall = counts.reshape(-1, counts.shape[-1]).sum(axis=0)
    raised = np.where(overall > 0, counts + alpha, 0.0)
    totals = raised.sum(axis=-1, keepdims=True)
    return np.where(totals > 0, raised / np.where(totals > 0, totals, 1.0), overall / overall.sum())


def interpolated(counts: Array, alpha: float) -> Array:
    """λ₁ P(tag) + λ₂ P(tag | previous) + ..., the λ by deleted interpolation (Brants 2000); α plays no part.

    A history that was never met has the shares that one tag less of it gives.
    """
    shorter = [counts.sum(axis=tuple(range(left_out))) for left_out in range(counts.ndim - 1, -1, -1)]
    weights = deleted_interpolation(counts)
    shares = with_alpha(shorter[0], 0.0)
    mixed = weights[0] * shares
    for weight, longer in zip(weights[1:], shorter[1:], strict=True):
        totals = longer.sum(axis=-1, keepdims=True)
        shares = np.where(totals > 0, longer / np.where(totals > 0, totals, 1.0), shares)
        mixed = mixed + weight * shares
    return np.asarray(mixed)


def deleted_interpolation(counts: Array) -> Array:
    """The weight of each length of history: each n-gram votes for the length that predicts it best without itself.

    Of equally good lengths the longest gets the votes; an n-gram that is met once predicts nothing without itself.
    """
    held_out = []
    for left_out in range(counts.ndim - 1, -1, -1):
        shorter = counts.sum(axis=tuple(range(left_out)))
        others = np.broadcast_to(shorter.sum(axis=-1, keepdims=True) - 1, shorter.shape)
        share = np.divide(shorter - 1, others, out=np.zeros(shorter.shape), where=others > 0)
        held_out.append(np.broadcast_to(share, counts.shape))
    longest_first = np.argmax(np.stack(held_out[::-1]), axis=0)
    votes = np.bincount(counts.ndim - 1 - longest_first.ravel(), weights=counts.ravel(), minlength=counts.ndim)
    return np.asarray(votes / votes.sum())


SMOOTHINGS: dict[str, Callable[[Array, float], Array]] = {"alpha": with_alpha, "interpolation": interpolated}
