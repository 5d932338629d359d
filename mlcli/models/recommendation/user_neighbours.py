"""User neighbours: a user would rate an item as users who rate alike have rated it.

Formula:
    r̂(u, i) = c(u, i) + Σ s(u, v) (r(v, i) − c(v, i)) / (damping + Σ s(u, v)) over the k users v most similar to
    u that have rated i, of those with s > 0. The centre c is μ (``centre: none``), the mean of the user, or the
    baseline μ + b_u + b_i of ``user-item-bias``.

    s(u, v) over the items that both have rated: Σ r r' / √(Σ r² Σ r'²) (cosine), the same of r − r̄_i with r̄_i
    the mean of the item (adjusted-cosine), of r − c (residual), or the correlation (pearson); times n / (n +
    shrinkage), n being how many these items are.

Assumes:
    Users who agreed before agree again, and share enough items to show it.

Cost:
    Nothing to fit but the centre. An answer about a user takes the ratings of all items that it has rated, then
    one pass over the ratings of its neighbours.

Choices:
    Residuals of the baseline are compared (Koren's pearson-baseline): of few common ratings a correlation about
    their own means is mostly chance. Without `shrinkage` it follows from the ratings: chance alone makes s² about
    1/n, so that with τ² the mean of s² − 1/n (by n) n / (n + 1/τ²) is what is to be believed of s (James & Stein);
    where τ² is not above 0, nothing. Koren gives 100 for many ratings. Without `damping` one neighbour that is
    hardly alike answers as surely as forty that are: on few ratings of each user that does worse than the baseline
    alone (Bell & Koren's remedy). The classic formula is `shrinkage: 0`, `damping: 0`. Users as similar as the
    k-th answer too, so that the order of rows decides nothing. Similarities of 0 or less are not used. Without
    neighbours the answer is the centre; what is not known adds nothing to it. Several ratings of a pair count as
    their mean.
"""

from __future__ import annotations

from typing import ClassVar

from mlcli.core.registry import register
from mlcli.models.recommendation._neighbourhood import Neighbourhood
from mlcli.tasks.recommendation import Recommender


@register(
    "user-neighbours", reference="Resnick et al. 1994, GroupLens; Koren 2010, Factor in the neighbors", revision=3
)
class UserNeighbours(Neighbourhood, Recommender):
    """Users are compared by the items that both have rated."""

    owners: ClassVar[int] = 0
