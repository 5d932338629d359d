"""Rows drawn from a saved model, as columns of text like those of the file that it learned from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mlcli.core.schema import Column
from mlcli.core.seeds import rng_for
from mlcli.core.tables import Array, Table
from mlcli.core.threads import one_blas_thread
from mlcli.tasks.sequence_labelling import lengths

if TYPE_CHECKING:
    from mlcli.experiment.saved.saved_model import SavedModel

Columns = dict[str, list[str]]
MOST_DECIMALS = 12
"""Numbers whose training values have more decimals are written with every digit."""


def sample_columns(saved: SavedModel, n: int, seed: int) -> Columns:
    """So many drawn rows, or sequences; the columns of the file in their order."""
    with one_blas_thread():
        table = saved.pipeline.sample_rows(n, rng_for("sample", saved.content, saved.pipeline.name, seed))
    found = dict(_text_columns(saved, table))
    place = {name: place for place, name in enumerate(saved.order)}
    return dict(sorted(found.items(), key=lambda part: place.get(part[0], len(place))))


def _text_columns(saved: SavedModel, table: Table) -> Iterator[tuple[str, list[str]]]:
    for column, cells in table.parts():
        beside = saved.beside.get(column.name)
        name = column.name if beside is None else beside.name
        yield name, _cells_as_text(column, cells, _decimals_of_column(saved.usual, column))
        if column.name == "sequence" and "order" in saved.beside:
            _, sizes = lengths(np.asarray(cells, np.int32))
            yield saved.beside["order"].name, [str(place + 1) for size in sizes for place in range(size)]


def _cells_as_text(column: Column, cells: NDArray[Any], decimals: int) -> list[str]:
    if column.coded:
        names = [*column.levels, ""]  # the code of an empty cell is -1
        return [names[code] for code in cells]
    write = repr if decimals > MOST_DECIMALS else f"{{:.{decimals}f}}".format
    return ["" if np.isnan(number) else write(float(number) + 0.0) for number in cells]


def _decimals_of_column(usual: Table, column: Column) -> int:
    """How many decimals the usual values of a column have; 0 for one that training rows did not have."""
    if column.coded or column not in usual.columns:
        return 0
    known: Array = np.asarray(usual.cells(column.name), np.float64)
    texts = (np.format_float_positional(value, trim="-") for value in known[~np.isnan(known)])
    return max((len(text.partition(".")[2]) for text in texts), default=0)
