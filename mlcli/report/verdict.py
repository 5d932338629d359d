"""The verdict on a table, in one plain sentence: what is best, how sure that is, what it adds to the baseline."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mlcli.metrics.base import Metric
from mlcli.report.differences import (
    Differences,
    badness_of,
    baseline_of,
    differences_of,
    score_of,
)
from mlcli.report.largest_class import LARGEST_CLASS, stands_for_largest_class
from mlcli.report.numbers import fixed
from mlcli.report.scored import Names, Scored
from mlcli.report.scores import badness, decimals_of
from mlcli.report.validated import chosen_on_validation
from mlcli.tasks.table import kind_named

FURTHER = {"high": "above", "low": "below", "zero": "from"}
"""Where a better score lies, seen from a worse one."""
CHOSEN_INSIDE = "selected-model"
"""The method that chooses the best of several inside each split."""
SEVERAL = 3
"""From so many models on, the score of the best is what luck has made of it, too."""


def verdict_on(scored: Sequence[Scored], names: Names, metric: Metric, found: Differences | None = None) -> str:
    """The sentence, or nothing where no model but the baseline has a score; what knew judged rows is left out."""
    known = [one for one in scored if score_of(one, metric) is not None]
    contaminated = [one for one in known if one.contaminated]
    found = found or differences_of(known, metric)
    fair = [one for one in known if not one.contaminated]
    sentences = _sentence_on(fair, found, names) if found else ""
    return " ".join(filter(None, (*_left_out(contaminated, names), sentences)))


def _left_out(contaminated: Sequence[Scored], names: Names) -> Iterator[str]:
    for one in contaminated:
        cell = one.cell
        yield (
            f"{names[one]} is not compared: it has learned from {cell.learned_rows} of these "
            f"{cell.labelled_rows} rows, so its scores say nothing of other rows."
        )


def _sentence_on(known: Sequence[Scored], found: Differences, names: Names) -> str:
    metric, baseline = found.metric, baseline_of(known)
    models = sorted((one for one in known if one is not baseline), key=lambda one: badness_of(one, metric))
    if not models:
        return ""
    if baseline is not None and _none_is_better(models[0], baseline, found):
        largest = stands_for_largest_class(baseline)
        standard = LARGEST_CLASS if largest else _with_score(baseline, names, metric)
        return f"By {metric.name} no model is better than the baseline: {standard}."
    best, *others = models
    parts = [f"{'Best by' if others else 'By'} {metric.name}: {_with_score(best, names, metric)}"]
    if baseline is not None:
        parts.append(_gain(best, baseline, found, names))
    differences = {names[one]: found.to_best[one] for one in others}
    untested = [name for name, one in differences.items() if one.mean is None]
    alike = [name for name, one in differences.items() if name not in untested and not one.distinguishable]
    groups = (("not distinguishable from it", alike), ("not tested against it", untested))
    sentence = "; ".join([", ".join(parts), *(f"{what}: {', '.join(who)}" for what, who in groups if who)])
    return f"{sentence}.{_optimism(models, names, metric)}"


def _none_is_better(best: Scored, baseline: Scored, found: Differences) -> bool:
    if best is not found.best:
        return True
    if not stands_for_largest_class(baseline):
        return badness_of(best, found.metric) >= badness_of(baseline, found.metric)
    gain = found.to_baseline[best].mean
    return gain is not None and badness(found.metric, gain) >= 0


def _optimism(models: Sequence[Scored], names: Names, metric: Metric) -> str:
    """What choosing the best of several does to its score, and what is had without."""
    nested = [one for one in models if one.cell.model.use == CHOSEN_INSIDE]
    best, count = models[0], len(models) - len(nested)
    chosen, there = chosen_on_validation(models, metric)
    if chosen is best:
        return f" Validation rows choose it among {len(models)}, too ({there} there): its interval is honest."
    if best in nested or (count < SEVERAL and chosen is None):
        return ""
    if chosen is not None:
        hint = f"; validation rows choose {_with_score(chosen, names, metric)}, which had {there} there"
    elif nested:
        hint = f"; that of {names[nested[0]]} is not"
    else:
        hint = "; `--nested` for an honest one" * (kind_named(best.cell.kind).target == "needed")
    return f" Chosen among {count}: its interval is optimistic{hint}."


def _with_score(one: Scored, names: Names, metric: Metric) -> str:
    summary = one.summaries[metric.name]
    assert summary.mean is not None
    decimals = decimals_of(metric, [summary])
    score = f"{names[one]} with {fixed(summary.mean, decimals)}"
    if summary.low is None or summary.high is None:
        return score
    return f"{score} (95 % interval {fixed(summary.low, decimals)} to {fixed(summary.high, decimals)})"


def _gain(best: Scored, baseline: Scored, found: Differences, names: Names) -> str:
    """How far the best is from the baseline, and whether that may be chance."""
    metric, difference = found.metric, found.to_baseline[best]
    if difference.mean is None:
        return f"the baseline being {_with_score(baseline, names, metric)}"
    decimals = decimals_of(metric, [best.summaries[metric.name]])
    name = LARGEST_CLASS if stands_for_largest_class(baseline) else f"the baseline {names[baseline]}"
    far = f"{fixed(abs(difference.mean), decimals)} {FURTHER[metric.better]} {name}"
    return far if difference.distinguishable else f"{far} (which may be chance)"
