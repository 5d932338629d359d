"""The results of an experiment, by dataset: the table of models, remarks, matrices, and the verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlcli.core.findings import Choices, Entry
from mlcli.core.names import counted
from mlcli.core.rows import SIMILARITY
from mlcli.experiment.results import SplitResult
from mlcli.report.document import Document, Element, GridCell, Heading, Sentence, explained, grid, notes
from mlcli.report.numbers import DIGITS
from mlcli.report.views.classification import confusion_elements, probability_pictures
from mlcli.report.views.curves import requested_elements
from mlcli.report.views.plan import opening, subject_of
from mlcli.report.views.score_table import scores_by_series, spread_elements, table_of_models
from mlcli.report.views.sentences import gate_sentence, remarks_on, verdict_sentences
from mlcli.scoring.differences import best_of, differences_of
from mlcli.scoring.gates import Gate
from mlcli.scoring.model_results import (
    Group,
    ModelResult,
    choices_of,
    first_cell,
    groups_of,
    metrics_in,
    subgroup,
)
from mlcli.scoring.verdict import verdict_on
from mlcli.tasks.table import kind_named, named


@dataclass(frozen=True)
class Details:
    """What is shown beside tables, verdicts and the predictions of the best model."""

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
    """How alike two rows must be for their predictions to be compared."""


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


def table_of_group(group: Group) -> Iterator[Element]:
    """The short form of one dataset: its table and the verdict."""
    yield Heading(subject_of(first_cell(group)))
    yield from table_of_models(group)
    yield from verdict_sentences(verdict_on(group, differences_of(group, metrics_in(group)[0])))


def models_to_draw(group: Group) -> Group:
    """All that are done but the baselines that every table of their kind shows, unless there is no other."""
    done = subgroup(group, [result for result in group if result.done and result.cell.model.requested])
    baselines = kind_named(first_cell(group).kind).baselines
    models = [result for result in done if result.cell.model.saved or result.cell.model.use not in baselines]
    return subgroup(done, models) or done


def _prediction_elements(group: Group, details: Details) -> Iterator[Element]:
    """The predictions as matrices and as pictures of the kind of task, of all models or of the best."""
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
    """What inner splits chose in each split, how often each was chosen, and what is at the end of its range."""
    names = tuple(dict.fromkeys(name for _, chosen in choices for name in chosen.names))
    yield Heading(f"{title}: chosen by inner splits")
    if len(choices) <= 20:  # with more splits, how often each choice was made says more
        header = ("split", *names, f"inner {choices[0][1].metric}")
        rows = []
        for split, chosen in choices:
            marked = zip(chosen.names, chosen.values, chosen.edges, strict=True)
            texts = {name: _value_text(value) + "*" * bool(edge) for name, value, edge in marked}
            # Where rows are too few for inner splits, nothing is chosen.
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
