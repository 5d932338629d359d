"""Whole commands from the shell beside bare imports; the goal for `eval iris -m naive-bayes` is at most 1.5."""

from __future__ import annotations

import statistics
import subprocess
import sys
from functools import partial
from pathlib import Path

from benchmarks.timing import in_turns, markdown, spread

REPEATS = 21
MLCLI = str(Path(sys.executable).parent / "mlcli")
BARE = [sys.executable, "-c", "import numpy, pandas"]
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "python -c 'import typer'": [sys.executable, "-c", "import typer"],
    "mlcli --version": [MLCLI, "--version"],
    "mlcli --help": [MLCLI, "--help"],
    "mlcli models": [MLCLI, "models"],
    "mlcli eval iris -m naive-bayes": [MLCLI, "eval", "iris", "-m", "naive-bayes"],
    "mlcli eval iris (the whole panel)": [MLCLI, "eval", "iris"],
}


def table() -> str:
    """Each command, and its time over that of importing numpy and pandas."""
    things = {"python -c 'import numpy, pandas'": BARE, **COMMANDS}
    times = in_turns({name: partial(run, command) for name, command in things.items()}, REPEATS)
    bare = statistics.median(times["python -c 'import numpy, pandas'"])
    rows = [(name, spread(seconds), f"{statistics.median(seconds) / bare:.2f}") for name, seconds in times.items()]
    return markdown(("command", "median (range)", "÷ importing numpy and pandas"), rows)


def run(command: list[str]) -> None:
    """One run, its output thrown away."""
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
