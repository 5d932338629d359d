"""The command line as a whole, and its verbs: listed from the heads of their files, imported when called."""

from __future__ import annotations

import importlib
import os
import shlex
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from mlcli import __version__
from mlcli.cli._boundary import print_system_error, reported
from mlcli.cli._declaring import Verb, VerbOfParts, for_typer, read_plainly

VERBS = (
    "eval", "train", "predict", "sample", "run", "curve", "diagnose", "plan", "check", "runs", "report", "compare",
    "verify", "rerun", "explain", "models", "data", "join", "audit", "schema", "new", "init", "doctor",
)  # fmt: skip
"""In the order of ``mlcli --help``: what answers the first question stands first."""
WITHOUT_METHODS = ("runs", "compare", "verify", "data", "join", "new", "init", "doctor")
"""The verbs that look no methods up, and take neither ``--plugin`` nor ``--allow-import``."""

AS_WRITTEN = "\b"
"""Before a paragraph of help: its lines are not to be joined."""


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
            app.command(name=part, cls=Verb)(for_typer(getattr(module, f"{part}_command")))
    else:
        command = getattr(module, f"{verb}_command")
        wrapped = for_typer(command, with_plugins=verb not in WITHOUT_METHODS)
        app.command(name=verb, cls=Verb, epilog=examples)(wrapped)
    return typer.main.get_command(app)


def parts_of(verb: str) -> tuple[str, ...]:
    """The verbs below a verb, the one that is meant where none is named first; mostly none."""
    return tuple(getattr(_module(verb), "PARTS", ()))


def _module(verb: str) -> ModuleType:
    return importlib.import_module(f"mlcli.cli.{verb}")


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

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What was typed; an option that stands before its command is named with its place."""
        own = [option for parameter in self.get_params(ctx) for option in getattr(parameter, "opts", ())]
        verb = next((word for word in args if word in VERBS), "")
        if verb and args[0].startswith("-") and args[0].partition("=")[0] not in own and not ctx.resilient_parsing:
            place = args.index(verb)
            line = shlex.join([verb, *args[place + 1 :], *args[:place]])
            ctx.fail(f"the option {args[0]} stands behind its command\n  did you mean: mlcli {line}")
        return list(super().parse_args(ctx, args))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The real command in place of the listed one; an unknown verb is named with the nearest."""
        if args and args[0] not in VERBS and not args[0].startswith("-") and not ctx.resilient_parsing:
            typed = args[0] if args[0].isprintable() else repr(args[0])[1:-1]
            from mlcli.cli._advice import on_command

            ctx.fail(f"there is no command '{typed}'\n  {on_command(args[0], args[1:], VERBS)}")
        verb, listed, rest = super().resolve_command(ctx, args)
        return verb, listed and command_of(str(verb)), rest

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run what was typed, or complete it."""
        from mlcli.cli._completion import join_words

        join_words(os.environ)
        try:
            return super().main(*args, **settings)
        except OSError as error:  # while --help or --version is written
            raise SystemExit(print_system_error(error)) from error

    def invoke(self, ctx: Any) -> Any:
        """Run the verb; whatever goes wrong in it is reported in one place."""
        with reported():
            return super().invoke(ctx)


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
