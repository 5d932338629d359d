"""Which candidates are judged, and which of them is chosen: a grid, random draws, or successive halving."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mlcli.core.abilities import stage_name
from mlcli.core.errors import FitError
from mlcli.core.model import Model
from mlcli.engines.inner_validation import Candidate, InnerEvaluation, InnerScore
from mlcli.engines.tuning.space import SearchSpace, Values, text_of, with_values
from mlcli.metrics.base import Metric
from mlcli.protocols._base import Split, Units, by_class_if_any

TRIALS = 20
"""How many candidates there are where nobody says."""
FACTOR = 3
"""Of so many candidates one goes on to the next round of halving, with so many times the rows or stages."""
FEWEST_ROWS = 10
"""In the first round of halving, for each class; of stages one."""
SAME = 1e-12


def grid_values(space: SearchSpace, trials: int | None, rng: np.random.Generator, free: str) -> list[Values]:
    """Every combination; where more than were asked for, some drawn at random."""
    every = space.grid(trials or TRIALS, free)
    if trials is None or len(every) <= trials:
        return every
    return [every[place] for place in np.sort(rng.choice(len(every), trials, replace=False))]


def random_values(space: SearchSpace, trials: int | None, rng: np.random.Generator, free: str) -> list[Values]:
    """So many combinations drawn at random."""
    return space.drawn(trials or TRIALS, rng)


VALUES: dict[str, Callable[[SearchSpace, int | None, np.random.Generator, str], list[Values]]] = {
    "grid": grid_values,
    "random": random_values,
    "halving": lambda space, *how: (random_values if space.endless else grid_values)(space, *how),
}
"""Which values are tried, by the name of the search."""


def halved(
    candidates: Sequence[Candidate], examination: InnerEvaluation, resource: str, rng: np.random.Generator
) -> list[InnerScore]:
    """The better third goes on to three times the rows, or stages, until few are left that have all of them.

    Those that went on come first in what is given back, each with what came of its last round.
    """
    done: list[InnerScore] = []
    left = list(candidates)
    efforts = _efforts(len(candidates), examination, resource)
    order = rng.permutation(len(examination.data))
    for effort in efforts:
        trials = RESOURCES[resource](left, examination, effort, order)
        trials = sorted(trials, key=lambda trial: trial.badness(examination.metric))
        kept = trials[: math.ceil(len(trials) / FACTOR)] if effort < 1 else trials
        done = [*(trial for trial in trials if trial not in kept), *done]
        left = [trial.candidate for trial in kept]
        if effort == 1:
            done = [*kept, *done]
    return done


def _efforts(candidates: int, examination: InnerEvaluation, resource: str) -> list[float]:
    """The share of rows, or stages, in each round; the last has all."""
    rounds = int(math.log(max(candidates, 1), FACTOR) + 1e-9)
    if resource == "rows":
        outputs = getattr(examination.data, "outputs", np.empty((0, 1)))
        fewest = FEWEST_ROWS * max(outputs.shape[1], 2)
        rows = min(len(split.train) for split in examination.splits)
        rounds = min(rounds, int(math.log(max(rows / fewest, 1), FACTOR) + 1e-9))
    return [FACTOR**-left for left in range(rounds, -1, -1)]


def _with_fewer_rows(
    candidates: Sequence[Candidate], examination: InnerEvaluation, effort: float, order: Any
) -> list[InnerScore]:
    """Every inner split with a share of its training rows, groups whole; all of its judged rows."""
    units = by_class_if_any(examination.data.split_info())
    splits = [_shortened(split, units, effort, order) for split in examination.splits]
    fewer = examination if effort == 1 else replace(examination, splits=splits, effort=effort)
    return fewer.trials(candidates)


def _shortened(split: Split, units: Units, effort: float, order: Any) -> Split:
    """A share of the units of each class, in a random order that all shares have in common."""
    inside = order[np.isin(order, split.train)]
    seen, first = np.unique(units.of_row[inside], return_index=True)
    seen = seen[np.argsort(first)]
    chosen = [
        of[: math.ceil(len(of) * effort)]
        for stratum in np.unique(units.stratum[seen])
        for of in (seen[units.stratum[seen] == stratum],)
    ]
    return replace(split, train=split.train[np.isin(units.of_row[split.train], np.concatenate(chosen))])


def _with_fewer_stages(
    candidates: Sequence[Candidate], examination: InnerEvaluation, effort: float, order: Any
) -> list[InnerScore]:
    """Models of fewer rounds, trees or epochs."""
    shorter = [replace(candidate, model=_shorter(candidate.model, effort)) for candidate in candidates]
    trials = replace(examination, effort=effort).trials(shorter)
    return [replace(trial, candidate=whole) for trial, whole in zip(trials, candidates, strict=True)]


def _shorter(model: Model, effort: float) -> Model:
    name = stage_name(model.final)
    if not name:
        raise FitError(f"{model.name} has no stages to be sparing on", hint="resource: rows")
    return with_values(model, {name: math.ceil(getattr(model.final, name) * effort)})


RESOURCES = {"rows": _with_fewer_rows, "stages": _with_fewer_stages}
"""What halving is sparing on."""


def best_of(trials: Sequence[InnerScore], metric: Metric) -> InnerScore:
    """The best score of those that had everything; of equals the first."""
    whole = [trial for trial in trials if trial.effort == 1]
    best = min(whole, key=lambda trial: (bool(trial.why), trial.badness(metric), trial.infinite))
    if best.why:
        why = next((trial.why for trial in trials if trial.why), f"{metric.name} is no number")
        name = best.candidate.name or text_of(best.candidate.values) or "the model as it is"
        raise FitError(f"none of {len(trials)} candidates could be judged", hint=f"such as {name}: {why}")
    if not math.isfinite(best.score):
        return best
    reach = SAME * max(1.0, abs(best.score))
    return next(trial for trial in whole if trial.badness(metric) <= best.badness(metric) + reach)


def simplest_within_error(trials: Sequence[InnerScore], metric: Metric, space: SearchSpace) -> InnerScore:
    """The simplest of those that are less than a standard error of the best from it (Breiman et al. 1984)."""
    best = best_of(trials, metric)
    reach = best.error if math.isfinite(best.error) else 0.0
    near = [
        trial for trial in trials if trial.effort == 1 and trial.badness(metric) <= best.badness(metric) + reach
    ]
    if not math.isfinite(best.score):
        return best
    return min(near, key=lambda score: (space.simplicity(score.candidate.values), score.badness(metric)))


RULES: dict[str, Callable[[Sequence[InnerScore], Metric, SearchSpace], InnerScore]] = {
    "best": lambda trials, metric, space: best_of(trials, metric),
    "one-standard-error": simplest_within_error,
}
"""Which trial is chosen, by the name of the rule."""
