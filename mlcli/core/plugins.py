"""Methods in files of one's own: named by ``--plugin``, by ``plugins:`` in a file, or in ``MLCLI_PLUGINS``.

A file is a plug-in as it stands: whatever it registers is found by its id like mlcli's own. The files are kept in
the environment, so that worker processes find them, too; what they hold is imported when an id is looked for.
"""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from mlcli.core.errors import UsageError

VARIABLE = "MLCLI_PLUGINS"
PREFIX = "mlcli_plugin_"
"""How the modules of plug-ins are called: by a name that no other module has."""
EXAMPLE = "mlcli new model my-method writes one to start from"


def add(files: Iterable[str | Path]) -> None:
    """Have these files looked at, too; one that is not there, or cannot be imported, is refused now."""
    for file in files:
        path = Path(os.path.expanduser(file)).resolve()
        _refuse_unusable(path, str(file))
        if path not in plugin_files():
            _add(path)


def _add(path: Path) -> None:
    """Have a file looked at, unless nothing can be found in it."""
    before = os.environ.get(VARIABLE, "")
    os.environ[VARIABLE] = os.pathsep.join(filter(None, (before, str(path))))
    try:
        if not list(registered_in(path)):
            hint = f"a method has @register(...) above its class; {EXAMPLE}"
            raise UsageError("registers nothing", where=str(path), hint=hint)
    except UsageError:
        os.environ[VARIABLE] = before
        raise


def plugin_files() -> tuple[Path, ...]:
    """The files that are named so far."""
    return tuple(Path(one) for one in os.environ.get(VARIABLE, "").split(os.pathsep) if one)


def registered_in(path: Path) -> Iterator[Any]:
    """The classes that a file registers, in their order; it is imported now."""
    module = imported_module(module_name(path), path)
    for value in vars(module).values():
        if isinstance(value, type) and value.__module__ == module.__name__ and "id" in vars(value):
            yield value


def imported_module(name: str, place: Path | str) -> ModuleType:
    """A module of somebody else's; what goes wrong while it is run is its fault, and says where."""
    try:
        return import_module(name)
    except UsageError:
        raise
    except (Exception, SystemExit) as problem:
        line = _line_in(place, problem)
        where = f"{place}:{line}" if line else str(place)
        raise UsageError(f"cannot be imported: {type(problem).__name__}: {problem}", where=where) from problem


def module_name(path: Path) -> str:
    """The name of the module of a plug-in: the same in every process, another for each content of a file."""
    content = path.read_bytes() if path.is_file() else b""
    return f"{PREFIX}{path.stem}_{zlib.crc32(content, zlib.crc32(str(path).encode())):08x}"


@contextmanager
def for_now() -> Iterator[None]:
    """What is added in the body is forgotten behind it."""
    before = os.environ.get(VARIABLE, "")
    try:
        yield
    finally:
        os.environ[VARIABLE] = before


def _refuse_unusable(path: Path, named: str) -> None:
    if not path.is_file():
        raise UsageError(f"there is no plug-in '{named}'", hint=f"a plug-in is a Python file; {EXAMPLE}")
    if path.suffix != ".py":
        raise UsageError(f"'{named}' is no Python file", hint=f"a plug-in ends in .py; {EXAMPLE}")


def _line_in(path: Path | str, problem: BaseException) -> int | None:
    """The line of the file in which it went wrong."""
    if isinstance(problem, SyntaxError) and problem.filename == str(path):
        return problem.lineno
    line, trace = None, problem.__traceback__
    while trace is not None:
        line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == str(path) else line
        trace = trace.tb_next
    return line


class _Finder:
    """Finds the modules of plug-ins by their names, in whichever process these are asked for."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        if not name.startswith(PREFIX):
            return None
        file = next((file for file in plugin_files() if module_name(file) == name), None)
        return None if file is None else spec_from_file_location(name, file)


sys.meta_path.append(_Finder)
