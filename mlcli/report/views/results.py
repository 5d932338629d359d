"""What an experiment found, per dataset: the table of models, what to know of it, the matrices, the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlcli.core.names import listed
from mlcli.core.params import build
from mlcli.core.registry import MODELS, STEPS
from mlcli.experiment.spec.cells import AS_SAVED, POOLED, Cell
from mlcli.experiment.spec.labels import as_typed
from mlcli.report.document import Document, Element, Heading, Sentence, notes
from mlcli.report.numbers import counted
from mlcli.report.scoring.curves import scores_by_series
from mlcli.report.scoring.differences import beside_best, differences_of
from mlcli.report.scoring.scored import Group, Scored, cell_of, grouped, metrics_in, only_of
from mlcli.report.views.confusion import READING, READING_RATES, READING_REPEATS, confusion_of, rates_of
from mlcli.report.views.probabilities import probability_pictures
from mlcli.report.views.remarks import remarks_on
from mlcli.report.views.score_table import table_of_models
from mlcli.report.views.spread import spread_of
from mlcli.report.views.tuning import choices_in
from mlcli.report.views.verdict import verdict_on
from mlcli.tasks.table import kind_named, named

ROLES_SHOWN = {"group": "rows kept together by", "weight": "rows weighted by", "part": "parts in"}


@dataclass(frozen=True)
class Parts:
    """What is shown beside tables, verdicts and what the best model has answered."""

    every: bool = True
    """The answers of every model, and how intervals and answers were made."""
    classes: bool = False
    """The rates of each class."""
    curves: bool = False
    """Pictures of probabilities."""
    fair: bool = False
    """How groups are answered."""
    spread: bool = False
    """How scores spread over the splits."""


def results_of(scored: Sequence[Scored], parts: Parts = Parts()) -> Document:
    """All cells, those of one dataset and kind together."""
    groups = grouped(scored)
    elements = [element for group in groups for element in results_of_group(group, parts)]
    return (*elements, *(over_datasets(scored) if len(groups) > 1 else ()))


def over_datasets(scored: Sequence[Scored]) -> Iterator[Element]:
    """What closes the results of several datasets."""
    from mlcli.report.views.over_datasets import summary_over_datasets

    return summary_over_datasets(scored)


def results_of_group(group: Group, parts: Parts) -> Iterator[Element]:
    """The cells of one dataset and kind."""
    metric = metrics_in(group)[0]
    found = differences_of(group, metric)
    yield from opening([one.cell for one in group])
    yield from table_of_models(group, beside_best(found), intervals=parts.every)
    yield remarks_on(group, parts.every)
    if parts.spread:
        yield from spread_of(group, metric)
    yield from scores_by_series(group, metric)
    yield from choices_in(group)
    yield from _answers(group, parts, found.best if found else None)
    if parts.curves:
        yield from probability_pictures(worth_drawing(group))
    if parts.fair:
        from mlcli.report.views.fairness import fairness_of

        yield from fairness_of(group)
    yield from verdict_on(group, found)


def _answers(group: Group, parts: Parts, best: Scored | None) -> Iterator[Element]:
    models = worth_drawing(group)
    shown = best if best in models else next(iter(models), None)
    drawn = models if parts.every or parts.classes or shown is None else only_of(models, [shown])
    yield from _matrices(drawn, parts)
    yield from _pictures(models, drawn)
    left = len(models) - len(drawn)
    if not parts.every:
        more = f"the answers of {counted(left, 'more model')}, " if left else ""
        yield notes(f"-v shows {more}how intervals were made, and what was answered in closed form")


def table_of_group(group: Group) -> Iterator[Element]:
    """The short form of one dataset: its table, and what it says."""
    yield Heading(subject_of(cell_of(group)))
    yield from table_of_models(group)
    yield from verdict_on(group, differences_of(group, metrics_in(group)[0]))


def opening(cells: Sequence[Cell]) -> Iterator[Element]:
    """What a table is about: dataset, task, protocols, and what was guessed."""
    protocols = dict.fromkeys(map(protocol_words, cells))
    yield Heading(subject_of(cells[0]), 1)
    subject = f"{_rows_of(cells)}, {_width_of(cells[0])}{_roles_of(cells[0])}"
    yield Sentence(f"{subject}; {'; '.join(protocols)}; random seed {cells[0].seed}")
    if found := _notes_on(cells):
        yield notes(*found, mark="-")


def _notes_on(cells: Sequence[Cell]) -> list[str]:
    """What is said of the dataset; of several protocols also what is said of how one of them splits it."""
    every: dict[str, dict[str, None]] = {}
    for cell in cells:
        for note in cell.dataset.notes:
            every.setdefault(note, {})[cell.protocol.use] = None
    protocols = len({cell.protocol.use for cell in cells})
    return [note if len(of) == protocols else f"{', '.join(of)}: {note}" for note, of in every.items()]


def _rows_of(cells: Sequence[Cell]) -> str:
    """How many rows there are, how many of them nothing can be judged by, and what learns from them."""
    data = cells[0].dataset
    rows = counted(len(data), "row")
    if not data.unlabelled:
        return rows
    learners = list(dict.fromkeys(cell.label for cell in cells if learns_from_unlabelled(cell)))
    if learners:
        return f"{rows} ({data.unlabelled:,} without a target, of use to {listed(learners)} only)"
    left_out = " left out" if kind_named(cells[0].kind).target == "needed" else ""
    return f"{rows} ({data.unlabelled:,} without a target{left_out})"


def learns_from_unlabelled(cell: Cell) -> bool:
    """Whether the model of a cell learns from rows without a target, beside those that have one."""
    model = cell.model
    if model.saved or model.use not in MODELS:
        return False
    steps = [build(STEPS.load(step.use), step.params) for step in cell.steps if step.use in STEPS]
    return any(part.accepts.unlabelled for part in (*steps, build(MODELS.load(model.use), model.params)))


def _roles_of(cell: Cell) -> str:
    """What changes how rows are split or counted."""
    found = ((words, cell.dataset.schema.the(role)) for role, words in ROLES_SHOWN.items())
    return "".join(f"; {words} '{column.name}'" for words, column in found if column is not None)


def _width_of(cell: Cell) -> str:
    """How many features there are, or what the kind of task counts instead."""
    schema = cell.dataset.schema
    known = ((role, schema.the(role)) for role in kind_named(cell.kind).counts)
    levels = [counted(len(column.levels), role) for role, column in known if column]
    sensitive = sum(column.sensitive for column in schema.features())
    beside = f" and {counted(sensitive, 'sensitive column')}" if sensitive else ""
    return ", ".join(levels) or counted(len(schema.features()) - sensitive, "feature") + beside


def subject_of(cell: Cell) -> str:
    """A dataset with what is done with it."""
    target = cell.dataset.schema.the("target")
    kind = kind_named(cell.kind)
    about = f" of {target.name}" if target and kind.uses_target and target.kind in kind.target_kinds else ""
    return f"{cell.dataset.name}: {cell.kind}{about}"


def protocol_words(cell: Cell) -> str:
    """The protocol with its settings."""
    if cell.protocol.use == AS_SAVED:
        return "saved models are asked about all rows as they are"
    settings = ", ".join(f"{key.replace('_', ' ')} {as_typed(one)}" for key, one in cell.protocol.params.items())
    words = f"{cell.protocol.use} ({settings})" if settings else cell.protocol.use
    return f"{words}, scores of all answers at once" if cell.average == POOLED else words


def _matrices(group: Group, parts: Parts) -> Iterator[Element]:
    drawn = {one: one.confusion for one in group if one.confusion is not None}
    for one, matrix in drawn.items():
        counted_as = "weight" if one.cell.dataset.schema.the("weight") else "rows"
        yield from confusion_of(group[one], matrix, one.classes, counted_as, parts.every)
        if parts.classes:
            yield rates_of(one.classes, counted_as)
    if drawn:
        repeated = any(one.repeated for one in drawn)
        yield notes(READING + READING_REPEATS * repeated, *[READING_RATES] * parts.classes)


def _pictures(group: Group, drawn: Group) -> Iterator[Element]:
    """The pictures of answers that their kind of task has: one of all cells, one of each that is drawn."""
    if not group:
        return
    kind = kind_named(cell_of(group).kind)
    if kind.picture_of_table_at:
        yield from named(kind.picture_of_table_at)(group)
    for one, name in drawn.items() if kind.picture_at else ():
        yield from named(kind.picture_at)(name, one.answers)


def worth_drawing(group: Group) -> Group:
    """All that are done but the baselines that every table of their kind shows, unless there is no other."""
    done = only_of(group, [one for one in group if one.done])
    kind = kind_named(cell_of(group).kind)
    models = [one for one in done if one.cell.model.saved or one.cell.model.use not in kind.baselines]
    return only_of(done, models) or done
