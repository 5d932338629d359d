"""Compiled functions over arrays and scalars; they know no classes.

Numba keeps what it has compiled in ``__pycache__``. It looks for changes in the file of a kernel only, so
what is kept is removed when any file here has changed.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from mlcli.core.progress import Compiling, compiling, loading

with loading:
    from numba.core.event import Event, Listener, register


def forget_outdated(folder: Path) -> None:
    """Remove what Numba has kept of kernels if any file in the folder, or in one of its folders, has changed."""
    cache = folder / "__pycache__"
    stamp = cache / "kernels.stamp"
    files = {file.relative_to(folder): file.stat() for file in folder.rglob("*.py")}
    now = "\n".join(sorted(f"{file} {state.st_mtime_ns} {state.st_size}" for file, state in files.items()))
    # Where nothing can be written Numba keeps its code elsewhere, and an install cannot be edited.
    with suppress(OSError):
        if stamp.exists() and stamp.read_text(encoding="utf-8") == now:
            return
        cache.mkdir(exist_ok=True)
        for index in folder.rglob("__pycache__/*.nbi"):
            index.unlink(missing_ok=True)
        stamp.write_text(now, encoding="utf-8")


class _Stopwatch(Listener):
    """Measures how long Numba takes over something."""

    def __init__(self, watch: Compiling) -> None:
        self._watch = watch

    def on_start(self, event: Event) -> None:
        self._watch.begin()

    def on_end(self, event: Event) -> None:
        self._watch.end()


# A kernel that is on disk is loaded under the lock, one that is not is compiled under it.
register("numba:compiler_lock", _Stopwatch(loading))  # type: ignore[no-untyped-call]
register("numba:compile", _Stopwatch(compiling))  # type: ignore[no-untyped-call]
forget_outdated(Path(__file__).parent)
