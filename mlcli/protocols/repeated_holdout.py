"""Repeated holdout: holdout with a new random part held out ten times.

Computed:
    As holdout; the scores of all repeats are averaged. A row may be judged several times, or never.

Cost:
    One fit for each repeat.
"""

from __future__ import annotations

from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.protocols._base import MOST_REPEATS
from mlcli.protocols.holdout import Holdout


@register("repeated-holdout", reference="Picard & Cook 1984, Cross-validation of regression models")
class RepeatedHoldout(Holdout):
    """Holdout with a new random part held out ten times."""

    repeats: int = param(10, "how often a new part is held out", ge=1, le=MOST_REPEATS)
