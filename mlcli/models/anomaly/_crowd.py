"""Rows of which equal ones are taken together: what is found for one is found for all of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mlcli.core.tables import Array, Rows

SEED = 0
"""Of the factors that columns are mixed with: any will do that no sums of levels have in common."""


@dataclass(frozen=True, eq=False)
class Crowd:
    """Points, each standing for one row or for several equal ones."""

    points: Array
    first: Rows
    """For each point the place of a row that it stands for."""
    point_of: Rows
    """For each row the place of its point."""

    @cached_property
    def counts(self) -> Rows:
        """How many rows each point stands for."""
        return np.bincount(self.point_of, minlength=len(self.points))

    @property
    def alone(self) -> bool:
        """Whether every point is a single row."""
        return len(self.points) == len(self.point_of)


def crowd_of(rows: Array) -> Crowd:
    """Rows sorted by a mixture of their columns, so that equal ones are neighbours.

    Where rows that differ have the same mixture, equal rows may be left apart: as points at distance 0.
    """
    mixture = np.zeros(len(rows))
    factors = np.random.default_rng(SEED).random(len(rows.T))
    for column, factor in zip(rows.T, factors, strict=True):
        mixture += factor * column  # column by column: a matrix product may round equal rows unequally
    order = np.argsort(mixture, kind="stable")
    ordered = rows[order]
    begins = np.ones(len(rows), dtype=bool)
    begins[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    point_of = np.empty(len(rows), np.intp)
    point_of[order] = np.cumsum(begins) - 1
    if begins.all():  # in the order of the rows, which what was saved or cached relies on
        return Crowd(rows, np.arange(len(rows)), np.arange(len(rows)))
    first = order[begins]
    return Crowd(rows[first], first, point_of)
