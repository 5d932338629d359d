"""Results of splits as bytes and back: plain arrays behind a JSON head, compressed; never a pickle."""

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
from mlcli.core.tables import Codes
from mlcli.experiment.results import RoundResult, SplitResult, StagedAnswers, folds_of

AnyArray = np.ndarray[Any, np.dtype[Any]]
Json = Mapping[str, Any]

HEAD_LENGTH_BYTES = 8
MOST_BYTES = 2**30
"""The largest block; anything larger was written to fill the memory."""
STORED_KINDS = "biuf"
"""The kinds of dtype that are stored: truth values and numbers."""
PLAIN_FIELDS = ("index", "label", "train_rows", "fit_seconds", "predict_seconds", "route")
PLAIN_ROUND_FIELDS = ("first", "labels", "train_rows", "sizes", "seconds", "route")


def encoded(splits: Sequence[SplitResult]) -> bytes:
    """The results of splits as one compressed blob."""
    writer = _SplitWriter()
    described: Json | list[Json]
    if isinstance(splits, RoundResult):
        described = {name: getattr(splits, name) for name in PLAIN_ROUND_FIELDS}
        described = {**described, "answers": writer.answers(splits.answers)}
    else:
        described = [writer.split(split) for split in splits]
    head = json.dumps({"splits": described, "facts": writer.facts}, separators=(",", ":")).encode()
    plain = len(head).to_bytes(HEAD_LENGTH_BYTES, "little") + head + writer.body.getvalue()
    return zlib.compress(plain, 1)


def decoded(blob: bytes, answers: type[Answers]) -> Sequence[SplitResult]:
    """The results that ``encoded`` was given; anything else is a ValueError."""
    try:
        # No more is decompressed if there is no head, or too much behind it.
        reader = zlib.decompressobj()
        length = int.from_bytes(reader.decompress(blob, HEAD_LENGTH_BYTES), "little")
        if not 0 < length <= MOST_BYTES:
            raise ValueError("it has no head")
        head = json.loads(reader.decompress(reader.unconsumed_tail, length))
        body = reader.decompress(reader.unconsumed_tail, MOST_BYTES)
        if not reader.eof and reader.decompress(reader.unconsumed_tail, 1):
            raise ValueError(f"it holds more than {MOST_BYTES:,} bytes")
        return _SplitReader(head, body, answers).splits()
    except (zlib.error, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise ValueError(f"not the answers of splits: {error}") from error


def checksum(blob: bytes) -> str:
    """The hash by which damage is noticed."""
    return hashlib.sha256(blob).hexdigest()


class _SplitWriter:
    """Describes results as JSON and collects their arrays; equal arrays and facts are written once."""

    def __init__(self) -> None:
        self.body = io.BytesIO()
        self.facts: list[Json] = []
        self._fact_numbers: dict[str, int] = {}
        self._offsets: dict[bytes, int] = {}

    def split(self, split: SplitResult) -> Json:
        at = split.coordinate
        return {
            **{name: getattr(split, name) for name in PLAIN_FIELDS},
            "coordinate": None if at is None else [at.name, at.value, at.line],
            "warnings": split.warnings,
            "explanation": [as_json(finding) for finding in split.explanation],
            "parts": {part: self.answers(answers) for part, answers in split.answers.items()},
            "stages": self._stages(split.stages),
            "training_stages": self._stages(split.training_stages),
        }

    def _stages(self, stages: StagedAnswers) -> list[list[object]]:
        return [[at.name, at.value, at.line, self.answers(answers)] for at, answers in stages]

    def answers(self, answers: Answers) -> Json:
        """The number of the facts, and where each array is."""
        facts = answers.facts()
        number = self._fact_numbers.setdefault(json.dumps(facts), len(self.facts))
        if number == len(self.facts):
            self.facts.append(facts)
        # The fold follows from the number of the split.
        arrays = [self._array(name, array) for name, array in answers.arrays().items() if name != "header.fold"]
        return {"facts": number, "arrays": arrays}

    def _array(self, name: str, array: AnyArray) -> list[object]:
        if array.dtype.kind not in STORED_KINDS:
            raise TypeError(f"{name}: an array of {array.dtype} cannot be stored")
        content = array.tobytes("A")
        offset = self._offsets.setdefault(content, self.body.tell())
        if offset == self.body.tell():
            self.body.write(content)
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        return [name, array.dtype.str, array.shape, order, offset]


class _SplitReader:
    """Restores results from a head and the bytes behind it."""

    def __init__(self, head: Json, body: bytes, answers: type[Answers]) -> None:
        self._head, self._body, self._answers_type = head, body, answers

    def splits(self) -> Sequence[SplitResult]:
        described = self._head["splits"]
        if not isinstance(described, dict):
            return tuple(self._split(split) for split in described)
        plain = {name: described[name] for name in PLAIN_ROUND_FIELDS}
        folds = folds_of(described["first"], described["sizes"])
        return RoundResult(**plain, answers=self._answers(described["answers"], folds))

    def _split(self, described: Json) -> SplitResult:
        fold, at = described["index"], described["coordinate"]
        return SplitResult(
            **{name: described[name] for name in PLAIN_FIELDS},
            coordinate=None if at is None else Coordinate(*at),
            warnings=tuple(described["warnings"]),
            explanation=tuple(map(from_json, described["explanation"])),
            answers={part: self._answers(answers, fold) for part, answers in described["parts"].items()},
            stages=self._stages(described["stages"], fold),
            training_stages=self._stages(described["training_stages"], fold),
        )

    def _stages(self, described: Sequence[Sequence[Any]], fold: int) -> StagedAnswers:
        return tuple((Coordinate(*at), self._answers(answers, fold)) for *at, answers in described)

    def _answers(self, described: Json, fold: int | Codes) -> Answers:
        arrays = {name: self._array(np.dtype(dtype), *rest) for name, dtype, *rest in described["arrays"]}
        facts = self._head["facts"][described["facts"]]
        return self._answers_type.restored(arrays, facts).judged_in(fold)

    def _array(self, dtype: np.dtype[Any], shape: Sequence[int], order: Any, offset: int) -> AnyArray:
        if dtype.kind not in STORED_KINDS:
            raise ValueError(f"an array of {dtype} is no answer")
        content = self._body[offset : offset + math.prod(shape) * dtype.itemsize]
        return np.frombuffer(bytearray(content), dtype).reshape(shape, order=order)
