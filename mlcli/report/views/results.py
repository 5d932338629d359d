"""The results of an experiment, by dataset: the table of models, remarks, matrices, and the verdict in words.

This is the only place where the codes of verdicts, remarks and gates become sentences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from mlcli.core.findings import Choices, Entry
from mlcli.core.names import counted
from mlcli.core.rows import SIMILARITY
from mlcli.experiment.results import SplitResult
from mlcli.metrics.base import Metric, Undefined
from mlcli.report.document import (
    DIGITS,
    UNIT_DECIMALS,
    Document,
    Element,
    GridCell,
    Heading,
    Notes,
    Sentence,
    as_equation,
    decimals_of,
    explained,
    fixed,
    grid,
    notes,
)
from mlcli.report.views.classification import confusion_elements, probability_pictures
from mlcli.report.views.plan import opening, steps_of, subject_of
from mlcli.report.views.score_table import scores_by_series, spread_elements, table_of_models
from mlcli.scoring.differences import LARGEST_CLASS, best_of, differences_of
from mlcli.scoring.gates import FindingCode, Gate, GateFinding
from mlcli.scoring.model_results import (
    Group,
    ModelResult,
    choices_of,
    first_cell,
    groups_of,
    metrics_in,
    requested_decomposition,
    subgroup,
)
from mlcli.scoring.verdict import ModelScore, Remark, Selection, Verdict, remarks_of, verdict_on
from mlcli.tasks.table import kind_named, named

if TYPE_CHECKING:
    from mlcli.metrics.bias_variance import Decomposition

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
        if baseline is not None and verdict.gain is None:
            opening += f", the baseline is {_score_text(baseline, metric)}"
        elif baseline is not None:
            size = fixed(abs(verdict.gain or 0.0), decimals_of(metric, [best]))
            direction = {"high": "above", "low": "below", "zero": "from"}[metric.better]
            standard = LARGEST_CLASS if verdict.is_largest_class else f"the baseline {baseline.model}"
            doubt = "" if verdict.gain_is_significant else " (not significant)"
            opening += f", {size} {direction} {standard}{doubt}"
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
    """The notes below the table of one dataset; notes that several models share are merged."""
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
    infinite: dict[str, list[tuple[Remark, str]]] = {}
    for remark, name in with_code("infinite-score"):
        infinite.setdefault(remark.metric, []).append((remark, name))
    for metric, pairs in infinite.items():
        yield f"{_who([name for _, name in pairs], group)}: {metric} is infinite: {pairs[0][0].why}"
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
    """The closed forms of a model, with the number of splits of each unless one computed all."""
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
    """The first three texts and the number of the others: there may be one for each of 200 classes."""
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
    "no-model-scored": "no model of this experiment can be scored by it",
    "change-of-other-rows": "{metric} {value:.4g}, before {before:.4g}, on other rows",
    "not-comparable": "{why}",
    "not-in-run": "that run has no such model on this dataset",
    "not-done-in-run": "in that run the model is {status}",
}


def gate_sentence(finding: GateFinding) -> str:
    """The finding of a gate, in words."""
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


@dataclass(frozen=True)
class Details:
    """What is shown in addition to tables, verdicts and the predictions of the best model."""

    verbose: bool = True
    """The predictions of every model, and how intervals and predictions were computed."""
    classes: bool = False
    """The rates of each class."""
    curves: bool = False
    """ROC, precision-recall and calibration curves."""
    fair: bool = False
    """The predictions by sensitive group."""
    spread: bool = False
    """How scores vary over the splits."""
    similarity: float = SIMILARITY
    """How similar two rows must be for their predictions to be compared."""


def results_of(scored: Sequence[ModelResult], details: Details = Details()) -> Document:
    """All results, those of one dataset and kind together."""
    groups = groups_of(scored)
    elements = [element for group in groups for element in results_of_group(group, details)]
    return (*elements, *(over_datasets(scored) if len(groups) > 1 else ()))


def over_datasets(scored: Sequence[ModelResult]) -> Iterator[Element]:
    """The models over several datasets, below the results of each."""
    from mlcli.report.views.comparison import summary_over_datasets

    return summary_over_datasets(scored)


def results_of_group(group: Group, details: Details, verdict_first: bool = False) -> Iterator[Element]:
    """The results of one dataset and kind, with the verdict below them or above."""
    metric = metrics_in(group)[0]
    differences = differences_of(group, metric)
    verdict = list(verdict_sentences(verdict_on(group, differences)))
    yield from opening([result.cell for result in group])
    if verdict_first:
        yield from verdict
    yield from table_of_models(group, differences, intervals=details.verbose)
    yield remarks_on(group, details.verbose)
    if details.spread:
        yield from spread_elements(group, metric)
    yield from scores_by_series(group, metric)
    yield from requested_elements(group)
    for result, name in group.items():
        if choices := choices_of(result):
            yield from _choice_elements(name, choices)
    yield from _prediction_elements(group, details)
    if details.curves:
        pictures = list(probability_pictures(models_to_draw(group)))
        yield from pictures or [notes("no curves: no model here predicts probabilities of classes")]
    if details.fair:
        from mlcli.report.views.fairness import fairness_of

        yield from fairness_of(group, details.similarity)
    if not verdict_first:
        yield from verdict


def requested_elements(group: Group) -> Iterator[Element]:
    """Bias and variance of all models whose protocol asks for them, or why there are none."""
    models: dict[str, Decomposition] = {}
    reasons: dict[str, None] = {}
    for result, name in group.items():
        decomposition = requested_decomposition(result)
        if isinstance(decomposition, Undefined):
            reasons[decomposition.why] = None
        elif decomposition is not None:
            models[name] = decomposition
    if models:
        from mlcli.report.views.curves import decomposition_elements

        yield from decomposition_elements(models)
    if reasons:
        yield notes(*(f"no bias and variance: {why}" for why in reasons))


def table_of_group(group: Group) -> Iterator[Element]:
    """The short form of one dataset: its table and the verdict."""
    yield Heading(subject_of(first_cell(group)))
    yield from table_of_models(group)
    yield from verdict_sentences(verdict_on(group, differences_of(group, metrics_in(group)[0])))


def models_to_draw(group: Group) -> Group:
    """All finished models except the default baselines of their kind, unless there are no others."""
    done = subgroup(group, [result for result in group if result.done and result.cell.model.requested])
    baselines = kind_named(first_cell(group).kind).baselines
    models = [result for result in done if result.cell.model.saved or result.cell.model.use not in baselines]
    return subgroup(done, models) or done


def _prediction_elements(group: Group, details: Details) -> Iterator[Element]:
    """Confusion matrices and the pictures of the kind of task, for all models or for the best."""
    models = models_to_draw(group)
    best = best_of(models, metrics_in(group)[0]) or next(iter(models), None)
    drawn = models if details.verbose or details.classes or best is None else subgroup(models, [best])
    yield from confusion_elements(drawn, every_class=details.verbose, with_rates=details.classes)
    if models:
        kind = kind_named(first_cell(models).kind)
        if kind.picture_of_table_at:
            yield from named(kind.picture_of_table_at)(models)
        if kind.picture_at:
            for result, name in drawn.items():
                yield from named(kind.picture_at)(name, result.answers)
    if not details.verbose:
        left_out = len(models) - len(drawn)
        more = f"the predictions of {counted(left_out, 'more model')}, " if left_out else ""
        yield notes(f"-v shows {more}how intervals were computed, and closed forms")


def _choice_elements(title: str, choices: Sequence[tuple[SplitResult, Choices]]) -> Iterator[Element]:
    """The choices of inner splits in each split, their counts, and which values lie at the end of their range."""
    names = tuple(dict.fromkeys(name for _, chosen in choices for name in chosen.names))
    yield Heading(f"{title}: chosen by inner splits")
    if len(choices) <= 20:  # with more splits, how often each choice was made says more
        header = ("split", *names, f"inner {choices[0][1].metric}")
        rows = []
        for split, chosen in choices:
            marked = zip(chosen.names, chosen.values, chosen.edges, strict=True)
            texts = {name: _value_text(value) + "*" * bool(edge) for name, value, edge in marked}
            # With too few rows for inner splits, nothing is chosen.
            rows.append((split.label, *(texts.get(name, "") for name in names), _value_text(chosen.score)))
        yield grid(header, rows, right=range(1, len(header)))
    yield notes(*_choice_notes([chosen for _, chosen in choices]))
    if len(choices) == 1:
        yield from explained(finding for finding in choices[0][0].explanation if finding.code == "candidates")


def _choice_notes(choices: Sequence[Choices]) -> Iterator[str]:
    values: Counter[str] = Counter()
    edges: Counter[tuple[str, str]] = Counter()
    for chosen in choices:
        pairs = zip(chosen.names, chosen.values, strict=True)
        values[", ".join(f"{name}={_value_text(value)}" for name, value in pairs)] += 1
        edges.update((name, edge) for name, edge in zip(chosen.names, chosen.edges, strict=True) if edge)
    ranked = values.most_common()
    if len(choices) > 1 and ranked[0][1] > 1:
        shown = 5
        most = "; ".join(f"{text} in {count}" for text, count in ranked[:shown])
        more = f", {len(ranked) - shown} others" if len(ranked) > shown else ""
        yield f"chosen most often, of {len(choices)} splits: {most}{more}"
    elif len(choices) > 1:
        yield f"each of {len(choices)} splits chose differently"
    for (name, edge), count in edges.items():
        yield f"{name} was the {edge} value tried in {count} of {len(choices)} splits: try values beyond it"
    if edges:
        yield "* is at the end of the range that was searched"


def _value_text(value: Entry) -> str:
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value)


def gates_as_elements(gates: Sequence[Gate]) -> Iterator[Element]:
    """The gates as a table, and how many failed; nothing where there are none."""
    if not gates:
        return
    yield Heading("Gates", 1)
    rows = (
        (
            gate.dataset,
            gate.model,
            gate.expected,
            gate_sentence(gate.found),
            GridCell("passed", "best") if gate.passed else GridCell("FAILED", "bad"),
        )
        for gate in gates
    )
    yield grid(["dataset", "model", "expected", "found", "result"], rows, keys=2)
    failed, total = sum(not gate.passed for gate in gates), counted(len(gates), "gate")
    yield Sentence(f"{failed} of {total} failed." if failed else f"All {total} passed.", "strong")
