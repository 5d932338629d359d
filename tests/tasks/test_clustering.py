"""What the rows of each cluster look like, in the columns of the file."""

from __future__ import annotations

import numpy as np
import pytest

from mlcli.core import findings
from mlcli.core.pipeline import Pipeline, learn
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.models.clusters.k_means import KMeans
from mlcli.prepare.standardise import Standardise
from mlcli.tasks.clustering import described, profile_of
from tests.golden.test_k_means import rows

CLUSTER = np.array([0, 0, 1, 1], np.int32)


def profiled(
    column: Column, cells: list[float], weights: tuple[float, ...] = (1, 1, 1, 1)
) -> tuple[findings.Table, ...]:
    """What is said of one column whose first two rows are one cluster, the others another."""
    table = Table.of([(column, np.array(cells))], 4)
    return described(profile_of(table, CLUSTER, ("0", "1"), np.array(weights, dtype=float)))


def test_the_share_between_clusters_is_that_of_the_worked_example() -> None:
    """Worked examples, section 10: rows 1 2 and 10 11 have BCSS 81 of 82."""
    (section,) = profiled(Column("x"), [1, 2, 10, 11])
    assert section.rows[0][1:] == pytest.approx((1.5, 10.5, 6.0, 81 / 82))
    assert section.header == ("column", "cluster 0 (2 rows)", "cluster 1 (2 rows)", "all rows", "between")


def test_levels_are_told_by_the_most_frequent_one() -> None:
    (section,) = profiled(Column("colour", "nominal", ("blue", "red")), [0, 1, 1, 1])
    assert section.rows[0][:4] == ("colour", "blue (50 %)", "red (100 %)", "red (75 %)")
    # Variance of two indicators: total 2 · 0.75, within 2 · 0.5, so that a third lies between.
    assert section.rows[0][4] == pytest.approx(1 / 3)


def test_empty_cells_and_weights_of_zero_do_not_count() -> None:
    (section,) = profiled(Column("x", missing=True), [1, np.nan, 10, 99], (1, 1, 2, 0))
    assert section.rows[0][1:4] == (1.0, 10.0, 7.0)


def test_a_cluster_without_a_known_cell_has_no_mean() -> None:
    (section,) = profiled(Column("x", missing=True), [np.nan, np.nan, 1, 3])
    assert section.rows[0][1:4] == (None, 2.0, 2.0)


def test_a_constant_column_tells_nothing_apart_and_stands_last() -> None:
    table = Table.of([(Column("same"), np.ones(4)), (Column("x"), np.arange(4.0))], 4)
    (section,) = described(profile_of(table, CLUSTER, ("0", "1"), np.ones(4)))
    assert [row[0] for row in section.rows] == ["x", "same"]
    assert section.rows[1][4] == 0.0


def test_a_pipeline_shows_its_clusters_in_the_units_of_the_file() -> None:
    data = rows([1000, 1001, 1002, 2000, 2001])
    pipeline = Pipeline(steps=(Standardise(),), model=KMeans(clusters=2))
    learn(pipeline, data, np.random.default_rng(1))
    shown = pipeline.explain()[-1]
    assert isinstance(shown, findings.Table)
    assert shown.rows[0][1:4] == pytest.approx((1001.0, 2000.5, 1400.8))
