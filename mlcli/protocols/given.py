"""Given: a column says which part a row is in, so that results stand beside those that others have published.

Computed:
    The column has the role `part`, or has the role `ignore` and is called split, fold or partition. Where its
    values are train, test and perhaps validation, there is one split: test rows are judged by what was learned
    from the others. Validation rows are learned from, too, since nothing is chosen by them; with `validation:
    unused` they are not, and a detector chooses its threshold by them. Any other values name folds, each
    judged once by all other rows; rows of fold -1 are always learned from. Groups are not looked at; a group
    on both sides is warned of.

Cost:
    One fit, or one for each fold; nothing is random.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from mlcli.core.errors import Problem, warn
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.rows import PART_WORDS, SplitInfo
from mlcli.core.tables import Rows
from mlcli.protocols._base import Protocol, Split

ALWAYS_LEARNED = "-1"


@register(
    "given", reference="Bischl et al. 2021, OpenML benchmarking suites, which fix the splits of each dataset"
)
class Given(Protocol):
    """The parts, or folds, that a column names."""

    kinds: ClassVar[tuple[str, ...]] = (
        *("classification", "regression", "sequence-labelling", "ranking"),
        *("clustering", "anomaly", "density", "projection", "recommendation"),
    )

    validation: str = param("learned", "what validation rows are for", choices=("learned", "unused"))

    def problems_with_rows(self, strata: SplitInfo) -> list[Problem]:
        """No such column, a row without a part, or parts that leave a side empty."""
        if strata.part is None:
            what = f"{self.id} needs a column that says which part a row is in, and there is none"
            return [Problem(what, hint="give it the role part in the sidecar, such as 'roles: {part: [split]}'")]
        if (strata.part < 0).any():
            what = f"{self.id}: the part of {(strata.part < 0).sum()} rows is missing"
            return [Problem(what, hint="every row needs its part, such as train or test")]
        present = _present(strata)
        words = [PART_WORDS.get(name.lower()) for name in present]
        if any(words) and not ("train" in words and "test" in words and all(words)):
            hint = "they are train, test and perhaps validation, or none of these words: folds"
            return [Problem(f"{self.id}: the parts are {', '.join(present)}", hint=hint)]
        if not any(words) and (len(present) < 2):
            return [Problem(f"{self.id} needs at least 2 folds, and there is only {', '.join(present)}")]
        return []

    def divided(self, strata: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """One split of train and test, or one for each fold."""
        words = {name: PART_WORDS.get(name.lower()) for name in _present(strata)}
        if any(words.values()):
            learned = ("train", "validation") if self.validation == "learned" else ("train",)
            train = [name for name in words if words[name] in learned]
            split = _split(strata, train, [name for name in words if words[name] == "test"], "test")
            unused = _rows_in(strata, [name for name in words if words[name] == "validation"])
            made = [replace(split, validation=unused) if self.validation == "unused" else split]
        else:
            folds = [name for name in words if name != ALWAYS_LEARNED]
            made = [_split(strata, words.keys() - {name}, [name], f"fold {name}") for name in folds]
        _warn_of_cut_groups(strata, made)
        return made


def _present(strata: SplitInfo) -> list[str]:
    """The names of the parts that have rows, in order."""
    assert strata.part is not None
    return [strata.parts[code] for code in np.unique(strata.part)]


def _split(strata: SplitInfo, train: Collection[str], test: Collection[str], label: str) -> Split:
    """What is learned from and what is judged, by the names of parts."""
    return Split(train=_rows_in(strata, train), test=_rows_in(strata, test), label=label)


def _rows_in(strata: SplitInfo, names: Collection[str]) -> Rows:
    """The rows of some parts."""
    assert strata.part is not None
    return np.flatnonzero(np.isin(strata.part, [code for code, name in enumerate(strata.parts) if name in names]))


def _warn_of_cut_groups(strata: SplitInfo, splits: Sequence[Split]) -> None:
    if strata.groups is None:
        return
    if any(np.isin(strata.groups[split.test], strata.groups[split.train]).any() for split in splits):
        warn("groups stand on both sides of the given parts: scores may be better than on new groups")
