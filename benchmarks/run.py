"""Run the benchmarks (or the one named) and write benchmarks/results.md: mlcli beside its peers, ratios first."""

from __future__ import annotations

import os
import platform
import re
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results.md"
SECTION = re.compile(r"^## (\w+)\n\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
BENCHMARKS = ("startup", "methods", "kinds")
PACKAGES = ("numpy", "pandas", "numba", "scipy", "typer", "scikit-learn")


def main() -> None:
    """Print each table as it is made, and keep it in the results."""
    sys.path.insert(0, str(FOLDER.parent))
    wanted = sys.argv[1:] or list(BENCHMARKS)
    unknown = set(wanted) - set(BENCHMARKS)
    if unknown:
        sys.exit(f"no benchmark {', '.join(sorted(unknown))}; there are: {', '.join(BENCHMARKS)}")
    for name in wanted:
        module = import_module(f"benchmarks.{name}")
        text = f"{(module.__doc__ or '').strip()}\n\n{machine()}\n\n{module.table()}"
        print(f"## {name}\n\n{text}\n")
        keep(name, text)


def keep(name: str, text: str) -> None:
    """Put the section of one benchmark into the results, beside the others."""
    sections = dict(SECTION.findall(RESULTS.read_text(encoding="utf-8"))) if RESULTS.exists() else {}
    sections[name] = text
    body = "\n\n".join(f"## {one}\n\n{sections[one].strip()}" for one in BENCHMARKS if one in sections)
    RESULTS.write_text(f"# Results\n\nWritten by `make bench`.\n\n{body}\n", encoding="utf-8")


def machine() -> str:
    """Where and with what the numbers were measured."""
    packages = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    return (
        f"Machine: {processor()}, {os.cpu_count()} cores, {platform.system()}. "
        f"Python {platform.python_version()}, {packages}. One BLAS thread everywhere."
    )


def processor() -> str:
    """The name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
