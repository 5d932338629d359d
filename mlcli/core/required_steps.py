"""The steps that a model requires, by what it accepts and what the columns are, never by cells."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from mlcli.core.accepts import Accepts
from mlcli.core.registry import STEPS
from mlcli.core.schema import Column
from mlcli.core.step import Step

MOST_LEVELS = 50
"""If a nominal column has more levels, rare ones are merged before it is one-hot encoded."""


def missing_steps(
    accepts: Accepts,
    features: Sequence[Column],
    given: Sequence[Step] | None,
    *,
    own_level: bool = True,
    keep_scaling: bool = True,
) -> list[Step]:
    """All steps in order: the given ones, and those that they and the model still require.

    Sensitive and context columns are dropped first. Missing cells are then imputed, so that every step sees
    complete columns. Levels are encoded just in front of what requires numbers, so that 0/1 columns are not
    scaled; before that, rare levels of columns with very many are merged. Numbers are scaled for a model that
    prefers it if no steps are given (None), and with ``keep_scaling`` also if the given steps include no scaler.
    Without ``own_level`` a missing cell never becomes a level of its own.
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
    """Whether given steps leave scaling to mlcli: there are some, and none is a scaler."""
    return given is None or (len(given) > 0 and not any(step.scales for step in given))


def _place_of_scaler(given: Sequence[Step]) -> int:
    """The index at which a scaler is inserted: at the end, but in front of the last steps that follow scaling."""
    index = len(given)
    while index and (given[index - 1].follows_scaling or not given[index - 1].accepts.nominal):
        index -= 1
    return index


def _hiding(accepts: Accepts, features: Sequence[Column], given: Sequence[Step]) -> list[Step]:
    """The step that drops sensitive and context columns, except those that the model or a step uses."""
    shown = accepts.sensitive or any(step.shows_sensitive for step in given)
    asked = {name for step in given for name in step.columns or ()}
    unseen = (
        feature
        for feature in features
        if (feature.sensitive and not shown) or (feature.context and not accepts.context)
    )
    hidden = tuple(column.name for column in unseen if column.name not in asked)
    return _made("drop", bool(hidden), columns=hidden)


def _gaps(accepts: Accepts, columns: Sequence[Column]) -> list[str]:
    """The columns with missing cells that the next step or model does not accept."""
    return [] if accepts.missing else [column.name for column in columns if column.missing]


def _filling(
    gaps: Sequence[str], features: Sequence[Column], given: Sequence[Step], *, own_level: bool
) -> list[Step]:
    """The step that imputes all gaps, or those that steps for other columns leave.

    Without ``own_level``, often missing cells get the most frequent level: as a level of their own they would
    dominate densities, distances and pictures.
    """
    left = tuple(column.name for column in features if column.name in gaps)
    for_some = any(step.columns is not None for step in given) and len(left) == len(set(gaps))
    often = not own_level and any(column.often_missing for column in features if column.name in gaps)
    settings: dict[str, str | int] = {"levels": "most-frequent"} if often else {}
    return _made("impute", bool(gaps), columns=left if for_some else None, **settings)


def _encoding(
    accepts: Accepts, columns: Sequence[Column], merged: Collection[str], *, only: bool = False
) -> list[Step]:
    """The steps that turn levels into numbers, or numbers into levels; with ``only``, of these columns alone.

    Rare levels of ``merged`` columns have been merged already.
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
    """Whether rare levels are merged before the column is one-hot encoded."""
    return column.kind == "nominal" and len(column.levels) > MOST_LEVELS


def encoded_width(accepts: Accepts, columns: Iterable[Column]) -> int:
    """About how many columns a method sees behind the steps that it requires."""
    if accepts.nominal:
        return len(tuple(columns))
    return sum(min(len(column.levels), MOST_LEVELS + 1) if column.kind == "nominal" else 1 for column in columns)


def after(steps: Iterable[Step], columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns behind some steps."""
    columns = tuple(columns)
    for step in steps:
        columns = step.columns_left(columns)
    return columns


def _made(name: str, wanted: bool, columns: tuple[str, ...] | None = None, **settings: str | int) -> list[Step]:
    """The step of an id, which is imported only if it is wanted."""
    return [STEPS.load(name)(columns=columns, **settings)] if wanted else []
