"""Windows of consecutive rows, one for each sequence, and how few sequences are cut for splits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mlcli.core.errors import DataError
from mlcli.core.rows import DATE
from mlcli.core.tables import Array, Cells, Codes, Flags, Rows


def sequence_windows(rows: int, sequence: Codes | None, order: Array | None) -> list[Rows]:
    """The rows of each sequence in order, by default as in the file; without sequences, all rows are one window.

    Rows at the same place keep the order of the file; a row without a place is refused.
    """
    if order is not None and np.isnan(order).any():
        what = f"row {int(np.isnan(order).argmax()) + 1} has no place in the order of rows"
        raise DataError(what, hint="fill the cell of the column with the role order, or leave out its row")
    keys = [np.arange(rows)] + [key for key in (order, sequence) if key is not None]
    rows_in_order = np.lexsort(keys)
    if sequence is None:
        return [rows_in_order]
    ends = np.flatnonzero(np.diff(sequence[rows_in_order])) + 1
    return np.split(rows_in_order, ends)


def uncut_pieces(whole: list[Rows], good: Flags, odd: Flags) -> Codes | None:
    """The piece of each row, which splits keep whole: its sequence, or a part of it if there are few sequences.

    A split needs three pieces of good rows only, and two others. None if there are too few pieces however
    sequences are cut.
    """
    pieces, best = 1, None
    while pieces == 1 or len(good) >= 4 * pieces * len(whole):  # a piece has at least four rows on average
        piece = np.empty(len(good), np.int32)
        for index, rows in enumerate(rows for values in whole for rows in np.array_split(values, pieces)):
            piece[rows] = index
        with_odd_rows = np.unique(piece[odd] if odd.any() else piece)
        without = len(np.setdiff1d(piece[good], with_odd_rows)) if odd.any() else len(with_odd_rows)
        if without >= 3 and len(with_odd_rows) >= 2:
            best = piece
            # with 20 pieces of each sort, scores of half of them mean something
            if pieces == 1 or min(without, len(with_odd_rows)) >= 20:
                break
        pieces *= 2
    return best


def numbered_by_appearance(names: Cells | Sequence[str]) -> Codes:
    """A number for each name, in the order of first appearance."""
    _, first, place = np.unique(names, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[place], dtype=np.int32)


def order_of_texts(cells: Sequence[str]) -> Array:
    """The order that texts tell: numbers, or dates such as 2024-01-31."""
    try:
        return np.array([float(cell) for cell in cells])
    except ValueError:
        wrong = [cell for cell in cells if not DATE.fullmatch(cell)]
        if wrong:
            what = f"'{wrong[0][:40]}' orders the rows, and is neither a number nor a date"
            raise DataError(what, hint="write numbers or dates (2024-01-31)") from None
        return np.unique(np.array(cells), return_inverse=True)[1].astype(np.float64)
