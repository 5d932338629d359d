"""Files that are written completely or not at all: next to their target first, then renamed."""

from __future__ import annotations

import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

from mlcli.core.errors import StoreError
from mlcli.core.processes import MARK, is_gone, mark_of

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
