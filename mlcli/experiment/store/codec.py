"""The answers of some splits as bytes and back: plain arrays behind a JSON head, compressed; never a pickle."""

from __future__ import annotations

import hashlib
import io
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mlcli.core.answers import Answers, Coordinate
from mlcli.core.findings import as_json, from_json
from mlcli.experiment.run.split_results import RoundResult, SplitResult, StagedAnswers, folds_of

HEAD_LENGTH_BYTES = 8
COMPRESSION = 1
MOST_BYTES = 2**30
"""The most that the answers of a block may take: more is no block, but written to fill the memory."""
STORED_KINDS = "biuf"
"""What the elements of a stored array may be: truth values and numbers."""
PLAIN_FIELDS = ("index", "label", "train_rows", "fit_seconds", "predict_seconds", "route")
PLAIN_FIELDS_TOGETHER = ("first", "labels", "train_rows", "sizes", "seconds", "route")
STAGED_FIELDS = ("stages", "training_stages")
FOLD = "header.fold"
"""Not written: it follows from the number of the split."""


def encoded(splits: Sequence[SplitResult]) -> bytes:
    """Splits as one compressed blob."""
    writer = _SplitWriter()
    described: Any
    if isinstance(splits, RoundResult):
        described = _round_result(splits, writer)
    else:
        described = [_split(split, writer) for split in splits]
    head = json.dumps({"splits": described, "facts": writer.facts}, separators=(",", ":")).encode()
    plain = len(head).to_bytes(HEAD_LENGTH_BYTES, "little") + head + writer.body.getvalue()
    return zlib.compress(plain, COMPRESSION)


def decoded(blob: bytes, answers: type[Answers]) -> Sequence[SplitResult]:
    """The splits that ``encoded`` was given; anything else is a ValueError."""
    try:
        head, body = _head_and_body(blob)
        return _SplitReader(head, body, answers).splits()
    except (zlib.error, KeyError, TypeError, AttributeError, IndexError, RecursionError) as problem:
        raise ValueError(f"not the answers of splits: {problem}") from problem


def _head_and_body(blob: bytes) -> tuple[Any, bytes]:
    """What was compressed, the head first: no more is decompressed where it is none, or too much."""
    reader = zlib.decompressobj()
    length = int.from_bytes(reader.decompress(blob, HEAD_LENGTH_BYTES), "little")
    if not 0 < length <= MOST_BYTES:
        raise ValueError("it has no head")
    head = json.loads(reader.decompress(reader.unconsumed_tail, length))
    body = reader.decompress(reader.unconsumed_tail, MOST_BYTES)
    if not reader.eof and reader.decompress(reader.unconsumed_tail, 1):
        raise ValueError(f"it holds more than {MOST_BYTES:,} bytes")
    return head, body


def checksum(blob: bytes) -> str:
    """What tells a damaged blob from a whole one."""
    return hashlib.sha256(blob).hexdigest()


class _SplitWriter:
    """Arrays and facts of answers; what several answers have in common is written once."""

    def __init__(self) -> None:
        self.body = io.BytesIO()
        self.facts: list[Any] = []
        self._numbers: dict[str, int] = {}
        self._places: dict[bytes, int] = {}

    def answers(self, answers: Answers) -> dict[str, Any]:
        """Where the facts are, and what each array is."""
        arrays = {name: array for name, array in answers.arrays().items() if name != FOLD}
        described = [self._array(name, array) for name, array in arrays.items()]
        return {"facts": self._number(answers.facts()), "arrays": described}

    def _number(self, facts: Mapping[str, Any]) -> int:
        number = self._numbers.setdefault(json.dumps(facts), len(self.facts))
        if number == len(self.facts):
            self.facts.append(facts)
        return number

    def _array(self, name: str, array: np.ndarray[Any, Any]) -> list[Any]:
        if array.dtype.kind not in STORED_KINDS:
            raise TypeError(f"{name}: an array of {array.dtype} cannot be stored")
        content = array.tobytes("A")
        index = self._places.setdefault(content, self.body.tell())
        if index == self.body.tell():
            self.body.write(content)
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        return [name, array.dtype.str, array.shape, order, index]


def _round_result(splits: RoundResult, writer: _SplitWriter) -> dict[str, Any]:
    plain = {name: getattr(splits, name) for name in PLAIN_FIELDS_TOGETHER}
    return {**plain, "answers": writer.answers(splits.answers)}


def _split(split: SplitResult, writer: _SplitWriter) -> dict[str, Any]:
    at = split.coordinate
    return {
        **{name: getattr(split, name) for name in PLAIN_FIELDS},
        "coordinate": None if at is None else [at.name, at.value, at.line],
        "warnings": split.warnings,
        "explanation": [as_json(finding) for finding in split.explanation],
        "parts": {part: writer.answers(answers) for part, answers in split.answers.items()},
        **{
            name: [[at.name, at.value, at.line, writer.answers(answers)] for at, answers in getattr(split, name)]
            for name in STAGED_FIELDS
        },
    }


class _SplitReader:
    """Splits from a head and the bytes behind it."""

    def __init__(self, head: Any, body: bytes, answers: type[Answers]) -> None:
        self._head, self._body, self._kind = head, body, answers

    def splits(self) -> Sequence[SplitResult]:
        """All of them."""
        described = self._head["splits"]
        if not isinstance(described, dict):
            return tuple(self._split(one) for one in described)
        plain = {name: described[name] for name in PLAIN_FIELDS_TOGETHER}
        folds = folds_of(described["first"], described["sizes"])
        return RoundResult(**plain, answers=self._answers(described["answers"], folds))

    def _split(self, described: Any) -> SplitResult:
        fold, at = described["index"], described["coordinate"]
        return SplitResult(
            **{name: described[name] for name in PLAIN_FIELDS},
            coordinate=None if at is None else Coordinate(*at),
            warnings=tuple(described["warnings"]),
            explanation=tuple(map(from_json, described["explanation"])),
            answers={part: self._answers(written, fold) for part, written in described["parts"].items()},
            stages=self._stages(described["stages"], fold),
            training_stages=self._stages(described["training_stages"], fold),
        )

    def _stages(self, described: Any, fold: int) -> StagedAnswers:
        return tuple((Coordinate(*at), self._answers(written, fold)) for *at, written in described)

    def _answers(self, written: Any, fold: Any) -> Answers:
        arrays = {name: self._array(np.dtype(kind), *rest) for name, kind, *rest in written["arrays"]}
        return self._kind.restored(arrays, self._head["facts"][written["facts"]]).judged_in(fold)

    def _array(self, dtype: np.dtype[Any], shape: Sequence[int], order: Any, index: int) -> np.ndarray[Any, Any]:
        if dtype.kind not in STORED_KINDS:
            raise ValueError(f"an array of {dtype} is no answer")
        content = self._body[index : index + math.prod(shape) * dtype.itemsize]
        return np.frombuffer(bytearray(content), dtype).reshape(shape, order=order)
