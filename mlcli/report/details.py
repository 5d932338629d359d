"""What stands below the table of models: the kinds table says which picture each kind has of its answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mlcli.metrics.pooling import joined
from mlcli.report.document import Block
from mlcli.report.scored import Scored, judged
from mlcli.tasks.table import kind_named, named


def picture_of_all(group: Sequence[Scored], names: Mapping[Scored, str]) -> Iterator[Block]:
    """What the cells of a table show together, if their kind has a picture of it."""
    done = [one for one in group if one.done]
    if done and (place := kind_named(done[0].result.cell.kind).picture_of_table_at):
        yield from named(place)(done, names)


def picture_of(title: str, scored: Scored) -> Iterator[Block]:
    """The picture of a cell's answers, if its kind has one."""
    kind, answers = kind_named(scored.result.cell.kind), judged(scored.result)
    if answers and kind.picture_at:
        yield from named(kind.picture_at)(title, joined(answers))


def json_of(scored: Scored) -> dict[str, Any]:
    """What the kind of a cell adds to its entry in the JSON document."""
    place = kind_named(scored.result.cell.kind).json_at if scored.done else ""
    added: dict[str, Any] = named(place)(scored) if place else {}
    return added
