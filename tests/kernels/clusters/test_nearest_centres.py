"""Rows are placed by the compiled loops as by NumPy, while centres move and when they have converged."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.engines.centres import STARTS, Lloyd, Stop, centred_rows, place, placing_for

TO_THE_END = Stop(0.0, 0, 1000)


@pytest.mark.parametrize(("clusters", "columns"), [(1, 1), (6, 4), (6, 5)])
def test_both_routes_settle_alike(clusters: int, columns: int) -> None:
    rng = np.random.default_rng(columns)
    X = rng.normal(size=(400, columns))
    cloud = centred_rows(X - X.mean(axis=0), rng.uniform(0.5, 2.0, 400))
    first = STARTS["k-means-plus-plus"](cloud, clusters, rng)
    one, other = (Lloyd(cloud, first, route).run(TO_THE_END) for route in (place, placing_for(10**12)))
    assert one.steps == other.steps
    assert one.centres == pytest.approx(other.centres, abs=1e-12)
    assert one.within == pytest.approx(other.within, rel=1e-12)


def test_of_equally_near_centres_the_first_wins() -> None:
    cloud = centred_rows(np.array([[-1.0], [0.0], [1.0]]), np.ones(3))
    centres = np.array([[-1.0], [1.0]])
    for route in (place, placing_for(10**12)):
        assert Lloyd(cloud, centres, route).cluster[cloud.X[:, 0] == 0].tolist() == [0]
