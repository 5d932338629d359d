"""Compiled functions over arrays and scalars; they know no classes."""

from pathlib import Path
from typing import Any

from numba.core.event import Listener, register

from mlcli.core.compiling import compiling
from mlcli.kernels._outdated import forget_outdated


class _Watch(Listener):
    """Hears from Numba when a kernel is compiled that is not on disk."""

    def on_start(self, event: Any) -> None:
        compiling.begin()

    def on_end(self, event: Any) -> None:
        compiling.end()


register("numba:compile", _Watch())  # type: ignore[no-untyped-call]
forget_outdated(Path(__file__).parent)
