"""Repeated stratified holdout: stratified holdout with a new part held out ten times.

Computed:
    As stratified holdout; the scores of all repeats are averaged. A row may be judged several times, or never.

Cost:
    One fit for each repeat.
"""

from __future__ import annotations

from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.protocols._base import MOST_REPEATS
from mlcli.protocols.stratified_holdout import StratifiedHoldout


@register("repeated-stratified-holdout", reference="Picard & Cook 1984, Cross-validation of regression models")
class RepeatedStratifiedHoldout(StratifiedHoldout):
    """Stratified holdout with a new part held out ten times."""

    repeats: int = param(10, "how often a new part is held out", ge=1, le=MOST_REPEATS)
