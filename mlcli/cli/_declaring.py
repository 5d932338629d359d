"""How options are declared, in a line each, how a command reads what was typed, and how its help is laid out."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

Completion = Callable[..., Any] | None
TYPES = {str: "text", int: "a whole number", float: "a number", Path: "a path"}


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
AllowedImports = Annotated[
    list[str] | None,
    shared("--allow-import", "PATH", "Let a file name this class, such as sklearn.svm.SVC; repeatable."),
]
CODE = [
    Parameter("plugin", Parameter.KEYWORD_ONLY, default=None, annotation=Plugins),
    Parameter("allow_import", Parameter.KEYWORD_ONLY, default=None, annotation=AllowedImports),
]
"""The options that name code."""


def for_typer(command: Callable[..., None], *, with_plugins: bool = False) -> Callable[..., None]:
    """The same command, taking each option by itself; files of ``--plugin`` are added before anything is read."""
    declared = inspect.signature(command, eval_str=True).parameters.values()
    groups: dict[str, Any] = {one.name: one.annotation for one in declared if is_dataclass(one.annotation)}
    taken = [option for one in declared for option in _options_of(one)] + CODE * with_plugins

    def with_options(plugin: Any = None, allow_import: Any = None, **given: Any) -> None:
        from mlcli.cli._console import stdout_for_results
        from mlcli.core.plugins import add, allow_imports, for_now

        with for_now(), stdout_for_results():
            add(plugin or ())
            allow_imports(allow_import or ())
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


class Verb(TyperCommand):
    """A command whose help says DATA, not {DATA} <list[str]>: types of arguments are words for programmers."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, reading their values without pydantic."""
        return read_plainly(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What was typed, ``--json`` written out."""
        has_format = any(parameter.name == "format" for parameter in self.params)
        words = ["--format=json" if word == "--json" and has_format else word for word in args]
        with advised(self, ctx, args):
            return list(super().parse_args(ctx, words))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The usage line."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The lists of arguments and options."""
        records: dict[str, list[tuple[str, str]]] = {"argument": [], "option": []}
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                records[parameter.param_type_name].append((record[0].partition(" <")[0], record[1]))
        for kind, of_kind in records.items():
            if of_kind:
                with formatter.section(f"{kind.capitalize()}s"):
                    formatter.write_dl(of_kind)


class VerbOfParts(TyperGroup):
    """A verb with verbs below it; what is no name of one is meant for the first."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What was typed, the name of the first put in where none stands."""
        from mlcli.core.names import did_you_mean

        first, *others = self.list_commands(ctx)
        if args and not set(args[0]) & set("-.0123456789") and args[0] not in (first, *others):
            ctx.fail(f"there is no command '{args[0]}'\n  {did_you_mean(args[0], (first, *others), 'commands')}")
        if not args or args[0] not in (first, *others, "--help"):
            args = [first, *args]
        return list(super().parse_args(ctx, args))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The usage line."""
        return ["[COMMAND] ..."]


@contextmanager
def advised(command: Verb, ctx: Any, words: list[str]) -> Iterator[None]:
    """Run the body; a usage error of it says what to type instead."""
    from mlcli.cli import _advice as advice
    from mlcli.cli._verbs import examples_of, verbs_with

    verb, typed = _verb(ctx), list(words)
    own = [option for parameter in command.params for option in getattr(parameter, "opts", ())]
    if not ctx.resilient_parsing:
        for wrong, right in advice.single_dashes(typed, own):
            ctx.fail(f"there is no option '{wrong}'\n  did you mean {right}? Two hyphens stand before a word")
        if "--tune" in own and (right := advice.on_value_of_tune(typed)):
            ctx.fail(f"--tune takes no value\n  did you mean {right}?")
        for parameter in command.params:
            if not getattr(parameter, "multiple", True) and not getattr(parameter, "is_flag", True):
                given = [word for word in typed if word.partition("=")[0] in parameter.opts]
                if len(given) > 1:
                    ctx.fail(f"{given[-1]} stands here twice, and mlcli {verb} takes one\n  leave one of them out")
    try:
        yield
    except typer.TyperException as error:
        option = getattr(error, "option_name", "")
        if type(error).__name__ == "NoSuchOption":
            ctx.fail(f"there is no option '{option}'\n  {advice.on_option(option, typed, verb, own, verbs_with)}")
        elif type(error).__name__ == "MissingParameter":
            asked = error.format_message().removesuffix(".")
            ctx.fail(f"{asked}\n  {advice.on_missing(verb, asked, typed, examples_of(verb.split()[0]))}")
        raise


def _verb(ctx: Any) -> str:
    """What stands behind mlcli: one word, or two of a verb of parts."""
    above = ctx.parent.info_name if ctx.parent and ctx.parent.parent else ""
    return f"{above} {ctx.info_name}".strip()


def read_plainly(parameters: list[Any]) -> list[Any]:
    """The same parameters of a command, those of plain types reading their values by themselves.

    Typer would build a pydantic adapter for each parameter; importing pydantic for that takes a sixth of the time
    of a short command. A Typer that asks for values in another way is not hindered: it reads them as ever.
    """
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
