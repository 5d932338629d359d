"""The answers of some splits as bytes and back: plain arrays behind a JSON head, compressed; never a pickle."""

from __future__ import annotations

import hashlib
import io
import json
import math
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.explanation import Explanation, Section
from mlcli.experiment.run.split_results import SplitResult, Together

HEAD_LENGTH_BYTES = 8
COMPRESSION = 1
STORED_KINDS = "biuf"
"""What the elements of a stored array may be: truth values and numbers."""
PLAIN_FIELDS = ("index", "label", "train_rows", "fit_seconds", "predict_seconds", "route")
PLAIN_FIELDS_TOGETHER = ("first", "labels", "train_rows", "sizes", "seconds", "route")


def encoded(splits: Sequence[SplitResult]) -> bytes:
    """Splits as one compressed blob."""
    body = io.BytesIO()
    described = _head_together(splits, body) if isinstance(splits, Together) else _heads(splits, body)
    head = json.dumps(described, separators=(",", ":")).encode()
    return zlib.compress(len(head).to_bytes(HEAD_LENGTH_BYTES, "little") + head + body.getvalue(), COMPRESSION)


def decoded(blob: bytes, answers: type[Answers]) -> Sequence[SplitResult]:
    """The splits that ``encoded`` was given; anything else is a ValueError."""
    try:
        return _splits_of(zlib.decompress(blob), answers)
    except (zlib.error, KeyError, TypeError, AttributeError) as problem:
        raise ValueError(f"not the answers of splits: {problem}") from problem


def checksum(blob: bytes) -> str:
    """What tells a damaged blob from a whole one."""
    return hashlib.sha256(blob).hexdigest()


def _head_together(splits: Together, body: io.BytesIO) -> dict[str, Any]:
    """One head for all splits."""
    plain = {name: getattr(splits, name) for name in PLAIN_FIELDS_TOGETHER}
    return {**plain, "answers": _written(splits.answers, body)}


def _heads(splits: Sequence[SplitResult], body: io.BytesIO) -> list[dict[str, Any]]:
    return [_head_of(split, body) for split in splits]


def _head_of(split: SplitResult, body: io.BytesIO) -> dict[str, Any]:
    parts = {part: _written(answers, body) for part, answers in split.answers.items()}
    explanation = [
        [section.title, section.header, section.rows, section.lines, section.note] for section in split.explanation
    ]
    plain = {name: getattr(split, name) for name in PLAIN_FIELDS}
    return {**plain, "warnings": split.warnings, "explanation": explanation, "parts": parts}


def _written(answers: Answers, body: io.BytesIO) -> dict[str, Any]:
    """The facts, and what each array is; the arrays themselves go to the body in the same order."""
    arrays = answers.arrays()
    for array in arrays.values():
        body.write(array.tobytes("A"))
    return {"facts": answers.facts(), "arrays": [_described(name, array) for name, array in arrays.items()]}


def _described(name: str, array: np.ndarray[Any, Any]) -> list[Any]:
    if array.dtype.kind not in STORED_KINDS:
        raise TypeError(f"{name}: an array of {array.dtype} cannot be stored")
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    return [name, array.dtype.str, array.shape, order]


def _splits_of(plain: bytes, answers: type[Answers]) -> Sequence[SplitResult]:
    length = int.from_bytes(plain[:HEAD_LENGTH_BYTES], "little")
    head = json.loads(plain[HEAD_LENGTH_BYTES : HEAD_LENGTH_BYTES + length])
    body = io.BytesIO(plain[HEAD_LENGTH_BYTES + length :])
    if isinstance(head, dict):
        plainly = {name: head[name] for name in PLAIN_FIELDS_TOGETHER}
        return Together(**plainly, answers=_read(head["answers"], body, answers))
    return tuple(_one_by_one(head, body, answers))


def _one_by_one(heads: Sequence[Any], body: io.BytesIO, answers: type[Answers]) -> Iterator[SplitResult]:
    for described in heads:
        parts = {part: _read(written, body, answers) for part, written in described["parts"].items()}
        yield SplitResult(
            **{name: described[name] for name in PLAIN_FIELDS},
            answers=parts,
            warnings=tuple(described["warnings"]),
            explanation=_explanation(described["explanation"]),
        )


def _read(written: Any, body: io.BytesIO, answers: type[Answers]) -> Answers:
    arrays = {name: _array(body, np.dtype(dtype), shape, order) for name, dtype, shape, order in written["arrays"]}
    return answers.restored(arrays, written["facts"])


def _array(body: io.BytesIO, dtype: np.dtype[Any], shape: Sequence[int], order: Any) -> np.ndarray[Any, Any]:
    if dtype.kind not in STORED_KINDS:
        raise ValueError(f"an array of {dtype} is no answer")
    content = body.read(math.prod(shape) * dtype.itemsize)
    return np.frombuffer(bytearray(content), dtype).reshape(shape, order=order)


def _explanation(sections: Any) -> Explanation:
    return tuple(
        Section(title, tuple(header), tuple(map(tuple, rows)), tuple(lines), note)
        for title, header, rows, lines, note in sections
    )
