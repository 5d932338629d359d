"""Which steps a model needs before it: read from what it accepts and what the columns are, never from cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mlcli.core.bases import Accepts, Step
from mlcli.core.registry import STEPS
from mlcli.core.schema import Column


def missing_steps(accepts: Accepts, features: Sequence[Column], given: Sequence[Step] | None) -> list[Step]:
    """All steps in order: the user's own, with those that the model still needs around them.

    Gaps are filled before all else, so that every step sees full columns; levels become numbers after all else,
    so that 0/1 columns are not scaled. ``given`` None means that the user said nothing of steps: then numbers are
    scaled, too, for a model that prefers it.
    """
    own = list(given or ())
    columns = _after(own, features)
    first = _imputing(accepts, columns) + (_scaling(accepts, columns) if given is None else [])
    return [*first, *own, *_encoding(accepts, columns)]


def _imputing(accepts: Accepts, columns: Sequence[Column]) -> list[Step]:
    return _made("impute", not accepts.missing and any(column.missing for column in columns))


def _scaling(accepts: Accepts, columns: Sequence[Column]) -> list[Step]:
    return _made("standardise", accepts.prefers_scaled and not all(column.coded for column in columns))


def _encoding(accepts: Accepts, columns: Sequence[Column]) -> list[Step]:
    if accepts.nominal:
        return []
    coded = {column.kind for column in columns if column.coded}
    return [*_made("ordinal", "ordinal" in coded), *_made("one-hot", bool(coded - {"ordinal"}))]


def _after(steps: Iterable[Step], columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns that steps leave."""
    columns = tuple(columns)
    for step in steps:
        columns = step.columns_after(columns)
    return columns


def _made(name: str, wanted: bool) -> list[Step]:
    """The step of an id, imported only when it is wanted."""
    return [STEPS.load(name)()] if wanted else []
