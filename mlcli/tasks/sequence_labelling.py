"""Rows that stand in sequences: the tag of a row depends on its neighbours, so sequences are kept whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from mlcli.core.errors import DataError
from mlcli.core.model import Model
from mlcli.core.params import learned
from mlcli.core.rows import SplitInfo
from mlcli.core.schema import Column, Schema
from mlcli.core.tables import Array, Codes, Rows, Table
from mlcli.tasks.sequence_windows import numbered_by_appearance
from mlcli.tasks.supervised import LabelAnswers, LabelledRows, SupervisedTask


@dataclass(frozen=True, eq=False, kw_only=True)
class TagAnswers(LabelAnswers):
    """True and predicted tags, and the sequence of each row."""

    sequence: Codes

    @property
    def units(self) -> Codes:
        """Rows of one sequence depend on each other."""
        return self.sequence

    @classmethod
    def pooled(cls, parts: Sequence[Self]) -> Self:
        """The answers of several splits as one; a sequence that was scored twice counts as two sequences."""
        moved, before = list[Self](), 0
        for part in parts:
            moved.append(replace(part, sequence=(part.sequence + before).astype(np.int32)))
            before += int(part.sequence.max(initial=-1)) + 1
        return super().pooled(moved)


@dataclass(kw_only=True, eq=False)
class Tagger(Model):
    """Predicts the tags of whole sequences. A method implements ``fit`` and ``tag``."""

    classes_: tuple[str, ...] = learned()
    class_totals_: Array = learned()

    def fit(self, data: TaggedRows, rng: np.random.Generator) -> None:
        """Learn from sequences of tagged rows."""
        super().fit(data, rng)

    def judged_tags(self, data: TaggedRows) -> tuple[Codes, Array | None]:
        """The tags that are scored, and their probabilities if the model predicts row by row.

        A model that predicts the next symbol may use the true symbols of earlier rows, but never that of the row.
        """
        return self.tag(data.table, data.sequence), None

    def tag(self, table: Table, sequence: Codes) -> Codes:
        """The tag of each row; the rows of a sequence are consecutive and in order."""
        raise TypeError(f"{type(self).__name__} does not say how it tags")

    def tag_shares(self, table: Table, sequence: Codes) -> Array:
        """The probability of each tag at each row (rows × tags)."""
        raise DataError(f"{self.name} does not say how probable tags are", hint="leave out --probabilities")

    def log_evidence_of(self, table: Table, sequence: Codes, tags: Codes) -> Array | None:
        """The natural logarithm of p(x) of the sequence of each row; None if the method does not know it.

        ``tags`` are the true tags, negative if unknown; a chain of symbols has nothing else to go by.
        """
        return None


class SequenceLabelling(SupervisedTask[Tagger, "TaggedRows", TagAnswers]):
    """Predict the tag of every row of a sequence."""

    base = Tagger

    def learn(self, model: Tagger, rows: TaggedRows, rng: np.random.Generator) -> None:
        """Fit a model that knows the tags and their weights."""
        model.classes_, model.class_totals_ = rows.classes, rows.class_totals
        super().learn(model, rows, rng)

    def predict_rows(self, model: Tagger, rows: TaggedRows) -> TagAnswers:
        """The tag of each row."""
        predicted, probabilities = model.judged_tags(rows)
        return TagAnswers(
            header=rows.header(),
            truth=rows.y,
            predicted=predicted,
            classes=rows.classes,
            probabilities=probabilities,
            sequence=rows.sequence,
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class TaggedRows(LabelledRows):
    """Labelled rows, sequence by sequence and in order; ``sequence`` is the number of the sequence of each row."""

    kind = "sequence-labelling"
    task = SequenceLabelling()
    by_row = (*LabelledRows.by_row, "sequence")
    in_sequences = True
    stay_whole = True

    sequence: Codes

    @classmethod
    def from_table(cls, table: Table, schema: Schema) -> TaggedRows:
        """The sequences of a dataset in the order of their first rows; a sequence with a gap is refused."""
        column, order = schema.the("sequence"), schema.the("order")
        if column is None:
            hint = "say in the sidecar which column names the sequence of each row: roles: {sequence: COLUMN}"
            raise DataError("the rows stand in no sequences: no column has the role sequence", hint=hint)
        sequence = numbered_by_appearance(table.cells(column.name))
        _refuse_gaps(table, schema)
        sorted_rows = in_order(sequence, None if order is None else _places(order, table))
        rows = LabelledRows.from_table(table, schema)
        groups = sequence if rows.groups is None else _whole(sequence, rows.groups)
        names = ("table", "rows", "target", "weight", "context", "y", "classes", "order", "part", "parts")
        plain = {name: getattr(rows, name) for name in names}
        return cls(**plain, sequence=sequence, groups=groups).take(sorted_rows)

    def split_info(self) -> SplitInfo:
        """No strata, since sequences have no class to balance."""
        return replace(super().split_info(), strata=None)


def in_order(sequence: Codes, order: Array | Codes | None) -> Rows:
    """The rows sequence by sequence, by default as in the file; two rows at one place are refused."""
    if order is None:
        return np.argsort(sequence, kind="stable")
    rows = np.lexsort((order, sequence))
    shared = (np.diff(sequence[rows]) == 0) & (np.diff(order[rows]) == 0)
    if shared.any():
        first = int(np.argmax(shared))
        more = f" (and {shared.sum() - 1} more such pairs)" if shared.sum() > 1 else ""
        what = f"rows {rows[first] + 1} and {rows[first + 1] + 1} have the same place in their sequence{more}"
        hint = "give each row a place of its own, or no column the role order: then rows are taken as they stand"
        raise DataError(what, hint=hint)
    return np.asarray(rows)


def lengths(sequence: Codes) -> tuple[Rows, Rows]:
    """The first row and the number of rows of each sequence, whose rows are consecutive."""
    starts = np.flatnonzero(np.diff(sequence, prepend=-1))
    return starts, np.diff(starts, append=len(sequence))


def _refuse_gaps(table: Table, schema: Schema) -> None:
    """Refuse rows without a tag or a place: without them their neighbours would seem adjacent."""
    for role, what in (("target", "has no tag"), ("order", "has no place in its sequence")):
        column = schema.the(role)
        cells = np.zeros(0) if column is None else table.cells(column.name).astype(np.float64)
        gaps = np.flatnonzero(np.isnan(cells) | (cells < 0 if column is not None and column.coded else False))
        if len(gaps) and column is not None:
            where = f"row {gaps[0] + 1}, column '{column.name}'"
            more = f" (and {len(gaps) - 1} more)" if len(gaps) > 1 else ""
            hint = "leave out its whole sequence, or fill the cell"
            raise DataError(f"a row of a sequence {what}{more}", where=where, hint=hint)


def _places(order: Column, table: Table) -> Array:
    """The place of each row in its sequence; levels tell it only if their order is declared."""
    if order.coded and order.kind != "ordinal":
        what = f"column '{order.name}' orders the rows of sequences, and holds text, such as '{order.levels[0]}'"
        raise DataError(what, hint="write numbers, or declare it ordinal with its levels in their order")
    return table.cells(order.name).astype(np.float64)


def _whole(sequence: Codes, groups: Codes) -> Codes:
    """The groups; it is an error if a sequence is in two of them."""
    first = groups[np.unique(sequence, return_index=True)[1]]
    if (first[sequence] != groups).any():
        raise DataError("a sequence stands in two groups", hint="every row of a sequence needs the same group")
    return groups
