"""What an experiment found, per dataset: the table of models, what to know of it, the matrices, the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mlcli.experiment.cells import AS_SAVED
from mlcli.experiment.cells import Cell as ExperimentCell
from mlcli.experiment.labels import said, told_apart
from mlcli.report.confusion import READING, confusion_of
from mlcli.report.document import Block, Document, Heading, Notes, Sentence, notes
from mlcli.report.numbers import counted
from mlcli.report.remarks import remarks_on
from mlcli.report.scored import Scored
from mlcli.report.scores import table_of_models
from mlcli.report.verdict import is_baseline, verdict_on


def results_of(scored: Sequence[Scored]) -> Document:
    """All cells, those of one dataset, kind and protocol together."""
    groups: dict[tuple[object, ...], list[Scored]] = {}
    for one in scored:
        groups.setdefault(comparable(one.result.cell), []).append(one)
    return tuple(block for group in groups.values() for block in _group(group))


def comparable(cell: ExperimentCell) -> tuple[object, ...]:
    """What cells must share to stand in one table."""
    data = cell.dataset
    settings = tuple(sorted((name, repr(value)) for name, value in cell.protocol.params.items()))
    return data.name, data.content, cell.kind, cell.protocol.use, settings, cell.seed


def _group(group: Sequence[Scored]) -> Iterator[Block]:
    names = names_of(group)
    metrics = list({metric.name: metric for one in group for metric in one.metrics}.values())
    yield from opening(group[0].result.cell)
    yield from table_of_models(group, names, metrics)
    yield remarks_on(group, names)
    yield from _matrices(group, names)
    if metrics and (sentence := verdict_on(group, names, metrics[0])):
        yield Sentence(sentence, "strong")


def opening(cell: ExperimentCell) -> Iterator[Block]:
    """What a table is about: dataset, task, protocol, and what was guessed."""
    data = cell.dataset
    yield Heading(subject_of(cell), 1)
    yield Sentence(
        f"{counted(len(data), 'row')}, {counted(len(data.schema.features()), 'feature')}"
        f"; {protocol_words(cell)}; seed {cell.seed}"
    )
    if data.notes:
        yield Notes(tuple(("-", note) for note in data.notes))


def subject_of(cell: ExperimentCell) -> str:
    """A dataset with what is done with it."""
    target = cell.dataset.schema.the("target")
    return f"{cell.dataset.name}: {cell.kind}" + (f" of {target.name}" if target else "")


def protocol_words(cell: ExperimentCell) -> str:
    """The protocol with its settings."""
    if cell.protocol.use == AS_SAVED:
        return "a saved model, asked about all rows as it is"
    settings = ", ".join(f"{name.replace('_', ' ')} {said(value)}" for name, value in cell.protocol.params.items())
    return f"{cell.protocol.use} ({settings})" if settings else cell.protocol.use


def _matrices(group: Sequence[Scored], names: Mapping[Scored, str]) -> Iterator[Block]:
    """A matrix for each model; that of the baseline only where there is no other."""
    known = [one for one in group if one.confusion is not None]
    drawn = [one for one in known if not is_baseline(one)] or known
    for one in drawn:
        assert one.confusion is not None
        yield from confusion_of(names[one], one.confusion, one.classes)
    if drawn:
        yield notes(READING)


def names_of(group: Sequence[Scored]) -> dict[Scored, str]:
    """The name of each row: its label, with what tells it from others of the same label."""
    return dict(zip(group, told_apart([one.result.cell.model for one in group]), strict=True))
