"""What the system tells of processes: which one is meant, what memory it holds, and what a piece of work took."""

from __future__ import annotations

import os
import platform
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path

STDOUT, STDERR = 1, 2
PORTABLE = "MLCLI_PORTABLE"
SAFE_PATH = "PYTHONSAFEPATH"
MARK = r"[0-9a-f]{8}-[0-9]{1,9}-[0-9]*"
PROC = Path("/proc")
FORGET_THE_PEAK = "5"
"""Written to ``clear_refs``, it sets the most that a process has held to what it holds now."""


@dataclass
class PeakMemory:
    """The bytes that a piece of work took at its peak, more than there were before; None where nobody tells."""

    bytes: int | None = None


def send_stdout_to_stderr() -> None:
    """Let this process write to stderr whatever it writes to stdout, compiled code and its children included."""
    with suppress(OSError):  # one of them may be closed
        os.dup2(STDERR, STDOUT)


@contextmanager
def stdout_as_stderr() -> Iterator[None]:
    """Do so in the body."""
    with redirect_stdout(sys.stderr):
        try:
            saved = os.dup(STDOUT)
        except OSError:  # it is closed
            yield
            return
        try:
            send_stdout_to_stderr()
            yield
        finally:
            os.dup2(saved, STDOUT)
            os.close(saved)


def on_linux() -> bool:
    """Whether what only Linux has may be used; ``MLCLI_PORTABLE=1`` asks to do without, as other systems must."""
    return sys.platform == "linux" and not os.environ.get(PORTABLE)


@contextmanager
def safe_import_path() -> Iterator[None]:
    """Start Python processes in the body without the working folder on their import path.

    Otherwise a file such as ``joblib.py`` that lies there would be run in the place of the package.
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


def _in_proc(process: object, name: str) -> Path:
    """The file in which the system tells something of a process."""
    if not on_linux():
        raise FileNotFoundError(PROC)
    return PROC / str(process) / name


def name_of(process: int) -> str:
    """A name that no other process has had or will have: machine, number, and where it is told the start."""
    try:
        started = _in_proc(process, "stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        started = ""
    return f"{platform.node()} {process} {started}"


def is_at_work(name: str) -> bool:
    """Whether a process of this name runs on this machine, where that can be asked without harm."""
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
    """A name of a process that may stand in that of a file: machine, number and start."""
    machine, number, started = name_of(process).rsplit(" ", 2)
    return f"{zlib.crc32(machine.encode()):08x}-{number}-{started}"


def is_gone(mark: str) -> bool:
    """Whether the process of a mark ran on this machine and has ended; False where that cannot be told."""
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
    """What a process holds that is not a file: bytes, or None where the system does not tell."""
    try:
        _, resident, shared, *_ = _in_proc(process, "statm").read_text().split()
    except (OSError, ValueError):
        return None
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def file_1_as_stderr() -> Iterator[None]:
    """Let compiled code and threads of packages that write to stdout in the body write to stderr."""
    sys.stdout.flush()
    results = os.dup(STDOUT)
    os.dup2(STDERR, STDOUT)
    try:
        yield
    finally:
        os.dup2(results, STDOUT)
        os.close(results)


@contextmanager
def peak_of() -> Iterator[PeakMemory]:
    """Measure what the body takes at its peak."""
    taken = PeakMemory()
    try:
        _in_proc("self", "clear_refs").write_text(FORGET_THE_PEAK)
        before = _status("VmRSS")
    except OSError:
        before = None
    try:
        yield taken
    finally:
        with suppress(OSError):
            after = _status("VmHWM") if before is not None else None
            taken.bytes = None if before is None or after is None else max(0, after - before)


def _status(name: str) -> int | None:
    for line in _in_proc("self", "status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    return None
