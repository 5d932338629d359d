"""Item neighbours: a user would rate an item as it has rated items that other users rate alike.

Formula:
    r̂(u, i) = c(u, i) + Σ s(i, j) (r(u, j) − c(u, j)) / (damping + Σ s(i, j)) over the k items j most similar to
    i that u has rated, of those with s > 0. The centre c is μ (``centre: none``), the mean of the item, or the
    baseline μ + b_u + b_i of ``user-item-bias``.

    s(i, j) over the users who have rated both: Σ r r' / √(Σ r² Σ r'²) (cosine), the same of r − r̄_u with r̄_u
    the mean of the user (adjusted-cosine, Sarwar's), of r − c (residual), or the correlation (pearson); times n
    / (n + shrinkage), n being how many these users are.

Assumes:
    Items that the same users like will go on to be liked together; each user has rated some of them.

Cost:
    Nothing to fit but the centre. To predict for an item takes the ratings of all users who have rated it, then
    one pass over the ratings of its neighbours.

Choices:
    As in ``user-neighbours``, with users and items exchanged.
"""

from __future__ import annotations

from typing import ClassVar

from mlcli.core.registry import register
from mlcli.models.recommendation.user_neighbours import Neighbourhood
from mlcli.tasks.recommendation import Recommender


@register("item-neighbours", reference="Sarwar et al. 2001, Item-based collaborative filtering", revision=3)
class ItemNeighbours(Neighbourhood, Recommender):
    """Items are compared by the users who have rated both."""

    owners: ClassVar[int] = 1
