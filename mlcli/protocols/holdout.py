"""Holdout: a random share of the rows is judged by a model that has learned from the rest.

Computed:
    round(rows × test_share) rows are judged, at least one and never all. Groups are never cut: where rows are
    grouped, the share is of groups.

Cost:
    One fit for each repeat.
"""

from __future__ import annotations

from dataclasses import dataclass

from mlcli.core.registry import register
from mlcli.protocols._holdout import HeldOut


@register(
    "holdout", reference="Devroye & Wagner 1979, Distribution-free performance bounds for potential function rules"
)
@dataclass(kw_only=True, eq=False)
class Holdout(HeldOut):
    """A random share of the rows is judged by a model that has learned from the rest."""
