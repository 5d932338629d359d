"""Over- and underfitting: training and judged scores, a learning curve, a flexible rival, and what helps.

Scores are compared as skills: 0 is the baseline, 1 is perfect. So a gap means the same in every metric.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from mlcli.checks.diagnosed import Diagnosed
from mlcli.checks.suggestions import Suggestion, other_model, richer, simpler
from mlcli.core.findings import Table
from mlcli.core.issues import Issue, Repair
from mlcli.scoring.curves import ScoreCurve, curve_finding
from mlcli.scoring.model_results import ModelResult, badness

WIDE_GAP = 0.28
"""Of skill between training rows and others, from which a model follows its training rows too closely."""
SMALL_GAP = 0.15
"""Of skill, up to which it follows them no more closely than others."""
BETTER, FAR_BETTER = 0.05, 0.45
"""Of skill, by which a flexible rival must be better for a model to be called too stiff; for a warning of it."""
STEEP = 0.04
"""Of skill for twice as many rows, from which more of them are worth having."""
FLEXIBLE = "newton-boosting"
SURE = 2.0
"""Standard errors over splits that a rise must have."""
MOST_TRIED = 5
AVERAGED = ("random-forest", "extra-trees", "bagging", "random-subspaces")
"""Means of models that each know their rows by heart: such a gap alone says nothing of them."""
KINDS = ("classification", "regression")


@dataclass(frozen=True)
class FitScores:
    """How well training rows and others are answered."""

    training: float
    judged: float
    training_skill: float
    judged_skill: float

    @property
    def gap(self) -> float:
        """How much of the skill is of training rows alone."""
        return self.training_skill - self.judged_skill

    def in_words(self, metric: str) -> str:
        """Both scores."""
        return f"{metric} {self.training:.4g} on training rows, {self.judged:.4g} on others"


@dataclass(frozen=True, eq=False)
class TriedSuggestion:
    """A suggestion with what came of it, judged on the same splits."""

    suggestion: Suggestion
    scored: ModelResult
    mean: float
    skill: float


def overfitting(diagnosed: Diagnosed) -> Iterator[Issue]:
    """A model that answers the rows it has learned from far better than others, and that can be made simpler."""
    fit = fit_scores(diagnosed)
    if fit is None or fit.gap < WIDE_GAP or _is_within_interval(diagnosed, fit.training):
        return
    tried = most_skilful_first(_try_suggestions(diagnosed, simpler(diagnosed.cell)))
    helps = [suggestion for suggestion in tried if suggestion.skill > fit.judged_skill]
    sure = any(diagnosed.is_surely_beaten_by(suggestion.scored) for suggestion in helps)
    serious = sure or diagnosed.cell.model.use not in AVERAGED
    end = "" if helps else "; no simpler setting that was tried does better"
    more_rows = Repair("file", f"more rows, {_trend_text(diagnosed)}; or fewer columns")
    yield Issue(
        "warning" if serious else "advice",
        f"{diagnosed.cell.label} overfits: it has high variance{end}",
        f"{fit.in_words(diagnosed.metric.name)}: {100 * fit.gap:.0f} % of the gain is of training rows alone",
        (*(_repair_of(diagnosed, suggestion) for suggestion in helps), more_rows),
        shown=(*_tried_tables(diagnosed, tried),),
    )


def underfitting(diagnosed: Diagnosed) -> Iterator[Issue]:
    """A model that answers even the rows it has learned from worse than a flexible method answers others."""
    fit = fit_scores(diagnosed)
    if fit is None or fit.gap > SMALL_GAP or diagnosed.cell.model.use == FLEXIBLE:
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
    tried = most_skilful_first([*_try_suggestions(diagnosed, richer(diagnosed.cell)), rival])
    helps = [suggestion for suggestion in tried if suggestion.skill > fit.judged_skill]
    yield Issue(
        "warning" if rival.skill - fit.training_skill >= FAR_BETTER else "advice",
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
    if curve is None or gain is None or gain < STEEP:
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
    """The two scores, where they and the baseline's are known."""
    training = diagnosed.model.training.get(diagnosed.metric.name)
    value = diagnosed.score_of(diagnosed.model)
    if training is None or value is None or diagnosed.cell.kind not in KINDS or diagnosed.model.is_baseline:
        return None
    skills = [skill_of(diagnosed, value) for value in (training, value)]
    return FitScores(training, value, *skills) if all(map(math.isfinite, skills)) else None


def skill_of(diagnosed: Diagnosed, score: float) -> float:
    """A score between the baseline's, which is 0, and the best there can be, which is 1."""
    metric, baseline = diagnosed.metric, diagnosed.score_of(diagnosed.baseline)
    perfect = {"high": metric.high, "low": metric.low}.get(metric.better)
    if baseline is None or perfect is None or baseline == perfect:
        return math.nan
    worst, best = badness(metric, baseline), badness(metric, perfect)
    return (worst - badness(metric, score)) / (worst - best)


def most_skilful_first(tried: Iterable[TriedSuggestion]) -> list[TriedSuggestion]:
    """The most skilful first."""
    return sorted(tried, key=lambda suggestion: -suggestion.skill)


def _try_suggestions(diagnosed: Diagnosed, suggestions: Iterable[Suggestion]) -> list[TriedSuggestion]:
    """Remedies as they do on the same splits; those that cannot be run are left out."""
    some = list(suggestions)[:MOST_TRIED]
    model_results = (
        diagnosed.scored_beside([suggestion.model for suggestion in some], diagnosed.cell.protocol) if some else []
    )
    tried = []
    for suggestion, result in zip(some, model_results, strict=False):
        mean = diagnosed.score_of(result)
        if mean is not None:
            tried.append(TriedSuggestion(suggestion, result, mean, skill_of(diagnosed, mean)))
    return tried


def _is_within_interval(diagnosed: Diagnosed, training: float) -> bool:
    """Whether the training score is one that the judged rows could have by chance."""
    summary = diagnosed.model.summaries[diagnosed.metric.name]
    return summary.low is not None and summary.high is not None and summary.low <= training <= summary.high


def _repair_of(diagnosed: Diagnosed, tried_suggestion: TriedSuggestion) -> Repair:
    return Repair(
        "option", f"{tried_suggestion.suggestion.text}  # {diagnosed.metric.name} {tried_suggestion.mean:.4g}"
    )


def _tried_tables(diagnosed: Diagnosed, tried: list[TriedSuggestion]) -> Iterator[Table]:
    """What was tried, and the score of each."""
    if tried:
        rows = tuple(
            (suggestion.suggestion.text, suggestion.mean, suggestion.scored.training.get(diagnosed.metric.name))
            for suggestion in tried
        )
        yield Table("Tried on the same splits", ("", diagnosed.metric.name, "training"), rows)


def _trend_text(diagnosed: Diagnosed) -> str:
    """What the learning curve says of more rows."""
    curve = diagnosed.learning_curve
    rise = None if curve is None else curve.per_doubling()
    if rise is None:
        return "whose worth is not known"
    return (
        f"the last doubling of which was worth {rise:.2g}" if rise > 0 else "though the last doubling gave nothing"
    )


def _skill_per_doubling(diagnosed: Diagnosed, curve: ScoreCurve) -> float | None:
    """What the last doubling of the rows was worth; none where the curve does not surely rise."""
    *_, (start, before), (end, after) = [(point.value, point.judged) for point in curve.points]
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
    sure = np.mean(rises) > SURE * np.std(rises, ddof=1) / math.sqrt(len(rises))
    return (skills[1] - skills[0]) / math.log2(end / start) if sure else None
