"""Which versions of what answers depend on are installed."""

from __future__ import annotations

import platform

PACKAGES = ("numpy", "scipy", "numba", "pandas")


def versions() -> dict[str, str]:
    """The versions of mlcli, Python and the packages that compute."""
    from importlib.metadata import version

    from mlcli import __version__

    computing = {name: version(name) for name in PACKAGES}
    return {"mlcli": __version__, "python": platform.python_version(), **computing, "machine": platform.machine()}
