"""Item neighbours: users and items in each other's place, of user neighbours; the rest is in its golden test."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.models.recommendation.item_neighbours import ItemNeighbours
from mlcli.models.recommendation.user_neighbours import UserNeighbours
from tests.golden.asking import fitted
from tests.support.ratings import ITEMS, USERS, drawn, halves, ratings


@pytest.mark.parametrize("similarity", ["cosine", "adjusted-cosine", "pearson"])
@pytest.mark.parametrize("centre", ["none", "mean"])
def test_it_is_user_neighbours_with_sides_exchanged(similarity: str, centre: str) -> None:
    train, _ = halves(drawn())
    exchanged = ratings(train.items.tolist(), train.users.tolist(), train.y.tolist())
    items = fitted(ItemNeighbours(similarity=similarity, centre=centre, k=5), train)
    users = fitted(UserNeighbours(similarity=similarity, centre=centre, k=5), exchanged)
    every = np.arange(USERS)[:, None], np.arange(ITEMS)[None, :]
    assert items.rate(*every) == pytest.approx(users.rate(every[1], every[0]), abs=1e-9)
