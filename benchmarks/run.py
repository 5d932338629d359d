"""Run the benchmarks (or the one named) and write benchmarks/results.md: mlcli beside its peers, ratios first."""

from __future__ import annotations

import os
import platform
import re
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results.md"
SECTION = re.compile(r"^## (\w+)\n\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
FAMILIES = ("bayes", "linear", "logistic", "neighbours", "trees", "forests", "boosting")
BENCHMARKS = ("startup", *FAMILIES, "kinds", "splits", "shell", "utilisation")
PACKAGES = ("numpy", "pandas", "numba", "scipy", "typer", "scikit-learn", "lightgbm", "xgboost-cpu", "xgboost")


def main() -> None:
    """Print each table as it is made, and keep it in the results."""
    sys.path.insert(0, str(FOLDER.parent))
    for name in wanted(sys.argv[1:]):
        title, tables = made(name)
        text = f"{title}\n\n{machine()}\n\n{tables}"
        print(f"## {name}\n\n{text}\n", flush=True)
        keep(name, text)


def wanted(said: list[str]) -> list[str]:
    """The benchmarks that are meant, by the beginnings of their names; all if nothing is said."""
    unknown = [word for word in said if not any(name.startswith(word) for name in BENCHMARKS)]
    if unknown:
        sys.exit(f"no benchmark {', '.join(unknown)}; there are: {', '.join(BENCHMARKS)}")
    return [name for name in BENCHMARKS if not said or name.startswith(tuple(said))]


def made(name: str) -> tuple[str, str]:
    """What a benchmark is about, and its tables."""
    if name in FAMILIES:
        from benchmarks import family

        return _about(f"benchmarks.families.{name}"), family.table(name)
    return _about(f"benchmarks.{name}"), import_module(f"benchmarks.{name}").table()


def _about(module: str) -> str:
    return (import_module(module).__doc__ or "").strip()


def keep(name: str, text: str) -> None:
    """Put the section of one benchmark into the results, beside the others."""
    sections = dict(SECTION.findall(RESULTS.read_text(encoding="utf-8"))) if RESULTS.exists() else {}
    sections[name] = text
    body = "\n\n".join(f"## {one}\n\n{sections[one].strip()}" for one in BENCHMARKS if one in sections)
    RESULTS.write_text(f"# Results\n\nWritten by `make bench`.\n\n{body}\n", encoding="utf-8")


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
