"""Compiled code of other sources is forgotten: Numba looks at the file of a kernel, not at those that it calls."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

STAMP = "kernels.stamp"


def forget_outdated(folder: Path) -> None:
    """Remove what Numba has kept of kernels in a folder, and those in it, if any file is not what it was."""
    kept = folder / "__pycache__"
    now = "\n".join(sorted(_described(file) for file in folder.rglob("*.py")))
    stamp = kept / STAMP
    # Where nothing can be written Numba keeps its code elsewhere, and an install cannot be edited.
    with suppress(OSError):
        if stamp.exists() and stamp.read_text(encoding="utf-8") == now:
            return
        kept.mkdir(exist_ok=True)
        for index in folder.rglob("*.nbi"):
            index.unlink(missing_ok=True)
        stamp.write_text(now, encoding="utf-8")


def _described(file: Path) -> str:
    known = file.stat()
    return f"{file.name} {known.st_mtime_ns} {known.st_size}"
