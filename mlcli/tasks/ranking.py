"""Ranking: rows in groups, to be ordered by relevance within each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.errors import DataError, FitError
from mlcli.core.model import Model, Task, refuse_impossible
from mlcli.core.moments import pair_weight
from mlcli.core.rows import RowsOfTable, extras_of
from mlcli.core.schema import Column, Schema
from mlcli.core.tables import Array, Cells, Codes, Rows, Table


def relevance_of(column: Column, cells: Cells) -> Array:
    """The relevance of each row: a number, the rank of an ordinal level, or 1 for the second of two levels."""
    relevance = cells.astype(np.float64)
    if not column.coded:
        return relevance
    if column.kind == "nominal" and len(column.levels) != 2:
        what = f"'{column.name}' has {len(column.levels)} levels without an order, so none is more relevant"
        hint = "say in the sidecar that it is ordinal, with its levels, the least relevant first"
        raise DataError(what, hint=hint)
    return np.where(relevance < 0, np.nan, relevance)


@dataclass(frozen=True, eq=False, kw_only=True)
class RankAnswers(Answers):
    """The score of each row, its relevance, and its group as a code into ``names``."""

    score: Array
    relevance: Array
    group: Codes
    names: tuple[str, ...]

    @classmethod
    def pooled(cls, parts: Sequence[Self]) -> Self:
        """The answers of several splits as one; a group that was scored twice counts as two groups."""
        sizes = [len(part.names) for part in parts]
        starts = np.cumsum([0, *sizes[:-1]])
        moved = [replace(part, group=part.group + start) for part, start in zip(parts, starts, strict=True)]
        return replace(super().pooled(moved), names=tuple(name for part in parts for name in part.names))


@dataclass(kw_only=True, eq=False)
class Ranker(Model):
    """Scores rows: within a group, higher scores go first. A method implements ``fit`` and ``score_rows``."""

    def fit(self, data: GroupedRows, rng: np.random.Generator) -> None:
        """Learn the order of rows in their groups."""
        super().fit(data, rng)

    def score_rows(self, table: Table) -> Array:
        """The score of each row, to be compared with the other scores of its group."""
        raise TypeError(f"{type(self).__name__} does not say how it scores rows")


class RankingTask(Task[Ranker, "GroupedRows", RankAnswers]):
    """Put the rows of a group in order of their relevance."""

    base = Ranker

    def training_view(self, model: Model, rows: GroupedRows) -> GroupedRows:
        """The rows as they are; rows without any order to learn are refused."""
        rows = super().training_view(model, rows)
        if not pair_weight(rows.relevance, rows.group, rows.weights).any():
            raise FitError("no two training rows of one group differ in relevance, so there is no order to learn")
        return rows

    def predict_rows(self, model: Ranker, rows: GroupedRows) -> RankAnswers:
        """The score of each row, beside its relevance and its group."""
        score = model.score_rows(rows.table)
        refuse_impossible(model, score, (len(rows),))
        present, group = np.unique(rows.group, return_inverse=True)
        return RankAnswers(
            header=rows.header(),
            score=score,
            relevance=rows.relevance,
            group=group.astype(np.int32),
            names=tuple(rows.names[code] for code in present.tolist()),
        )

    def outputs_of(self, model: Ranker, table: Table) -> Array:
        """The score."""
        return model.score_rows(table)[:, None]

    def output_names(self, model: Ranker) -> tuple[str, ...]:
        """What the number is."""
        return ("score",)


@dataclass(frozen=True, eq=False, kw_only=True)
class GroupedRows(RowsOfTable):
    """Rows with a relevance each, in groups that protocols keep whole: ``groups`` are codes into ``names``."""

    kind = "ranking"
    task = RankingTask()
    by_row = (*RowsOfTable.by_row, "relevance")
    stay_whole = True

    relevance: Array
    names: tuple[str, ...]
    """The names of the groups."""

    @classmethod
    def from_table(cls, table: Table, schema: Schema) -> Self:
        """The rows of a dataset whose relevance is known."""
        target, group = schema.the("target"), schema.the("group")
        if target is None or group is None:
            missing = "target" if target is None else "group"
            hint = f"give a column the role in the sidecar, such as 'roles: {{{missing}: COLUMN}}'"
            raise DataError(f"ranking needs a column with the role {missing}, and there is none", hint=hint)
        relevance = relevance_of(target, table.cells(target.name))
        rows = np.flatnonzero(~np.isnan(relevance))
        kept = table.take(rows)
        return cls(
            table=kept.select(column.name for column in schema.features()),
            rows=rows,
            target=target.name,
            relevance=relevance[rows],
            names=tuple(
                group.levels[value] if group.coded else f"{value:.10g}"
                for value in np.unique(kept.cells(group.name)).tolist()
            ),
            **extras_of(kept, schema),
        )

    @property
    def group(self) -> Codes:
        """The group of each row."""
        assert self.groups is not None
        return self.groups


def places(score: Array, group: Codes) -> Rows:
    """The rank of each row within its group, 1 for the highest score; ties share the best rank."""
    order = np.lexsort((-score, group))
    position = np.arange(len(order))
    new_group = np.diff(group[order], prepend=-1) != 0
    new_place = new_group | (np.diff(score[order], prepend=np.nan) != 0)
    start, first = (np.maximum.accumulate(np.where(new, position, 0)) for new in (new_group, new_place))
    rank = np.empty(len(order), np.intp)
    rank[order] = first - start + 1
    return rank
