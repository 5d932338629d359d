"""Reading a CSV file of a million rows beside pandas: processor time and peak memory, in processes of their own.

For mlcli the whole of it: cells are typed, roles and the target are guessed, and odd columns are looked for; the
import of its compiler counts, too. For pandas, ``read_csv`` alone, its imports left out.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time

import numpy as np

from benchmarks.timing import markdown

ROOT = Path(__file__).parent.parent
ROWS, COLUMNS = 1_000_000, 20
AT_A_TIME = 50_000
REPEATS = 3
LIMITS = """Words are read in a second pass over the file, and each distinct one becomes a Python text."""

Texts = Callable[[np.random.Generator, int], Sequence[str]]


def rounded(rng: np.random.Generator, rows: int) -> list[str]:
    """Numbers of four digits after the point."""
    return [f"{cell:.4f}" for cell in rng.normal(size=rows).tolist()]


def in_full(rng: np.random.Generator, rows: int) -> list[str]:
    """Numbers of all their digits."""
    return [repr(cell) for cell in rng.normal(size=rows).tolist()]


def words(rng: np.random.Generator, rows: int) -> list[str]:
    """One of fifty words."""
    return [f"level-{cell}" for cell in rng.integers(50, size=rows).tolist()]


FILES: dict[str, tuple[Texts, Texts]] = {
    "numbers of 4 decimals": (rounded, rounded),
    "numbers in full": (in_full, in_full),
    "half numbers, half words": (rounded, words),
}


def table() -> str:
    """Each file, read by both."""
    records = []
    with tempfile.TemporaryDirectory() as folder:
        for name, makers in FILES.items():
            path = write(Path(folder) / "large.csv", makers)
            times, peaks = {}, {}
            for program in ("pandas", "mlcli"):
                found = [measured(program, path) for _ in range(REPEATS)]
                times[program], peaks[program] = (statistics.median(values) for values in zip(*found, strict=True))
            cells = [f"{times[program]:.2f} s" for program in times] + [f"{times['mlcli'] / times['pandas']:.2f}"]
            cells += [f"{peaks[program]:.2f} GB" for program in peaks]
            records.append((name, f"{path.stat().st_size / 1e6:.0f} MB", *cells))
    return markdown(("cells", "size", "pandas", "mlcli", "÷ pandas", "memory: pandas", "memory: mlcli"), records)


def write(path: Path, makers: tuple[Texts, Texts]) -> Path:
    """A file whose columns are made by one maker and the other in turns."""
    rng = np.random.default_rng(0)
    with path.open("w", encoding="utf-8") as file:
        print(*(f"c{place}" for place in range(COLUMNS)), sep=",", file=file)
        for _ in range(ROWS // AT_A_TIME):
            cells = [makers[place % 2](rng, AT_A_TIME) for place in range(COLUMNS)]
            file.writelines(",".join(row) + "\n" for row in zip(*cells, strict=True))
    return path


def measured(program: str, path: Path) -> tuple[float, float]:
    """Seconds of processor time, and the peak of memory in GB."""
    command = [sys.executable, "-m", "benchmarks.reading", program, str(path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, cwd=ROOT, check=True, capture_output=True, text=True)
    seconds, peak = json.loads(done.stdout)
    return seconds, peak


def main(program: str, path: str) -> None:
    """Read a file in this process, and print what that took as JSON."""
    import resource

    if program == "pandas":
        import pandas as pd

        started = process_time()
        kept: object = pd.read_csv(path)
    else:
        started = process_time()
        from mlcli.data.load import load

        kept = load(path)
    seconds = process_time() - started
    print(json.dumps((seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6)))
    del kept


if __name__ == "__main__":
    main(*sys.argv[1:])
