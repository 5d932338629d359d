"""The verdict on a table, in one plain sentence: what is best, how sure that is, what it adds to the baseline."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from mlcli.metrics.base import Metric
from mlcli.metrics.summary import summarise
from mlcli.report.document import Sentence
from mlcli.report.numbers import UNIT_DECIMALS, decimals_of, fixed
from mlcli.scoring.differences import (
    LARGEST_CLASS,
    TableDifferences,
    badness_of,
    is_largest_class_standard,
    score_of,
)
from mlcli.scoring.model_results import Group, ModelResult, badness, metrics_in, training_sizes
from mlcli.tasks.table import kind_named

FURTHER = {"high": "above", "low": "below", "zero": "from"}
"""Where a better score lies, seen from a worse one."""
CHOSEN_INSIDE = "selected-model"
"""The method that chooses the best of several inside each split."""
SEVERAL = 3
"""From so many models on, the score of the best is what luck has made of it, too."""
VALIDATION = "validation"


def verdict_on(group: Group, differences: TableDifferences | None) -> Iterator[Sentence]:
    """The sentence, if any model but the baseline has a score; what knew judged rows is left out."""
    metric = metrics_in(group)[0]
    contaminated = [result for result in group if result.contaminated and score_of(result, metric) is not None]
    left_out = [
        f"{group[name]} is not compared: it has learned from {name.cell.learned_rows} of these "
        f"{name.cell.labelled_rows} rows, so its scores say nothing about new rows."
        for name in contaminated
    ]
    if sentences := " ".join(
        filter(None, (*left_out, _sentence_on_best(differences, group) if differences else ""))
    ):
        yield Sentence(sentences, "strong")


def _sentence_on_best(differences: TableDifferences, names: Group) -> str:
    metric, baseline = differences.metric, differences.baseline
    known = (result for result in (differences.best, *differences.to_best) if result is not baseline)
    models = sorted(known, key=lambda result: badness_of(result, metric))
    if not models:
        return ""
    if baseline is not None and _is_none_better(models[0], baseline, differences):
        largest = is_largest_class_standard(baseline)
        standard = LARGEST_CLASS if largest else _score_text(baseline, names, metric)
        return f"By {metric.name}, no model beats the baseline: {standard}."
    best, *others = models
    parts = [f"{'Best by' if others else 'By'} {metric.name}: {_score_text(best, names, metric)}"]
    if baseline is not None:
        parts.append(_gain_text(best, baseline, differences, names))
    untested = [names[other] for other in others if differences.to_best[other].mean is None]
    equals = [other for other in others if differences.to_best[other].mean is not None]
    alike = [names[equal] for equal in equals if not differences.to_best[equal].distinguishable]
    beside = {names[result]: test for result, test in differences.beside.items() if test.mean is not None}
    alike += [name for name, test in beside.items() if not test.distinguishable]
    better = [name for name, test in beside.items() if name not in alike and badness(metric, test.mean or 0.0) < 0]
    groups = (("worse than", better), ("not significantly different", alike), ("not tested", untested))
    sentence = "; ".join([", ".join(parts), *(f"{what}: {', '.join(who)}" for what, who in groups if who)])
    return f"{sentence}.{_optimism_sentence(models, names, metric)}"


def _is_none_better(best: ModelResult, baseline: ModelResult, differences: TableDifferences) -> bool:
    if best is not differences.best:
        return True
    if not is_largest_class_standard(baseline):
        return badness_of(best, differences.metric) >= badness_of(baseline, differences.metric)
    gain = differences.to_baseline[best].mean
    return gain is not None and badness(differences.metric, gain) >= 0


def _optimism_sentence(models: Sequence[ModelResult], names: Group, metric: Metric) -> str:
    """What choosing the best of several does to its score, and what is had without."""
    nested = [model for model in models if model.cell.model.use == CHOSEN_INSIDE]
    best, count = models[0], len(models) - len(nested)
    chosen, there = _chosen_on_validation(models, metric)
    if chosen is best:
        return (
            f" The validation rows also choose it among {len(models)} ({there} there): its interval is unbiased."
        )
    if best in nested or (count < SEVERAL and chosen is None):
        return ""
    if chosen is not None:
        hint = f"; the validation rows choose {_score_text(chosen, names, metric)}, with {there} there"
    elif nested:
        hint = f"; the interval of {names[nested[0]]} is not"
    else:
        hint = "; use `--nested` for an unbiased one" * (kind_named(best.cell.kind).target == "needed")
    return f" As the best of {count} models it has an optimistic interval{hint}."


def _chosen_on_validation(models: Sequence[ModelResult], metric: Metric) -> tuple[ModelResult | None, str]:
    """The model that validation rows choose among several, with its score there; none where no rows do."""
    known = {model: value for model in models if (value := _validation_mean(model, metric)) is not None}
    if len(known) < max(2, len(models)):
        return None, ""
    winner = min(known, key=lambda result: badness(metric, known[result]))
    return winner, fixed(known[winner], UNIT_DECIMALS)


def _validation_mean(model_result: ModelResult, metric: Metric) -> float | None:
    """The mean over the validation rows of all splits, where every split has some and it is defined."""
    answers = [split.answers[VALIDATION] for split in model_result.splits if VALIDATION in split.answers]
    if not answers or len(answers) < len(model_result.splits) or model_result.cell.model.saved is not None:
        return None
    mean = summarise(metric, answers, training_sizes(model_result.cell_result), model_result.pooled).mean
    return mean if mean is not None and math.isfinite(mean) else None


def _score_text(model_result: ModelResult, names: Group, metric: Metric) -> str:
    summary = model_result.summaries[metric.name]
    assert summary.mean is not None
    decimals = decimals_of(metric, [summary])
    score = f"{names[model_result]} with {fixed(summary.mean, decimals)}"
    if summary.low is None or summary.high is None:
        return score
    return f"{score} (95 % CI {fixed(summary.low, decimals)} to {fixed(summary.high, decimals)})"


def _gain_text(best: ModelResult, baseline: ModelResult, differences: TableDifferences, names: Group) -> str:
    metric, difference = differences.metric, differences.to_baseline[best]
    if difference.mean is None:
        return f"the baseline is {_score_text(baseline, names, metric)}"
    decimals = decimals_of(metric, [best.summaries[metric.name]])
    name = LARGEST_CLASS if is_largest_class_standard(baseline) else f"the baseline {names[baseline]}"
    far = f"{fixed(abs(difference.mean), decimals)} {FURTHER[metric.better]} {name}"
    return far if difference.distinguishable else f"{far} (not significant)"
