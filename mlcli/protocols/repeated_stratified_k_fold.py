"""Repeated stratified k-fold: stratified k-fold with the rows split anew ten times.

Computed:
    As stratified k-fold; the scores of all folds of all repeats are averaged. Folds of different repeats
    share rows, so that their spread understates what new data would show.

Cost:
    folds × repeats fits.
"""

from __future__ import annotations

from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.protocols._base import MOST_REPEATS
from mlcli.protocols.stratified_k_fold import StratifiedKFold


@register(
    "repeated-stratified-k-fold",
    reference="Bouckaert & Frank 2004, Evaluating the replicability of significance tests",
)
class RepeatedStratifiedKFold(StratifiedKFold):
    """Stratified k-fold with the rows split anew ten times."""

    repeats: int = param(10, "how often the rows are split anew", ge=1, le=MOST_REPEATS)
