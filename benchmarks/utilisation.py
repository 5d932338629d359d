"""A batch of 10 datasets × 10 models from the shell, on one process and on two: how much of the cores is used."""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.shell import Spent, environment, spent
from benchmarks.timing import markdown

TURNS = 3
JOBS = (1, 2)
DATASETS = (
    "segment",
    "digits",
    "credit_g",
    "soybean",
    "wdbc",
    "ionosphere",
    "vote",
    "breast_cancer",
    "glass",
    "iris",
)
BATCH = f"""data: [{", ".join(DATASETS)}]
models:
  - one-r
  - naive-bayes
  - {{use: knn, grid: {{k: [1, 5, 25]}}}}
  - {{use: decision-tree, grid: {{min_leaf: [1, 5, 20]}}}}
  - {{use: logistic-regression, grid: {{l2: [1.0, 100.0]}}}}
protocol: {{use: stratified-k-fold, folds: 10}}
metrics: [accuracy]
"""
LIMITS = """Start, reading and loading, and metrics and tables at the end are the calling process's own, and
weigh more the shorter the batch is."""
LEGEND = """Start, reading, metrics and tables included, kernels compiled. Used: processor time of all processes
÷ (wall seconds × processes). Not left idle: processor time ÷ (processor time + what the cores idled), which
disregards other work on the machine. Work added: processor time beyond that of one process."""


def table() -> str:
    """One row for each number of processes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "batch.yaml"
        file.write_text(BATCH, encoding="utf-8")
        measured(file, 2)
        found = {jobs: [measured(file, jobs) for _ in range(TURNS)] for jobs in JOBS}
    alone = statistics.median(run.processor for run, _ in found[1])
    rows = []
    for jobs, runs in found.items():
        wall = statistics.median(run.wall for run, _ in runs)
        processor = statistics.median(run.processor for run, _ in runs)
        used = statistics.median(run.processor / run.wall / jobs for run, _ in runs)
        busy = statistics.median(run.processor / (run.processor + idle) for run, idle in runs)
        kept = f"{busy:.0%}" if jobs == os.cpu_count() else ""
        rows.append((jobs, f"{wall:.1f}", f"{processor:.1f}", f"{used:.0%}", kept, f"{processor / alone - 1:.0%}"))
    header = ("processes", "wall seconds", "processor seconds", "used", "not left idle", "work added")
    return f"{LEGEND}\n\n{markdown(header, rows)}"


def measured(file: Path, jobs: int) -> tuple[Spent, float]:
    """What the batch took, and for how many seconds the cores were idle meanwhile."""
    command = [sys.executable, "-m", "mlcli", "run", str(file), "--fresh", "--jobs", str(jobs)]
    before = idle_seconds()
    with environment("warm") as variables:
        took = spent(command, variables)
    return took, idle_seconds() - before


def idle_seconds() -> float:
    """Idle time of all cores since the start of the machine."""
    fields = Path("/proc/stat").read_text(encoding="utf-8").split("\n", 1)[0].split()
    return int(fields[4]) / os.sysconf("SC_CLK_TCK")
