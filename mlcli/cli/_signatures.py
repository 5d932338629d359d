"""The signature that Typer reads of a command: groups of options as their fields, and ``--plugin``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from inspect import Parameter
from typing import Any, get_type_hints

from mlcli.cli._options import Plugins

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
