"""Markov chains of tags: Viterbi, forward-backward, sampling, and n-gram counts with their smoothing.

A state is the last tags, oldest first, with the boundary symbol before the first row. Everything is in logarithms,
so that among impossible paths the one with the fewest impossible steps wins. All sequences of a block advance
together, so that one step of all of them is one NumPy operation.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

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
"""How many scores and back pointers a block of sequences may hold."""


def logarithm(shares: Array) -> Array:
    """Natural logarithms; that of 0 is ``IMPOSSIBLE``."""
    return np.log(shares, out=np.full(shares.shape, IMPOSSIBLE), where=shares > 0)


@dataclass(frozen=True, eq=False)
class Chain:
    """Log-probabilities of steps (oldest tag × other tags of the state × next tag) and of ending in a state."""

    steps: Array
    ends: Array

    @classmethod
    def of(cls, transitions: Array, stop: bool) -> Chain:
        """From logarithms (histories × tags and boundary); without ``stop`` all ends are equally good."""
        symbols, states = len(transitions), transitions.size // len(transitions)
        ends = transitions.reshape(states, symbols)[:, -1] if stop else np.zeros(states)
        return cls(transitions.reshape(symbols, states // symbols, symbols), ends)

    def start(self, sequences: int) -> Array:
        """The scores of states before the first row: only boundary symbols are possible."""
        scores = np.full((sequences, len(self.ends)), -np.inf)
        scores[:, -1] = 0.0
        return scores

    def extend(self, scores: Array) -> Array:
        """The scores of all next steps (sequences × oldest tag × other tags × next tag)."""
        symbols, others, _ = self.steps.shape
        return scores.reshape(len(scores), symbols, others, 1) + self.steps

    def emit(self, scores: Array, emitted: Array) -> Array:
        """The scores of states after a row with these emissions (sequences × tags); none is the boundary."""
        scores[..., -1] = -np.inf
        scores[..., :-1] += emitted[:, None, :]
        return scores.reshape(len(scores), len(self.ends))


def _blocks(sequence: Codes, transitions: Array, block_cells: int) -> Iterator[tuple[Rows, Rows]]:
    """The first rows and the lengths of sequences, longest first, as many at a time as fit in a block."""
    starts, sizes = lengths(sequence)
    longest_first = np.argsort(-sizes, kind="stable")
    while len(longest_first):
        per_sequence = transitions.size + int(sizes[longest_first[0]]) * transitions.size // len(transitions)
        count = max(1, block_cells // per_sequence)
        yield starts[longest_first[:count]], sizes[longest_first[:count]]
        longest_first = longest_first[count:]


def most_probable_tags(
    emitted: Array, transitions: Array, sequence: Codes, stop: bool, block_cells: int = BLOCK_CELLS
) -> Codes:
    """Viterbi: the tags of each sequence that maximise Σ log P(tag | history) + log P(observation | tag).

    ``emitted`` (rows × tags) and ``transitions`` (histories × tags and boundary) are logarithms. Of equally
    probable tags the first is taken, from the last row backwards.
    """
    tags, chain = np.empty(len(emitted), np.int32), Chain.of(transitions, stop)
    symbols, others, _ = chain.steps.shape
    for starts, sizes in _blocks(sequence, transitions, block_cells):
        scores = chain.start(len(starts))
        oldest_tags = np.empty((int(sizes.max(initial=0)), *scores.shape), np.int16)  # back pointers
        for index in range(len(oldest_tags)):
            active = int((sizes > index).sum())
            candidates = chain.extend(scores[:active])
            oldest = candidates.argmax(axis=1)
            best = np.take_along_axis(candidates, oldest[:, None], axis=1)[:, 0]
            scores[:active] = chain.emit(best, emitted[starts[:active] + index])
            oldest_tags[index, :active] = oldest.reshape(active, -1)
        # The newest tag of a state is the answer for its row; the noted oldest tag completes the state before it.
        state = (scores + chain.ends).argmax(axis=1)
        for index in range(len(oldest_tags) - 1, -1, -1):
            active_sequences = np.arange(int((sizes > index).sum()))
            current = state[active_sequences]
            tags[starts[active_sequences] + index] = current % symbols
            oldest = oldest_tags[index, active_sequences, current].astype(np.intp)
            state[active_sequences] = oldest * others + current // symbols
    return tags


def best_paths(emitted: Array, transitions: Array) -> Array:
    """For one sequence, the largest log P(tags, observations) up to each row by its last tag (rows × tags)."""
    chain, best = Chain.of(transitions, stop=False), np.empty(emitted.shape)
    scores = chain.start(1)
    for index in range(len(emitted)):
        scores = chain.emit(chain.extend(scores).max(axis=1), emitted[index : index + 1])
        best[index] = scores.reshape(-1, len(chain.steps))[:, :-1].max(axis=0)
    return best


def _forward(emitted: Array, chain: Chain, starts: Rows, sizes: Rows) -> Array:
    """Log P(observations up to a row, state at that row), by row of the sequence, sequence and state."""
    scores = chain.start(len(starts))
    result = np.empty((int(sizes.max(initial=0)), *scores.shape))
    for index in range(len(result)):
        active = int((sizes > index).sum())
        reached = log_sum(chain.extend(scores[:active]), axis=1)
        scores[:active] = chain.emit(reached, emitted[starts[:active] + index])
        result[index, :active] = scores[:active]
    return result


def tag_probabilities(
    emitted: Array, transitions: Array, sequence: Codes, stop: bool, block_cells: int = BLOCK_CELLS
) -> Array:
    """Forward-backward: P(tag of the row | all observations of its sequence), rows × tags.

    The arguments are those of Viterbi, whose maxima become sums.
    """
    probabilities, chain = np.empty(emitted.shape), Chain.of(transitions, stop)
    symbols, others, _ = chain.steps.shape
    for starts, sizes in _blocks(sequence, transitions, block_cells):
        before = _forward(emitted, chain, starts, sizes)
        after = np.tile(chain.ends, (len(starts), 1))
        for index in range(len(before) - 1, -1, -1):
            continuing, active = int((sizes > index + 1).sum()), int((sizes > index).sum())
            newest = after[:continuing].reshape(continuing, others, symbols).copy()
            newest = chain.emit(newest, emitted[starts[:continuing] + index + 1]).reshape(newest.shape)
            backward = log_sum(newest[:, None] + chain.steps, axis=3)
            after[:continuing] = backward.reshape(continuing, len(chain.ends))
            both = (before[index, :active] + after[:active]).reshape(active, others, symbols)
            by_tag = log_sum(both, axis=1)[:, :-1]
            probabilities[starts[:active] + index] = np.exp(by_tag - log_sum(by_tag, axis=1)[:, None])
    return probabilities


def log_probabilities(emitted: Array, transitions: Array, sequence: Codes, stop: bool) -> Array:
    """Log P(observations) of each sequence: the sum over all tags, by the forward pass."""
    first_rows, chain = lengths(sequence)[0], Chain.of(transitions, stop)
    result = np.empty(len(first_rows))
    for starts, sizes in _blocks(sequence, transitions, BLOCK_CELLS):
        before = _forward(emitted, chain, starts, sizes)
        last = before[sizes - 1, np.arange(len(sizes))] + chain.ends
        result[np.searchsorted(first_rows, starts)] = log_sum(last, axis=1)
    return result


def draw_tags(transitions: Array, most: Rows, stop: bool, rng: np.random.Generator) -> list[Codes]:
    """The tags of one sequence for each length; with ``stop`` it may end earlier, but has at least one row."""
    boundary, order = len(transitions) - 1, transitions.ndim - 1
    cumulative = np.cumsum(np.exp(transitions), axis=-1)
    result = []
    for length in most.tolist():
        tags = [boundary] * order
        for _ in range(length):
            shares = cumulative[tuple(tags[len(tags) - order :])]
            may_end = stop and len(tags) > order
            total = shares[boundary if may_end else boundary - 1]
            tag = int((rng.random() * total >= shares[:boundary]).sum())
            if tag == boundary:
                break
            tags.append(tag)
        result.append(np.array(tags[order:], np.int32))
    return result


# N-grams of tags: counts and smoothing.


def histories(y: Codes, sequence: Codes, tags: int, length: int) -> list[Codes]:
    """The tags before each row, starting ``length`` rows before it; the boundary before the first row."""
    starts, sizes = lengths(sequence)
    index = np.arange(len(y)) - np.repeat(starts, sizes)
    result = []
    for lag in range(length, 0, -1):
        earlier = np.full(len(y), tags, y.dtype)
        earlier[lag:] = np.where(index[lag:] >= lag, y[: len(y) - lag], tags)
        result.append(earlier)
    return result


def count_ngrams(y: Codes, sequence: Codes, tags: int, order: int, stop: bool) -> Array:
    """How often each tag (last axis) follows each history of ``order`` - 1 tags (the other axes)."""
    starts, sizes = lengths(sequence)
    counts = np.zeros((tags + 1,) * order)
    before = histories(y, sequence, tags, order - 1)
    np.add.at(counts, (*before, y), 1.0)
    if stop:
        ends = starts + sizes - 1
        before_ends = [earlier[ends] for earlier in before[1:]]
        np.add.at(counts, (*before_ends, y[ends], tags), 1.0)
    return counts


def free_transitions(tags: int, order: int, stop: bool) -> int:
    """The number of free transition probabilities: one less than the outcomes after each history."""
    within = sum(tags**length for length in range(1, order))
    return int(tags - 1 + within * (tags - 1 + int(stop)))


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

    A history that was never met has the shares of the history that is one tag shorter.
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
    shares_without = []
    for left_out in range(counts.ndim - 1, -1, -1):
        shorter = counts.sum(axis=tuple(range(left_out)))
        others = np.broadcast_to(shorter.sum(axis=-1, keepdims=True) - 1, shorter.shape)
        share = np.divide(shorter - 1, others, out=np.zeros(shorter.shape), where=others > 0)
        shares_without.append(np.broadcast_to(share, counts.shape))
    longest_first = np.argmax(np.stack(shares_without[::-1]), axis=0)
    votes = np.bincount(counts.ndim - 1 - longest_first.ravel(), weights=counts.ravel(), minlength=counts.ndim)
    return np.asarray(votes / votes.sum())


SMOOTHINGS: dict[str, Callable[[Array, float], Array]] = {"alpha": with_alpha, "interpolation": interpolated}


# Observed columns, and explanations.


def observed_columns(table: Table, name: str | None, method: str, numbers: bool) -> tuple[Column, ...]:
    """The named column; else the first one with levels; else, if ``numbers`` will do, all columns.

    Columns that are left out are named in a warning.
    """
    if name is not None:
        columns = {column.name: column for column in table.columns}
        if name not in columns:
            raise FitError(f"{method}: there is no column '{name}'", hint=did_you_mean(name, columns, "columns"))
        if not numbers and not columns[name].coded:
            hint = "declare it nominal in the sidecar, or choose another column"
            raise FitError(f"{method} observes levels, and column '{name}' holds numbers", hint=hint)
        return (columns[name],)
    if not table.columns:
        raise FitError(f"{method} needs a column to observe, and the dataset has no feature columns")
    if not table.code_columns:
        return table.columns
    first = table.code_columns[0]
    others = [column.name for column in table.columns if column != first]
    if others:
        message = f"{method} observes '{first.name}' only, not {listed(others)}; choose with the parameter column"
        warnings.warn(message, MlcliWarning, stacklevel=3)
    return (first,)


def counts_of_levels(codes: Codes, shares: Array, levels: int) -> Array:
    """How often each level goes with each tag (levels × tags), by the shares of tags at rows, without gaps."""
    present = codes >= 0
    counts = [np.bincount(codes[present], weights=of_tag[present], minlength=levels) for of_tag in shares.T]
    return np.asarray(np.array(counts).T, dtype=np.float64).reshape(levels, shares.shape[1])


def smoothing_note(alpha: float, smoothing: str = "alpha", counted: str = "tag") -> str:
    """How probabilities were estimated from counts."""
    if smoothing == "interpolation":
        return "The probabilities after histories of every length are mixed (interpolation)."
    if not alpha:
        return "The probabilities are as counted, not smoothed."
    return f"{alpha:g} is added to the count of every {counted} (alpha)."


def transition_table(transitions: Array, classes: Sequence[str], stop: bool, note: str) -> findings.Table:
    """The probability of each tag, and with ``stop`` of the end, after each history."""
    boundary, symbols, shares = len(classes), (*classes, "(start)"), np.exp(transitions)
    outcomes = (*classes, "(end)") if stop else tuple(classes)
    rows: list[tuple[findings.Entry, ...]] = []
    for history in np.ndindex(shares.shape[:-1]):
        # Only boundary symbols stand before a boundary symbol.
        if all(later != boundary or earlier == boundary for earlier, later in pairwise(history)):
            after = " ".join(symbols[tag] for tag in history)
            rows.append((after, *shares[history][: len(outcomes)].tolist()))
    return findings.Table("Transition probabilities", ("after", *outcomes), tuple(rows), note=note)


def viterbi_table(
    table: Table, best: Array, tags: Codes, classes: Sequence[str], target: str, note: str
) -> findings.Table:
    """For each row the observed cells, the score of the best path to each possible tag, and the predicted tag."""
    columns: list[list[findings.Entry]] = []
    for column, cells in table.parts():
        if column.coded:
            columns.append([column.levels[code] if code >= 0 else "(unknown)" for code in cells])
        else:
            columns.append([None if cell != cell else float(cell) for cell in cells])
    observed = list(zip(*columns, strict=True)) if columns else [() for _ in tags]
    scores = [[score if score > IMPOSSIBLE / 2 else None for score in row] for row in best.tolist()]
    predicted = (classes[tag] for tag in tags)
    rows = tuple((*cells, *row, tag) for cells, row, tag in zip(observed, scores, predicted, strict=True))
    header = (*(column.name for column in table.columns), *classes, target)
    note += " The predicted tags are read back from the best score of the last row."
    if (best <= IMPOSSIBLE / 2).any():
        note += " An empty cell: no path to that tag is possible."
    return findings.Table("Viterbi, row by row", header, rows, note=note)
