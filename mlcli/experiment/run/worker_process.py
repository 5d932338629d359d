"""A process with a pipe to the one that has started it, without which it does not live on."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from mlcli.core.plugins import allowed_imports
from mlcli.core.processes import on_linux, safe_import_path, send_stdout_to_stderr

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext

PR_SET_PDEATHSIG = 1
MAIN = "__main__"


class WorkerProcess:
    """A process that runs ``serve(connection, *arguments)``, and our end of its pipe."""

    def __init__(self, context: BaseContext, serve: Callable[..., None], *arguments: Any) -> None:
        self.connection, theirs = context.Pipe()
        self.process: Any = context.Process(target=serve, args=(theirs, *arguments), daemon=True)  # type: ignore[attr-defined]
        with _allowed_children(), safe_import_path():
            self.process.start()
        theirs.close()  # so that the pipe ends when the process does

    def kill(self) -> None:
        """End the process and what it has started, whatever they do; one of loky has no method for it."""
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
        if os.name == "posix":
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Wait for the end of the process."""
        self.process.join()
        self.connection.close()


def new_process_context() -> BaseContext:
    """That of loky, whose processes do not run the script again that called mlcli, as others of Python do."""
    from joblib.externals.loky.backend.context import get_context

    context: BaseContext = get_context("loky")
    return context


@contextmanager
def _allowed_children() -> Iterator[None]:
    """Let a daemon, such as a worker of Dask, start a process: ours ends with its parent by itself."""
    from multiprocessing import current_process

    settings: dict[str, Any] = current_process()._config  # type: ignore[attr-defined]
    daemon = settings.pop("daemon", False)
    try:
        yield
    finally:
        settings["daemon"] = daemon


def begin_worker(connection: Connection, parent: int) -> None:
    """What a worker begins with: it ends when its parent does, leaves Ctrl-C to it, and alone speaks to it.

    What it prints goes to stderr, since stdout is for results. Its session is what it and all that a method starts
    in it are ended by. A fork that a method makes of it must neither answer a second time nor keep the pipe open
    when the worker is gone.
    """
    if os.name == "posix":
        with suppress(PermissionError):  # of one that leads a group already
            os.setsid()
        os.register_at_fork(after_in_child=connection.close)
    send_stdout_to_stderr()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a fork has its parent's handler
    if on_linux():
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
    else:
        _watch_from_a_thread(parent)


def main_classes() -> dict[str, type]:
    """The classes of a script or notebook that the user has named: a new process has another ``__main__``."""
    main = sys.modules[MAIN]
    names = (path.removeprefix(f"{MAIN}.") for path in allowed_imports() if path.startswith(f"{MAIN}."))
    return {name: getattr(main, name) for name in names if hasattr(main, name)}


def begin_new_process(connection: Connection, parent: int, classes: Mapping[str, type]) -> None:
    """What a worker that is a new process begins with: one BLAS thread, too, before anything heavy is loaded.

    ``classes`` are those of its parent's ``main_classes``.
    """
    begin_worker(connection, parent)
    vars(sys.modules[MAIN]).update(classes)
    from mlcli.core.threads import pin_blas_from_the_start

    pin_blas_from_the_start()


def _watch_from_a_thread(parent: int) -> None:
    from threading import Thread
    from time import sleep

    def watch() -> None:
        while os.getppid() == parent:
            sleep(1.0)
        os._exit(1)

    Thread(target=watch, daemon=True).start()
