"""A Parquet file as records: its numbers as they are, its words as words, read column by column by pyarrow."""

from __future__ import annotations

import io
import os
import re
from typing import Any

import numpy as np

from mlcli.core.errors import DataError
from mlcli.core.tables import Array
from mlcli.data.mapped_arrays import MappedArray
from mlcli.data.number_text import EXACT_BELOW
from mlcli.data.records import Distinct, Numbers, Records, TextColumn, blanks_note, checked_header, distinct
from mlcli.data.source import Content, InFile

MIDNIGHT = " 00:00:00"
NO_FRACTION = re.compile(r"\.0+(?![0-9])")
"""Of a second."""


def read_parquet(source: Content, name: str) -> Records:
    """The records of a Parquet file."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        hint = "pip install 'mlcli[parquet]', or convert it to CSV"
        raise DataError("is a Parquet file, which needs pyarrow", where=name, hint=hint) from None
    try:
        if isinstance(source, InFile):
            held = pa.OSFile(os.fsencode(source.path))
        else:
            held = io.BytesIO(source.piece(0, source.size))
        with held, pq.ParquetFile(held) as file:
            return _ParquetReader(file, name).records()
    except (pa.ArrowException, OSError) as problem:
        raise DataError(f"cannot be read as Parquet: {problem}", where=name) from None


class _ParquetReader:
    """Reads the columns of one file, the numbers into one block, as tables have them."""

    def __init__(self, file: Any, name: str) -> None:
        self.file, self.name = file, name
        self.notes: list[str] = []
        self.stripped: list[str] = []

    def records(self) -> Records:
        """All columns, in order."""
        schema, rows = self.file.schema_arrow, self.file.metadata.num_rows
        if not schema.names:
            raise DataError("has no columns", where=self.name)
        names = checked_header(schema.names, self.name, 1, True)
        self._refuse_nested(schema)
        room = MappedArray(rows, sum(map(_is_number, schema.types))).cells
        spare = iter(room.T)
        columns = []
        for heading, stored in zip(names, schema, strict=True):
            cells = self.file.read(columns=[stored.name], use_pandas_metadata=False).column(0)
            columns.append(self._column(heading, cells, next(spare) if _is_number(stored.type) else None))
        notes = (*self.notes, *blanks_note(self.stripped))
        return Records(self.name, ",", tuple(columns), np.arange(1, rows + 1), notes, has_lines=False)

    def _refuse_nested(self, schema: Any) -> None:
        import pyarrow.types as kinds

        for field in schema:
            if kinds.is_nested(field.type) or kinds.is_binary(field.type) or kinds.is_large_binary(field.type):
                what = f"column '{field.name}' holds no numbers and no words, but {field.type}"
                raise DataError(what, where=self.name, hint="write what is needed of it into columns of their own")

    def _column(self, name: str, cells: Any, room: Array | None) -> TextColumn:
        if room is not None and not _are_codes(cells):
            numbers = self._numbers(name, cells, room)
            return TextColumn(name, lambda: distinct([_number_text(cell) for cell in numbers.cells]), numbers)
        texts, which = _texts(cells)
        bare = [text.strip() for text in texts]
        if bare != texts:
            self.stripped.append(name)
        values, again = distinct(bare)
        return TextColumn(name, lambda: (values, again[which]), in_words=room is None and not _is_decimal(cells))

    def _numbers(self, name: str, cells: Any, room: Array) -> Numbers:
        """The cells as floats, in the room for them."""
        room[:] = cells.cast("float64").to_numpy()
        infinite = np.flatnonzero(np.isinf(room))
        if len(infinite):
            where = f"{self.name}, row {infinite[0] + 1}, column '{name}'"
            raise DataError("the cell is infinite", where=where, hint="leave it empty if it is missing")
        missing = int(np.isnan(room).sum())
        if missing > cells.null_count:
            self.notes.append(f"NaN in {missing - cells.null_count} cells of column '{name}' was read as missing")
        return Numbers(room, missing > 0)


def _is_number(kind: Any) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_integer(kind) or kinds.is_floating(kind))


def _is_decimal(cells: Any) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_decimal(cells.type))


def _are_codes(cells: Any) -> bool:
    """Whether whole numbers are so large that floats would change them."""
    import pyarrow.compute as compute
    import pyarrow.types as kinds

    if not kinds.is_integer(cells.type) or cells.null_count == len(cells):
        return False
    ends = compute.min_max(cells).as_py()
    return bool(max(abs(ends["min"]), abs(ends["max"])) >= EXACT_BELOW)


def _texts(cells: Any) -> Distinct:
    """The distinct cells as text, a missing one as nothing, and which one each cell is."""
    import pyarrow.types as kinds

    if kinds.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    coded = cells.cast("string").combine_chunks().dictionary_encode()
    texts = coded.dictionary.to_pylist()
    which = coded.indices.fill_null(len(texts)).to_numpy().astype(np.int32)
    if kinds.is_timestamp(cells.type):
        texts = [NO_FRACTION.sub("", text) for text in texts]
        if all(text.endswith(MIDNIGHT) for text in texts):
            texts = [text.removesuffix(MIDNIGHT) for text in texts]
    return texts + [""] * bool(coded.null_count), which


def _number_text(cell: float) -> str:
    """A number as people write it: 3 rather than 3.0."""
    return "" if np.isnan(cell) else repr(float(cell)).removesuffix(".0")
