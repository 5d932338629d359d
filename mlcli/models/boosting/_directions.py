"""Columns with which answers may only rise or fall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mlcli.core.errors import FitError
from mlcli.core.names import did_you_mean
from mlcli.core.schema import Column
from mlcli.core.tables import Rows
from mlcli.models.trees._features import ordered

DIRECTIONS = {"rising": 1, "falling": -1}


def wrong_directions(monotone: Mapping[str, object] | None) -> list[str]:
    """What a configuration asks for that is no direction."""
    allowed = " or ".join(DIRECTIONS)
    return [
        f"monotone: {name} is {allowed}, was given {given!r}"
        for name, given in (monotone or {}).items()
        if given not in DIRECTIONS
    ]


def directions_of(monotone: Mapping[str, str] | None, columns: Sequence[Column], outputs: int) -> Rows:
    """1, −1 or 0 for each column."""
    monotone = monotone or {}
    if monotone and outputs > 1:
        raise FitError(
            "monotone is of numbers or of two classes, but there are more", hint="leave out the parameter monotone"
        )
    by_threshold = dict(zip([column.name for column in columns], ordered(columns), strict=True))
    for name in monotone:
        if name not in by_threshold:
            raise FitError(
                f"monotone: there is no column '{name}'", hint=did_you_mean(name, by_threshold, "columns")
            )
        if not by_threshold[name]:
            raise FitError(
                f"monotone: column '{name}' is nominal, so its levels have no order to rise or fall with"
            )
    return np.array([DIRECTIONS.get(str(monotone.get(column.name)), 0) for column in columns], dtype=np.intp)
