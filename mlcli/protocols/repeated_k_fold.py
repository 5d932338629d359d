"""Repeated k-fold: k-fold with the rows split anew ten times, which steadies the mean.

Computed:
    As k-fold; the scores of all folds of all repeats are averaged. Folds of different repeats share rows, so that
    their spread understates what new data would show.

Cost:
    folds × repeats fits.
"""

from __future__ import annotations

from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.protocols._base import MOST_REPEATS
from mlcli.protocols.k_fold import KFold


@register(
    "repeated-k-fold", reference="Bouckaert & Frank 2004, Evaluating the replicability of significance tests"
)
class RepeatedKFold(KFold):
    """K-fold with the rows split anew ten times, which steadies the mean."""

    repeats: int = param(10, "how often the rows are split anew", ge=1, le=MOST_REPEATS)
