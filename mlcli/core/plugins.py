"""Methods in files of one's own: named by ``--plugin``, by ``plugins:`` in a file, or in ``MLCLI_PLUGINS``.

A file is a plug-in as it stands: whatever it registers is found by its id like mlcli's own. The files are kept in
the environment, so that worker processes find them, too; what they hold is imported when an id is looked for.

A class of another package is imported only if the user has named its import path: in a model of the command line,
in ``--allow-import``, in an argument of the Python API, or in an experiment file that is run. That a model file or
a store names it is not enough.
"""

from __future__ import annotations

import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from mlcli.core.errors import UsageError
from mlcli.core.names import shortened

VARIABLE = "MLCLI_PLUGINS"
ALLOWED_IMPORTS = "MLCLI_ALLOW_IMPORT"
"""The environment variable with the import paths that the user has named."""
IMPORT_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\.[A-Z]\w*")
"""The import path of a class in a package: dots, and a capital after the last."""
PREFIX = "mlcli_plugin_"
"""How the modules of plug-ins are called: by a name that no other module has."""
EXAMPLE = "mlcli new model my-method writes one to start from"


def add(files: Iterable[str | Path]) -> None:
    """Have these files looked at, too; one that is not there, or cannot be imported, is refused now."""
    for file in files:
        path = resolved(file)
        _refuse_unusable(path, str(file))
        if path not in plugin_files():
            _add(path)


def resolved(file: str | Path) -> Path:
    """The absolute path of a plug-in, by which it is known."""
    try:
        return Path(os.path.expanduser(file)).resolve()
    except (ValueError, RuntimeError) as problem:  # a null byte, or links that lead in a circle
        raise UsageError(f"there is no plug-in '{file}': {problem}") from None


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
    return tuple(Path(word) for word in os.environ.get(VARIABLE, "").split(os.pathsep) if word)


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
    return f"{PREFIX}{path.stem}_{zlib.crc32(content, zlib.crc32(os.fsencode(path))):08x}"


def allow_imports(paths: Iterable[str]) -> None:
    """Let these classes be imported, here and in worker processes."""
    allowed = dict.fromkeys([*allowed_imports(), *paths])
    for path in allowed:
        if IMPORT_PATH.fullmatch(path) is None:
            raise UsageError(f"'{path}' is not an import path", hint="such as sklearn.svm.SVC")
    os.environ[ALLOWED_IMPORTS] = os.pathsep.join(allowed)


def import_paths_in(value: Any) -> Iterator[str]:
    """The import paths among plain values, such as those of a model with its parameters and steps."""
    if isinstance(value, str) and IMPORT_PATH.fullmatch(value):
        yield value
    items = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    for item in items:
        yield from import_paths_in(item)


def may_import(path: str) -> bool:
    """Whether the user has named an import path."""
    return path in allowed_imports()


def check_import(path: str) -> None:
    """Refuse to import a class that the user has not named."""
    if not may_import(path):
        what = f"{shortened(path)} is not imported: a file names it, and your command does not"
        raise UsageError(what, hint=f"if you trust its code: --allow-import {shortened(path)}")


def allowed_imports() -> list[str]:
    """The import paths that the user has named."""
    return list(filter(None, os.environ.get(ALLOWED_IMPORTS, "").split(os.pathsep)))


@contextmanager
def for_now() -> Iterator[None]:
    """What is added or allowed in the body is forgotten behind it."""
    before = {name: os.environ.get(name, "") for name in (VARIABLE, ALLOWED_IMPORTS)}
    try:
        yield
    finally:
        os.environ.update(before)


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
