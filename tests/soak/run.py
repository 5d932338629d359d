"""Attempts of all subjects in turn until the time is over; figures go to docs/guarantees.md, faults to build/soak.

python -m tests.soak.run MINUTES [SUBJECT ...]
"""

from __future__ import annotations

import itertools
import os
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import typer

from mlcli.core.names import counted
from tests.soak.kills import Kills
from tests.soak.model_files import DamagedModels, HostileModels
from tests.soak.stores import Stores
from tests.soak.subject import BrokenPromiseError, Subject
from tests.soak.text_files import CsvFiles, Experiments, Sidecars

ROOT = Path(__file__).parents[2]
FOUND = ROOT / "build" / "soak"
PAGE = ROOT / "docs" / "guarantees.md"
BEGIN, END = "<!-- figures -->", "<!-- end -->"
TURN = 20.0
"""Seconds after which it is the turn of the next subject."""
SUBJECTS: dict[str, Subject] = {
    "CSV files": CsvFiles(),
    "sidecars": Sidecars(),
    "experiment files": Experiments(),
    "damaged model files": DamagedModels(),
    "hostile model files": HostileModels(),
    "damaged stores": Stores(),
    "kills": Kills(),
}


@dataclass
class Figures:
    """How often something was attempted, and how often what must hold did not."""

    attempts: int = 0
    faults: int = 0


def soak(minutes: float, names: Sequence[str], seed: int) -> dict[str, Figures]:
    """Attempt one subject after another until the time is over."""
    until, figures = time.monotonic() + 60 * minutes, {name: Figures() for name in names}
    with TemporaryDirectory(prefix="mlcli-soak-") as place:
        for name in names:
            (Path(place) / name).mkdir()
            SUBJECTS[name].prepare(Path(place) / name)
        for name in itertools.cycle(names):
            turn = min(until, time.monotonic() + TURN)
            while time.monotonic() < turn:
                number = figures[name].attempts
                figures[name].attempts += 1
                figures[name].faults += _is_broken(name, Path(place) / name, f"{seed} {name} {number}")
            if time.monotonic() >= until:
                return figures
    return figures


def _is_broken(name: str, folder: Path, seed: str) -> bool:
    """Attempt it once; what breaks its promise is kept with the files that did so."""
    try:
        SUBJECTS[name].attempt(folder, Random(seed))
    except BrokenPromiseError as broken:
        kept = FOUND / seed.replace(" ", "-")
        shutil.copytree(folder, kept, dirs_exist_ok=True)
        (kept / "why.txt").write_text(f"{seed}\n{broken}\n", errors="backslashreplace")
        typer.echo(f"{kept}: {str(broken)[:300]}")
        return True
    return False


def table(minutes: float, figures: dict[str, Figures]) -> str:
    """The figures as the documentation shows them."""
    day = datetime.now(UTC).date()
    lines = [
        f"{minutes:g} minutes on {day}:",
        "",
        "| what | must hold | attempts | broken |",
        "| --- | --- | --: | --: |",
    ]
    lines += [
        f"| {name} | {SUBJECTS[name].promise} | {one.attempts:,} | {one.faults:,} |"
        for name, one in figures.items()
    ]
    return "\n".join(lines)


def main(words: Sequence[str]) -> int:
    """Soak, show the figures, and write them where all subjects had a turn."""
    minutes, names = float(words[0]), list(words[1:]) or list(SUBJECTS)
    figures = soak(minutes, names, seed=time.time_ns() % 1_000_000)
    shown = table(minutes, figures)
    typer.echo(shown)
    if names == list(SUBJECTS):
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n{shown}\n{END}{after}", encoding="utf-8")
    broken = sum(one.faults for one in figures.values())
    typer.echo(f"{counted(broken, 'promise')} broken" + (f"; see {os.path.relpath(FOUND)}" if broken else ""))
    return min(broken, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
