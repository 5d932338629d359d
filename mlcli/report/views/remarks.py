"""What must be known to read a table: steps, undefined scores, marks and warnings, each said once."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from mlcli.core.registry import STEPS
from mlcli.experiment.run.learner import with_nested_steps
from mlcli.experiment.run.split_results import each
from mlcli.experiment.spec.cells import Cell, CellResult, StepSpec
from mlcli.experiment.spec.labels import nested_models, settings_of
from mlcli.metrics.base import Summary
from mlcli.metrics.interval_rules import TRUST
from mlcli.metrics.pooling import distinct
from mlcli.report.document import Notes, notes
from mlcli.report.numbers import UNIT_DECIMALS, fixed
from mlcli.scoring.differences import is_largest_class_standard, share_of_largest
from mlcli.scoring.model_results import Group, coordinate_name, judged_answers, metrics_in

ARROW = " → "
MOST_ALIKE = 3
"""How many remarks of one kind are shown: with 200 classes nobody reads one for each."""
FEWEST_FOLDS = 3
"""Below this, whether one fold stands apart cannot be said."""
Remark = TypeVar("Remark", bound=Hashable)


def _steps_and_notes(group: Group) -> Iterator[str]:
    """The steps before models, and what was noted of cells when they were run."""
    noted = ((note, name) for result, name in group.items() for note in result.cell_result.notes)
    prepared = ((steps_of(result.cell), name) for result, name in group.items())
    yield from (f"steps before {who}: {steps}" for steps, who in _by_remark(prepared, group))
    yield from (f"{who}: {note}" for note, who in _by_remark(noted, group))


def steps_of(cell: Cell) -> str:
    """The steps of a cell in order, then those before the models inside its model; or nothing."""
    here = all(spec.is_installed for spec in (cell.model, *cell.steps))
    known = here and not cell.skipped and any(nested_models(cell.model.params))
    run = with_nested_steps(cell.model, cell.steps, cell.kind, cell.dataset.schema) if known else cell.model
    nested = ((nested_model.steps, nested_model.start[:-1]) for nested_model in nested_models(run.params))
    inside = (f"{ARROW.join(map(_step_text, steps))} in {where}" for steps, where in nested if steps)
    return "; ".join(filter(None, (ARROW.join(map(_step_text, cell.steps)), *inside)))


def _step_text(step: StepSpec) -> str:
    settings = settings_of(step, STEPS)
    return f"{step.use} ({settings})" if settings else step.use


def _closed_forms(group: Group) -> Iterator[str]:
    """Which models were answered in closed form over all splits, and how."""
    routes = ((_route_text(result.cell_result), name) for result, name in group.items() if result.done)
    text = "; ".join(f"{who} ({route})" for route, who in _by_remark(routes, group))
    if text:
        yield f"computed in closed form, equal to refitting in each split: {text}"


def _route_text(result: CellResult) -> str:
    counts = result.routes()
    if sum(counts.values()) == len(result.splits):
        return ", ".join(counts)
    return ", ".join(f"{route} in {count} of {len(result.splits)} splits" for route, count in counts.items())


def _score_marks(group: Group) -> Iterator[str]:
    """Why scores are undefined, and what is marked of the others; metrics of which the same is said together."""
    marks = (
        ((summary.metric, text), name)
        for result, name in group.items()
        for summary in result.summaries.values()
        if not _is_infinite(summary)
        for text in ((summary.why,) if summary.mean is None else summary.marks)
    )
    together: dict[tuple[str, str], list[str]] = {}
    for (metric, text), who in _by_remark(marks, group):
        together.setdefault((who, text), []).append(metric)
    alike: dict[str, list[str]] = {}
    for (who, text), metrics in together.items():
        alike.setdefault(f"{who}: {', '.join(metrics)}", []).append(text)
    for whose, texts in alike.items():
        yield from _first_of_many(whose, texts)


def _is_infinite(summary: Summary) -> bool:
    return summary.mean is not None and math.isinf(summary.mean)


def _infinite_scores(group: Group) -> Iterator[str]:
    """The models whose score by a metric is infinite, once for all of them, with what to do."""
    for metric in metrics_in(group):
        done = {result: result.summaries[metric.name] for result in group if metric.name in result.summaries}
        infinite = [result for result, summary in done.items() if _is_infinite(summary)]
        if infinite:
            names = (
                "all models"
                if len(infinite) == len(group) > 1
                else ", ".join(group[result] for result in infinite)
            )
            yield f"{names}: {metric.name} is infinite: {metric.when_infinite or done[infinite[0]].why}"


def _first_of_many(whose: str, texts: Sequence[str]) -> Iterator[str]:
    """The first of remarks that are alike, and how many more there are."""
    yield from (f"{whose}: {text}" for text in texts[:MOST_ALIKE])
    if len(texts) > MOST_ALIKE:
        yield f"{whose}: {len(texts) - MOST_ALIKE} more like these; --json has all of them"


def _unstable_folds(group: Group) -> Iterator[str]:
    """Where the accuracies of folds do not agree, with what makes one say so."""
    yield from (remark for remark, _ in _verdicts_on_folds(group))


def _folds_that_disagree(group: Group) -> Iterator[str]:
    """The same only where folds vary by more than their rows explain, which nobody should have to ask for."""
    yield from (remark for remark, beyond in _verdicts_on_folds(group) if beyond)


def _verdicts_on_folds(group: Group) -> Iterator[tuple[str, bool]]:
    """The verdicts that are not "consistent", and whether chance would rarely make folds vary so much."""
    from mlcli.metrics.stability import beyond_rows, fold_stability

    for result, name in group.items():
        if result.pooled or coordinate_name(result.cell_result) or "accuracy" not in result.summaries:
            continue
        values = [value for value in result.summaries["accuracy"].splits if value is not None]
        splits = judged_answers(result.cell_result)
        rows = [len(split) for split in splits]
        if len(values) < max(FEWEST_FOLDS, len(rows)):
            continue
        stability = fold_stability(values, rows)
        if stability.verdict != "consistent":
            judged = len(distinct(result.answers))
            share = np.mean(values)
            beyond = beyond_rows(
                np.array(values), splits, float(share * (1 - share)) / (TRUST * judged), judged - 1
            )
            yield f"{name}: accuracy varies between the splits: {stability.why}", beyond


def _baselines_below_chance(group: Group) -> Iterator[str]:
    """A baseline that splits make look worse than it is, so that no gain over it is believed."""
    for result in filter(is_largest_class_standard, group):
        largest = fixed(share_of_largest(result), UNIT_DECIMALS)
        yield (
            f"{group[result]}: leaving rows out makes their class rarer, so it predicts another class; compare "
            f"with the share of the largest class instead, {largest}"
        )


def _warning_remarks(group: Group) -> Iterator[str]:
    alike: dict[tuple[str, str], list[str]] = {}
    for text, who in _by_remark(_warnings_in(group), group):
        alike.setdefault((who, text.partition(": ")[0]), []).append(text)
    for (who, _), texts in alike.items():
        yield from _first_of_many(f"warning from {who}", texts)


def _warnings_in(group: Group) -> Iterator[tuple[str, str]]:
    for result, name in group.items():
        splits = each(result.splits, "warnings") if result.done else []
        for text in dict.fromkeys(text for of_split in splits for text in of_split):
            count = sum(text in of_split for of_split in splits)
            yield (text if count == len(splits) else f"{text} ({count} of {len(splits)} splits)"), name


def _by_remark(remarks: Iterable[tuple[Remark, str]], group: Group) -> Iterator[tuple[Remark, str]]:
    """Each thing that is said, with everyone it holds for."""
    who: dict[Remark, dict[str, None]] = {}
    for text, name in remarks:
        if text:
            who.setdefault(text, {})[name] = None
    everyone = len(group) if len(group) > 1 else 0
    return ((text, "all models" if len(of) == everyone else ", ".join(of)) for text, of in who.items())


EVERY = (
    _steps_and_notes,
    _closed_forms,
    _score_marks,
    _infinite_scores,
    _unstable_folds,
    _baselines_below_chance,
    _warning_remarks,
)


IN_SHORT = (
    _steps_and_notes,
    _score_marks,
    _infinite_scores,
    _folds_that_disagree,
    _baselines_below_chance,
    _warning_remarks,
)
"""What the scores are of, what they lack, and what was warned of."""


def remarks_on(group: Group, every: bool = True) -> Notes:
    """What is worth a note below the table of one dataset."""
    return notes(*(remark for remarks in (EVERY if every else IN_SHORT) for remark in remarks(group)))
