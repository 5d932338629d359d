"""Files that are written whole or not at all: beside their place first, then moved there."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

from mlcli.core.errors import StoreError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file beside ``path`` to write to; it takes the place of ``path`` when the body has ended well."""
    if path.exists() and not path.is_file():  # a pipe or a device is written to; opening a folder is refused
        yield path
        return
    place = Path(os.path.realpath(path))  # what a link leads to is replaced, not the link
    beside = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
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
    """Write a file, or say why it cannot be written."""
    try:
        with replacing(path) as beside:
            beside.write_bytes(content.encode() if isinstance(content, str) else content)
    except UnicodeEncodeError:
        what = "cannot be written: it would hold a name that is not UTF-8"
        raise StoreError(what, where=str(path), hint="rename the file or folder") from None
    except (OSError, ValueError) as problem:  # the latter of a null byte in the path
        what = f"cannot be written: {getattr(problem, 'strerror', problem)}"
        raise StoreError(what, where=str(path), hint=hint) from None
