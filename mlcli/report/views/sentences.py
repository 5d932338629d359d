"""The words for verdicts, remarks and gates: the only place where their codes become sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from mlcli.metrics.base import Metric
from mlcli.report.document import Notes, Sentence, notes
from mlcli.report.numbers import UNIT_DECIMALS, as_equation, decimals_of, fixed
from mlcli.report.views.plan import steps_of
from mlcli.scoring.differences import LARGEST_CLASS
from mlcli.scoring.gates import FindingCode, GateFinding
from mlcli.scoring.model_results import Group
from mlcli.scoring.verdict import ModelScore, Remark, Selection, Verdict, remarks_of

T = TypeVar("T")


def verdict_sentences(verdict: Verdict | None) -> Iterator[Sentence]:
    """The verdict in words, saved models that cannot be compared first; nothing where there is no verdict."""
    if verdict is None:
        return
    sentences = [
        f"{saved.model} is not compared: it has learned from {saved.rows_learned_from} of these {saved.rows} "
        "rows, so its scores say nothing about new rows."
        for saved in verdict.uncompared
    ]
    metric, baseline, best = verdict.scored_by, verdict.baseline, verdict.best
    if verdict.code == "none-beats-baseline" and baseline is not None:
        standard = LARGEST_CLASS if verdict.is_largest_class else _score_text(baseline, metric)
        sentences.append(f"By {metric.name}, no model beats the baseline: {standard}.")
    elif best is not None:
        opening = f"{'Best by' if verdict.code == 'best' else 'By'} {metric.name}: {_score_text(best, metric)}"
        if baseline is not None:
            opening += f", {_gain_text(verdict, best, baseline)}"
        groups = {
            "worse than": verdict.better,
            "not significantly different": verdict.alike,
            "not tested": verdict.untested,
        }
        parts = [opening, *(f"{relation}: {', '.join(names)}" for relation, names in groups.items() if names)]
        sentences.append(f"{'; '.join(parts)}.")
        if verdict.selection is not None:
            sentences.append(_selection_sentence(verdict.selection, metric))
    yield Sentence(" ".join(sentences), "strong")


def _gain_text(verdict: Verdict, best: ModelScore, baseline: ModelScore) -> str:
    metric = verdict.scored_by
    if verdict.gain is None:
        return f"the baseline is {_score_text(baseline, metric)}"
    size = fixed(abs(verdict.gain), decimals_of(metric, [best]))
    direction = {"high": "above", "low": "below", "zero": "from"}[metric.better]
    standard = LARGEST_CLASS if verdict.is_largest_class else f"the baseline {baseline.model}"
    return f"{size} {direction} {standard}{'' if verdict.gain_is_significant else ' (not significant)'}"


def _selection_sentence(selection: Selection, metric: Metric) -> str:
    score = "" if selection.validation_score is None else fixed(selection.validation_score, UNIT_DECIMALS)
    if selection.code == "validation-agrees":
        among = f"{selection.among} ({score} there)"
        return f"The validation rows also choose it among {among}: its interval is unbiased."
    hint = ""
    if selection.chosen is not None:
        hint = f"; the validation rows choose {_score_text(selection.chosen, metric)}, with {score} there"
    elif selection.nested:
        hint = f"; the interval of {selection.nested} is not"
    elif selection.can_be_nested:
        hint = "; use `--nested` for an unbiased one"
    return f"As the best of {selection.among} models it has an optimistic interval{hint}."


def _score_text(score: ModelScore, metric: Metric) -> str:
    decimals = decimals_of(metric, [score])
    text = f"{score.model} with {fixed(score.mean or 0.0, decimals)}"
    if score.low is None or score.high is None:
        return text
    return f"{text} (95 % CI {fixed(score.low, decimals)} to {fixed(score.high, decimals)})"


def remarks_on(group: Group, verbose: bool = True) -> Notes:
    """The notes below the table of one dataset; what holds for several models is said once."""
    return notes(*_remarks_in_words(group, verbose))


def _remarks_in_words(group: Group, verbose: bool) -> Iterator[str]:
    remarks = {name: remarks_of(result) for result, name in group.items()}

    def with_code(*codes: str) -> list[tuple[Remark, str]]:
        return [
            (remark, name) for name, of_model in remarks.items() for remark in of_model if remark.code in codes
        ]

    for steps, who in _models_by_value(((steps_of(result.cell), name) for result, name in group.items()), group):
        yield f"steps before {who}: {steps}"
    for remark, who in _models_by_value(with_code("note"), group):
        yield f"{who}: {remark.why}"
    if verbose:
        routes = ((_routes_text(of_model), name) for name, of_model in remarks.items())
        closed_forms = "; ".join(f"{who} ({text})" for text, who in _models_by_value(routes, group))
        if closed_forms:
            yield f"computed in closed form, equal to refitting in each split: {closed_forms}"
    yield from _score_remarks(with_code("undefined-score", "marked-score"), group)
    yield from _infinite_scores(with_code("infinite-score"), group)
    for remark, name in with_code("splits-vary"):
        if verbose or remark.beyond_rows:
            yield f"{name}: {remark.metric} varies between the splits: {remark.why}"
    for remark, name in with_code("largest-class"):
        yield (
            f"{name}: leaving rows out makes their class rarer, so it predicts another class; compare with the "
            f"share of the largest class instead, {fixed(remark.share or 0.0, UNIT_DECIMALS)}"
        )
    yield from _fit_warnings(with_code("fit-warning"), group)


def _routes_text(remarks: Iterable[Remark]) -> str:
    """The closed forms of a model, with the splits that each of them answered unless one answered all."""
    routes = [remark for remark in remarks if remark.code == "closed-form"]
    if sum(route.splits or 0 for route in routes) == (routes[0].of_splits if routes else 0):
        return ", ".join(route.why for route in routes)
    return ", ".join(f"{route.why} in {route.splits} of {route.of_splits} splits" for route in routes)


def _score_remarks(remarks: Iterable[tuple[Remark, str]], group: Group) -> Iterator[str]:
    """Remarks on scores: metrics with the same remark together, then the remarks on the same metrics together."""
    metrics: dict[tuple[str, str], list[str]] = {}
    for remark, who in _models_by_value(remarks, group):
        metrics.setdefault((who, remark.why), []).append(remark.metric)
    texts: dict[str, list[str]] = {}
    for (who, why), names in metrics.items():
        texts.setdefault(f"{who}: {', '.join(names)}", []).append(why)
    for subject, reasons in texts.items():
        yield from _first_of_many(subject, reasons)


def _infinite_scores(remarks: Iterable[tuple[Remark, str]], group: Group) -> Iterator[str]:
    """The models whose score by a metric is infinite, once for all of them."""
    names: dict[str, list[str]] = {}
    reasons: dict[str, str] = {}
    for remark, name in remarks:
        names.setdefault(remark.metric, []).append(name)
        reasons.setdefault(remark.metric, remark.why)
    yield from (f"{_who(names[metric], group)}: {metric} is infinite: {why}" for metric, why in reasons.items())


def _fit_warnings(remarks: Iterable[tuple[Remark, str]], group: Group) -> Iterator[str]:
    """The first warnings from each model or from several, with the number of splits if it is not all."""
    warnings: dict[str, list[str]] = {}
    for remark, who in _models_by_value(remarks, group):
        where = "" if remark.splits == remark.of_splits else f" ({remark.splits} of {remark.of_splits} splits)"
        warnings.setdefault(who, []).append(remark.why + where)
    for who, texts in warnings.items():
        yield from _first_of_many(f"warning from {who}", texts)


def _models_by_value(values: Iterable[tuple[T, str]], group: Group) -> Iterator[tuple[T, str]]:
    """Each value that is not empty, with the names of all models that have it."""
    models: dict[T, dict[str, None]] = {}
    for value, name in values:
        if value:
            models.setdefault(value, {})[name] = None
    return ((value, _who(list(names), group)) for value, names in models.items())


def _who(names: list[str], group: Group) -> str:
    return "all models" if len(names) == len(group) > 1 else ", ".join(names)


def _first_of_many(subject: str, texts: list[str]) -> Iterator[str]:
    """The first three texts and how many more there are: with 200 classes nobody reads one for each."""
    yield from (f"{subject}: {text}" for text in texts[:3])
    if len(texts) > 3:
        yield f"{subject}: {len(texts) - 3} more like these; --json has all of them"


GATE_SENTENCES: dict[FindingCode, str] = {
    "score": "{value:.4g}",
    "undefined": "undefined: {why}",
    "no-worse-side": "{metric} is best at 0: it has no worse side",
    "not-done": "the model is {status}",
    "no-score": "one of the two models has no score",
    "no-such-model": "{model} is not in this experiment",
    "no-model-judged": "no model of this experiment can be judged by it",
    "change-of-other-rows": "{metric} {value:.4g}, before {before:.4g}, on other rows",
    "not-comparable": "{why}",
    "not-in-run": "that run has no such model on this dataset",
    "not-done-in-run": "in that run the model is {status}",
}


def gate_sentence(finding: GateFinding) -> str:
    """What was found of an expectation, in words."""
    change = "" if finding.value is None else f"{finding.metric} {finding.value:+.4g}"
    if finding.code == "bound":
        score = f"score {finding.score:.4g}"
        return f"no interval; {score}" if finding.value is None else f"{finding.value:.4g} ({score})"
    if finding.code == "difference":
        return change if finding.p is None else f"{change}, p {as_equation(finding.p)} ({finding.test})"
    if finding.code == "change":
        if finding.low is None or finding.high is None:
            return finding.why or "no test could be made"
        return f"{change} (95 % interval {finding.low:.4g} to {finding.high:.4g})"
    return GATE_SENTENCES[finding.code].format(**vars(finding))
