"""Given: a column says which part a row is in, so that results stand beside those that others have published.

Computed:
    The column has the role `part`, or has the role `ignore` and is called split, fold or partition. Where its
    values are train, test and perhaps validation, there is one split: test rows are judged by what was learned
    from the others. Validation rows are learned from, too, since nothing is chosen by them; with
    `validation: unused` they are in no part. Any other values name folds, each judged once by all other rows; rows
    of fold -1 are always learned from. Groups are not looked at; a group on both sides is warned of.

Cost:
    One fit, or one for each fold; nothing is random.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mlcli.core.errors import DataError, MlcliWarning, Problem, raise_all
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.rows import Strata
from mlcli.core.split_columns import PART_WORDS
from mlcli.core.tables import Flags
from mlcli.protocols._base import Protocol, Split

ALWAYS_LEARNED = "-1"


@register(
    "given", reference="Bischl et al. 2021, OpenML benchmarking suites, which fix the splits of each dataset"
)
class Given(Protocol):
    """The parts, or folds, that a column names."""

    kinds: ClassVar[tuple[str, ...]] = (
        *("classification", "regression", "sequence-labelling", "ranking"),
        *("clustering", "density", "projection", "recommendation"),
    )

    validation: str = param("learned", "what validation rows are for", choices=("learned", "unused"))

    def problems_with_rows(self, strata: Strata) -> list[Problem]:
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
            what = f"{self.id}: the parts are {', '.join(present)}"
            return [
                Problem(what, hint="they are train, test and perhaps validation, or none of these words: folds")
            ]
        if not any(words) and (len(present) < 2):
            return [Problem(f"{self.id} needs at least 2 folds, and there is only {', '.join(present)}")]
        return []

    def splits(self, strata: Strata, rng: np.random.Generator) -> Sequence[Split]:
        """One split of train and test, or one for each fold."""
        raise_all(DataError, self.problems_with_rows(strata))
        present = _present(strata)
        if any(name.lower() in PART_WORDS for name in present):
            made = [self._of_words(strata)]
        else:
            folds = [name for name in present if name != ALWAYS_LEARNED]
            made = [_fold(_named(strata, name), f"fold {name}") for name in folds]
        _warn_of_cut_groups(strata, made)
        return made

    def _of_words(self, strata: Strata) -> Split:
        names = set(PART_WORDS.values())
        learned = ("train", "validation") if self.validation == "learned" else ("train",)
        of_word = {word: _any_named(strata, word) for word in names}
        train = np.logical_or.reduce([of_word[word] for word in learned])
        return Split(train=np.flatnonzero(train), test=np.flatnonzero(of_word["test"]), label="test")


def _present(strata: Strata) -> list[str]:
    """The names of the parts that have rows, in order."""
    assert strata.part is not None
    return [strata.parts[code] for code in np.unique(strata.part)]


def _any_named(strata: Strata, word: str) -> Flags:
    """Which rows are in a part of one meaning."""
    codes = [code for code, name in enumerate(strata.parts) if PART_WORDS.get(name.lower()) == word]
    return np.isin(strata.part, codes)  # type: ignore[arg-type]


def _named(strata: Strata, name: str) -> Flags:
    return np.asarray(strata.part == strata.parts.index(name))


def _fold(judged: Flags, label: str) -> Split:
    return Split(train=np.flatnonzero(~judged), test=np.flatnonzero(judged), label=label)


def _warn_of_cut_groups(strata: Strata, splits: Sequence[Split]) -> None:
    if strata.groups is None:
        return
    if any(np.isin(strata.groups[split.test], strata.groups[split.train]).any() for split in splits):
        text = "groups stand on both sides of the given parts: scores may be better than on new groups"
        warnings.warn(text, MlcliWarning, stacklevel=3)
