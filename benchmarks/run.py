"""Run the benchmarks (or those of the sections or methods named) and write benchmarks/results.md, goals first."""

from __future__ import annotations

import os
import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results.md"
SECTION = re.compile(r"^## (\w+)\n\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
PACKAGES = ("numpy", "pandas", "numba", "scipy", "typer", "scikit-learn", "lightgbm", "xgboost-cpu", "xgboost")
ABOUT = """Written by `make bench`. The goals, and what the sections below reach of them: for each method the
range of its ratios (or times, or counts), and in how many of its rows it meets the goal."""


def main() -> None:
    """Print each section as it is made, and keep it in the results if it is whole."""
    sys.path.insert(0, str(FOLDER.parent))
    from benchmarks.sections import meant

    try:
        chosen = meant(sys.argv[1:])
    except LookupError as problem:
        sys.exit(str(problem.args[0]))
    for section in chosen:
        text = "\n\n".join(part for part in (section.about, machine(), section.measured(), section.limits) if part)
        print(f"## {section.name}\n\n{text}\n", flush=True)
        if section.only:
            print(f"Not kept in {RESULTS.name}, whose sections are each measured in one go.\n", flush=True)
        else:
            keep(section.name, text)


def keep(name: str, text: str) -> None:
    """Put a section into the results beside the others, and say anew which goals are reached."""
    from benchmarks.goals import summary
    from benchmarks.sections import NAMES

    sections = dict(SECTION.findall(RESULTS.read_text(encoding="utf-8"))) if RESULTS.exists() else {}
    sections[name] = text
    body = "\n\n".join(f"## {one}\n\n{sections[one].strip()}" for one in NAMES if one in sections)
    RESULTS.write_text(f"# Results\n\n{ABOUT}\n\n{summary(sections)}\n\n{body}\n", encoding="utf-8")


def machine() -> str:
    """Where and with what the numbers were measured."""
    packages = ", ".join(f"{package} {version(package)}" for package in PACKAGES if _installed(package))
    return (
        f"Machine: {processor()}, {os.cpu_count()} cores, {platform.system()}. "
        f"Python {platform.python_version()}, {packages}. One BLAS thread everywhere."
    )


def _installed(package: str) -> bool:
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


def processor() -> str:
    """The name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
