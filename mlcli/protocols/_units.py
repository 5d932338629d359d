"""What protocols deal out: single rows or, where rows are grouped, whole groups, each of one stratum."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from mlcli.core.errors import MlcliWarning, Problem
from mlcli.core.rows import Strata
from mlcli.core.tables import Codes, Rows


@dataclass(frozen=True, eq=False)
class Units:
    """Rows or groups: ``of_row`` says which unit a row belongs to, ``stratum`` the class of each unit."""

    noun: str
    of_row: Codes
    stratum: Codes

    def __len__(self) -> int:
        return len(self.stratum)

    @property
    def grouped(self) -> bool:
        """Whether a unit may hold several rows."""
        return len(self) < len(self.of_row)

    @property
    def sizes(self) -> Codes:
        """How many rows each unit holds."""
        return np.bincount(self.of_row, minlength=len(self)).astype(np.int32)

    def shuffled_by_stratum(self, rng: np.random.Generator) -> Rows:
        """All units in random order, then sorted by stratum."""
        order = rng.permutation(len(self))
        return order[np.argsort(self.stratum[order], kind="stable")]


def all_alike(strata: Strata) -> Units:
    """The units of some rows, classes ignored."""
    of_row = _unit_of_row(strata)
    count = int(of_row.max(initial=-1)) + 1
    return Units(_noun(strata), of_row, np.zeros(count, np.int32))


def by_class(strata: Strata) -> Units:
    """The units of some rows, each in the class that most of its rows have (of equals, the first)."""
    if strata.strata is None:
        raise ValueError("these rows have no classes")
    of_row = _unit_of_row(strata)
    if strata.groups is None:
        return Units(_noun(strata), of_row, strata.strata)
    counts = np.zeros((int(of_row.max(initial=-1)) + 1, int(strata.strata.max(initial=-1)) + 1), np.int32)
    np.add.at(counts, (of_row, strata.strata), 1)
    return Units(_noun(strata), of_row, counts.argmax(axis=1).astype(np.int32))


def fewer_than_two(protocol: str, strata: Strata) -> list[Problem]:
    """What keeps rows from being split at all."""
    units = all_alike(strata)
    if len(units) >= 2:
        return []
    hint = "no protocol can split fewer; check the group column" if units.grouped else ""
    return [Problem(f"{protocol} needs at least 2 {units.noun}, there are {len(units)}", hint=hint)]


def warn_of_rare_classes(units: Units, least: int, consequence: str) -> None:
    """Say so when some class has fewer units than it takes to be everywhere."""
    counts = np.bincount(units.stratum)
    rare = counts[(counts > 0) & (counts < least)]
    if len(rare):
        which = "one class has" if len(rare) == 1 else f"{len(rare)} classes have"
        text = f"{which} fewer than {least} {units.noun} (the smallest {rare.min()}): {consequence}"
        warnings.warn(text, MlcliWarning, stacklevel=3)


def _unit_of_row(strata: Strata) -> Codes:
    if strata.groups is None:
        return np.arange(strata.rows, dtype=np.int32)
    return np.unique(strata.groups, return_inverse=True)[1].astype(np.int32)


def _noun(strata: Strata) -> str:
    return "rows" if strata.groups is None else "groups"
