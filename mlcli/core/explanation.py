"""What a model says of itself in one shape for tables and lines; ``findings`` takes its place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mlcli.core.findings import Cell, Finding, Lines, Table

__all__ = ["Cell", "Explanation", "Section", "findings_of"]


@dataclass(frozen=True)
class Section(Finding):
    """A table (header and rows), or lines, or both."""

    header: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    lines: tuple[str, ...] = ()


Explanation = tuple[Section, ...]


def findings_of(explanation: Iterable[Finding]) -> tuple[Finding, ...]:
    """An explanation without sections."""
    return tuple(finding for one in explanation for finding in _parts_of(one))


def _parts_of(one: Finding) -> tuple[Finding, ...]:
    if not isinstance(one, Section):
        return (one,)
    if not one.lines:
        return (Table(one.title, one.header, one.rows, note=one.note),)
    if not one.rows:
        return (Lines(one.title, one.lines, note=one.note),)
    return Table(one.title, one.header, one.rows), Lines("", one.lines, note=one.note)
