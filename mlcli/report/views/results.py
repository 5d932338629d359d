"""What an experiment found, per dataset: the table of models, what to know of it, the matrices, the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlcli.core.groups import SIMILARITY
from mlcli.core.names import counted
from mlcli.report.document import Document, Element, GridCell, Heading, Sentence, grid, notes
from mlcli.report.numbers import as_equation
from mlcli.report.views.curves import requested_elements
from mlcli.report.views.kinds.classification import (
    MATRIX_LEGEND,
    RATES_LEGEND,
    REPEATS_LEGEND,
    confusion_of,
    probability_pictures,
    rates_of,
)
from mlcli.report.views.plan import opening, subject_of
from mlcli.report.views.remarks import remarks_on
from mlcli.report.views.score_table import distances_to_best, scores_by_series, spread_of, table_of_models
from mlcli.report.views.tuning import choices_in
from mlcli.report.views.verdict import verdict_on
from mlcli.scoring.differences import best_of, differences_of
from mlcli.scoring.gates import FindingCode, Gate, GateFinding
from mlcli.scoring.model_results import Group, ModelResult, first_cell, groups_of, metrics_in, subgroup
from mlcli.tasks.table import kind_named, named

GATES = {True: GridCell("passed", "best"), False: GridCell("FAILED", "bad")}

NO_CLASSES = "no rates of classes: no model here predicts classes"
NO_CURVES = "no curves: no model here predicts probabilities of classes"


@dataclass(frozen=True)
class Details:
    """What is shown beside tables, verdicts and what the best model has answered."""

    verbose: bool = True
    """The answers of every model, and how intervals and answers were made."""
    classes: bool = False
    """The rates of each class."""
    curves: bool = False
    """Pictures of probabilities."""
    fair: bool = False
    """How groups are answered."""
    spread: bool = False
    """How scores spread over the splits."""
    similarity: float = SIMILARITY
    """How alike two rows must be for their answers to be compared."""


def results_of(scored: Sequence[ModelResult], details: Details = Details()) -> Document:
    """All cells, those of one dataset and kind together."""
    groups = groups_of(scored)
    elements = [element for group in groups for element in results_of_group(group, details)]
    return (*elements, *(over_datasets(scored) if len(groups) > 1 else ()))


def over_datasets(scored: Sequence[ModelResult]) -> Iterator[Element]:
    """What closes the results of several datasets."""
    from mlcli.report.views.comparison import summary_over_datasets

    return summary_over_datasets(scored)


def results_of_group(group: Group, details: Details, verdict_first: bool = False) -> Iterator[Element]:
    """The results of one dataset and kind, with the verdict below them or above."""
    metric = metrics_in(group)[0]
    differences = differences_of(group, metric)
    verdict = list(verdict_on(group, differences))
    yield from opening([result.cell for result in group])
    if verdict_first:
        yield from verdict
    yield from table_of_models(group, distances_to_best(differences), intervals=details.verbose)
    yield remarks_on(group, details.verbose)
    if details.spread:
        yield from spread_of(group, metric)
    yield from scores_by_series(group, metric)
    yield from requested_elements(group)
    yield from choices_in(group)
    yield from _answers_elements(group, details)
    if details.curves:
        yield from list(probability_pictures(models_to_draw(group))) or [notes(NO_CURVES)]
    if details.fair:
        from mlcli.report.views.fairness import fairness_of

        yield from fairness_of(group, details.similarity)
    if not verdict_first:
        yield from verdict


def _answers_elements(group: Group, details: Details) -> Iterator[Element]:
    models = models_to_draw(group)
    shown = best_of(models, metrics_in(group)[0]) or next(iter(models), None)
    drawn = models if details.verbose or details.classes or shown is None else subgroup(models, [shown])
    yield from _confusion_elements(drawn, details)
    yield from _kind_pictures(models, drawn)
    left = len(models) - len(drawn)
    if not details.verbose:
        more = f"the predictions of {counted(left, 'more model')}, " if left else ""
        yield notes(f"-v shows {more}how intervals were computed, and closed forms")


def table_of_group(group: Group) -> Iterator[Element]:
    """The short form of one dataset: its table, and what it says."""
    yield Heading(subject_of(first_cell(group)))
    yield from table_of_models(group)
    yield from verdict_on(group, differences_of(group, metrics_in(group)[0]))


def _confusion_elements(group: Group, details: Details) -> Iterator[Element]:
    drawn = {result: result.confusion for result in group if result.confusion is not None}
    for result, matrix in drawn.items():
        counted_as = "weight" if result.cell.dataset.schema.the("weight") else "rows"
        yield from confusion_of(group[result], matrix, result.classes, counted_as, details.verbose)
        if details.classes:
            yield rates_of(result.classes, counted_as)
    if drawn:
        repeated = any(result.repeated for result in drawn)
        yield notes(MATRIX_LEGEND + REPEATS_LEGEND * repeated, *[RATES_LEGEND] * details.classes)
    elif details.classes:
        yield notes(NO_CLASSES)


def _kind_pictures(group: Group, drawn: Group) -> Iterator[Element]:
    """The pictures of answers that their kind of task has: one of all cells, one of each that is drawn."""
    if not group:
        return
    kind = kind_named(first_cell(group).kind)
    if kind.picture_of_table_at:
        yield from named(kind.picture_of_table_at)(group)
    for result, name in drawn.items() if kind.picture_at else ():
        yield from named(kind.picture_at)(name, result.answers)


def models_to_draw(group: Group) -> Group:
    """All that are done but the baselines that every table of their kind shows, unless there is no other."""
    done = subgroup(group, [result for result in group if result.done and result.cell.model.requested])
    kind = kind_named(first_cell(group).kind)
    models = [result for result in done if result.cell.model.saved or result.cell.model.use not in kind.baselines]
    return subgroup(done, models) or done


def gates_as_elements(gates: Sequence[Gate]) -> Iterator[Element]:
    """The gates as a table, and how many failed; nothing where there are none."""
    if not gates:
        return
    yield Heading("Gates", 1)
    rows = (
        (gate.dataset, gate.model, gate.expected, gate_sentence(gate.found), GATES[gate.passed]) for gate in gates
    )
    yield grid(["dataset", "model", "expected", "found", "result"], rows, keys=2)
    failed, all_of_them = sum(not gate.passed for gate in gates), counted(len(gates), "gate")
    yield Sentence(f"{failed} of {all_of_them} failed." if failed else f"All {all_of_them} passed.", "strong")


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


def gate_sentence(gate_finding: GateFinding) -> str:
    """What was found of an expectation, in words."""
    change = "" if gate_finding.value is None else f"{gate_finding.metric} {gate_finding.value:+.4g}"
    if gate_finding.code == "bound":
        score = f"score {gate_finding.score:.4g}"
        return f"no interval; {score}" if gate_finding.value is None else f"{gate_finding.value:.4g} ({score})"
    if gate_finding.code == "difference":
        return (
            change
            if gate_finding.p is None
            else f"{change}, p {as_equation(gate_finding.p)} ({gate_finding.test})"
        )
    if gate_finding.code == "change":
        if gate_finding.low is None or gate_finding.high is None:
            return gate_finding.why or "no test could be made"
        return f"{change} (95 % interval {gate_finding.low:.4g} to {gate_finding.high:.4g})"
    return GATE_SENTENCES[gate_finding.code].format(**vars(gate_finding))
