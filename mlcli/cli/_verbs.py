"""The command line as a whole, and its verbs: listed from the heads of their files, imported when called."""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from mlcli import __version__
from mlcli.cli._boundary import reported

VERBS = (
    "eval",
    "train",
    "predict",
    "sample",
    "run",
    "curve",
    "diagnose",
    "plan",
    "check",
    "runs",
    "report",
    "compare",
    "verify",
    "rerun",
    "explain",
    "models",
    "data",
    "join",
    "audit",
    "schema",
    "new",
    "init",
    "doctor",
)
"""In the order of ``mlcli --help``: what answers the first question stands first."""

WITH_METHODS = (
    *("eval", "train", "predict", "sample", "run", "curve", "diagnose", "plan", "check", "rerun"),
    *("explain", "models", "audit", "schema"),
)
"""The verbs that look methods up, and take ``--plugin``."""

AS_WRITTEN = "\b"
"""Before a paragraph of help: its lines are not to be joined."""

TYPES = {str: "text", int: "a whole number", float: "a number", Path: "a path"}


def summary_of(verb: str) -> str:
    """The one-liner of a verb: the first line of its file, without its name."""
    with Path(__file__).with_name(f"{verb}.py").open(encoding="utf-8") as file:
        return file.readline().strip().strip('"').partition(": ")[2].rstrip(".")


def examples_of(verb: str) -> tuple[str, ...]:
    """Command lines that show what a verb is for."""
    return tuple(_module(verb).EXAMPLES)


def command_of(verb: str) -> Any:
    """The command of a verb: the function of its file that is named like it."""
    app = typer.Typer(name=verb, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    examples = "\n".join([AS_WRITTEN, "Examples:", *(f"  {example}" for example in examples_of(verb))])
    module = _module(verb)
    parts = parts_of(verb)
    if parts:
        app.callback(cls=VerbOfParts, epilog=examples)(getattr(module, f"{verb}_command"))
        for part in parts:
            app.command(name=part, cls=Verb)(getattr(module, f"{part}_command"))
    else:
        command = getattr(module, f"{verb}_command")
        app.command(name=verb, cls=Verb, epilog=examples)(
            with_plugins(command) if verb in WITH_METHODS else command
        )
    return typer.main.get_command(app)


def parts_of(verb: str) -> tuple[str, ...]:
    """The verbs below a verb, the one that is meant where none is named first; mostly none."""
    return tuple(getattr(_module(verb), "PARTS", ()))


def with_plugins(command: Callable[..., None]) -> Callable[..., None]:
    """The same command with ``--plugin``, whose files are added before anything else is read."""
    from mlcli.cli._options import Plugins

    def with_plugin(**given: Any) -> None:
        from mlcli.core.plugins import add, for_now

        with for_now():
            add(given.pop("plugin") or ())
            command(**given)

    signature = inspect.signature(command, eval_str=True)
    plugin = inspect.Parameter("plugin", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Plugins)
    parameters = [*signature.parameters.values(), plugin]
    setattr(with_plugin, "__signature__", signature.replace(parameters=parameters))
    with_plugin.__annotations__ = {one.name: one.annotation for one in parameters}
    with_plugin.__doc__ = command.__doc__
    return with_plugin


def _module(verb: str) -> ModuleType:
    return importlib.import_module(f"mlcli.cli.{verb}")


class Verb(TyperCommand):
    """A command whose help says DATA, not {DATA} <list[str]>: types of arguments are words for programmers."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, reading their values without pydantic."""
        return read_plainly(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What was typed, ``--json`` written out."""
        words = ["--format=json" if word == "--json" else word for word in args] if self._has_format() else args
        with advised(self, ctx, args):
            return list(super().parse_args(ctx, words))

    def _has_format(self) -> bool:
        return any(parameter.name == "format" for parameter in self.params)

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

    verb, typed = str(ctx.info_name), list(words)
    own = [option for parameter in command.params for option in getattr(parameter, "opts", ())]
    if not ctx.resilient_parsing:
        for wrong, right in advice.single_dashes(typed, own):
            ctx.fail(f"there is no option '{wrong}'\n  did you mean {right}? Two hyphens stand before a word")
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
            ctx.fail(f"{asked}\n  {advice.on_missing(verb, asked, typed, examples_of(verb))}")
        raise


def verbs_with(option: str) -> list[str]:
    """The verbs that have an option."""
    return [verb for verb in VERBS if any(option in getattr(one, "opts", ()) for one in command_of(verb).params)]


class Verbs(TyperGroup):
    """A group that knows its verbs by name and one-liner, and builds the one that is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for verb in VERBS:
            self.add_command(TyperCommand(verb, short_help=summary_of(verb)))

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, reading their values without pydantic."""
        return read_plainly(super().get_params(ctx))

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run what was typed, or complete it."""
        from mlcli.cli._completion import join_words

        join_words(os.environ)
        return super().main(*args, **settings)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The real command in place of the listed one; an unknown verb is named with the nearest."""
        if args and args[0] not in VERBS and not args[0].startswith("-") and not ctx.resilient_parsing:
            typed = args[0] if args[0].isprintable() else repr(args[0])[1:-1]
            from mlcli.cli._advice import on_command

            ctx.fail(f"there is no command '{typed}'\n  {on_command(args[0], args[1:], VERBS)}")
        verb, listed, rest = super().resolve_command(ctx, args)
        return verb, listed and command_of(str(verb)), rest

    def invoke(self, ctx: Any) -> Any:
        """Run the verb; whatever goes wrong in it is reported in one place."""
        with reported():
            return super().invoke(ctx)


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


app = typer.Typer(
    cls=Verbs,
    name="mlcli",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mlcli {__version__}")
        raise typer.Exit


@app.callback()
def verbs(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Which method works on my data, by how much, and can I trust the number?

    Start with: mlcli eval my.csv
    """
