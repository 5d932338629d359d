"""What both discriminants learn first: the sums of each class, told from near the rows, and a whitening."""

from __future__ import annotations

from typing import NamedTuple

from mlcli.core.blocks import less_row
from mlcli.core.tables import Array
from mlcli.models.discriminants._classes import ClassSums, possible_ddof, rows_by_class
from mlcli.models.discriminants._middle import middle
from mlcli.models.discriminants._whitening import Whitening, whitening_of
from mlcli.tasks.classification import LabelledRows


class Spread(NamedTuple):
    """``sums`` are told from ``centre``; ``ddof`` is what the rows allow of what was asked."""

    centre: Array
    sums: ClassSums
    ddof: int
    whitening: Whitening


def spread_of_classes(data: LabelledRows, ddof: int) -> Spread:
    """The spread of the classes of training rows."""
    numbers, centre = data.table.numbers, middle(data.table.numbers)
    sums = ClassSums.of(rows_by_class(numbers, data.y, data.weight, len(data.classes), centre), centre)
    possible = possible_ddof(sums, ddof)

    def columns() -> Array:
        return less_row(numbers, centre)

    return Spread(centre, sums, possible, whitening_of(sums, possible, columns, data.y, data.weight))
