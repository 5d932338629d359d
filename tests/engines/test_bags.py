"""Rows as repeats and rows held aside: what follows from their content follows from nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mlcli.core.errors import MlcliWarning
from mlcli.engines.content_seeds import as_repeats, held_aside, steady_draws
from tests.golden.shipped import in_numbers, numeric


def test_whole_weights_are_repeats_in_an_order_of_content() -> None:
    data = in_numbers("iris")
    times = np.random.default_rng(0).integers(0, 4, len(data))
    mixed = np.random.default_rng(1).permutation(len(data))
    weighted = as_repeats(replace(data, weight=times.astype(float)).take(mixed).counted())
    repeated = as_repeats(data.take(np.repeat(np.arange(len(data)), times)))
    assert weighted.weight is None
    assert np.array_equal(weighted.table.numbers, repeated.table.numbers)
    assert np.array_equal(weighted.y, repeated.y)


@pytest.mark.parametrize("weight", [0.5, 1e6])
def test_weights_that_are_no_few_repeats_stay_weights(weight: float) -> None:
    data = in_numbers("iris")
    kept = as_repeats(replace(data, weight=np.full(len(data), weight)))
    assert len(kept) == len(data)
    assert np.array_equal(kept.weights, np.full(len(data), weight))


def test_last_digits_and_cells_of_about_0_change_no_draw() -> None:
    X = np.random.default_rng(0).normal(size=(200, 4))
    X[:30, 1] = 0.0
    noise = 1e-15 * np.random.default_rng(1).normal(size=X.shape)
    plain = steady_draws(numeric(X), 5)
    assert np.array_equal(steady_draws(numeric(X + noise), 5), plain)
    assert not np.isclose(steady_draws(numeric(X), 6), plain).any()
    assert len(np.unique(plain)) == 200
    assert plain.min() >= 0
    assert plain.max() < 1


def test_equal_rows_are_held_aside_together_and_about_a_share_of_all() -> None:
    data = in_numbers("segment")
    twice = data.take(np.repeat(np.arange(len(data)), 2))
    train, aside = held_aside(twice, 0.2, np.random.default_rng(0))
    assert aside is not None
    assert len(aside) / len(twice) == pytest.approx(0.2, abs=0.03)
    known = {row.tobytes() for row in train.table.numbers}
    assert not any(row.tobytes() in known for row in aside.table.numbers)


def test_of_too_few_rows_none_are_held_aside() -> None:
    one = in_numbers("iris").take(np.array([0]))
    with pytest.warns(MlcliWarning, match="too few to hold 20 %"):
        train, aside = held_aside(one, 0.2, np.random.default_rng(0))
    assert aside is None
    assert train is one
