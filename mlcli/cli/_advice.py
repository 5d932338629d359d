"""What to type instead: for options, commands and arguments that the command line does not know."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from mlcli.core.names import meant

VALUE = "{}"
"""Where in an advice the value stands that was typed."""
OPTIONS = {
    **dict.fromkeys(("cv", "kfold", "kfolds", "nfolds", "nsplits", "splits", "crossval", "k"), "--folds {}"),
    **dict.fromkeys(("loo", "loocv", "leaveoneout"), "--protocol leave-one-out"),
    **dict.fromkeys(("strategy", "validation", "splitter", "resampling"), "--protocol {}"),
    **dict.fromkeys(
        ("holdout", "split", "testsize", "testratio", "testfraction"), "--protocol holdout --test-share {}"
    ),
    **dict.fromkeys(
        ("classifier", "regressor", "estimator", "algorithm", "algo", "method", "learner", "clf"), "-m {}"
    ),
    **dict.fromkeys(("label", "labels", "y", "t", "outcome", "response", "dependent", "predict"), "--target {}"),
    **dict.fromkeys(("randomstate", "randomseed", "rng", "s"), "--seed {}"),
    **dict.fromkeys(("scoring", "score", "scorer", "measure"), "--metric {}"),
    **dict.fromkeys(("njobs", "threads", "workers", "processes", "cores", "nproc", "parallel"), "--jobs {}"),
    **dict.fromkeys(("poslabel", "positiveclass", "positivelabel"), "--positive {}"),
    **dict.fromkeys(("exclude", "remove", "without", "skip", "dropcolumn", "dropcolumns"), "--drop {}"),
    **dict.fromkeys(("gridsearch", "hyperopt", "optimise", "optimize", "autotune"), "--tune"),
    **dict.fromkeys(("niter", "ntrials"), "--trials {}"),
    **dict.fromkeys(("csv", "markdown", "text", "latex", "html"), "--format {name}"),
    **dict.fromkeys(("output", "o", "out", "outfile", "export", "report"), "--html {}"),
    **dict.fromkeys(("save", "savemodel", "dump"), "-o {}"),
    **dict.fromkeys(("plot", "plots", "figure", "figures", "graph", "graphs"), "--pictures DIR"),
    **dict.fromkeys(("hyperparameters", "hyperparams", "set"), "-p {}"),
    **dict.fromkeys(("type", "kind", "problem", "tasktype"), "--task {}"),
    **dict.fromkeys(("protectedattribute", "protected"), "--sensitive {}"),
    "h": "--help",
}
"""What options of other programs are called here."""
SIDECAR = "in the sidecar, my.yaml beside my.csv (mlcli data my.csv --write-sidecar begins one)"
SENTENCES = {
    **dict.fromkeys(("delimiter", "sep", "separator"), f"say delimiter: semicolon {SIDECAR}"),
    **dict.fromkeys(("navalues", "missing", "na"), f'say missing: ["n.a."] {SIDECAR}'),
    **dict.fromkeys(("header", "noheader"), f"say header: true {SIDECAR}"),
    **dict.fromkeys(("group", "groups"), f"say roles: {{group: COLUMN}} {SIDECAR}"),
    **dict.fromkeys(("id", "ids", "key"), f"say roles: {{id: COLUMN}} {SIDECAR}"),
    **dict.fromkeys(("features", "columns", "usecols", "cols"), "columns that no model may see: --drop COLUMN"),
    **dict.fromkeys(
        ("trainsize", "trainsplit", "trainshare"), "the rest is tested: --protocol holdout --test-share 0.2"
    ),
    **dict.fromkeys(("weight", "weights", "sampleweight"), f"say roles: {{weight: COLUMN}} {SIDECAR}"),
    **dict.fromkeys(("data", "file", "input", "dataset", "train", "f", "i"), "files stand alone: mlcli VERB {}"),
    **dict.fromkeys(
        ("scale", "normalize", "normalise", "standardize", "standardise", "impute", "steps"),
        "steps stand beside a model: -m '{{use: knn, steps: [standardise]}}'",
    ),
}
"""What stands elsewhere."""
COMMANDS = {
    **dict.fromkeys(("evaluate", "test", "score", "benchmark", "cv", "classify", "regress", "automl"), "eval {}"),
    **dict.fromkeys(("cross-validate", "crossvalidate", "crossval", "cross-val"), "eval {}"),
    **dict.fromkeys(("fit", "learn", "build"), "train {} -m MODEL"),
    **dict.fromkeys(("cluster", "group", "segment"), "eval {} --task clustering"),
    **dict.fromkeys(("detect", "outliers", "anomalies"), "eval {} --task anomaly"),
    **dict.fromkeys(("tune", "gridsearch", "search", "optimize", "optimise"), "eval {} --tune"),
    **dict.fromkeys(("describe", "profile", "summary", "summarize", "info", "head", "explore"), "data {}"),
    **dict.fromkeys(("plot", "draw"), "data {} --plot COLUMN"),
    **dict.fromkeys(("infer", "apply", "ask"), "predict {}"),
    **dict.fromkeys(("merge",), "join {}"),
    **dict.fromkeys(("validate", "lint"), "check {}"),
    **dict.fromkeys(("start", "setup", "template", "config"), "init {}"),
    **dict.fromkeys(("datasets", "data-sets"), "data"),
    **dict.fromkeys(("list", "methods", "algorithms", "steps", "ls"), "models"),
    **dict.fromkeys(("history", "results", "log"), "runs"),
    "help": "{} --help",
    "version": "--version",
}
"""What commands of other programs are called here, with {} for what was typed behind them."""


def on_option(
    option: str, words: Sequence[str], verb: str, own: Sequence[str], others: Callable[[str], list[str]]
) -> str:
    """What to type in the place of an option that a verb does not have.

    ``words`` is the whole command line, ``own`` are the options of the verb, ``others`` tells whose else one is.
    """
    name, value = option.lstrip("-"), _value_behind(option, words)
    plain = "".join(letter for letter in name.lower() if letter.isalnum())
    found = [
        _parameter_of_a_model(name, value, words),
        _filled(OPTIONS[plain], value, plain) if plain in OPTIONS and _is_own(OPTIONS[plain], own) else "",
        _filled(SENTENCES[plain], value, plain).replace("VERB", verb) if plain in SENTENCES else "",
        " or ".join(f"--{one}" for one in meant(name, [other[2:] for other in own if other.startswith("--")])),
    ]
    advice = next(filter(None, found), "")
    if advice:
        return advice if plain in SENTENCES and advice == found[2] else f"did you mean {advice}?"
    theirs = others(f"--{name}")
    if theirs:
        return f"{' and '.join(f'mlcli {one}' for one in theirs)} {'has' if len(theirs) == 1 else 'have'} it"
    return f"mlcli {verb} --help lists its options"


def on_command(typed: str, rest: Sequence[str], known: Sequence[str]) -> str:
    """What to type in the place of a command that there is not."""
    asked = COMMANDS.get(typed.lower())
    if asked is not None:
        line = asked.replace(VALUE, shlex.join(rest)) if VALUE in asked else asked
        line = line.removesuffix(" -m MODEL") if "-m" in rest or "--model" in rest else line
        return f"did you mean: mlcli {' '.join(line.split())}"
    if subject := _command_on(typed, rest):
        return f"did you mean: mlcli {subject}"
    close = meant(typed, known)
    if close:
        return "did you mean " + " or ".join(f"'{one}'" for one in close) + "?"
    return f"commands: {', '.join(sorted(known))}"


def _command_on(typed: str, rest: Sequence[str]) -> str:
    """The command for a dataset, an experiment or a model that stands in its place."""
    from mlcli.core.registry import MODELS
    from mlcli.data.shipped import find_or_none, is_path

    line = shlex.join([typed, *rest])
    if typed in MODELS:
        return f"eval {shlex.join(rest) or 'my.csv'} -m {typed}"
    if typed.endswith((".yaml", ".yml")):
        return f"run {line}"
    return f"eval {line}" if is_path(typed) or find_or_none(typed) is not None else ""


def on_missing(verb: str, what: str, words: Sequence[str], examples: Sequence[str]) -> str:
    """What to type where an argument or an option is missing."""
    from mlcli.core.registry import MODELS

    model = next((word for word in words if word in MODELS), "")
    if "--model" in what and model:
        others = shlex.join([word for word in words if word != model])
        return f"did you mean: mlcli {verb} {others} -m {model}"
    return f"such as: {examples[0]}" if examples else ""


def single_dashes(words: Sequence[str], own: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Long options behind one hyphen, or behind a dash of a text editor, with how they are written."""
    for word in words:
        name = word.partition("=")[0]
        plain = name.lstrip("-–—−")
        if len(plain) > 1 and name != f"--{plain}" and name[:1] in "-–—−" and f"--{plain}" in own:
            yield name, f"--{plain}"


def _is_own(advice: str, own: Sequence[str]) -> bool:
    return advice.split()[0] in own


def _filled(advice: str, value: str, name: str) -> str:
    return (
        advice.replace("{{", "\0")
        .replace(VALUE, value)
        .replace("{name}", name)
        .replace("\0", "{")
        .replace("}}", "}")
    )


def _value_behind(option: str, words: Sequence[str]) -> str:
    """What was typed for an option: behind an equals sign, or as the next word."""
    for place, word in enumerate(words):
        name, sign, value = word.partition("=")
        if name == option:
            behind = words[place + 1] if place + 1 < len(words) else ""
            return (
                shlex.quote(value if sign else behind)
                if (sign or not behind.startswith("-")) and (value or behind)
                else "..."
            )
    return "..."


def _parameter_of_a_model(name: str, value: str, words: Sequence[str]) -> str:
    """The parameter of a model on the command line that is called so, or so elsewhere."""
    from mlcli.core.errors import MlcliError
    from mlcli.core.params import by_name
    from mlcli.core.registry import MODELS

    known: dict[str, Any] = {}
    for word in words:
        use = word.removeprefix("--model=").removeprefix("-m")
        if use in MODELS:
            try:
                known |= by_name(MODELS.load(use))
            except MlcliError:
                continue
    plain = name.replace("-", "_")
    exact = [one for one in known if one == plain] or _by_alias(name, known)
    return f"-p {exact[0]}={value}" if exact else ""


def _by_alias(name: str, known: Sequence[str] | dict[str, Any]) -> list[str]:
    from mlcli.core.aliases import other_names

    return [other for other in other_names(name) if other in known]
