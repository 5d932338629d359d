"""Over- and underfitting: training and test scores, a learning curve, a flexible rival, and what helps.

Scores are compared as skills: 0 is the baseline, 1 is perfect. So a gap means the same in every metric.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from mlcli.checks.context import RIVALS
from mlcli.checks.diagnosed import Diagnosed
from mlcli.checks.suggestions import Suggestion, other_model, richer, simpler
from mlcli.core.findings import Issue, Repair, Table
from mlcli.scoring.curves import ScoreCurve, curve_finding
from mlcli.scoring.model_results import ModelResult, badness

BETTER = 0.05
"""The gain of skill by which a flexible rival must be better before a model underfits."""
FLEXIBLE = "newton-boosting"


@dataclass(frozen=True)
class FitScores:
    """The scores and skills on training rows and on test rows."""

    training: float
    test: float
    training_skill: float
    test_skill: float

    @property
    def gap(self) -> float:
        """How much of the skill is on training rows only."""
        return self.training_skill - self.test_skill

    def in_words(self, metric: str) -> str:
        """Both scores."""
        return f"{metric} {self.training:.4g} on training rows, {self.test:.4g} on others"


@dataclass(frozen=True, eq=False)
class TriedSuggestion:
    """A suggestion with its score on the same splits."""

    suggestion: Suggestion
    scored: ModelResult
    mean: float
    skill: float


def overfitting(diagnosed: Diagnosed) -> Iterator[Issue]:
    """A model that predicts its training rows far better than test rows, and that can be made simpler."""
    fit = fit_scores(diagnosed)
    if fit is None or fit.gap < 0.28:
        return
    summary = diagnosed.model.summaries[diagnosed.metric.name]
    if summary.low is not None and summary.high is not None and summary.low <= fit.training <= summary.high:
        return  # the gap may be chance
    tried = sorted(_try_suggestions(diagnosed, simpler(diagnosed.cell)), key=lambda tried: -tried.skill)
    helps = [suggestion for suggestion in tried if suggestion.skill > fit.test_skill]
    sure = any(diagnosed.is_surely_beaten_by(suggestion.scored) for suggestion in helps)
    # means of models that each fit their rows closely: such a gap alone says nothing about them
    averages = ("random-forest", "extra-trees", "bagging", "random-subspaces")
    serious = sure or diagnosed.cell.model.use not in averages
    end = "" if helps else "; no simpler setting that was tried does better"
    curve = diagnosed.learning_curve
    rise = None if curve is None else curve.per_doubling()
    if rise is None:
        trend = "whose worth is not known"
    elif rise > 0:
        trend = f"the last doubling of which was worth {rise:.2g}"
    else:
        trend = "though the last doubling gave nothing"
    more_rows = Repair("file", f"more rows, {trend}; or fewer columns")
    yield Issue(
        "warning" if serious else "advice",
        f"{diagnosed.cell.label} overfits: it has high variance{end}",
        f"{fit.in_words(diagnosed.metric.name)}: {100 * fit.gap:.0f} % of the gain is of training rows alone",
        (*(_repair_of(diagnosed, suggestion) for suggestion in helps), more_rows),
        shown=(*_tried_tables(diagnosed, tried),),
    )


def underfitting(diagnosed: Diagnosed) -> Iterator[Issue]:
    """A model that predicts even its training rows worse than a flexible method predicts test rows."""
    fit = fit_scores(diagnosed)
    if fit is None or fit.gap > 0.15 or diagnosed.cell.model.use == FLEXIBLE:
        return
    if 1 - fit.training_skill < BETTER:  # no rival can be that much better
        return
    (rival,) = _try_suggestions(diagnosed, [other_model(diagnosed.cell, FLEXIBLE)]) or (None,)
    if (
        rival is None
        or rival.skill - fit.training_skill < BETTER
        or not diagnosed.is_surely_beaten_by(rival.scored)
    ):
        return
    others = _try_suggestions(diagnosed, richer(diagnosed.cell))
    tried = sorted([*others, rival], key=lambda tried: -tried.skill)
    helps = [suggestion for suggestion in tried if suggestion.skill > fit.test_skill]
    yield Issue(
        "warning" if rival.skill - fit.training_skill >= 0.45 else "advice",
        f"{diagnosed.cell.label} underfits: it has high bias, and more rows alone will not help",
        f"{fit.in_words(diagnosed.metric.name)}; {FLEXIBLE} has {rival.mean:.4g} on the same rows",
        (
            *(_repair_of(diagnosed, suggestion) for suggestion in helps),
            Repair("file", "more columns that tell something of the target"),
        ),
        shown=(*_tried_tables(diagnosed, tried),),
    )


def more_rows_help(diagnosed: Diagnosed) -> Iterator[Issue]:
    """A score that still rises with the number of training rows."""
    curve = diagnosed.learning_curve
    gain = None if curve is None else _skill_per_doubling(diagnosed, curve)
    if curve is None or gain is None or gain < 0.04:
        return
    rise = curve.per_doubling()
    yield Issue(
        "advice",
        f"more rows would help {diagnosed.cell.label}: its learning curve still rises",
        f"{diagnosed.metric.name} gets better by {rise:.2g} for the last doubling of the training rows",
        (Repair("file", "more rows"),),
        shown=(curve_finding(curve),),
    )


def fit_scores(diagnosed: Diagnosed) -> FitScores | None:
    """The scores on training and test rows, if these and the baseline's are known."""
    training = diagnosed.model.training.get(diagnosed.metric.name)
    value = diagnosed.score_of(diagnosed.model)
    if training is None or value is None or diagnosed.cell.kind not in RIVALS or diagnosed.model.is_baseline:
        return None
    skills = [skill_of(diagnosed, value) for value in (training, value)]
    return FitScores(training, value, *skills) if all(map(math.isfinite, skills)) else None


def skill_of(diagnosed: Diagnosed, score: float) -> float:
    """A score as skill: 0 is that of the baseline, 1 is the best possible score."""
    metric, baseline = diagnosed.metric, diagnosed.score_of(diagnosed.baseline)
    perfect = {"high": metric.high, "low": metric.low}.get(metric.better)
    if baseline is None or perfect is None or baseline == perfect:
        return math.nan
    worst, best = badness(metric, baseline), badness(metric, perfect)
    return (worst - badness(metric, score)) / (worst - best)


def _try_suggestions(diagnosed: Diagnosed, suggestions: Iterable[Suggestion]) -> list[TriedSuggestion]:
    """The first five suggestions with their scores on the same splits; those that cannot be run are left out."""
    first = list(suggestions)[:5]
    models = [suggestion.model for suggestion in first]
    results = diagnosed.scored_beside(models, diagnosed.cell.protocol) if models else []
    tried = []
    for suggestion, result in zip(first, results, strict=False):
        mean = diagnosed.score_of(result)
        if mean is not None:
            tried.append(TriedSuggestion(suggestion, result, mean, skill_of(diagnosed, mean)))
    return tried


def _repair_of(diagnosed: Diagnosed, tried: TriedSuggestion) -> Repair:
    return Repair("option", f"{tried.suggestion.text}  # {diagnosed.metric.name} {tried.mean:.4g}")


def _tried_tables(diagnosed: Diagnosed, tried: list[TriedSuggestion]) -> Iterator[Table]:
    """What was tried, and the score of each."""
    if tried:
        rows = tuple(
            (suggestion.suggestion.text, suggestion.mean, suggestion.scored.training.get(diagnosed.metric.name))
            for suggestion in tried
        )
        yield Table("Tried on the same splits", ("", diagnosed.metric.name, "training"), rows)


def _skill_per_doubling(diagnosed: Diagnosed, curve: ScoreCurve) -> float | None:
    """What the last doubling of the rows was worth; None if the curve does not rise significantly."""
    *_, (start, before), (end, after) = [(point.value, point.test) for point in curve.points]
    skills = [
        skill_of(diagnosed, summary.mean) if summary.mean is not None else math.nan for summary in (before, after)
    ]
    rises = [
        badness(diagnosed.metric, split) - badness(diagnosed.metric, other)
        for split, other in zip(before.splits, after.splits, strict=True)
        if split is not None and other is not None
    ]
    if not all(map(math.isfinite, skills)) or len(rises) < 2:
        return None
    is_sure = np.mean(rises) > 2 * np.std(rises, ddof=1) / math.sqrt(len(rises))
    return (skills[1] - skills[0]) / math.log2(end / start) if is_sure else None
