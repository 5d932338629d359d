"""Which steps a model needs before it: read from what it accepts and what the columns are, never from cells."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from mlcli.core.accepts import Accepts
from mlcli.core.registry import STEPS
from mlcli.core.schema import Column
from mlcli.core.step import Step

MOST_LEVELS = 50
"""A nominal column of more levels gets no column for each of them: the rare ones are merged first."""


def missing_steps(
    accepts: Accepts,
    features: Sequence[Column],
    given: Sequence[Step] | None,
    *,
    own_level: bool = True,
    keep_scaling: bool = True,
) -> list[Step]:
    """All steps in order: the user's own, with those that they and the model still need around them.

    Gaps are filled before all else, so that every step sees full columns; levels become numbers just before what
    needs numbers, so that 0/1 columns are not scaled; rare levels of a column with very many are merged before
    that. Numbers are scaled for a model that prefers it where the user named no steps (``given`` None), and with
    ``keep_scaling`` also where the user named some, but no scaler. Without ``own_level`` being empty never becomes
    a level. Sensitive and context columns are hidden first of all.
    """
    scaler: Step | None = None
    own = list(given or ())
    if accepts.prefers_scaled and (given is None or (keep_scaling and leaves_scaling(given))):
        (scaler,) = _made("standardise", True)
        own.insert(_place_of_scaler(own), scaler)
    hiding = _hiding(accepts, features, given or ())
    features = columns = after(hiding, tuple(features))
    gaps, steps, merged = list[str](), list[Step](), set[str]()
    for step in own:
        if step is scaler and all(column.coded for column in columns):
            continue
        seen = step.seen_of(columns)
        gaps += _gaps(step.accepts, seen)
        steps += [*_encoding(step.accepts, seen, merged, only=step.columns is not None), step]
        merged |= {column.name for column in seen if step.merges_levels}
        columns = after(steps, features)
    gaps += _gaps(accepts, columns)
    filling = _filling(gaps, features, given or (), own_level=own_level)
    return [*hiding, *filling, *steps, *_encoding(accepts, columns, merged)]


def leaves_scaling(given: Sequence[Step] | None) -> bool:
    """Whether steps that a user named leave the scaling of numbers to mlcli: some steps, none of them a scaler."""
    return given is None or (len(given) > 0 and not any(step.scales for step in given))


def _place_of_scaler(given: Sequence[Step]) -> int:
    """Where numbers are scaled among named steps: at the end, but before the last ones that follow scaling."""
    place = len(given)
    while place and (given[place - 1].follows_scaling or not given[place - 1].accepts.nominal):
        place -= 1
    return place


def _hiding(accepts: Accepts, features: Sequence[Column], given: Sequence[Step]) -> list[Step]:
    """What hides sensitive and context columns, unless the model or a step is for them, or a step names them."""
    shown = accepts.sensitive or any(step.shows_sensitive for step in given)
    asked = {name for step in given for name in step.columns or ()}
    unseen = (one for one in features if (one.sensitive and not shown) or (one.context and not accepts.context))
    hidden = tuple(one.name for one in unseen if one.name not in asked)
    return _made("drop", bool(hidden), columns=hidden)


def _gaps(accepts: Accepts, columns: Sequence[Column]) -> list[str]:
    """The columns whose empty cells would meet what does not take them."""
    return [] if accepts.missing else [column.name for column in columns if column.missing]


def _filling(
    gaps: Sequence[str], features: Sequence[Column], given: Sequence[Step], *, own_level: bool
) -> list[Step]:
    """What fills all gaps, or those that steps for other columns leave.

    Where gaps are often a level, densities, distances and pictures would be mostly of being empty.
    """
    left = tuple(column.name for column in features if column.name in gaps)
    for_some = any(step.columns is not None for step in given) and len(left) == len(set(gaps))
    often = not own_level and any(column.often_missing for column in features if column.name in gaps)
    settings: dict[str, str | int] = {"levels": "most-frequent"} if often else {}
    return _made("impute", bool(gaps), columns=left if for_some else None, **settings)


def _encoding(
    accepts: Accepts, columns: Sequence[Column], merged: Collection[str], *, only: bool = False
) -> list[Step]:
    """What makes numbers of levels, or levels of numbers; with ``only``, of these columns and no others.

    Rare levels of ``merged`` columns are merged already.
    """
    if accepts.levels_only:
        return _made("discretise", not all(column.coded for column in columns))
    if accepts.nominal:
        return []
    many = [column.name for column in columns if has_too_many_levels(column) and column.name not in merged]
    some = tuple(many) if only or merged else None
    steps = _made("rare-levels", bool(many), columns=some, most=MOST_LEVELS)
    for name, ordinal in (("ordinal", True), ("one-hot", False)):
        coded = [column.name for column in columns if column.coded and (column.kind == "ordinal") == ordinal]
        steps += _made(name, bool(coded), columns=tuple(coded) if only else None)
    return steps


def has_too_many_levels(column: Column) -> bool:
    """Whether rare levels are merged before the column becomes one for each level."""
    return column.kind == "nominal" and len(column.levels) > MOST_LEVELS


def encoded_width(accepts: Accepts, columns: Iterable[Column]) -> int:
    """About how many columns a method sees of these, behind the steps that it needs."""
    if accepts.nominal:
        return len(tuple(columns))
    return sum(min(len(column.levels), MOST_LEVELS + 1) if column.kind == "nominal" else 1 for column in columns)


def after(steps: Iterable[Step], columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns that steps leave."""
    columns = tuple(columns)
    for step in steps:
        columns = step.columns_left(columns)
    return columns


def _made(name: str, wanted: bool, columns: tuple[str, ...] | None = None, **settings: str | int) -> list[Step]:
    """The step of an id, imported only when it is wanted."""
    return [STEPS.load(name)(columns=columns, **settings)] if wanted else []
