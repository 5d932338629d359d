"""Which candidates a search tries, and which of them it chooses: a grid, random draws, or successive halving."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from mlcli.core import ROUNDING
from mlcli.core.abilities import stage_name
from mlcli.core.errors import FitError
from mlcli.core.tables import Rows
from mlcli.engines.inner_validation import Candidate, InnerEvaluation, InnerScore
from mlcli.engines.search_space import SearchSpace, Values, text_of, with_values
from mlcli.metrics.base import Metric
from mlcli.protocols._base import by_class_if_any

TRIALS = 20
"""The default number of candidates."""
FACTOR = 3
"""One in so many candidates goes on to the next round of halving, with so many times the rows or stages."""


def grid_values(space: SearchSpace, trials: int | None, rng: np.random.Generator, free: str) -> list[Values]:
    """Every combination, or a random subset of them if there are more than ``trials``."""
    every = space.grid(trials or TRIALS, free)
    if trials is None or len(every) <= trials:
        return every
    return [every[index] for index in np.sort(rng.choice(len(every), trials, replace=False))]


def random_values(space: SearchSpace, trials: int | None, rng: np.random.Generator, free: str) -> list[Values]:
    """Random combinations."""
    return space.drawn(trials or TRIALS, rng)


VALUES: dict[str, Callable[[SearchSpace, int | None, np.random.Generator, str], list[Values]]] = {
    "grid": grid_values,
    "random": random_values,
    "halving": lambda space, *how: (random_values if space.endless else grid_values)(space, *how),
}
"""Which values are tried, by the name of the search."""


def halved(
    candidates: Sequence[Candidate], evaluation: InnerEvaluation, resource: str, rng: np.random.Generator
) -> list[InnerScore]:
    """The better third goes on to three times the rows, or stages, until few are left that have all of them.

    Each candidate is returned with the score of its last round, those that went on first. The first round has at
    least ten rows for each class, or one stage.
    """
    rounds = int(math.log(max(len(candidates), 1), FACTOR) + 1e-9)
    if resource == "rows":
        outputs = getattr(evaluation.data, "outputs", np.empty((0, 1)))
        fewest = 10 * max(outputs.shape[1], 2)
        rows = min(len(split.train) for split in evaluation.splits)
        rounds = min(rounds, int(math.log(max(rows / fewest, 1), FACTOR) + 1e-9))
    done, remaining = list[InnerScore](), list(candidates)
    order = rng.permutation(len(evaluation.data))
    for effort in (FACTOR**-rounds_left for rounds_left in range(rounds, -1, -1)):
        trials = RESOURCES[resource](remaining, evaluation, effort, order)
        trials = sorted(trials, key=lambda trial: trial.badness(evaluation.metric))
        kept = trials[: math.ceil(len(trials) / FACTOR)] if effort < 1 else trials
        done = [*(trial for trial in trials if trial not in kept), *done]
        remaining = [trial.candidate for trial in kept]
        if effort == 1:
            done = [*kept, *done]
    return done


def _with_fewer_rows(
    candidates: Sequence[Candidate], evaluation: InnerEvaluation, effort: float, order: Rows
) -> list[InnerScore]:
    """Scores with a share of the training rows of every inner split, groups whole, and all of its test rows.

    The share is one of each class, in a random order that all shares have in common.
    """
    if effort == 1:
        return evaluation.trials(candidates)
    units, splits = by_class_if_any(evaluation.data.split_info()), []
    for split in evaluation.splits:
        present, first = np.unique(units.of_row[order[np.isin(order, split.train)]], return_index=True)
        present = present[np.argsort(first)]
        chosen = []
        for stratum in np.unique(units.stratum[present]):
            in_stratum = present[units.stratum[present] == stratum]
            chosen.append(in_stratum[: math.ceil(len(in_stratum) * effort)])
        train = split.train[np.isin(units.of_row[split.train], np.concatenate(chosen))]
        splits.append(replace(split, train=train))
    return replace(evaluation, splits=splits, effort=effort).trials(candidates)


def _with_fewer_stages(
    candidates: Sequence[Candidate], evaluation: InnerEvaluation, effort: float, order: Rows
) -> list[InnerScore]:
    """Scores of models with a share of their rounds, trees or epochs."""
    shorter = []
    for candidate in candidates:
        model = candidate.model
        name = stage_name(model.final)
        if not name:
            raise FitError(f"{model.name} has no stages to be sparing on", hint="resource: rows")
        stages = math.ceil(getattr(model.final, name) * effort)
        shorter.append(replace(candidate, model=with_values(model, {name: stages})))
    trials = replace(evaluation, effort=effort).trials(shorter)
    return [replace(trial, candidate=whole) for trial, whole in zip(trials, candidates, strict=True)]


RESOURCES = {"rows": _with_fewer_rows, "stages": _with_fewer_stages}
"""What early rounds of halving use less of."""


def best_of(trials: Sequence[InnerScore], metric: Metric) -> InnerScore:
    """The best score of those with all rows and stages; of equal ones the first."""
    complete = [trial for trial in trials if trial.effort == 1]
    best = min(complete, key=lambda trial: (bool(trial.why), trial.badness(metric), trial.infinite))
    if best.why:
        why = next((trial.why for trial in trials if trial.why), f"{metric.name} is no number")
        name = best.candidate.name or text_of(best.candidate.values) or "the model as it is"
        raise FitError(f"none of {len(trials)} candidates could be scored", hint=f"such as {name}: {why}")
    if not math.isfinite(best.score):
        return best
    rounding = ROUNDING * max(1.0, abs(best.score))
    return next(trial for trial in complete if trial.badness(metric) <= best.badness(metric) + rounding)


def simplest_within_error(trials: Sequence[InnerScore], metric: Metric, space: SearchSpace) -> InnerScore:
    """The simplest candidate within a standard error of the best (Breiman et al. 1984)."""
    best = best_of(trials, metric)
    if not math.isfinite(best.score):
        return best
    limit = best.badness(metric) + (best.error if math.isfinite(best.error) else 0.0)
    near = [trial for trial in trials if trial.effort == 1 and trial.badness(metric) <= limit]
    return min(near, key=lambda score: (space.simplicity(score.candidate.values), score.badness(metric)))


RULES: dict[str, Callable[[Sequence[InnerScore], Metric, SearchSpace], InnerScore]] = {
    "best": lambda trials, metric, space: best_of(trials, metric),
    "one-standard-error": simplest_within_error,
}
"""How a trial is chosen, by the name of the rule."""
