"""Pictures of columns hold the rows that they are of."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mlcli.core.errors import DataError, UsageError
from mlcli.core.findings import Bars, Histogram, Points, Table
from mlcli.data.load import load
from mlcli.data.shipped import shipped_paths
from mlcli.report.views.dataset import MOST_POINTS, plot_of
from tests.support.shell import document, typed


def test_a_column_of_numbers_is_a_histogram_of_each_class() -> None:
    found = plot_of(load("iris"), ["petal_length"])
    frame = pd.read_csv(shipped_paths()["iris"])
    assert isinstance(found, Histogram)
    for name, counts in found.counts:
        rows = frame[frame.species == name].petal_length
        assert counts == tuple(np.histogram(rows, found.edges)[0])


def test_a_column_of_levels_is_bars() -> None:
    found = plot_of(load("penguins"), ["island"])
    assert isinstance(found, Bars)
    counts = pd.read_csv(shipped_paths()["penguins"]).island.value_counts()
    assert dict(zip(found.labels, found.values, strict=True)) == counts.to_dict()


def test_two_columns_of_levels_are_crossed() -> None:
    found = plot_of(load("penguins"), ["species", "island"])
    frame = pd.read_csv(shipped_paths()["penguins"])
    assert isinstance(found, Table)
    assert [list(row[1:]) for row in found.rows] == pd.crosstab(frame.species, frame.island).to_numpy().tolist()


def test_numbers_by_levels_are_histograms() -> None:
    found = plot_of(load("penguins"), ["island", "body_mass_g"])
    assert isinstance(found, Histogram)
    assert [name for name, _ in found.counts] == ["Biscoe", "Dream", "Torgersen"]


def test_of_many_rows_some_are_drawn_and_a_third_column_groups_them() -> None:
    found = plot_of(load("abalone"), ["length", "height", "sex"])
    assert isinstance(found, Points)
    assert sum(len(points) for _, points in found.groups) == MOST_POINTS
    assert found.note.startswith("1,000 of 4,177 rows")
    assert found == plot_of(load("abalone"), ["length", "height", "sex"])
    by_thirds = plot_of(load("abalone"), ["length", "height"])
    assert isinstance(by_thirds, Points)
    assert len(by_thirds.groups) == 3


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(DataError, match="no column 'petal'"):
        plot_of(load("iris"), ["petal"])
    with pytest.raises(UsageError, match="one, two or three"):
        plot_of(load("iris"), ["petal_length"] * 4)


def test_the_shell_draws() -> None:
    assert "petal_length from" in typed("data", "iris", "--plot", "petal_length").stdout
    assert document(typed("data", "iris", "--plot", "petal_length", "--plot", "petal_width", "--json"))[
        "kind"
    ] == ("points")
