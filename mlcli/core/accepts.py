"""What a configured method takes as it is; steps are inserted for the rest."""

from __future__ import annotations

from dataclasses import dataclass


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
    prefers_scaled: bool = False
    """Learns better, or only fairly, when numbers have one scale; not needed to run."""
