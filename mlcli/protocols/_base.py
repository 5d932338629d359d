"""Protocols: the base class, splits, and how rows or whole groups are dealt to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np

from mlcli.core.answers import Coordinate
from mlcli.core.errors import DataError, MlcliWarning, Problem, raise_all, warn
from mlcli.core.rows import SplitInfo
from mlcli.core.tables import Codes, Rows

if TYPE_CHECKING:
    from mlcli.protocols.active_learning import Queries

TRAINING_ROWS = "training rows"
"""What training sizes are a sweep over; scores and tests are of the largest."""

MOST_REPEATS = 10_000
"""More would take longer to split than anybody waits, and change no figure."""


class RareClassWarning(MlcliWarning):
    """A class is too small for the number of parts."""


class SmallPartWarning(MlcliWarning):
    """A test part is too small to tell, so that fewer and larger ones say more."""


class MoreBadRowsWarning(MlcliWarning):
    """Bad rows are more frequent among the test rows than among all: so it is with every split of this kind."""


@dataclass(frozen=True, eq=False)
class Split:
    """Row positions: the training and the test rows; some protocols need more.

    ``validation`` rows choose a threshold; of ``hidden`` rows a model may learn everything but the class. A split
    of a sweep has the ``coordinate`` at which it lies. ``queries`` say which hidden classes are asked for.
    """

    train: Rows
    test: Rows
    label: str
    validation: Rows = field(default_factory=lambda: np.empty(0, np.intp))
    hidden: Rows = field(default_factory=lambda: np.empty(0, np.intp))
    coordinate: Coordinate | None = None
    queries: Queries | None = None


@dataclass(kw_only=True, eq=False)
class Protocol:
    """How rows are split; it sees counts, strata and groups, never cells."""

    id: ClassVar[str]
    reference: ClassVar[str]
    revision: ClassVar[int]
    kinds: ClassVar[tuple[str, ...]] = ()
    """The kinds of task that it was made for, beside those that name it in their row of ``tasks/table.py``."""
    pooled: ClassVar[bool] = False
    """Whether metrics are taken over the answers of all splits at once."""
    fewest: ClassVar[int] = 2
    """How many rows there must be, or groups."""

    def problems_with_rows(self, strata: SplitInfo) -> list[Problem]:
        """What keeps these rows from being split, found before anything runs."""
        units = all_alike(strata)
        if len(units) >= self.fewest:
            return []
        alone = units.grouped and len(units) < 2
        hint = "no protocol can split fewer; check the group column" if alone else ""
        return [Problem(f"{self.id} needs at least {self.fewest} {units.noun}, there are {len(units)}", hint=hint)]

    def splits(self, strata: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """Every split, in a fixed order; rows that cannot be split are refused."""
        raise_all(DataError, self.problems_with_rows(strata))
        return self.divided(strata, rng)

    def divided(self, strata: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """The splits of rows without problems; leave-one-out, which has many, makes each when it is asked for."""
        raise TypeError(f"{type(self).__name__} does not say how it splits")

    def choosing(self, strata: SplitInfo) -> dict[str, Any]:
        """The inner protocol by which one of all models is chosen in each split; empty: every model is scored."""
        return {}

    def asks_only_learned_rows(self) -> bool:
        """Whether every test row is a training row."""
        return False

    def asks_training_rows(self) -> bool:
        """Whether models must predict their training rows, too."""
        return False

    def conflicts(self) -> list[str]:
        """Parameters that are legal one by one but not together."""
        return []


@dataclass(frozen=True, eq=False)
class Units:
    """Rows or groups: ``of_row`` says which unit a row belongs to, ``stratum`` the class of each unit."""

    noun: str
    of_row: Codes
    stratum: Codes
    rows_by_class: Codes | None = None
    """How many rows of each class a unit has, where these may differ (units × classes)."""

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


def all_alike(strata: SplitInfo) -> Units:
    """The units of some rows, classes ignored."""
    if strata.groups is None:
        return Units("rows", np.arange(strata.rows, dtype=np.int32), np.zeros(strata.rows, np.int32))
    names, of_row = np.unique(strata.groups, return_inverse=True)
    return Units("groups", of_row.astype(np.int32), np.zeros(len(names), np.int32))


def by_class(strata: SplitInfo) -> Units:
    """The units of some rows, each in the class that most of its rows have (of equals, the first).

    Rows without a label are a class of their own, the last.
    """
    if strata.strata is None:
        hint = "protocol: whole scores all rows, and needs no labels"
        raise DataError("the rows have no labels that they could be split by", hint=hint)
    units = all_alike(strata)
    stratum = np.where(strata.strata < 0, strata.strata.max(initial=-1) + 1, strata.strata).astype(np.int32)
    if strata.groups is None:
        return replace(units, stratum=stratum)
    counts = np.zeros((len(units), int(stratum.max(initial=-1)) + 1), np.int32)
    np.add.at(counts, (units.of_row, stratum), 1)
    return replace(units, stratum=counts.argmax(axis=1).astype(np.int32), rows_by_class=counts)


def by_class_if_any(strata: SplitInfo) -> Units:
    """The units of some rows, each in its class where there are classes."""
    return all_alike(strata) if strata.strata is None else by_class(strata)


def warn_of_rare_classes(units: Units, least: int, consequence: str) -> None:
    """Say so when some class is in fewer units than it takes to be everywhere."""
    held = units.rows_by_class
    counts = np.bincount(units.stratum) if held is None else np.count_nonzero(held, axis=0)
    rare = counts[(counts > 0) & (counts < least)]
    if len(rare):
        which = "one class has" if len(rare) == 1 else f"{len(rare)} classes have"
        text = f"{which} fewer than {least} {units.noun} (the smallest {rare.min()}): {consequence}"
        warn(text, RareClassWarning)


class DealtSplits(Sequence[Split]):
    """The splits of some rounds: in each, every part is tested once by what is learned from all other rows.

    A split is made when it is asked for: leave-one-out of n rows would otherwise hold n × n row numbers.
    """

    def __init__(self, rounds: Sequence[Codes], labels: Sequence[str]) -> None:
        """``labels`` name every part of the first round, then of the second, ..."""
        self.rounds = rounds
        self.labels = labels

    def __len__(self) -> int:
        return len(self.labels)

    @overload
    def __getitem__(self, index: int) -> Split: ...
    @overload
    def __getitem__(self, index: slice) -> list[Split]: ...
    def __getitem__(self, index: int | slice) -> Split | list[Split]:
        if isinstance(index, slice):
            return [self._split(i) for i in range(*index.indices(len(self)))]
        return self._split(range(len(self))[index])

    def _split(self, index: int) -> Split:
        round_, part = divmod(index, len(self.labels) // len(self.rounds))
        tested = self.rounds[round_] == part
        return Split(train=np.flatnonzero(~tested), test=np.flatnonzero(tested), label=self.labels[index])


def problems_with_list(name: str, noun: str, values: Sequence[Any]) -> list[str]:
    """What is wrong with a parameter that lists what is swept over: that it is empty, or has something twice."""
    if not values:
        return [f"{name} takes one {noun} or more"]
    return [f"a {noun} stands in {name} twice"] if len(set(values)) < len(values) else []


def split_labels(noun: str, parts: int, repeats: int) -> list[str]:
    """Labels such as "fold 3", or "repeat 2, fold 3" where there are repeats."""
    names = [f"{noun} {part + 1}" if parts > 1 else noun for part in range(parts)]
    if repeats == 1:
        return names
    return [f"repeat {repeat + 1}, {name}" for repeat in range(repeats) for name in names]


def warn_of_few_judged(splits: Sequence[Split], strata: SplitInfo, *, pooled: bool) -> None:
    """Warn if there are few test rows in all, few of a class, or few in a part that has a score of its own."""
    if isinstance(splits, DealtSplits):  # without making each split
        parts = len(splits.labels) // len(splits.rounds)
        in_parts = [(folds >= 0) & (folds < parts) for folds in splits.rounds]
        counts = [
            np.bincount(folds[kept], minlength=parts) for folds, kept in zip(splits.rounds, in_parts, strict=True)
        ]
        sizes, rows = np.concatenate(counts), np.flatnonzero(np.logical_or.reduce(in_parts))
    else:
        sizes = np.array([len(split.test) for split in splits])
        rows = np.unique(np.concatenate([split.test for split in splits]))
    rarest = len(rows)
    if strata.strata is not None and len(rows):
        rarest = int(np.unique(strata.strata[rows], return_counts=True)[1].min())
    # below these limits one answer moves a score by 3 points, that of a class by 5, that of a part by 20
    if 0 < len(rows) < 30:
        warn(
            f"there are only {len(rows)} test rows: one prediction more or less is {100 / len(rows):.0f} % of them"
        )
    elif 0 < rarest < 20:
        warn(f"the rarest class has only {rarest} test rows: its scores say little")
    if len(sizes) > 1 and not pooled and sizes.min() < 5:
        text = f"the smallest of the {len(sizes)} test parts holds {sizes.min()} of the rows: larger ones say more"
        warn(text, SmallPartWarning)
