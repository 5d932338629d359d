"""How options are declared, in a line each, and the signature that Typer reads of a command that takes them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, get_type_hints

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


Plugins = Annotated[
    list[Path] | None, shared("--plugin", "FILE", "A Python file with methods of your own; repeatable.")
]
PLUGIN = Parameter("plugin", Parameter.KEYWORD_ONLY, default=None, annotation=Plugins)


def for_typer(command: Callable[..., None], *, with_plugins: bool = False) -> Callable[..., None]:
    """The same command, taking each option by itself; files of ``--plugin`` are added before anything is read."""
    declared = inspect.signature(command, eval_str=True).parameters.values()
    groups: dict[str, Any] = {one.name: one.annotation for one in declared if is_dataclass(one.annotation)}
    taken = [option for one in declared for option in _options_of(one)] + [PLUGIN] * with_plugins

    def with_options(plugin: Any = None, **given: Any) -> None:
        from mlcli.core.plugins import add, for_now

        with for_now():
            add(plugin or ())
            for name, group in groups.items():
                given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
            command(**given)

    setattr(with_options, "__signature__", inspect.Signature(taken))
    with_options.__annotations__ = {one.name: one.annotation for one in taken}
    with_options.__doc__ = command.__doc__
    return with_options


def _options_of(declared: Parameter) -> Iterator[Parameter]:
    """A parameter itself, or one for each field of a group."""
    if not is_dataclass(declared.annotation):
        yield declared.replace(kind=Parameter.KEYWORD_ONLY)
        return
    hints = get_type_hints(declared.annotation, include_extras=True)
    for field in fields(declared.annotation):
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name])
