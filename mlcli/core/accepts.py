"""What a configured method takes as it is; steps are inserted for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Accepts:
    """What a configured method can take as it is; steps are inserted for the rest."""

    numbers: bool = True
    """Columns of numbers; what cannot use them leaves them out or refuses them by name."""
    nominal: bool = False
    """Coded columns (nominal, ordinal, boolean), not only numbers."""
    missing: bool = False
    """Empty cells."""
    weights: bool = False
    """Rows that count more or less than one."""
    unlabelled: bool = False
    """Rows whose class is not known, beside those whose class is."""
    levels_only: bool = False
    """Coded columns and no others: numbers are cut into bins."""
    sensitive: bool = False
    """Looks at sensitive columns, which are hidden from every other method."""
    context: bool = False
    """Looks at context columns, which are hidden from every other method."""
    letters: bool = False
    """Looks at the letters of levels, so that levels which were not there in training say something."""
    large: bool = False
    """Tables that memory cannot hold several times: it goes through them some rows at a time."""
    prefers_scaled: bool = False
    """Learns better, or only fairly, when numbers have one scale; not needed to run."""

    @staticmethod
    def by_all(parts: Sequence[Accepts]) -> Accepts:
        """What all of some methods can take, and what one of them wants."""
        named = {one.name: [getattr(part, one.name) for part in parts] for one in fields(Accepts)}
        return Accepts(**{name: (any if name in WANTED else all)(values) for name, values in named.items()})


WANTED = ("levels_only", "sensitive", "context", "prefers_scaled")
"""What several methods together have where one of them has it; of all else it takes all."""
