"""What to type instead of an unknown option or command, or a missing argument."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress

import typer

from mlcli.core.names import did_you_mean, likely_names

CURVES = ("learning", "validation", "stages", "bias-variance")
VALUE = "{}"
"""Stands for the value that was typed."""
DASHES = "-–—−"
OTHER_OPTIONS = {
    "--folds {}": "cv kfold kfolds nfolds nsplits splits crossval k",
    "--protocol leave-one-out": "loo loocv leaveoneout",
    "--protocol {}": "strategy validation splitter resampling",
    "--protocol holdout --test-share {}": "holdout split testsize testratio testfraction",
    "-m {}": "classifier regressor estimator algorithm algo method learner clf",
    "--target {}": "label labels y t outcome response dependent predict",
    "--seed {}": "randomstate randomseed rng s",
    "--metric {}": "scoring score scorer measure",
    "--jobs {}": "njobs threads workers processes cores nproc parallel",
    "--positive {}": "poslabel positiveclass positivelabel",
    "--drop {}": "exclude remove without skip dropcolumn dropcolumns",
    "--tune": "gridsearch hyperopt optimise optimize autotune",
    "--search '{{search: random, trials: {}}}'": "trials niter ntrials",
    "--search '{{rule: {}}}'": "rule",
    "--show {name}": "classes spread curves stages training",
    "--show fairness": "fair",
    "--format {name}": "csv markdown text latex html",
    "--html {}": "output o out outfile export report",
    "-o {}": "save savemodel dump",
    "--pictures DIR": "plot plots figure figures graph graphs",
    "-p {}": "hyperparameters hyperparams set",
    "--task {}": "type kind problem tasktype",
    "--sensitive {}": "protectedattribute protected",
    "--help": "h",
}
"""By option, what other programs call it."""
SIDECAR = "in the sidecar, my.yaml beside my.csv (mlcli data my.csv --write-sidecar begins one)"
SENTENCES = {
    f"say delimiter: semicolon {SIDECAR}": "delimiter sep separator",
    f'say missing: ["n.a."] {SIDECAR}': "navalues missing na",
    f"say header: true {SIDECAR}": "header noheader",
    f"say roles: {{group: COLUMN}} {SIDECAR}": "group groups",
    f"say roles: {{id: COLUMN}} {SIDECAR}": "id ids key",
    "columns that no model may see: --drop COLUMN": "features columns usecols cols",
    "the rest is tested: --protocol holdout --test-share 0.2": "trainsize trainsplit trainshare",
    f"say roles: {{weight: COLUMN}} {SIDECAR}": "weight weights sampleweight",
    "files stand alone: mlcli COMMAND {}": "data file input dataset train f i",
    "steps stand beside a model: -m '{{use: knn, steps: [standardise]}}'": (
        "scale normalize normalise standardize standardise impute steps"
    ),
}
"""What other programs set by an option, and mlcli elsewhere."""
OTHER_COMMANDS = {
    "eval {}": (
        "evaluate test score benchmark cv classify regress automl cross-validate crossvalidate crossval cross-val"
    ),
    "train {} -m MODEL": "fit learn build",
    "eval {} --task clustering": "cluster group segment",
    "eval {} --task anomaly": "detect outliers anomalies",
    "eval {} --tune": "tune gridsearch search optimize optimise",
    "data {}": "describe profile summary summarize info head explore",
    "data {} --plot COLUMN": "plot draw",
    "predict {}": "infer apply ask",
    "join {}": "merge",
    "run {} --dry-run": "validate lint",
    "init {}": "start setup template config",
    "data": "datasets data-sets",
    "models": "list methods algorithms steps ls",
    "runs": "history results log",
    "{} --help": "help",
    "--version": "version",
}
"""By command, what other programs call it; {} stands for what was typed behind it."""
REMOVED_SUBCOMMANDS = {"check": "doctor", "rm": "runs remove"}
"""Earlier names of subcommands, with what to type now."""


def on_usage_error(error: typer.TyperException, words: Sequence[str]) -> str:
    """The message of a usage error, with what to type instead."""
    message, ctx = error.format_message().removesuffix("."), getattr(error, "ctx", None)
    if ctx is None:
        return message
    command = ctx.command_path.partition(" ")[2]
    typed = words[len(command.split()) :]
    match type(error).__name__:  # Typer exports their base class only
        case "NoSuchOption":
            option = str(getattr(error, "option_name", ""))
            advice = on_option(option, typed, command) if command else _behind_its_command(option, words)
            return f"there is no option '{option}'\n  {advice}"
        case "MissingParameter":
            return f"{message}\n  {_on_missing(command, message, typed)}"
    return message


def on_single_dash(words: Sequence[str]) -> str:
    """The long option that stands behind one hyphen, or behind a dash of a text editor; "" if there is none."""
    from mlcli.cli._app import COMMANDS, options_of

    known = options_of(words[0]) if words and words[0] in COMMANDS else []
    for word in words:
        name = word.partition("=")[0]
        option = f"--{name.lstrip(DASHES)}"
        if name[:1] in DASHES and name != option and len(option) > len("--m") and option in known:
            return f"did you mean {option}? Two hyphens stand before a word"
    return ""


def on_option(option: str, words: Sequence[str], command: str) -> str:
    """What to type in place of an option that a command does not have; ``words`` stand behind the command."""
    from mlcli.cli._app import COMMANDS, options_of

    main_command, *subcommand = command.split()
    own = [] if subcommand else options_of(main_command)
    if advice := on_single_dash([main_command, *words]):
        return advice
    name, value = option.lstrip("-"), _value_of(option, words)
    plain = "".join(letter for letter in name.lower() if letter.isalnum())
    sentence = _filled(_advice_on(plain, SENTENCES), value, plain).replace("COMMAND", command)
    elsewhere = _advice_on(plain, OTHER_OPTIONS)
    suggestions = (
        _parameter_of_a_model(name, value, words) if "-p" in own else "",
        _filled(elsewhere, value, plain) if elsewhere and elsewhere.split()[0] in own else "",
        sentence,
        " or ".join(f"--{near}" for near in likely_names(name, [name[2:] for name in own if name[:2] == "--"])),
    )
    advice = next(filter(None, suggestions), "")
    if advice:
        return advice if advice == sentence else f"did you mean {advice}?"
    if others := [f"mlcli {command}" for command in COMMANDS if f"--{name}" in options_of(command)]:
        return f"{' and '.join(others)} {'has' if len(others) == 1 else 'have'} it"
    return f"mlcli {command} --help lists its options"


def _behind_its_command(option: str, words: Sequence[str]) -> str:
    """The same words with the command in front."""
    from mlcli.cli._app import COMMANDS

    index = next((index for index, word in enumerate(words) if word in COMMANDS), None)
    if index is None:
        return "mlcli --help lists the commands"
    line = shlex.join([words[index], *words[index + 1 :], *words[:index]])
    return f"options stand behind the command: mlcli {line}"


def on_command(typed: str, rest: Sequence[str], known: Sequence[str]) -> str:
    """What to type in place of an unknown command; ``rest`` are the words behind it."""
    if advice := _advice_on(typed.lower(), OTHER_COMMANDS):
        line = advice.replace(VALUE, shlex.join(rest)) if VALUE in advice else advice
        line = line.removesuffix(" -m MODEL") if "-m" in rest or "--model" in rest else line
        return f"did you mean: mlcli {' '.join(line.split())}"
    if line := _command_for(typed, rest):
        return f"did you mean: mlcli {line}"
    return did_you_mean(typed, known, "commands")


def on_subcommand(words: Sequence[str], command: str, known: Sequence[str]) -> str:
    """What to type in place of an unknown subcommand: the number or file of a run is shown."""
    if words[0].isdigit() or "." in words[0]:
        return f"did you mean: mlcli {command} show {shlex.join(words)}"
    if words[0] in REMOVED_SUBCOMMANDS:
        return f"did you mean: mlcli {' '.join([REMOVED_SUBCOMMANDS[words[0]], *words[1:]])}"
    return did_you_mean(words[0], known, "commands")


def _command_for(typed: str, rest: Sequence[str]) -> str:
    from mlcli.core.registry import MODELS
    from mlcli.data.shipped import find_or_none, is_path

    line = shlex.join([typed, *rest])
    if typed in MODELS:
        return f"eval {shlex.join(rest) or 'my.csv'} -m {typed}"
    if typed.endswith((".yaml", ".yml")):
        return f"run {line}"
    return f"eval {line}" if is_path(typed) or find_or_none(typed) is not None else ""


def _on_missing(command: str, message: str, words: Sequence[str]) -> str:
    """What to type where an argument or an option is missing."""
    from mlcli.cli._app import examples_of
    from mlcli.core.registry import MODELS
    from mlcli.data.shipped import FILE_SUFFIXES

    model = next((word for word in words if word in MODELS), "")
    if "--model" in message and model:
        others = shlex.join([word for word in words if word != model])
        return f"did you mean: mlcli {command} {others} -m {model}"
    subject = words[0] if words else ""
    if command == "curve" and subject not in CURVES and not subject.startswith("-"):
        line = shlex.join(words) if {"-m", "--model"} & {*words} else f"{shlex.join(words)} -m MODEL"
        return f"say which curve: mlcli curve {CURVES[0]} {line}; others: {', '.join(CURVES[1:])}"
    if command in ("predict", "explain") and subject and subject.lower().endswith(FILE_SUFFIXES):
        return f"a trained model stands first: mlcli train {subject} -m MODEL -o FILE makes one"
    examples = examples_of(command.split()[0])
    example = next((example for example in examples if example.startswith(f"mlcli {command} ")), "")
    return f"such as: {example}" if example else f"mlcli {command} --help describes it"


def _advice_on(word: str, words_of: Mapping[str, str]) -> str:
    return next((advice for advice, words in words_of.items() if word in words.split()), "")


def _filled(advice: str, value: str, name: str) -> str:
    filled = advice.replace("{{", "\0").replace(VALUE, value).replace("{name}", name)
    return filled.replace("\0", "{").replace("}}", "}")


def _value_of(option: str, words: Sequence[str]) -> str:
    """What was typed for an option: behind an equals sign, or as the next word."""
    for index, word in enumerate(words):
        name, sign, value = word.partition("=")
        if name == option:
            following = "".join(words[index + 1 : index + 2])
            given = value if sign else "" if following.startswith("-") else following
            return shlex.quote(given) if given else "..."
    return "..."


def _parameter_of_a_model(name: str, value: str, words: Sequence[str]) -> str:
    """The parameter that is meant, if a model on the command line has one of that name."""
    from mlcli.core.errors import MlcliError
    from mlcli.core.names import other_names
    from mlcli.core.params import by_name
    from mlcli.core.registry import MODELS

    parameters: set[str] = set()
    for word in words:
        model = word.removeprefix("--model=").removeprefix("-m")
        with suppress(MlcliError):
            parameters.update(by_name(MODELS.load(model)) if model in MODELS else ())
    names = [other_name for other_name in (name.replace("-", "_"), *other_names(name)) if other_name in parameters]
    return f"-p {names[0]}={value}" if names else ""
