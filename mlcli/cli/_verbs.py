"""The verbs: listed from the heads of their files, imported only when one is called."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from mlcli.cli._boundary import reported
from mlcli.cli._values import read_plainly
from mlcli.core.names import did_you_mean

VERBS = ("eval", "train", "predict", "run", "plan", "check", "runs", "models", "data", "schema", "init")
"""In the order of ``mlcli --help``: what answers the first question stands first."""

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
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    examples = "\n".join([AS_WRITTEN, "Examples:", *(f"  {example}" for example in examples_of(verb))])
    app.command(name=verb, cls=Verb, epilog=examples)(getattr(_module(verb), f"{verb}_command"))
    return typer.main.get_command(app)


def _module(verb: str) -> ModuleType:
    return importlib.import_module(f"mlcli.cli.{verb}")


class Verb(TyperCommand):
    """A command whose help says DATA, not {DATA} <list[str]>: types of arguments are words for programmers."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, reading their values without pydantic."""
        return read_plainly(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """What was typed, ``--json`` written out."""
        words = ["--format=json" if word == "--json" else word for word in args]
        return list(super().parse_args(ctx, words if self._has_format() else args))

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


class Verbs(TyperGroup):
    """A group that knows its verbs by name and one-liner, and builds the one that is called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for verb in VERBS:
            self.add_command(TyperCommand(verb, short_help=summary_of(verb)))

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, reading their values without pydantic."""
        return read_plainly(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The real command in place of the listed one; an unknown verb is named with the nearest."""
        if args and args[0] not in VERBS and not args[0].startswith("-") and not ctx.resilient_parsing:
            typed = args[0] if args[0].isprintable() else repr(args[0])[1:-1]
            ctx.fail(f"there is no command '{typed}'\n  {did_you_mean(args[0], VERBS, 'commands')}")
        verb, listed, rest = super().resolve_command(ctx, args)
        return verb, listed and command_of(str(verb)), rest

    def invoke(self, ctx: Any) -> Any:
        """Run the verb; whatever goes wrong in it is reported in one place."""
        with reported():
            return super().invoke(ctx)
