"""Which steps a model needs before it: read from what it accepts and what the columns are, never from cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlcli.core.accepts import Accepts
from mlcli.core.registry import STEPS
from mlcli.core.schema import Column
from mlcli.core.step import Step


def missing_steps(accepts: Accepts, features: Sequence[Column], given: Sequence[Step] | None) -> list[Step]:
    """All steps in order: the user's own, with those that they and the model still need around them.

    Gaps are filled before all else, so that every step sees full columns; levels become numbers just before what
    needs numbers, so that 0/1 columns are not scaled. ``given`` None means that the user said nothing of steps:
    then numbers are scaled, too, for a model that prefers it.
    """
    columns, gaps = tuple(features), False
    steps: list[Step] = []
    for step in given or ():
        gaps = gaps or _has_gaps(step.accepts, columns)
        steps += [*_encoding(step.accepts, columns), step]
        columns = after(steps, features)
    gaps = gaps or _has_gaps(accepts, columns)
    scaling = _scaling(accepts, columns) if given is None else []
    return [*_made("impute", gaps), *scaling, *steps, *_encoding(accepts, columns)]


def _has_gaps(accepts: Accepts, columns: Sequence[Column]) -> bool:
    """Whether empty cells would meet what does not take them."""
    return not accepts.missing and any(column.missing for column in columns)


def _scaling(accepts: Accepts, columns: Sequence[Column]) -> list[Step]:
    return _made("standardise", accepts.prefers_scaled and not all(column.coded for column in columns))


def _encoding(accepts: Accepts, columns: Sequence[Column]) -> list[Step]:
    if accepts.nominal:
        return []
    coded = {column.kind for column in columns if column.coded}
    return [*_made("ordinal", "ordinal" in coded), *_made("one-hot", bool(coded - {"ordinal"}))]


def after(steps: Iterable[Step], columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns that steps leave."""
    columns = tuple(columns)
    for step in steps:
        columns = step.columns_after(columns)
    return columns


def _made(name: str, wanted: bool) -> list[Step]:
    """The step of an id, imported only when it is wanted."""
    return [STEPS.load(name)()] if wanted else []
