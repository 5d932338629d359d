"""The health of an installation: versions, threads, compiled kernels, a store; problems and their fixes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from mlcli.core.errors import StoreError
from mlcli.core.names import counted
from mlcli.core.processes import BLAS_VARIABLES, cores, on_linux
from mlcli.experiment.run.reproduction import versions_and_hardware
from mlcli.report.document import Document, Element, Heading, Sentence, grid, notes

EXTRAS = {
    "report": ("jinja2", "matplotlib"),
    "parquet": ("pyarrow",),
    "sklearn": ("sklearn",),
    "dask": ("distributed",),
    "ray": ("ray",),
}
"""The packages of each extra."""


@dataclass(frozen=True)
class Health:
    """Facts by heading, and problems, each with its fix."""

    facts: dict[str, dict[str, str]]
    problems: list[str] = field(default_factory=list)
    store_is_damaged: bool = False


def health_of(store: Path | None, default: Path) -> Health:
    """Everything that can be told without running a model; a default store need not be there."""
    problems: list[str] = []
    extras = {
        f"extra '{name}'": "installed"
        if all(find_spec(package) is not None for package in packages)
        else f"not installed: pip install 'mlcli[{name}]'"
        for name, packages in EXTRAS.items()
    }
    facts = {
        "Versions": {**versions_and_hardware(), **extras},
        "Threads": _thread_facts(problems),
        "Compiled kernels": _kernel_facts(problems),
    }
    before = len(problems)
    facts["Store"] = _store_facts(store or default, store is not None, problems)
    return Health(facts, problems, len(problems) > before)


def health_document(health: Health) -> Document:
    """The facts as tables, then the problems."""
    elements: list[Element] = []
    for name, values in health.facts.items():
        elements += [Heading(name), grid(["", ""], values.items())]
    problems = notes(*health.problems) if health.problems else Sentence("none", "strong")
    return (*elements, Heading("Problems"), problems)


@dataclass(frozen=True)
class HealthRecord:
    """What ``--json`` writes of an installation."""

    versions: Mapping[str, str]
    threads: Mapping[str, str]
    compiled_kernels: Mapping[str, str]
    store: Mapping[str, str]
    problems: Sequence[str]


def health_record(health: Health) -> HealthRecord:
    """The facts and problems of an installation."""
    versions, threads, kernels, store = health.facts.values()
    return HealthRecord(versions, threads, kernels, store, health.problems)


def _thread_facts(problems: list[str]) -> dict[str, str]:
    from threadpoolctl import ThreadpoolController

    libraries = [library for library in ThreadpoolController().info() if library["user_api"] == "blas"]
    if any(library["num_threads"] != 1 for library in libraries):
        problems.append(
            "BLAS uses several threads, so that processes hinder each other: set OPENBLAS_NUM_THREADS=1"
        )
    is_pinned = any(os.environ.get(name) == "1" for name in BLAS_VARIABLES)
    text = ", ".join(
        f"{library['internal_api']} {library['version']}: {counted(library['num_threads'], 'thread')}"
        for library in libraries
    )
    return {
        "cores for worker processes": str(cores()),
        "BLAS": text or "none was found",
        "BLAS is pinned to one thread": "yes" if is_pinned else "no",
        "start of workers": "as copies of this one" if on_linux() else "anew",
    }


def _kernel_facts(problems: list[str]) -> dict[str, str]:
    import mlcli

    path = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(mlcli.__file__).parent / "kernels")
    compiled = list(path.rglob("*.nbc")) if path.is_dir() else []
    size = sum(file.stat().st_size for file in compiled)
    if not os.access(path, os.W_OK):
        hint = "set NUMBA_CACHE_DIR to a folder that can be written, or every command compiles anew"
        problems.append(f"compiled kernels cannot be kept in {path}: {hint}")
    if os.environ.get("NUMBA_DISABLE_JIT") == "1":
        problems.append("NUMBA_DISABLE_JIT=1 is set: kernels run uncompiled, about 100 times slower; unset it")
    return {
        "kept in": str(path),
        "functions": f"{len(compiled)}, {size / 1e6:.0f} MB"
        if compiled
        else "none yet: the first commands compile them, each up to half a minute",
    }


def _store_facts(path: Path, is_required: bool, problems: list[str]) -> dict[str, str]:
    if not path.is_file():
        if is_required:
            problems.append(f"{path}: there is no store; a run makes one: mlcli run EXPERIMENT --store {path}")
        return {"file": f"{path}: not there, which is no fault before the first run"}
    from mlcli.experiment.store.store import Store

    try:
        with Store.read(path) as opened:
            runs = opened.runs.count()
            faults = opened.faults()
    except StoreError as error:
        problems.append(error.problems[0].what + f" ({path}): {error.problems[0].hint}")
        return {"file": str(path), "state": "cannot be read"}
    problems += [f"{path}: {fault}" for fault in faults]
    return {
        "file": f"{path}, {path.stat().st_size / 1e6:.1f} MB",
        "runs": str(runs),
        "state": "damaged" if faults else "sound",
    }
