"""Output and errors: results go to stdout, remarks to stderr, colour only to terminals.

Errors are caught here and nowhere else: each becomes plain text on stderr and an exit code, never a traceback.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import typer

from mlcli import __version__
from mlcli.core.errors import ExitCode, MlcliError, StoreError
from mlcli.core.serialise import plain
from mlcli.report.document import Document
from mlcli.report.formats import CSV, JSON, renderer_of
from mlcli.report.formats.text import coloured, text_of
from mlcli.report.page import Page

if TYPE_CHECKING:
    from mlcli.api import Report

UNSHOWN = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), *range(0xD800, 0xE000))}
"""Control characters, which terminals may obey, and bytes of a path that are no text: JSON escapes neither."""


_streams: list[TextIO] = []
"""Where results go now, the last of them; stdout if there is none."""


def results() -> TextIO:
    """The stream that results are written to."""
    return _streams[-1] if _streams else sys.stdout


@contextmanager
def results_to(stream: TextIO) -> Iterator[None]:
    """Write the results of the body to a stream."""
    _streams.append(stream)
    try:
        yield
    finally:
        _streams.pop()


@contextmanager
def stdout_for_results() -> Iterator[None]:
    """Keep stdout for results in the body; what methods or packages print there goes to stderr."""
    with results_to(sys.stdout), redirect_stdout(sys.stderr):
        yield


def show_result(result: Report, format: str) -> None:
    """Print a result to stdout in the format that was asked for."""
    if format == JSON:
        show_json(result.record)
    else:
        show(result.rows if format == CSV else result.document, format)


def show(document: Document, format: str = "text") -> None:
    """Print a document to stdout."""
    page = page_for(results())
    painted = format == "text" and has_colour(results())
    results().write(text_of(document, page, coloured) if painted else renderer_of(format)(document, page))


def show_json(value: object) -> None:
    """Print one JSON document to stdout; dataclasses are objects."""
    import json

    is_utf8 = (results().encoding or "").lower().replace("-", "") == "utf8"
    text = json.dumps(plain(value), indent=2, allow_nan=False, ensure_ascii=not is_utf8)
    results().write(text.translate(UNSHOWN) + "\n")


def show_line(text: str) -> None:
    """Print a line to stdout, where it is the result."""
    results().write(f"{page_for(results()).shown(text)}\n")


def remark(text: str) -> None:
    """Print a remark to stderr, where no result stands; one that cannot be printed changes nothing."""
    page = page_for(sys.stderr)
    with suppress(OSError):
        sys.stderr.write("".join(f"{page.shown(line)}\n" for line in text.split("\n")))
        sys.stderr.flush()


def page_for(stream: TextIO) -> Page:
    """The page of a stream: as wide as its terminal, or as COLUMNS says; in a pipe only prose is folded."""
    encoding = stream.encoding or "utf-8"
    if not (stream.isatty() or os.environ.get("COLUMNS", "").isdigit()):
        return Page(None, encoding, 110)
    return Page(max(40, shutil.get_terminal_size().columns), encoding)


def is_terminal(stream: TextIO) -> bool:
    """Whether a person may be looking on, at a device that can move its cursor."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def has_colour(stream: TextIO) -> bool:
    """Whether a stream is a terminal that wants colour (https://no-color.org), or must have it (FORCE_COLOR)."""
    forced = os.environ.get("FORCE_COLOR", "") not in ("", "0")
    return (forced or is_terminal(stream)) and not os.environ.get("NO_COLOR")


DEBUG = "MLCLI_DEBUG"


@contextmanager
def reported(words: Sequence[str] = ()) -> Iterator[None]:
    """Run the command line of ``words``; any error becomes a message on stderr and an exit code."""
    try:
        with _warnings_as_remarks():
            yield
    except typer.TyperException as error:
        raise SystemExit(_print_usage_error(error, words)) from error
    except MlcliError as error:
        raise SystemExit(_print_problems(error, words)) from error
    except OSError as error:
        raise SystemExit(print_system_error(error)) from error
    except MemoryError as error:
        remark(
            "Error: there is not enough memory\n  use fewer rows or columns; docs/data.md says how much is needed"
        )
        raise SystemExit(ExitCode.STORE) from error
    except typer.Abort:
        raise SystemExit(ExitCode.BUG) from None
    except Exception as error:
        raise SystemExit(_reported_as_bug(error)) from error


@contextmanager
def command_output() -> Iterator[None]:
    """Run a command: stdout holds its results only, and a reader that stops early, such as head, is no error."""
    try:
        with stdout_for_results():
            yield
        sys.stdout.flush()
    except BrokenPipeError as closed:
        _detach_stdout()
        raise typer.Exit(ExitCode.DONE) from closed


@contextmanager
def stored_run_shown(store: Path) -> Iterator[None]:
    """Run the body, which shows what a store holds: an error without words there is the fault of the store."""
    try:
        yield
    except (MlcliError, OSError, MemoryError, typer.TyperException, typer.Exit, typer.Abort):
        raise
    except Exception as problem:
        if os.environ.get(DEBUG) == "1":
            raise
        what = f"what it holds cannot be shown ({type(problem).__name__}: {problem})"
        hint = f"mlcli doctor --store {store} looks for damage; if it finds none, report this as a bug"
        raise StoreError(what, where=str(store), hint=hint) from problem


def _print_usage_error(error: typer.TyperException, words: Sequence[str]) -> int:
    """Print what is wrong with a command line, and what to type instead; return the exit code."""
    from mlcli.cli._advice import on_usage_error

    ctx = getattr(error, "ctx", None)
    if ctx is not None:
        remark(f"{ctx.get_usage()}\nTry '{ctx.command_path} --help' for help.\n")
    remark(f"Error: {on_usage_error(error, words)}")
    return ExitCode.USAGE


@contextmanager
def _warnings_as_remarks() -> Iterator[None]:
    """Show warnings of the body as plain sentences, without the line of code."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: remark(f"Warning: {message}")
        yield


def _print_problems(error: MlcliError, words: Sequence[str]) -> int:
    """Print every problem of an error; return its exit code."""
    most = 50  # more lines would hide the first
    for problem in error.problems[:most]:
        remark(f"Error: {problem}")
    if len(error.problems) > most:
        remark(f"... and {len(error.problems) - most:,} more problems of this kind or others")
    if error.exit_code in (ExitCode.USAGE, ExitCode.DATA):
        from mlcli.cli._advice import on_single_dash

        if advice := on_single_dash(words):
            remark(f"  {advice}")
    return error.exit_code


def print_system_error(error: OSError) -> int:
    """Say what the system refuses; return the exit code. A full disk without a file name is that of stdout."""
    if error.filename is None and error.errno == errno.ENOSPC:
        _detach_stdout()
        error.filename = "standard output"
    remark(f"Error: {error.filename or 'the system'}: {error.strerror or error}")
    return ExitCode.STORE


def _detach_stdout() -> None:
    """Point stdout at nothing, so that the interpreter's own last flush cannot fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _reported_as_bug(error: Exception) -> int:
    """Say how to report a bug; the traceback goes to a file, or to stderr with MLCLI_DEBUG=1."""
    import traceback

    trace = "".join(traceback.format_exception(error))
    if os.environ.get(DEBUG) == "1":
        remark(trace)
        location = "the traceback above"
    else:
        location = f"the file {write_bug_report(trace)}"
    remark(
        f"Error: this is a bug in mlcli ({type(error).__name__}: {error})\n"
        f"  please report it to the project's issue tracker with {location}\n"
        f"  {DEBUG}=1 shows the traceback here"
    )
    return ExitCode.BUG


def write_bug_report(trace: str) -> Path:
    """Write a traceback to a temporary file, with the versions and the command line."""
    import platform
    import shlex
    import tempfile

    handle, name = tempfile.mkstemp(prefix="mlcli-bug-", suffix=".txt")
    versions = f"mlcli {__version__}, Python {platform.python_version()}, {platform.platform()}"
    with open(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(f"{versions}\ncommand: mlcli {shlex.join(sys.argv[1:])}\n\n{trace}")
    return Path(name)
