"""The distinct cells of columns of text, as they are numbered: room for them, and what they say."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.core.tables import Codes
from mlcli.data.records import Distinct
from mlcli.kernels.text.numbering import Texts, place_again


def no_texts(columns: int, letters: int = 0, texts: int = 1 << 8) -> Texts:
    """Room for so many letters and texts; there are none yet."""
    return Texts(
        letters=np.empty(letters, np.uint8),
        ends=np.zeros(texts + 1, np.int64),
        hashes=np.empty(texts, np.uint64),
        owners=np.empty(texts, np.int32),
        numbers=np.empty(texts, np.int32),
        table=np.full(1 << texts.bit_length() + 1, -1, np.int32),
        known=np.zeros(columns + 1, np.int64),
    )


def with_room(texts: Texts, letters: int) -> Texts:
    """The same texts, with room for so many more letters and for more than a few texts."""
    columns, known = len(texts.known) - 1, int(texts.known[-1])
    room, letters = len(texts.hashes), letters + int(texts.ends[known])
    if letters <= len(texts.letters) and known + columns < room // 2:
        return texts
    larger = no_texts(columns, 2 * letters, 2 * (room + columns))
    for mine, theirs in zip(texts[:5], larger[:5], strict=True):
        theirs[: len(mine)] = mine
    larger.known[:] = texts.known
    place_again(larger.hashes, known, larger.table)
    return larger


def without_blanks(texts: Texts, column: int, which: Codes) -> tuple[Distinct, bool]:
    """The distinct cells of a column without blanks around them, in order of appearance; whether any had some."""
    written = list(_written(texts, column))
    bare = [text.strip() for text in written]
    known = {text: number for number, text in enumerate(dict.fromkeys(bare))}
    if len(known) < len(bare):
        which = np.array([known[text] for text in bare], np.int32)[which]
    return (list(known), which), bare != written


def _written(texts: Texts, column: int) -> Iterator[str]:
    """The distinct cells of a column as they are written."""
    owners = texts.owners[: texts.known[-1]]
    letters = texts.letters[: texts.ends[len(owners)]].tobytes()
    for one in np.flatnonzero(owners // 2 == column).tolist():
        text = letters[texts.ends[one] : texts.ends[one + 1]].decode()
        yield text.replace('""', '"') if owners[one] % 2 else text
