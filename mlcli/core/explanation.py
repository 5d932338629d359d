"""What a model says of itself after training: titled tables and lines, without any formatting."""

from __future__ import annotations

from dataclasses import dataclass

Cell = str | float | int | None


@dataclass(frozen=True)
class Section:
    """One titled piece of an explanation: a table (header and rows) or plain lines."""

    title: str
    header: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    lines: tuple[str, ...] = ()
    note: str = ""


Explanation = tuple[Section, ...]
