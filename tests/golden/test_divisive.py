"""DIANA beside the worked example of Kaufman & Rousseeuw and a plain loop of its definition."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlcli.core.errors import FitError
from mlcli.models.clusters.divisive import Divisive, splinter
from tests.golden.asking import answered, fitted
from tests.golden.test_k_means import rows, shipped
from tests.support.shell import document, typed

OBJECTS = np.array(
    [
        [0.0, 2.0, 6.0, 10.0, 9.0],
        [2.0, 0.0, 5.0, 9.0, 8.0],
        [6.0, 5.0, 0.0, 4.0, 5.0],
        [10.0, 9.0, 4.0, 0.0, 3.0],
        [9.0, 8.0, 5.0, 3.0, 0.0],
    ]
)
"""Kaufman & Rousseeuw 1990, chapters 5 and 6: five objects and their dissimilarities, as they are quoted and
not compared with a copy of the book. The diameters of the splits can be read off the matrix."""


def left_by_loops(apart: Any) -> list[int]:
    """The splinter group, step by step as the book has it."""
    rows: set[int] = set(range(len(apart)))
    left: list[int] = []
    while len(rows) > 1:
        gains = {
            row: np.mean([apart[row, other] for other in rows if other != row])
            - (np.mean([apart[row, other] for other in left]) if left else 0.0)
            for row in rows
        }
        first = max(gains, key=lambda row: gains[row])
        if left and gains[first] <= 0:
            break
        rows.remove(first)
        left.append(first)
    return sorted(left)


def test_the_splits_of_the_book() -> None:
    model = fitted(Divisive(clusters=5, distances="*"), rows(OBJECTS))
    assert model.diameters_.tolist() == [10.0, 5.0, 3.0, 2.0]
    assert model.sizes_.tolist() == [[3, 2], [2, 1], [1, 1], [1, 1]]
    two = fitted(Divisive(clusters=2, distances="*"), rows(OBJECTS)).cluster_
    assert two.tolist() == [1, 1, 0, 0, 0]


@pytest.mark.parametrize("seed", range(4))
def test_who_leaves_is_who_leaves_by_the_definition(seed: int) -> None:
    X = np.random.default_rng(seed).normal(size=(40, 3))
    apart = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    assert np.flatnonzero(splinter(apart)).tolist() == left_by_loops(apart)


def test_no_cluster_is_wider_than_the_diameter() -> None:
    X = shipped("iris").table.numbers
    cluster = answered(Divisive(diameter=2.0), rows(X)).cluster
    members = [X[cluster == k] for k in range(cluster.max() + 1)]
    widths = [np.sqrt(((own[:, None] - own) ** 2).sum(axis=2)).max() for own in members]
    assert max(widths) <= 2.0


def test_a_matrix_that_is_none_is_refused_with_its_place() -> None:
    with pytest.raises(FitError, match=r"row 1 to .* is not the same both ways"):
        fitted(Divisive(distances="*"), rows(np.array([[0.0, 1.0], [2.0, 0.0]])))
    with pytest.raises(FitError, match="itself is not 0"):
        fitted(Divisive(distances="*"), rows(np.array([[1.0, 2.0], [2.0, 0.0]])))
    with pytest.raises(FitError, match="row 3 of the file is none of them"):
        fitted(Divisive(distances="*"), rows(np.zeros((3, 2))))


def test_names_of_rows_may_stand_beside_their_distances(tmp_path: Path) -> None:
    lines = [f"{name},{','.join(map(str, row))}" for name, row in zip("abcde", OBJECTS.tolist(), strict=True)]
    file = tmp_path / "five.csv"
    file.write_text("\n".join(["object,a,b,c,d,e", *lines]), encoding="utf-8")
    words = ("train", str(file), "--task", "clustering", "-m", "divisive", "-p", "clusters=5", "-p", "distances=*")
    found = {one["title"]: one for one in document(typed(*words, "--json"))["findings"]}
    assert [row[1] for row in found["Splits of the widest cluster"]["rows"]] == [10, 5, 3, 2]
