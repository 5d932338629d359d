"""Given: a column says which part a row is in, so that results stand beside those that others have published.

Computed:
    The column has the role `part`, or has the role `ignore` and is called split, fold or partition. Where its
    values are train, test and perhaps validation, there is one split: test rows are tested by what was learned
    from the others. Validation rows are learned from, too, since nothing is chosen by them; with `validation:
    unused` they are not, and a detector chooses its threshold by them. Any other values name folds, each
    tested once by all other rows; rows of fold -1 are always learned from. Groups are not looked at; a group
    on both sides is warned of.

Cost:
    One fit, or one for each fold; nothing is random.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from mlcli.core.errors import Problem, warn
from mlcli.core.params import param
from mlcli.core.registry import register
from mlcli.core.rows import PART_WORDS, SplitInfo
from mlcli.protocols._base import Protocol, Split


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

    def problems_with_rows(self, info: SplitInfo) -> list[Problem]:
        """No such column, a row without a part, or parts that leave a side empty."""
        if info.part is None:
            what = f"{self.id} needs a column that says which part a row is in, and there is none"
            return [Problem(what, hint="give it the role part in the sidecar, such as 'roles: {part: [split]}'")]
        if (info.part < 0).any():
            what = f"{self.id}: the part of {(info.part < 0).sum()} rows is missing"
            return [Problem(what, hint="every row needs its part, such as train or test")]
        words = _words_by_name(info)
        present = set(words.values())
        if any(present) and not ("train" in present and "test" in present and all(present)):
            hint = "they are train, test and perhaps validation, or none of these words: folds"
            return [Problem(f"{self.id}: the parts are {', '.join(words)}", hint=hint)]
        if not any(present) and len(words) < 2:
            return [Problem(f"{self.id} needs at least 2 folds, and there is only {', '.join(words)}")]
        return []

    def divided(self, info: SplitInfo, rng: np.random.Generator) -> Sequence[Split]:
        """One split of train and test, or one for each fold."""
        assert info.part is not None
        words = _words_by_name(info)
        part_of_row = np.array(info.parts)[info.part]
        if any(words.values()):
            word_of_row = np.array([words.get(name) or "" for name in info.parts])[info.part]
            train, validation = word_of_row == "train", word_of_row == "validation"
            if self.validation == "learned":
                train, validation = train | validation, np.zeros_like(train)
            test = np.flatnonzero(word_of_row == "test")
            splits = [Split(np.flatnonzero(train), test, "test", validation=np.flatnonzero(validation))]
        else:
            # rows of fold -1 are always learned from
            splits = [
                Split(np.flatnonzero(part_of_row != name), np.flatnonzero(part_of_row == name), f"fold {name}")
                for name in words
                if name != "-1"
            ]
        groups = info.groups
        if groups is not None and any(np.isin(groups[split.test], groups[split.train]).any() for split in splits):
            warn("groups stand on both sides of the given parts: scores may be better than on new groups")
        return splits


def _words_by_name(info: SplitInfo) -> dict[str, str | None]:
    """The parts that have rows, in order: train, validation or test by what its name stands for, else None."""
    assert info.part is not None
    names = [info.parts[code] for code in np.unique(info.part)]
    return {name: PART_WORDS.get(name.lower()) for name in names}
