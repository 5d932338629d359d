"""Processes, their threads, and the files that they write.

Parallelism belongs to the runner: BLAS has one thread wherever a cell runs. A fit may use the cores that no other
process needs; in a worker beside others it has one thread. Results do not depend on the number of threads.

Files are written completely or not at all: next to their target first, then renamed. Temporary files carry the
mark of their process, so that those of killed processes are removed.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from functools import lru_cache
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlcli.core.errors import StoreError

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

BLAS_VARIABLES = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
PORTABLE = "MLCLI_PORTABLE"
SAFE_PATH = "PYTHONSAFEPATH"
MARK = r"[0-9a-f]{8}-[0-9]{1,9}-[0-9]*"
"""The mark of a process in the name of a file (see ``mark_of``)."""
_pinned_from_the_start = False
_threads_of_a_fit = 1


Each = Callable[..., Iterable[Any]]
"""The results of a function for each item, as ``map`` gives them."""


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads_of_a_fit() -> int:
    """How many threads a fit may start."""
    return _threads_of_a_fit


@contextmanager
def threads(most: int) -> Iterator[Each]:
    """A ``map`` by as many threads as a fit may start, but no more than ``most``."""
    count = min(threads_of_a_fit(), most)
    if count == 1:
        yield map
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(count) as pool:
        yield pool.map


@contextmanager
def cores_for_a_fit(count: int) -> Iterator[None]:
    """Let fits in the body use ``count`` threads, since no other process works meanwhile."""
    global _threads_of_a_fit
    before, _threads_of_a_fit = _threads_of_a_fit, count
    try:
        yield
    finally:
        _threads_of_a_fit = before


def pin_blas_from_the_start() -> None:
    """Ask for one BLAS thread before NumPy is imported, as the shell does; later this has no effect."""
    global _pinned_from_the_start
    if "numpy" not in sys.modules:
        os.environ.update(dict.fromkeys(BLAS_VARIABLES, "1"))
        _pinned_from_the_start = True


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run the body with one BLAS thread."""
    if _pinned_from_the_start:
        yield
        return
    with _loaded_libraries(len(sys.modules)).limit(limits=1, user_api="blas"):
        yield


@lru_cache(maxsize=1)
def _loaded_libraries(modules: int) -> ThreadpoolController:
    """The loaded libraries with threads; searched again (some ms) when the number of modules has changed."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def send_stdout_to_stderr() -> None:
    """Make this process write to stderr what it writes to stdout, compiled code and child processes included."""
    with suppress(OSError):  # one of them may be closed
        os.dup2(2, 1)


@contextmanager
def stdout_as_stderr() -> Iterator[None]:
    """Write to stderr, in the body, what is written to stdout."""
    with redirect_stdout(sys.stderr):
        try:
            saved = os.dup(1)
        except OSError:  # it is closed
            yield
            return
        try:
            send_stdout_to_stderr()
            yield
        finally:
            os.dup2(saved, 1)
            os.close(saved)


def on_linux() -> bool:
    """Whether features of Linux alone may be used; ``MLCLI_PORTABLE=1`` does without, as other systems must."""
    return sys.platform == "linux" and not os.environ.get(PORTABLE)


@contextmanager
def safe_import_path() -> Iterator[None]:
    """Start Python processes in the body without the working folder on their import path.

    Otherwise a file such as ``joblib.py`` in that folder would be run instead of the package.
    """
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SAFE_PATH]
        else:
            os.environ[SAFE_PATH] = before


def _in_proc(process: int | str, name: str) -> Path:
    """The file in which the system describes a process."""
    proc = Path("/proc")
    if not on_linux():
        raise FileNotFoundError(proc)
    return proc / str(process) / name


def name_of(process: int) -> str:
    """A name that no other process has had or will have: machine, number, and the start time if it is known."""
    import platform

    try:
        started = _in_proc(process, "stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        started = ""
    return f"{platform.node()} {process} {started}"


def is_at_work(name: str) -> bool:
    """Whether a process of this name runs on this machine; False where that cannot be asked without harm."""
    if os.name != "posix":  # elsewhere signal 0 is a signal
        return False
    try:
        number = int(name.rsplit(" ", 2)[1])
        os.kill(number, 0)
    except PermissionError:
        pass
    except (LookupError, ValueError, OSError):
        return False
    return name == name_of(number)


def mark_of(process: int) -> str:
    """The name of a process in a form that file names allow: machine, number and start."""
    machine, number, started = name_of(process).rsplit(" ", 2)
    return f"{zlib.crc32(machine.encode()):08x}-{number}-{started}"


def is_gone(mark: str) -> bool:
    """Whether the process of a mark ran on this machine and has ended; False if that is not known."""
    machine, number, started = mark.split("-")
    if os.name != "posix" or machine != mark_of(os.getpid()).partition("-")[0]:
        return False
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    now = mark_of(int(number)).rpartition("-")[2]
    return bool(started and now) and started != now


def own_bytes(process: int) -> int | None:
    """The memory of a process that does not belong to a file, in bytes; None if the system does not tell."""
    try:
        _, resident, shared, *_ = _in_proc(process, "statm").read_text().split()
    except (OSError, ValueError):
        return None
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


@dataclass
class PeakMemory:
    """The peak memory of a piece of work beyond what was in use before, in bytes; None if it is not known."""

    bytes: int | None = None


@contextmanager
def peak_of() -> Iterator[PeakMemory]:
    """Measure the peak memory of the body."""
    peak = PeakMemory()
    try:
        _in_proc("self", "clear_refs").write_text("5")  # resets the peak to what is held now
        before = _status("VmRSS")
    except OSError:
        before = None
    try:
        yield peak
    finally:
        with suppress(OSError):
            after = _status("VmHWM") if before is not None else None
            peak.bytes = None if before is None or after is None else max(0, after - before)


def _status(name: str) -> int | None:
    for line in _in_proc("self", "status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    return None


TEMPORARY = re.compile(rf"(\..*\.|mlcli-)(?P<mark>{MARK})[.-]")
"""The beginning of the names of temporary files and folders, with the mark of their process."""


def temporary_prefix() -> str:
    """The beginning of the names of temporary folders of this process."""
    return f"mlcli-{mark_of(os.getpid())}-"


def sweep(folder: Path) -> None:
    """Remove the temporary files and folders that killed processes have left in a folder."""
    with suppress(OSError):
        for path in folder.iterdir():
            name = TEMPORARY.match(path.name)
            if name is None or not is_gone(name["mark"]):
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                with suppress(OSError):
                    path.unlink()


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file next to ``path`` to write to; it replaces ``path`` when the body has ended without an error."""
    if path.exists() and not path.is_file():  # a pipe or a device is written to; opening a folder is refused
        yield path
        return
    place = Path(os.path.realpath(path))  # what a link leads to is replaced, not the link
    sweep(place.parent)
    unique = f"{mark_of(os.getpid())}.{secrets.token_hex(4)}"
    beside = place.with_name(f".{place.name[:40]}.{unique}")
    try:
        beside.touch(exist_ok=False)
        if place.exists():
            shutil.copymode(place, beside)
        yield beside
        with beside.open("rb+") as file:  # Windows asks for the right to write
            os.fsync(file.fileno())
        beside.replace(place)
    except OSError as problem:
        raise OSError(problem.errno, problem.strerror, str(path)) from problem
    finally:
        for temporary in place.parent.glob(f"{escape(beside.name)}*"):  # SQLite has files of its own beside one
            with suppress(OSError):  # what is read-only refuses this, too
                temporary.unlink(missing_ok=True)


def write(path: Path, content: str | bytes, hint: str = "") -> None:
    """Write a file; the error tells why it cannot be written."""
    try:
        with replacing(path) as beside:
            beside.write_bytes(content.encode() if isinstance(content, str) else content)
    except UnicodeEncodeError:
        what = "cannot be written: it would hold a name that is not UTF-8"
        raise StoreError(what, where=str(path), hint="rename the file or folder") from None
    except (OSError, ValueError) as problem:  # the latter of a null byte in the path
        what = f"cannot be written: {getattr(problem, 'strerror', problem)}"
        raise StoreError(what, where=str(path), hint=hint) from None
