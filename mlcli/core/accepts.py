"""What a configured method accepts as input; steps are inserted for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Accepts:
    """What a configured method accepts as input; steps are inserted for the rest."""

    numbers: bool = True
    """Columns of numbers; methods without it ignore them or refuse them by name."""
    nominal: bool = False
    """Coded columns (nominal, ordinal, boolean), not only numbers."""
    missing: bool = False
    """Missing cells."""
    weights: bool = False
    """Weighted rows."""
    unlabelled: bool = False
    """Rows without a target beside those with one."""
    levels_only: bool = False
    """Coded columns only: numbers are discretised."""
    sensitive: bool = False
    """Uses sensitive columns, which other methods do not see."""
    context: bool = False
    """Uses context columns, which other methods do not see."""
    letters: bool = False
    """Uses the characters of levels, so that unseen levels carry information."""
    large: bool = False
    """Tables that fit into memory only once: it processes them in blocks of rows."""
    prefers_scaled: bool = False
    """Learns better if numbers are on one scale, but runs without."""

    @staticmethod
    def by_all(parts: Sequence[Accepts]) -> Accepts:
        """What several methods accept together: what all of them do; needs and preferences are those of any."""
        of_any = ("levels_only", "sensitive", "context", "prefers_scaled")
        values = {field.name: [getattr(part, field.name) for part in parts] for field in fields(Accepts)}
        return Accepts(**{name: any(value) if name in of_any else all(value) for name, value in values.items()})
