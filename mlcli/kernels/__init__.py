"""Compiled functions over arrays and scalars; they know no classes."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from mlcli.core.progress import Compiling, compiling, loading

with loading:
    from numba.core import dispatcher
    from numba.core.caching import FunctionCache
    from numba.core.event import Listener, register
    from numba.core.runtime.nrt import rtsys

STAMP = "kernels.stamp"


def forget_outdated(folder: Path) -> None:
    """Remove what Numba has kept of kernels if any file in the folder, or in one of its folders, has changed.

    Numba itself looks at the file of a kernel, not at those that it calls.
    """
    kept = folder / "__pycache__"
    now = "\n".join(sorted(_described(file, folder) for file in folder.rglob("*.py")))
    stamp = kept / STAMP
    # Where nothing can be written Numba keeps its code elsewhere, and an install cannot be edited.
    with suppress(OSError):
        if stamp.exists() and stamp.read_text(encoding="utf-8") == now:
            return
        kept.mkdir(exist_ok=True)
        for index in folder.rglob("__pycache__/*.nbi"):
            index.unlink(missing_ok=True)
        stamp.write_text(now, encoding="utf-8")


def _described(file: Path, folder: Path) -> str:
    known = file.stat()
    return f"{file.relative_to(folder)} {known.st_mtime_ns} {known.st_size}"


class _Watch(Listener):
    """Hears from Numba how long something takes."""

    def __init__(self, watch: Compiling) -> None:
        self._watch = watch

    def on_start(self, event: Any) -> None:
        self._watch.begin()

    def on_end(self, event: Any) -> None:
        self._watch.end()


class _Kept(FunctionCache):
    """What is on disk of a kernel; most of Numba is loaded only where that is not enough."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The kernel for some arguments, or nothing, and all is here that it is compiled with."""
        if not self._py_func.__module__.startswith(__name__):
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            found = self._load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if found is None:
            load_without_blas()
        return found


def load_without_blas() -> None:
    """Load Numba's functions of arrays, with which it would load SciPy, in case that a kernel multiplies matrices.

    For one that does, it looks for SciPy again.
    """
    from numba.np import linalg

    check = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = check


if hasattr(FunctionCache, "_load_overload"):  # else a Numba of another make, which loads as it likes
    dispatcher.FunctionCache = _Kept  # type: ignore[attr-defined]
else:
    load_without_blas()
# A kernel that is on disk is loaded under the lock, one that is not is compiled under it.
register("numba:compiler_lock", _Watch(loading))  # type: ignore[no-untyped-call]
register("numba:compile", _Watch(compiling))  # type: ignore[no-untyped-call]
forget_outdated(Path(__file__).parent)
