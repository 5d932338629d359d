"""Where the shell enters: what must be settled before anything is imported."""

from __future__ import annotations

import gc

OBJECTS_BETWEEN_COLLECTIONS = 500_000


def main() -> None:
    """Run the command line, from its first import to its last word."""
    from mlcli.cli._signals import interruptible

    with interruptible():
        _run()


def _run() -> None:
    # Imports make many objects and free few: collecting at the usual 700 costs a tenth of the start-up.
    # pandas alone makes more than 100,000 of them.
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    from mlcli.core.compiling import compiling
    from mlcli.core.threads import pin_blas_from_the_start

    pin_blas_from_the_start()
    compiling.on_long = _remark_on_compiling
    from mlcli.cli._verbs import app

    try:
        app(prog_name="mlcli")
    finally:
        # The interpreter's last collections would walk every object of pandas: another tenth of a short command.
        gc.freeze()


def _remark_on_compiling() -> None:
    from mlcli.cli._console import remark

    remark("compiling for this machine, once after an install, up to half a minute; later commands find it done")
