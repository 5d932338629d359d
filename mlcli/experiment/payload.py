"""The answers of some splits as bytes and back: npy arrays behind a JSON head, compressed; never a pickle."""

from __future__ import annotations

import hashlib
import io
import json
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.explanation import Explanation, Section
from mlcli.experiment.cells import SplitResult

HEAD_LENGTH_BYTES = 8
COMPRESSION = 1
PLAIN_FIELDS = ("index", "label", "train_rows", "fit_seconds", "predict_seconds")


def encoded(splits: Sequence[SplitResult]) -> bytes:
    """Splits as one compressed blob."""
    body = io.BytesIO()
    head = json.dumps([_head_of(split, body) for split in splits], separators=(",", ":")).encode()
    return zlib.compress(len(head).to_bytes(HEAD_LENGTH_BYTES, "little") + head + body.getvalue(), COMPRESSION)


def decoded(blob: bytes, answers: type[Answers]) -> tuple[SplitResult, ...]:
    """The splits that ``encoded`` was given; anything else is a ValueError."""
    try:
        return tuple(_splits_of(zlib.decompress(blob), answers))
    except (zlib.error, KeyError, TypeError, EOFError, UnicodeDecodeError) as problem:
        raise ValueError(f"not the answers of splits: {problem}") from problem


def checksum(blob: bytes) -> str:
    """What tells a damaged blob from a whole one."""
    return hashlib.sha256(blob).hexdigest()


def _head_of(split: SplitResult, body: io.BytesIO) -> dict[str, Any]:
    parts = {part: _written(answers, body) for part, answers in split.answers.items()}
    explanation = [
        [section.title, section.header, section.rows, section.lines, section.note] for section in split.explanation
    ]
    plain = {name: getattr(split, name) for name in PLAIN_FIELDS}
    return {**plain, "warnings": split.warnings, "explanation": explanation, "parts": parts}


def _written(answers: Answers, body: io.BytesIO) -> dict[str, Any]:
    """The facts and the names of the arrays, which go to the body in the same order."""
    arrays = answers.arrays()
    for array in arrays.values():
        np.lib.format.write_array(body, np.asarray(array), allow_pickle=False)
    return {"facts": answers.facts(), "arrays": list(arrays)}


def _splits_of(plain: bytes, answers: type[Answers]) -> Iterator[SplitResult]:
    length = int.from_bytes(plain[:HEAD_LENGTH_BYTES], "little")
    head = json.loads(plain[HEAD_LENGTH_BYTES : HEAD_LENGTH_BYTES + length])
    body = io.BytesIO(plain[HEAD_LENGTH_BYTES + length :])
    for described in head:
        parts = {part: _read(written, body, answers) for part, written in described["parts"].items()}
        yield SplitResult(
            **{name: described[name] for name in PLAIN_FIELDS},
            answers=parts,
            warnings=tuple(described["warnings"]),
            explanation=_explanation(described["explanation"]),
        )


def _read(written: Any, body: io.BytesIO, answers: type[Answers]) -> Answers:
    arrays = {name: np.lib.format.read_array(body, allow_pickle=False) for name in written["arrays"]}
    return answers.restored(arrays, written["facts"])


def _explanation(sections: Any) -> Explanation:
    return tuple(
        Section(title, tuple(header), tuple(map(tuple, rows)), tuple(lines), note)
        for title, header, rows, lines, note in sections
    )
