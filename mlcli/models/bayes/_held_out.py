"""Naive Bayes for every part of a round at once, with the steps learned anew for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.held_out import HeldOut, Round
from mlcli.core.moments import Spread
from mlcli.core.step import Step
from mlcli.core.tables import Array, Flags, Rows
from mlcli.engines.expansion import FREQUENCY_ROUNDING, NONE
from mlcli.models.bayes._columns import Levels, SeenColumns
from mlcli.models.bayes._gaussians import FRACTION
from mlcli.models.bayes._near_densities import log_density
from mlcli.models.bayes._posterior import posterior
from mlcli.models.bayes._taught import Taught, by_parts, one_by_one
from mlcli.tasks.classification import LabelledRows

FARTHEST = 5e4
"""In units of its spread: a mean that lies farther from 0 has lost digits, in the plain loop as well."""
UNSETTLED = 1e3
"""Log-likelihoods larger than this leave less than ten digits of a posterior that is not settled."""
SETTLED = 30.0


@dataclass(frozen=True, eq=False)
class Method:
    """What differs between configurations of naive Bayes."""

    priors: Callable[[Array], Array]
    """From the weights of the classes to their probabilities."""
    shares: Callable[[Array], Array]
    """From counts (levels × ... × classes) to shares."""
    adds: bool
    """Whether something is added to every variance."""
    ddof: int


def held_out(data: LabelledRows, round_: Round, steps: Sequence[Step], method: Method) -> HeldOut | None:
    """The posteriors of every part by what the rows outside it have; None where steps do not follow from that."""
    seen = SeenColumns.of(data, steps)
    if seen is None:
        return None
    answers = np.zeros((len(data), len(data.classes)))
    wrong = np.zeros(len(data), bool)
    for taught in one_by_one(seen, data) if round_.one_by_one else by_parts(seen, data, round_):
        joint, doubtful = log_joint(seen, taught, method)
        answers[taught.rows] = posterior(np.where(doubtful[:, None], 0.0, joint))
        wrong[taught.rows] = doubtful
    refused = np.zeros(round_.parts, bool)
    refused[round_.part[wrong]] = True
    route = "rows taken away from their class" if round_.one_by_one else "merged sums of each class"
    return HeldOut(answers, refused, route)


def log_joint(seen: SeenColumns, taught: Taught, method: Method) -> tuple[Array, Flags]:
    """The log joint probabilities of the rows asked (b × K), and for which only a fit can tell."""
    priors = _by_distinct(method.priors, taught.classes)
    with np.errstate(divide="ignore"):
        found = np.repeat(np.log(priors), len(taught.rows) // len(priors), axis=0)
    numeric, wrong = _of_numbers(seen, taught, method)
    found += numeric
    for levels in seen.coded:
        found += _of_levels(seen, levels, taught, method)
    wrong |= np.broadcast_to(taught.unknown, len(found)) | np.isneginf(found).all(axis=1)
    ordered = np.sort(np.maximum(found, -1e300), axis=1)
    near = ordered[:, -1] - ordered[:, -2] < SETTLED if found.shape[1] > 1 else np.zeros(len(found), bool)
    wrong |= near & (np.abs(ordered[:, -1]) > UNSETTLED)
    return found, wrong


def _by_distinct(priors: Callable[[Array], Array], classes: Array) -> Array:
    if (classes == classes[:1]).all():
        return np.repeat(priors(classes[0])[None], len(classes), axis=0)
    distinct, which = np.unique(classes, axis=0, return_inverse=True)
    return np.array([priors(totals) for totals in distinct])[which.reshape(-1)]


def _of_numbers(seen: SeenColumns, taught: Taught, method: Method) -> tuple[Array, Flags]:
    """The log-likelihood of the numbers (b × K)."""
    cells = seen.numbers[taught.rows]
    found = np.zeros((len(taught.numbers), len(cells))).T
    wrong = np.zeros(len(cells), bool)
    if not cells.shape[1]:
        return found, wrong
    fill = _fills(seen, taught)
    overall = _filled(taught.overall, taught.classes.sum(axis=1), fill, seen.filled)
    freedom = overall.weight - np.maximum(seen.ddof, 0)
    flat = seen.scaled & (overall.squares == 0)
    unit = np.where(seen.scaled & ~flat, _over(overall.squares, freedom), 1.0)
    wrong |= np.broadcast_to(
        ((seen.filled & (taught.overall.weight <= 0)) | (freedom < 0)).any(axis=1), len(cells)
    )
    variance = _over(overall.squares, overall.weight)
    added = FRACTION * (variance / unit).max(axis=1, keepdims=True) * unit if method.adds else np.zeros_like(unit)
    if seen.gaps:
        cells = np.where(np.isnan(cells) & seen.filled, fill, cells)
    means, spreads_out = [], []
    for k, spread in enumerate(taught.numbers):
        own = _filled(spread, taught.classes[:, k], fill, seen.filled)
        there = own.weight > 0
        means.append(np.where(there, own.mean, overall.mean))
        spreads_out.append(np.where(there, _over(own.squares, own.weight - method.ddof), variance))
        far = (means[k] ** 2 > FARTHEST**2 * (spreads_out[k] + added)) & (own.squares > 0)
        wrong |= np.broadcast_to(far.any(axis=1), len(cells))
    kept = np.all([one + added > 0 for one in spreads_out], axis=0) & ~flat
    for k, (mean, own_variance) in enumerate(zip(means, spreads_out, strict=True)):
        found[:, k] = log_density(cells, mean, own_variance, added, kept)
    return found, wrong


def _fills(seen: SeenColumns, taught: Taught) -> Array:
    """What fills the gaps of each number (b or 1 × m)."""
    fill = np.where(seen.fills == NONE, taught.overall.mean, 0.0)
    counts = taught.counts.sum(axis=1)
    for source in np.unique(seen.fills[seen.filled & (seen.fills != NONE)]):
        most = np.array(seen.sources[source])[_most(counts[:, list(seen.sources[source])])]
        fill = np.where(seen.fills == source, seen.place == most[:, None], fill)
    return np.asarray(fill, np.float64)


def _most(counts: Array) -> Rows:
    """The first of the most frequent (last axis)."""
    return np.asarray((counts >= counts.max(axis=-1, keepdims=True) * (1 - FREQUENCY_ROUNDING)).argmax(axis=-1))


def _filled(spread: Spread, total: Array, fill: Array, filled: Flags) -> Spread:
    """A spread with a mass at what fills gaps."""
    if not filled.any():
        return spread
    gaps = np.where(filled, np.maximum(total[:, None] - spread.weight, 0.0), 0.0)
    weight = spread.weight + gaps
    away = fill - spread.mean
    share = _over(gaps, weight)
    return Spread(weight, spread.mean + share * away, spread.squares + spread.weight * share * away**2)


def _over(sums: Array, weight: Array) -> Array:
    there = weight > 0
    if there.all():
        return np.asarray(sums / weight)
    return np.asarray(np.where(there, sums / np.where(there, weight, 1.0), 0.0))


def _of_levels(seen: SeenColumns, levels: Levels, taught: Taught, method: Method) -> Array:
    """The log-likelihood of the levels of a coded column (b × K)."""
    codes = levels.codes[taught.rows]
    if not len(levels.indicators):
        return np.zeros((len(codes), taught.counts.shape[1]))
    counts = taught.counts[:, :, levels.indicators]
    if levels.filled:
        most = _most(counts.sum(axis=1))
        lacking = np.maximum(taught.classes - counts.sum(axis=2), 0.0)
        counts = counts + lacking[:, :, None] * (np.arange(counts.shape[2]) == most[:, None, None])
        codes = np.where(codes < 0, most, codes)
    with np.errstate(divide="ignore"):
        logs = np.log(method.shares(np.moveaxis(counts, 2, 0)))
    asked = logs[codes, np.arange(len(codes)) % logs.shape[1]]
    return np.where(codes[:, None] < 0, 0.0, asked)
