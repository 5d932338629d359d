"""Shards: a part of the cells of an experiment, for one of several machines that know nothing of each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mlcli.core.errors import UsageError
from mlcli.core.seeds import digest
from mlcli.experiment.spec.cells import Cell
from mlcli.experiment.spec.facts import facts_of_cell

FORM = re.compile(r"([1-9]\d*)/([1-9]\d*)")


@dataclass(frozen=True)
class Shard:
    """Part 2 of 8, say."""

    part: int
    of: int

    def __str__(self) -> str:
        return f"shard {self.part} of {self.of}"

    def places(self, cells: Sequence[Cell]) -> list[int]:
        """Which of the cells of a plan are in it.

        They are dealt in the order of a hash: in that of the plan, all cells of a slow model might fall to one
        shard. It follows from the cells alone, so that all machines deal alike.
        """
        able = [index for index, cell in enumerate(cells) if not cell.skipped]
        idle = [index for index, cell in enumerate(cells) if cell.skipped]
        shuffled = sorted(able, key=lambda index: digest(facts_of_cell(cells[index])))
        return sorted([*shuffled[self.part - 1 :: self.of], *(idle if self.part == 1 else ())])


def shard_from_text(text: str) -> Shard:
    """A shard as it is typed."""
    match = FORM.fullmatch(text.strip())
    if match is None or int(match[1]) > int(match[2]):
        what = f"--shard takes PART/PARTS, was given '{text}'"
        raise UsageError(what, hint="such as --shard 2/8, the second of 8")
    return Shard(int(match[1]), int(match[2]))


def plan_digest(cells: Sequence[Cell]) -> str:
    """What tells the plan of one experiment from that of another."""
    return digest([facts_of_cell(cell) for cell in cells])
