"""Worker processes of this machine: for the blocks of a batch, and for cells with a budget or a dangerous method.

Every worker has a pipe of its own, so that one that dies, even while it writes, loses only its own work.
On Linux the workers of a batch are forks of this process, with all that it has loaded; elsewhere, beside other
threads, and where memory is measured, they are new processes.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from math import inf
from pathlib import Path
from threading import Thread, active_count
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

from mlcli.core.names import duration, size
from mlcli.core.processes import (
    cores_for_a_fit,
    on_linux,
    own_bytes,
    pin_blas_from_the_start,
    safe_import_path,
    send_stdout_to_stderr,
    sweep,
    temporary_prefix,
)
from mlcli.core.registry import allowed_imports

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from tempfile import TemporaryDirectory

    from mlcli.experiment.run.evaluation import WorkerResult
    from mlcli.experiment.run.preparation import Block, BlockRange, ReadyCell

# NumPy and the engine are imported by the workers' own functions, after one BLAS thread is asked for; modules for
# processes are imported when there are any, since a short command has none.

READY, BEGUN, FINISHED = "ready", "begun", "finished"
MAIN = "__main__"
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Assignment:
    """Splits of one cell, and their limits: seconds from when they are begun, bytes of the process."""

    ready: ReadyCell
    ranges: tuple[BlockRange, ...]
    seconds: float | None = None
    memory: int | None = None


@dataclass(frozen=True)
class Stopped:
    """A worker that did not finish its work: the status of the cell, and the reason."""

    status: str
    why: str
    limit: str = ""
    """The limit that it exceeded: seconds, memory, or the total of seconds."""


Message: TypeAlias = "WorkerResult | Stopped"
"""The result of a block, or how its worker was stopped."""
Work: TypeAlias = "Block | Assignment"


class WorkerPool:
    """Up to ``jobs`` workers, started when they are needed and ended with the pool.

    ``shared`` gives the tables, splits and learners of the blocks, which are not sent again with each block.
    ``supervised`` workers are always new processes.
    """

    def __init__(
        self, jobs: int, shared: Callable[[], Sequence[object]] = tuple, *, supervised: bool = False
    ) -> None:
        self.jobs = jobs
        self._shared_objects = shared
        self._supervised = supervised
        self._shared: Sequence[object] = ()
        self._folder: TemporaryDirectory[str] | None = None
        self._fork = False
        self._workers: list[Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.dismiss()

    @property
    def forks(self) -> bool:
        """Whether workers would be forks: safe on Linux, if no other thread may hold a lock."""
        return on_linux() and active_count() == 1 and not self._supervised

    @property
    def called(self) -> bool:
        """Whether workers have been started."""
        return bool(self._workers)

    @property
    def ready(self) -> bool:
        """Whether all workers are ready."""
        return self.called and all(worker.has_arrived() for worker in self._workers)

    def call(self) -> None:
        """Start all workers without waiting for them."""
        self._prepare()
        while len(self._workers) < self.jobs:
            self._start()

    def results(self, works: Iterable[tuple[T, Work]], until: float = inf) -> Generator[tuple[T, Message]]:
        """Do works, each with a tag; yield (tag, result of a block or how its worker was stopped) in any order.

        All workers are stopped at the time ``until`` of ``monotonic()``.
        """
        waiting = iter(works)
        try:
            while monotonic() < until and self._hand_out(waiting):
                for worker in self._wait_for_messages(until):
                    tag, message = worker.tag, worker.receive()
                    if message is not None:
                        yield tag, message
                for worker in self._busy():
                    if (stopped := worker.exceeded_limit()) is not None:
                        worker.end()
                        yield worker.tag, stopped
                self._forget_dead()
        finally:
            for worker in self._busy():
                worker.end()
            self._forget_dead()

    def dismiss(self) -> None:
        """Kill all workers."""
        for worker in self._workers:
            worker.end()
        self._workers = []
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _forget_dead(self) -> None:
        """Drop idle workers that have died; the messages of busy ones are read first."""
        self._workers = [worker for worker in self._workers if worker.work is not None or worker.is_alive()]

    def _busy(self) -> list[Worker]:
        return [worker for worker in self._workers if worker.work is not None]

    def _hand_out(self, waiting: Iterator[tuple[Any, Work]]) -> bool:
        """Give work to idle workers, starting them as needed; return whether any worker is busy."""
        while len(self._busy()) < self.jobs and (given := next(waiting, None)) is not None:
            self._prepare()
            free = next((worker for worker in self._workers if worker.work is None), None)
            (free or self._start()).take(*given, self._shared)
        return bool(self._busy())

    def _wait_for_messages(self, until: float) -> list[Worker]:
        """Wait until the next deadline for workers that have sent something or died."""
        from multiprocessing.connection import wait

        busy = self._busy()
        patience = max(0.0, min([until, *(worker.deadline for worker in busy)]) - monotonic())
        if any(worker.memory is not None for worker in busy):
            patience = min(patience, 0.05)  # seconds between measurements of memory
        readable = wait([worker.connection for worker in busy], None if patience == inf else patience)
        return [worker for worker in busy if worker.connection in readable]

    def _prepare(self) -> None:
        """Before the first worker: decide how workers start, and write the shared objects for new processes."""
        if self._workers or self._shared:
            return
        self._fork, self._shared = self.forks, self._shared_objects()
        if not self._fork and self._shared:
            from tempfile import TemporaryDirectory, gettempdir

            sweep(Path(gettempdir()))
            self._folder = TemporaryDirectory(prefix=temporary_prefix())
            _write_shared(self._shared, Path(self._folder.name))

    def _start(self) -> Worker:
        if self._fork:
            from multiprocessing import get_context

            worker = Worker(get_context("fork"), _serve_fork, os.getpid(), self._shared)
            worker.arrived = True
        else:
            # Loky's processes do not run the script again that called mlcli, as others of Python do.
            from joblib.externals.loky.backend.context import get_context as get_loky_context

            folder = self._folder.name if self._folder else None
            worker = Worker(get_loky_context("loky"), _serve_new, os.getpid(), main_classes(), folder)
        self._workers.append(worker)
        return worker


class Worker:
    """A process that does one piece of work at a time, and our end of its pipe."""

    def __init__(self, context: Any, serve: Callable[..., None], *arguments: Any) -> None:
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, *arguments), daemon=True)
        with _allowed_children(), safe_import_path(), warnings.catch_warnings():
            # Python warns of forks beside any thread, those of BLAS included, which are prepared for this.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        theirs.close()  # so that the pipe ends when the process does
        self.arrived = False
        self._ended = False
        self.tag: Any = None
        self.work: Work | None = None
        self.deadline = inf

    @property
    def memory(self) -> int | None:
        """The limit of bytes of its work, if any."""
        return self.work.memory if isinstance(self.work, Assignment) else None

    def has_arrived(self) -> bool:
        """Whether it has sent that it is ready."""
        if not self.arrived and self.connection.poll():
            with suppress(EOFError, OSError):  # it has died, which shows when it is given work
                self.connection.recv()
            self.arrived = True
        return self.arrived

    def is_alive(self) -> bool:
        """Whether it can be given work."""
        return not self._ended and bool(self._process.is_alive())

    def take(self, tag: Any, work: Work, shared: Sequence[object]) -> None:
        """Give it work; the time of an assignment starts when the worker reports that it has begun."""
        self.tag, self.work, self.deadline = tag, work, inf
        content = packed(work, shared)
        with suppress(OSError):  # it may have died, which shows when its message is received
            self.connection.send_bytes(content)

    def receive(self) -> Message | None:
        """Receive its message; return it if it is a result."""
        try:
            message = self.connection.recv()
        except (EOFError, OSError):
            self.end()
            return Stopped("died", _exit_reason(self._process.exitcode))
        if message == READY:
            self.arrived = True
        elif message == BEGUN:
            seconds = self.work.seconds if isinstance(self.work, Assignment) else None
            self.deadline = inf if seconds is None else monotonic() + seconds
        elif message == FINISHED:
            self.work = None
        else:
            return message  # type: ignore[no-any-return]
        return None

    def exceeded_limit(self) -> Stopped | None:
        """The limit of its work that it has exceeded, if any."""
        if not isinstance(self.work, Assignment):
            return None
        if self.deadline <= monotonic():
            why = f"it took more than the {duration(self.work.seconds or 0.0)} that it had"
            return Stopped("over-budget", why, "seconds")
        most, held = self.memory, None
        if most is not None and (held := own_bytes(self._process.pid)) is not None and held > most:
            why = f"it took more than the {size(most)} of memory that it had"
            return Stopped("over-budget", why, "memory")
        return None

    def end(self) -> None:
        """Kill the process and the processes that it has started."""
        if not self._ended:
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
            if os.name == "posix":
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._process.join()
            self.connection.close()
        self._ended, self.work = True, None


@contextmanager
def _allowed_children() -> Iterator[None]:
    """Let a daemon, such as a worker of Dask, start a process; our processes end with their parent anyway."""
    from multiprocessing import current_process

    settings: dict[str, Any] = current_process()._config  # type: ignore[attr-defined]
    daemon = settings.pop("daemon", False)
    try:
        yield
    finally:
        settings["daemon"] = daemon


def _exit_reason(code: int | None) -> str:
    if code is None or code >= 0:
        return f"its process left with exit code {code}"
    names = {signals.value: signals.name for signals in signal.Signals}
    perhaps = ", perhaps for want of memory" if -code == signal.SIGKILL else ""
    return f"its process was ended by signal {-code} ({names.get(-code, 'of no name')}{perhaps})"


# What is sent: shared objects as their numbers.


class _Pickler(pickle.Pickler):
    def __init__(self, file: BytesIO, shared: Sequence[object]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._number_of = {id(thing): number for number, thing in enumerate(shared)}

    def persistent_id(self, thing: object) -> int | None:
        return self._number_of.get(id(thing))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BytesIO, shared: Sequence[object]) -> None:
        super().__init__(file)
        self._shared = shared

    def persistent_load(self, number: int) -> object:
        return self._shared[number]


def packed(thing: object, shared: Sequence[object]) -> bytes:
    """An object as bytes, with shared objects replaced by their numbers."""
    file = BytesIO()
    _Pickler(file, shared).dump(thing)
    return file.getvalue()


def unpacked(content: bytes, shared: Sequence[object]) -> Any:
    """The packed object, with the shared objects in their places."""
    return _Unpickler(BytesIO(content), shared).load()


def _write_shared(shared: Sequence[object], folder: Path) -> None:
    """Write shared objects: arrays of at least a megabyte to files of their own, everything else to one file."""

    def keep(buffer: pickle.PickleBuffer) -> bool:
        content = buffer.raw()
        if content.nbytes < 1_000_000:
            return True
        (folder / f"{len(list(folder.iterdir()))}.array").write_bytes(content)
        return False

    (folder / "shared").write_bytes(pickle.dumps(shared, protocol=5, buffer_callback=keep))


def _read_shared(folder: Path) -> Sequence[object]:
    """The shared objects that were written; large arrays are memory-mapped, copy on write."""
    import numpy as np

    count = len(list(folder.glob("*.array")))
    arrays = [np.memmap(folder / f"{number}.array", mode="c") for number in range(count)]
    shared: Sequence[object] = pickle.loads((folder / "shared").read_bytes(), buffers=arrays)
    return shared


def main_classes() -> dict[str, type]:
    """The classes of a script or notebook that the user has named: a new process has another ``__main__``."""
    main = sys.modules[MAIN]
    names = (path.removeprefix(f"{MAIN}.") for path in allowed_imports() if path.startswith(f"{MAIN}."))
    return {name: getattr(main, name) for name in names if hasattr(main, name)}


# What workers run.


def _serve_fork(connection: Connection, parent: int, shared: Sequence[object]) -> None:
    _detach(connection, parent)
    gc.freeze()  # the garbage collector would touch shared pages, and so copy them
    _serve(connection, shared)


def _serve_new(connection: Connection, parent: int, classes: Mapping[str, type], folder: str | None) -> None:
    _detach(connection, parent)
    vars(sys.modules[MAIN]).update(classes)
    pin_blas_from_the_start()
    _serve(connection, _read_shared(Path(folder)) if folder else ())


def _detach(connection: Connection, parent: int) -> None:
    """End when the parent does, leave Ctrl-C to it, and print to stderr, since stdout is for results.

    A session of its own lets the parent kill everything that a method starts. A fork made by a method must neither
    send a second result nor keep the pipe open when the worker is gone.
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

        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(1)
        return

    def watch() -> None:
        while os.getppid() == parent:
            sleep(1.0)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def _serve(connection: Connection, shared: Sequence[object]) -> None:
    """Do one piece of work after another until the pipe is closed, as it is for a fork of a worker."""
    with suppress(EOFError, OSError), cores_for_a_fit(1):
        connection.send(READY)
        while True:
            work = unpacked(connection.recv_bytes(), shared)
            connection.send(BEGUN)
            for result in results_of(work):
                connection.send(result)
                if result.failure is not None:
                    break
            connection.send(FINISHED)
    os._exit(0)


def results_of(work: Work) -> Iterator[WorkerResult]:
    """The results of a block, or of the blocks of a cell; without a closed form of the splits block by block."""
    from mlcli.experiment.run.evaluation import worker_result

    if not isinstance(work, Assignment):
        yield worker_result(work)
        return
    for block_range in work.ranges:
        result = worker_result(work.ready.block(*block_range))
        yield result
        if block_range.closed_form and result.is_empty:
            yield from results_of(Assignment(work.ready, tuple(work.ready.blocks([True] * block_range.splits))))
