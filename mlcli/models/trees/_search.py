"""The best cut of every open node of a level by every feature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import numpy as np

from mlcli.models.trees._criteria import Criterion
from mlcli.models.trees._levels import Level
from mlcli.models.trees._runs import Cuts, between_values

NominalCuts = Callable[[Level, int, Criterion, float], Cuts]


def search(level: Level, nominal_cuts: NominalCuts, criterion: Criterion, least: float) -> Cuts:
    """Nodes × F."""
    ordered = level.data.ordered if len(level) else np.zeros(0, bool)
    thresholds = iter(between_values(level, np.flatnonzero(ordered), criterion, least))
    found = [
        next(thresholds) if by_threshold else nominal_cuts(level, feature, criterion, least)
        for feature, by_threshold in enumerate(ordered)
    ]
    return _side_by_side(found, len(level))


def _side_by_side(found: list[Cuts], nodes: int) -> Cuts:
    """The cuts of all features as one, nodes × F."""
    none = np.empty(nodes), np.empty(nodes), *np.empty((2, nodes), np.int32), np.empty(nodes, bool)
    width = len(found)
    found = found or [Cuts(*none)]
    columns = (np.stack([getattr(cuts, part.name) for cuts in found], axis=1)[:, :width] for part in fields(Cuts))
    return Cuts(*columns)
