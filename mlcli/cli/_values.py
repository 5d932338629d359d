"""Values of options and arguments, read by plain Python.

Typer would build a pydantic adapter for each parameter; importing pydantic for that takes a sixth of the time of a
short command. A Typer that asks for values in another way is not hindered: it reads them as it always does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import typer

TYPES = {str: "text", int: "a whole number", float: "a number", Path: "a path"}


def read_plainly(parameters: list[Any]) -> list[Any]:
    """The same parameters of a command, those of plain types reading their values by themselves."""
    for parameter in parameters:
        if _type_of(parameter) in TYPES or _type_of(parameter) is bool:
            setattr(parameter, "get_runtime_param", lambda: PlainReader)
    return parameters


class PlainReader:
    """Reads what was typed for one parameter."""

    @staticmethod
    def coerce(value: Any, param: Any, ctx: Any) -> Any:
        """The value in the declared type, a tuple where many are allowed, or a usage error."""
        if param.multiple or param.nargs == -1:
            return tuple(_read(one, param, ctx) for one in value or ())
        return None if value is None else _read(value, param, ctx)


def _type_of(parameter: Any) -> Any:
    annotation = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    return next(iter(get_args(annotation)), annotation)


def _read(value: Any, parameter: Any, ctx: Any) -> Any:
    kind = _type_of(parameter)
    if isinstance(value, kind):
        return value
    try:
        read = kind(value)
    except ValueError:
        problem = f"{value!r} is not {TYPES.get(kind, 'true or false')}"
        raise typer.BadParameter(problem, ctx=ctx, param=parameter) from None
    if parameter.min is not None and read < parameter.min:
        raise typer.BadParameter(f"{value} is less than {parameter.min}", ctx=ctx, param=parameter)
    return read
