"""A Parquet file as records, read column by column by pyarrow; numbers stay numbers, text stays text."""

from __future__ import annotations

import io
import os
import re
from typing import TYPE_CHECKING

import numpy as np

from mlcli.core.errors import DataError
from mlcli.core.tables import Array
from mlcli.data.mapped_arrays import MappedArray
from mlcli.data.records import Distinct, Numbers, Records, TextColumn, blanks_note, checked_header, distinct
from mlcli.data.source import EXACT_BELOW, Content, InFile

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


def read_parquet(source: Content, name: str) -> Records:
    """The records of a Parquet file."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        hint = "pip install 'mlcli[parquet]', or convert it to CSV"
        raise DataError("is a Parquet file, which needs pyarrow", where=name, hint=hint) from None
    try:
        packed = pa.OSFile(os.fsencode(source.path)) if isinstance(source, InFile) else io.BytesIO(source.content)
        with packed, pq.ParquetFile(packed) as file:
            return _records(file, name)
    except (pa.ArrowException, OSError) as problem:
        raise DataError(f"cannot be read as Parquet: {problem}", where=name) from None


def _records(file: pq.ParquetFile, name: str) -> Records:
    """All columns, in order; the numbers are in one block, as tables have them."""
    import pyarrow.types as kinds

    schema, rows = file.schema_arrow, file.metadata.num_rows
    if not schema.names:
        raise DataError("has no columns", where=name)
    header = checked_header(schema.names, name, 1, True)
    for field in schema:
        if kinds.is_nested(field.type) or kinds.is_binary(field.type) or kinds.is_large_binary(field.type):
            what = f"column '{field.name}' holds no numbers and no words, but {field.type}"
            raise DataError(what, where=name, hint="write what is needed of it into columns of their own")
    numeric = [kinds.is_integer(kind) or kinds.is_floating(kind) for kind in schema.types]
    block = iter(MappedArray(rows, sum(numeric), np.float64).cells.T)
    columns, notes, stripped = list[TextColumn](), list[str](), list[str]()
    for heading, field, is_numeric in zip(header, schema, numeric, strict=True):
        cells = file.read(columns=[field.name], use_pandas_metadata=False).column(0)
        out = next(block) if is_numeric else None
        if out is not None and not _would_lose_digits(cells):
            columns.append(_number_column(heading, cells, out, name, notes))
            continue
        texts, which = _texts(cells)
        bare = [text.strip() for text in texts]
        if bare != texts:
            stripped.append(heading)
        values, again = distinct(bare)
        in_words = not is_numeric and not kinds.is_decimal(field.type)
        text = TextColumn.of(heading, values, again[which])
        columns.append(TextColumn(heading, text.read, in_words=in_words))
    all_notes = (*notes, *blanks_note(stripped))
    return Records(name, ",", tuple(columns), np.arange(1, rows + 1), all_notes, has_lines=False)


def _number_column(heading: str, cells: pa.ChunkedArray, out: Array, name: str, notes: list[str]) -> TextColumn:
    """A column of numbers, written to ``out``; its text is made if it is needed."""
    out[:] = cells.cast("float64").to_numpy()
    infinite = np.flatnonzero(np.isinf(out))
    if len(infinite):
        where = f"{name}, row {infinite[0] + 1}, column '{heading}'"
        raise DataError("the cell is infinite", where=where, hint="leave it empty if it is missing")
    missing = int(np.isnan(out).sum())
    if missing > cells.null_count:
        notes.append(f"NaN in {missing - cells.null_count} cells of column '{heading}' was read as missing")

    def read() -> Distinct:
        return distinct(["" if np.isnan(number) else repr(number).removesuffix(".0") for number in out.tolist()])

    return TextColumn(heading, read, Numbers(out, missing > 0))


def _would_lose_digits(cells: pa.ChunkedArray) -> bool:
    """Whether integers are too large for floats to hold exactly; such columns are read as codes."""
    import pyarrow.compute as compute
    import pyarrow.types as kinds

    if not kinds.is_integer(cells.type) or cells.null_count == len(cells):
        return False
    ends = compute.min_max(cells).as_py()
    return bool(max(abs(ends["min"]), abs(ends["max"])) >= EXACT_BELOW)


def _texts(cells: pa.ChunkedArray) -> Distinct:
    """The distinct cells as text, a missing one as "", and which one each cell is."""
    import pyarrow.types as kinds

    if kinds.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    coded = cells.cast("string").combine_chunks().dictionary_encode()
    texts = coded.dictionary.to_pylist()
    which = coded.indices.fill_null(len(texts)).to_numpy().astype(np.int32)
    if kinds.is_timestamp(cells.type):
        texts = [re.sub(r"\.0+(?![0-9])", "", text) for text in texts]  # fractions of seconds
        if all(text.endswith(" 00:00:00") for text in texts):
            texts = [text.removesuffix(" 00:00:00") for text in texts]
    return texts + [""] * bool(coded.null_count), which
