"""Which cells stand in one table, and what each of them is called there."""

from __future__ import annotations

from collections.abc import Sequence

from mlcli.experiment.spec.cells import Cell, ProtocolSpec
from mlcli.experiment.spec.labels import distinct_labels
from mlcli.report.scored import Scored


def grouped(scored: Sequence[Scored]) -> list[list[Scored]]:
    """The cells by the tables that they stand in."""
    groups: dict[tuple[object, ...], list[Scored]] = {}
    first: dict[tuple[object, ...], ProtocolSpec] = {}
    for one in scored:
        cell, key = one.cell, comparable(one.cell)
        if cell.model.saved is None:
            first.setdefault(key, cell.protocol)
        protocol = cell.protocol if cell.model.saved is None else first.get(key, cell.protocol)
        groups.setdefault((*key, protocol.use, str(protocol.params)), []).append(one)
    return list(groups.values())


def comparable(cell: Cell) -> tuple[object, ...]:
    """What cells must share to stand in one table; a saved model stands beside those that learn in splits."""
    return cell.dataset.name, cell.dataset.content, cell.kind, cell.seed


def names_of(group: Sequence[Scored]) -> dict[Scored, str]:
    """The name of each row: its label, with what tells it from others of the same label."""
    return dict(zip(group, distinct_labels([one.cell.model for one in group]), strict=True))
