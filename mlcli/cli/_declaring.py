"""How options and arguments are declared: a line each, the names of an option in one text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

Completion = Callable[..., Any] | None


def shared(names: str, metavar: str | None, help: str, completion: Completion = None, **more: Any) -> Any:
    """An option of several verbs, each with a default of its own: what stands in ``Annotated``."""
    return typer.Option(*names.split(), metavar=metavar, help=help, autocompletion=completion, **more)


def option(
    names: str, metavar: str | None, help: str, completion: Completion = None, default: Any = None, **more: Any
) -> Any:
    """An option of one verb or group: what stands as the default of its parameter or field."""
    return typer.Option(default, *names.split(), metavar=metavar, help=help, autocompletion=completion, **more)


def flag(names: str, help: str) -> Any:
    """An option that is given or not."""
    return typer.Option(False, *names.split(), help=help)


def argument(metavar: str, help: str, completion: Completion = None, default: Any = ...) -> Any:
    """What stands without a name."""
    return typer.Argument(default, metavar=metavar, help=help, autocompletion=completion)
