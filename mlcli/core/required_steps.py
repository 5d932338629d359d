"""The steps that a model requires, by what it accepts and what the columns are, never by cells.

A step declares in ``register`` the purpose for which it is inserted, such as filling gaps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from mlcli.core.model import Step
from mlcli.core.registry import STEPS
from mlcli.core.schema import Accepts, Column

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
    scaler, own = None, list(given or ())
    if accepts.prefers_scaled and (given is None or (keep_scaling and leaves_scaling(given))):
        scaler, index = _inserted("scale"), len(own)
        while index and (own[index - 1].follows_scaling or not own[index - 1].accepts.nominal):
            index -= 1
        own.insert(index, scaler)
    hiding = _hiding(accepts, features, given or ())
    features = columns = after(hiding, tuple(features))
    gaps, steps, merged = set[str](), list[Step](), set[str]()
    for step in own:
        if step is scaler and all(column.coded for column in columns):
            continue
        seen = step.seen_of(columns)
        if not step.accepts.missing:
            gaps |= {column.name for column in seen if column.missing}
        steps += [*_encoding(step.accepts, seen, merged, only=step.columns is not None), step]
        merged |= {column.name for column in seen if step.merges_levels}
        columns = after(steps, features)
    if not accepts.missing:
        gaps |= {column.name for column in columns if column.missing}
    filling = _filling(gaps, features, given or (), own_level=own_level)
    return [*hiding, *filling, *steps, *_encoding(accepts, columns, merged)]


def leaves_scaling(given: Sequence[Step] | None) -> bool:
    """Whether given steps leave scaling to mlcli: there are some, and none is a scaler."""
    return given is None or (len(given) > 0 and not any(step.scales for step in given))


def _hiding(accepts: Accepts, features: Sequence[Column], given: Sequence[Step]) -> list[Step]:
    """The step that drops sensitive and context columns, except those that the model or a step uses."""
    shows_sensitive = accepts.sensitive or any(step.shows_sensitive for step in given)
    used = {name for step in given for name in step.columns or ()}
    hidden = tuple(
        column.name
        for column in features
        if (column.sensitive and not shows_sensitive) or (column.context and not accepts.context)
    )
    hidden = tuple(name for name in hidden if name not in used)
    return [_inserted("hidden columns", hidden)] if hidden else []


def _filling(
    gaps: Collection[str], features: Sequence[Column], given: Sequence[Step], *, own_level: bool
) -> list[Step]:
    """The step that imputes all gaps, or only the named ones beside steps that are for some columns.

    Without ``own_level``, often missing cells get the most frequent level: as a level of their own they would
    dominate densities, distances and pictures.
    """
    if not gaps:
        return []
    with_gaps = [column for column in features if column.name in gaps]
    only_these = any(step.columns is not None for step in given) and len(with_gaps) == len(gaps)
    often = not own_level and any(column.often_missing for column in with_gaps)
    settings = {"levels": "most-frequent"} if often else {}
    return [_inserted("gaps", tuple(column.name for column in with_gaps) if only_these else None, **settings)]


def _encoding(
    accepts: Accepts, columns: Sequence[Column], merged: Collection[str], *, only: bool = False
) -> list[Step]:
    """The steps that turn levels into numbers, or numbers into levels; with ``only``, of these columns alone.

    Rare levels of ``merged`` columns have been merged already.
    """
    if accepts.levels_only:
        return [] if all(column.coded for column in columns) else [_inserted("numbers")]
    if accepts.nominal:
        return []
    steps = []
    many = tuple(column.name for column in columns if has_too_many_levels(column) and column.name not in merged)
    if many:
        steps.append(_inserted("rare levels", many if only or merged else None, most=MOST_LEVELS))
    ordinal = tuple(column.name for column in columns if column.kind == "ordinal")
    if ordinal:
        steps.append(_inserted("ordinal levels", ordinal if only else None))
    nominal = tuple(column.name for column in columns if column.coded and column.kind != "ordinal")
    if nominal:
        steps.append(_inserted("nominal levels", nominal if only else None))
    return steps


def _inserted(purpose: str, columns: tuple[str, ...] | None = None, **settings: str | int) -> Step:
    """A new step that is inserted for a purpose, by default for all columns."""
    step: Step = STEPS.inserted_for(purpose)(columns=columns, **settings)
    return step


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
