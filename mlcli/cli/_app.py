"""The command line as a whole: its commands by panel, each imported when called, and what the shell completes.

Datasets, columns, tasks, metrics, parameters and runs are completed; Typer filters them by prefix.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass
from inspect import Parameter
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from mlcli import __version__
from mlcli.cli._console import command_output, reported

WORDS, INDEX, NAMED = "COMP_WORDS", "COMP_CWORD", "MLCLI_COMP_NAME"
"""Variables: the words that bash has, the index of the one to complete, and the name whose value that is."""


def join_words(environment: MutableMapping[str, str]) -> None:
    """Join words that bash breaks at every "=", such as k=3; of the last word the value is left."""
    environment.pop(NAMED, None)
    if INDEX not in environment:
        return
    *given, last = environment[WORDS].split("\n")[: int(environment[INDEX]) + 1]
    if last == "=":
        given, last = [*given, last], ""
    if given[-1:] == ["="]:
        given.pop()
        if not given[-1].startswith("-"):
            environment[NAMED] = given.pop()
    joined = "\n".join(given).replace("\n=\n", "=")
    environment.update({WORDS: f"{joined}\n{last}", INDEX: str(joined.count("\n") + 1)})


def data_names(incomplete: str) -> list[str]:
    """The shipped datasets, and the tables of the folder that is typed."""
    from mlcli.data.shipped import FILE_SUFFIXES, shipped_paths

    folder = Path(incomplete).parent if "/" in incomplete else Path()
    paths: list[Path] = []
    with suppress(OSError):
        paths = sorted(folder.iterdir())
    return [*shipped_paths(), *(str(path) for path in paths if path.name.lower().endswith(FILE_SUFFIXES))]


def column_names(ctx: Any) -> list[str]:
    """The columns of the first table on the command line."""
    import csv

    from mlcli.data.shipped import find_or_none

    # After an option that has no value yet, the arguments have no names.
    names = ("data", "reference", "subjects")
    tables = next((ctx.params[name] for name in names if ctx.params.get(name)), ctx.args)
    first = tables if isinstance(tables, str) else next(iter(tables), "")
    path = find_or_none(first) if first else None
    if path is not None:
        with suppress(OSError, UnicodeDecodeError), path.open(encoding="utf-8-sig", newline="") as file:
            line = file.readline()
            return next(csv.reader([line], delimiter=max(",;\t|", key=line.count)), [])
    return []


def task_names() -> list[str]:
    """The kinds of task."""
    from mlcli.tasks.table import BY_NAME

    return list(BY_NAME)


def metric_names(ctx: Any) -> list[str]:
    """The metrics of the kind of task that is named, or all."""
    from mlcli.metrics.registry import names_for
    from mlcli.tasks.table import BY_NAME, KINDS

    kinds = [BY_NAME[ctx.params["task"]]] if ctx.params.get("task") in BY_NAME else KINDS
    return list(dict.fromkeys(name for kind in kinds for name in names_for(kind.answers)))


def parameter_values(ctx: Any) -> list[str]:
    """The parameters of the models on the command line, each with its default, or with each of its choices."""
    from mlcli.core.params import parameters
    from mlcli.core.registry import MODELS

    given = ctx.params.get("models") or ctx.params.get("model") or ()
    uses = [use for use in ((given,) if isinstance(given, str) else given) if use in MODELS.names()]
    declared = [parameter for use in uses for parameter in parameters(MODELS.load(use))]
    values = [
        (parameter.name, choice)
        for parameter in declared
        for choice in map(str, parameter.choices or (_typed(parameter.default),))
    ]
    named = os.environ.get(NAMED)
    generator = (value if name == named else f"{name}={value}" for name, value in values if named in (None, name))
    return list(dict.fromkeys(generator))


def run_numbers(ctx: Any) -> list[tuple[str, str]]:
    """The runs of the store, with their titles."""
    from mlcli.core.errors import MlcliError
    from mlcli.experiment.store.store import DEFAULT_PLACE, Store

    with suppress(MlcliError), Store.read(Path(ctx.params.get("store") or DEFAULT_PLACE)) as opened:
        return [(str(run.id), run.title) for run in opened.runs.all(newest=100)]
    return []


def _typed(value: object) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


PANELS = {
    "Start": {
        "eval": "Evaluate methods on rows they have not seen; start here.",
        "train": "Train a method on all rows, show what it learned, and save it.",
        "predict": "Predict new rows with a saved model.",
        "explain": "Explain single predictions of a saved model.",
    },
    "Data": {
        "data": "List the shipped datasets, profile a file, or compare two files.",
        "audit": "Find problems in a dataset or, with -m, in a model on it.",
        "join": "Join two CSV files by a key column.",
    },
    "Experiments": {
        "init": "Write a first experiment file for a dataset.",
        "run": "Run experiment files; finished results are not run again.",
        "curve": "Draw learning, validation, stage or bias-variance curves.",
        "runs": "List, show, verify, repeat and merge stored runs.",
        "report": "Write a stored run or a saved model as an HTML page.",
        "compare": "Test the models of stored runs against each other.",
    },
    "Models": {
        "models": "List methods and steps, or show one in detail.",
        "new": "Write a template for a method of your own.",
        "sample": "Draw new rows from a saved generative model.",
    },
    "Set-up": {
        "schema": "Print the JSON Schema of experiment files.",
        "doctor": "Check the installation: versions, threads, kernels, store.",
    },
}
"""The commands of ``mlcli --help``, each with its summary."""
COMMANDS = {name: panel for panel, summaries in PANELS.items() for name in summaries}
"""By command its panel."""
ALIASES = {
    "plan": ("run", "--dry-run"),
    "check": ("run", "--dry-run"),
    "diagnose": ("audit",),
    "verify": ("runs", "verify"),
    "rerun": ("runs", "rerun"),
}
"""Earlier names of commands; they work but are not listed."""
FEW_OPTIONS = 15
"""Commands with at most this many options list them without panels."""
SETTINGS: dict[str, Any] = {"add_completion": False, "rich_markup_mode": None, "pretty_exceptions_enable": False}
HELP = {"help_option_names": ["--help", "-h"]}


def summary_of(command: str) -> str:
    """The summary of a command in ``mlcli --help``."""
    return PANELS[COMMANDS[command]][command]


def examples_of(command: str) -> tuple[str, ...]:
    """Command lines that show what a command is for."""
    return tuple(_module(command).EXAMPLES)


def subcommands_of(command: str) -> tuple[str, ...]:
    """The subcommands of a command; most have none."""
    return tuple(getattr(_module(command), "SUBCOMMANDS", ()))


def command_of(name: str) -> TyperCommand | TyperGroup:
    """The command of a name: Typer builds it from the function ``NAME_command`` of its module."""
    app = typer.Typer(name=name, context_settings=HELP, **SETTINGS)
    module = _module(name)
    epilog = "\n".join(["\b", "Examples:", *(f"  {example}" for example in examples_of(name))])
    function = getattr(module, f"{name}_command")
    if subcommands := subcommands_of(name):
        app.callback(cls=Subcommands, epilog=epilog, invoke_without_command=True)(spread(function))
        for subcommand in subcommands:
            app.command(name=subcommand, cls=Command)(spread(getattr(module, f"{subcommand}_command")))
    else:
        app.command(name=name, cls=Command, epilog=epilog, context_settings=HELP)(spread(function))
    return typer.main.get_command(app)  # type: ignore[return-value]  # Typer declares a base class


def _module(command: str) -> ModuleType:
    return importlib.import_module(f"mlcli.cli.{command}")


def options_of(command: str) -> list[str]:
    """The options of a command, such as ``--model`` and ``-m``."""
    return [option for parameter in command_of(command).params for option in parameter.opts if option[0] == "-"]


def spread(function: Callable[..., None]) -> Callable[..., None]:
    """The function as Typer takes it: a parameter that is a dataclass of options becomes one for each field."""
    declared = inspect.signature(function, eval_str=True).parameters.values()
    groups = [parameter for parameter in declared if is_dataclass(parameter.annotation)]
    parameters = [option for parameter in declared for option in _options_in(parameter)]

    def with_groups(**values: Any) -> None:
        for group in groups:
            options = {field.name: values.pop(field.name) for field in fields(group.annotation)}
            values[group.name] = group.annotation(**options)
        with command_output():
            function(**values)

    setattr(with_groups, "__signature__", inspect.Signature(parameters))
    with_groups.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    with_groups.__doc__ = function.__doc__
    return with_groups


def _options_in(parameter: Parameter) -> Iterator[Parameter]:
    if not is_dataclass(parameter.annotation):
        yield parameter.replace(kind=Parameter.KEYWORD_ONLY)
        return
    hints = get_type_hints(parameter.annotation, include_extras=True)
    for field in fields(parameter.annotation):
        default = field.default if isinstance(field.default, str | int | float | bool | None) else Parameter.empty
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[field.name])


class Command(TyperCommand):
    """A command whose help lists many options by panel."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options."""
        sections: dict[str, list[tuple[str, str]]] = defaultdict(list)
        has_panels = len(self.params) > FEW_OPTIONS
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is None:
                continue
            if parameter.param_type_name == "argument":
                sections["Arguments"].append((record[0].partition(" <")[0], record[1]))
            else:
                panel = getattr(parameter, "rich_help_panel", None) if has_panels else None
                sections[panel or "Options"].append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The usage line, with arguments as DATA in place of {DATA}."""
        return [piece.strip("{}").replace("}...", "...") for piece in super().collect_usage_pieces(ctx)]


class Subcommands(TyperGroup):
    """A command with subcommands; without one of them, it runs by itself."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The subcommand, or an error that says what to type instead."""
        if args[0] not in self.commands and not ctx.resilient_parsing:
            from mlcli.cli._advice import on_subcommand

            advice = on_subcommand(args, str(ctx.info_name), tuple(self.commands))
            ctx.fail(f"there is no command '{ctx.info_name} {args[0]}'\n  {advice}")
        return super().resolve_command(ctx, args)


class Commands(TyperGroup):
    """All commands: listed by panel, and imported when they are called."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name, panel in COMMANDS.items():
            self.add_command(TyperCommand(name, short_help=summary_of(name), rich_help_panel=panel))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands, panel by panel."""
        for panel, summaries in PANELS.items():
            with formatter.section(panel):
                formatter.write_dl([(name.ljust(len("explain")), summary) for name, summary in summaries.items()])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command with its own options, in place of the one that is listed."""
        args = [*ALIASES.get(args[0], args[:1]), *args[1:]]
        if args[0] not in COMMANDS and not ctx.resilient_parsing:
            from mlcli.cli._advice import on_command

            typed = args[0] if args[0].isprintable() else repr(args[0])[1:-1]
            ctx.fail(f"there is no command '{typed}'\n  {on_command(args[0], args[1:], tuple(COMMANDS))}")
        name, listed, rest = super().resolve_command(ctx, args)
        return name, listed and command_of(str(name)), rest

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = False,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run what was typed, or complete it; every error ends here, as a message and an exit code."""
        from mlcli.core.registry import imports_for_now

        join_words(os.environ)
        words = [
            "--format=json" if word == "--json" else word for word in (sys.argv[1:] if args is None else args)
        ]
        with reported(words), imports_for_now():
            raise SystemExit(super().main(words, prog_name, complete_var, standalone_mode=False, **extra))


app = typer.Typer(
    cls=Commands,
    name="mlcli",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings=HELP,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mlcli {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def commands(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Which method works on my data, by how much, and can I trust the number?

    Start with: mlcli eval my.csv
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
