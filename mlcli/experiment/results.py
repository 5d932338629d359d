"""What fits give: the answers of each split of a cell, a pipeline that was trained on all rows, and both as bytes.

The bytes are plain arrays behind a JSON head, compressed; never a pickle.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, overload

import numpy as np

from mlcli.core.answers import Answers, Coordinate
from mlcli.core.findings import Explanation, as_json, from_json
from mlcli.core.pipeline import Pipeline
from mlcli.core.tables import Codes, Rows

TEST, TRAINING = "test", "training"
"""The parts of a split that are predicted: the test rows, and where asked for the training rows."""

StagedAnswers = tuple[tuple[Coordinate, Answers], ...]


@dataclass(frozen=True, eq=False)
class SplitResult:
    """The result of one split: answers per part, times, warnings, and the explanation of the fitted model."""

    index: int
    label: str
    train_rows: int
    answers: Mapping[str, Answers]
    fit_seconds: float
    predict_seconds: float
    warnings: tuple[str, ...] = ()
    explanation: Explanation = ()
    """Empty if the leave-one-out shortcut answered: nothing was fitted to this split alone."""
    route: str = ""
    """The shortcut that answered; empty if the model was fitted to the split."""
    coordinate: Coordinate | None = None
    """Where the split lies in what its protocol sweeps over, if it does."""
    stages: StagedAnswers = ()
    """The answers that the model would have given had its fit stopped earlier, if they were asked for."""
    training_stages: StagedAnswers = ()
    """The same for the training rows."""

    @property
    def seconds(self) -> float:
        """The time of fit and prediction."""
        return self.fit_seconds + self.predict_seconds


@dataclass(frozen=True, eq=False)
class RoundResult(Sequence[SplitResult]):
    """All splits of leave-one-out, which has one for every row; each is made only when it is asked for."""

    first: int
    """The number of the first split."""
    labels: Sequence[str]
    train_rows: Sequence[int]
    sizes: Sequence[int]
    """The number of test rows of each split."""
    answers: Answers
    """About the test rows of the first split, then of the second, ..."""
    seconds: float
    """The mean time of a split."""
    route: str

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[SplitResult]:
        slices = (slice(start, end) for start, end in pairwise(self._ends.tolist()))
        for index, answers in enumerate(self.answers.parted(slices)):
            yield self._result(index, answers)

    @overload
    def __getitem__(self, index: int) -> SplitResult: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[SplitResult, ...]: ...
    def __getitem__(self, index: int | slice) -> SplitResult | tuple[SplitResult, ...]:
        if isinstance(index, slice):
            return tuple(self)[index]
        index = range(len(self))[index]
        return self._result(index, self.answers.take(slice(*self._ends[index : index + 2])))

    def _result(self, index: int, answers: Answers) -> SplitResult:
        return SplitResult(
            index=self.first + index,
            label=self.labels[index],
            train_rows=self.train_rows[index],
            answers={TEST: answers},
            fit_seconds=self.seconds,
            predict_seconds=0.0,
            route=self.route,
        )

    @cached_property
    def _ends(self) -> Rows:
        """The answers of split i are those from _ends[i] up to _ends[i + 1]."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.intp)

    def column(self, name: str) -> Sequence[Any]:
        """One field of every split."""
        indices = range(self.first, self.first + len(self))
        by_split = {"index": indices, "label": self.labels, "train_rows": self.train_rows}
        return by_split[name] if name in by_split else [getattr(self[0], name)] * len(self)


def folds_of(first: int, sizes: Sequence[int] | Rows) -> Codes:
    """The number of the split that tests each row, for consecutive splits of these sizes."""
    return np.repeat(np.arange(first, first + len(sizes), dtype=np.int32), sizes)


def each(results: Sequence[SplitResult], name: str) -> Sequence[Any]:
    """One field of every split except the answers; a ``RoundResult`` makes no splits for it."""
    if isinstance(results, RoundResult):
        return results.column(name)
    return [getattr(result, name) for result in results]


class CompletedSplits:
    """The results of a cell so far, block by block."""

    def __init__(self) -> None:
        self._blocks: list[Sequence[SplitResult]] = []
        self._indices: set[int] = set()

    def add(self, results: Sequence[SplitResult]) -> None:
        """Add the results of a block."""
        if results:
            self._blocks.append(results)
        self._indices.update(each(results, "index"))

    def __len__(self) -> int:
        return len(self._indices)

    def __contains__(self, index: int) -> bool:
        return index in self._indices

    def has_first(self, count: int) -> bool:
        """Whether the first ``count`` splits are complete."""
        return self._indices.issuperset(range(count))

    def all(self) -> Sequence[SplitResult]:
        """The completed splits in order; if a split was added twice, the later result."""
        if len(self._blocks) == 1:
            return self._blocks[0]
        by_index = {split.index: split for block in self._blocks for split in block}
        return tuple(by_index[index] for index in sorted(by_index))

    def first(self, count: int) -> Sequence[SplitResult]:
        """The completed ones of the first ``count`` splits, in order."""
        if max(self._indices, default=-1) < count:
            return self.all()
        return tuple(split for split in self.all() if split.index < count)


@dataclass(frozen=True, eq=False)
class Trained:
    """A pipeline that was trained on all rows of a dataset, with the warnings of the fit."""

    pipeline: Pipeline
    rows: Any
    warnings: tuple[str, ...]
    seconds: float


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
