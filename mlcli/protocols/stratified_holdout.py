"""Stratified holdout: holdout in which every class keeps its share on both sides.

Computed:
    Of the shuffled rows, sorted by class, every (1/test_share)-th is judged, from a random start: each class gives
    its share, rounded up or down. Groups are never cut: the share is of groups, and a group counts for the class
    that most of its rows have.

Cost:
    One fit for each repeat.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlcli.core.registry import register
from mlcli.protocols._holdout import StratifiedHeldOut


@register(
    "stratified-holdout",
    reference="Kohavi 1995, A study of cross-validation and bootstrap for accuracy estimation",
)
@dataclass(kw_only=True, eq=False)
class StratifiedHoldout(StratifiedHeldOut):
    """Holdout in which every class keeps its share on both sides."""
