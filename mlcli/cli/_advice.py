"""What to type instead: for options, commands and arguments that the command line does not know."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from mlcli.core.names import likely_names

CURVES = ("learning", "validation", "stages", "bias-variance")
VALUE = "{}"
"""Where in an advice the value stands that was typed."""
OPTIONS = {
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
    "--trials {}": "niter ntrials",
    "--format {name}": "csv markdown text latex html",
    "--html {}": "output o out outfile export report",
    "-o {}": "save savemodel dump",
    "--pictures DIR": "plot plots figure figures graph graphs",
    "-p {}": "hyperparameters hyperparams set",
    "--task {}": "type kind problem tasktype",
    "--sensitive {}": "protectedattribute protected",
    "--help": "h",
}
"""By what options are called here, what other programs call them."""
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
    "files stand alone: mlcli VERB {}": "data file input dataset train f i",
    "steps stand beside a model: -m '{{use: knn, steps: [standardise]}}'": (
        "scale normalize normalise standardize standardise impute steps"
    ),
}
"""What stands elsewhere."""
COMMANDS = {
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
    "check {}": "validate lint",
    "init {}": "start setup template config",
    "data": "datasets data-sets",
    "models": "list methods algorithms steps ls",
    "runs": "history results log",
    "{} --help": "help",
    "--version": "version",
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
    known = _advice_on(plain, OPTIONS)
    sentence = _filled(_advice_on(plain, SENTENCES), value, plain).replace("VERB", verb)
    found = [
        _parameter_of_a_model(name, value, words) if "-p" in own else "",
        _filled(known, value, plain) if known and known.split()[0] in own else "",
        sentence,
        " or ".join(
            f"--{one}" for one in likely_names(name, [other[2:] for other in own if other.startswith("--")])
        ),
    ]
    advice = next(filter(None, found), "")
    if advice:
        return advice if advice == sentence else f"did you mean {advice}?"
    theirs = others(f"--{name}")
    if theirs:
        return f"{' and '.join(f'mlcli {one}' for one in theirs)} {'has' if len(theirs) == 1 else 'have'} it"
    return f"mlcli {verb} --help lists its options"


def on_command(typed: str, rest: Sequence[str], known: Sequence[str]) -> str:
    """What to type in the place of a command that there is not."""
    asked = _advice_on(typed.lower(), COMMANDS)
    if asked:
        line = asked.replace(VALUE, shlex.join(rest)) if VALUE in asked else asked
        line = line.removesuffix(" -m MODEL") if "-m" in rest or "--model" in rest else line
        return f"did you mean: mlcli {' '.join(line.split())}"
    if subject := _command_on(typed, rest):
        return f"did you mean: mlcli {subject}"
    close = likely_names(typed, known)
    if close:
        return "did you mean " + " or ".join(f"'{one}'" for one in close) + "?"
    return f"commands: {', '.join(sorted(known))}"


def _command_on(typed: str, rest: Sequence[str]) -> str:
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
    from mlcli.data.shipped import FILE_SUFFIXES

    model = next((word for word in words if word in MODELS), "")
    if "--model" in what and model:
        others = shlex.join([word for word in words if word != model])
        return f"did you mean: mlcli {verb} {others} -m {model}"
    subject = words[0] if words else ""
    if verb == "curve" and subject not in CURVES and not subject.startswith("-"):
        line = shlex.join(words) if {"-m", "--model"} & {*words} else f"{shlex.join(words)} -m MODEL"
        return f"say which curve: mlcli curve {CURVES[0]} {line}; others: {', '.join(CURVES[1:])}"
    if verb in ("predict", "explain") and subject and subject.lower().endswith(FILE_SUFFIXES):
        return f"a trained model stands first: mlcli train {subject} -m MODEL -o FILE makes one"
    example = next((one for one in examples if one.startswith(f"mlcli {verb} ")), "")
    return f"such as: {example}" if example else f"mlcli {verb} --help says what stands there"


def on_value_of_tune(words: Sequence[str]) -> str:
    """The model that tunes the parameter that stands behind ``--tune``; nothing where none stands there."""
    from mlcli.core.aliases import other_names
    from mlcli.core.params import by_name
    from mlcli.core.registry import MODELS
    from mlcli.tasks.table import KINDS

    for word, behind in zip(words, [*words[1:], ""], strict=False):
        option, equals, value = word.partition("=")
        value = value if equals else behind
        if option != "--tune" or not value or value.startswith("-"):
            continue
        name, sign, values = value.partition("=")
        named = list(_models_in(words))
        for use in named or dict.fromkeys(use for kind in KINDS for use in kind.panel):
            known = by_name(MODELS.load(use))
            if parameter := next((one for one in (name, *other_names(name)) if one in known), ""):
                tried = f"{{{parameter}: [{values}]}}" if sign else f"[{parameter}]"
                return f"-m '{{use: {use}, tune: {tried}}}'"
    return ""


def single_dashes(words: Sequence[str], own: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Long options behind one hyphen, or behind a dash of a text editor, with how they are written."""
    for word in words:
        name = word.partition("=")[0]
        plain = name.lstrip("-–—−")
        if len(plain) > 1 and name != f"--{plain}" and name[:1] in "-–—−" and f"--{plain}" in own:
            yield name, f"--{plain}"


def _advice_on(word: str, words_of: Mapping[str, str]) -> str:
    return next((advice for advice, words in words_of.items() if word in words.split()), "")


def _filled(advice: str, value: str, name: str) -> str:
    filled = advice.replace("{{", "\0").replace(VALUE, value).replace("{name}", name)
    return filled.replace("\0", "{").replace("}}", "}")


def _value_behind(option: str, words: Sequence[str]) -> str:
    """What was typed for an option: behind an equals sign, or as the next word."""
    for place, word in enumerate(words):
        name, sign, value = word.partition("=")
        if name == option:
            behind = "".join(words[place + 1 : place + 2])
            given = value if sign else "" if behind.startswith("-") else behind
            return shlex.quote(given) if given else "..."
    return "..."


def _parameter_of_a_model(name: str, value: str, words: Sequence[str]) -> str:
    """The parameter of a model on the command line that is called so, or so elsewhere."""
    from mlcli.core.aliases import other_names
    from mlcli.core.params import by_name
    from mlcli.core.registry import MODELS

    known: dict[str, Any] = {}
    for use in _models_in(words):
        known |= by_name(MODELS.load(use))
    called = [one for one in (name.replace("-", "_"), *other_names(name)) if one in known]
    return f"-p {called[0]}={value}" if called else ""


def _models_in(words: Sequence[str]) -> Iterator[str]:
    """The ids of models on the command line that can be loaded."""
    from mlcli.core.errors import MlcliError
    from mlcli.core.registry import MODELS

    for word in words:
        use = word.removeprefix("--model=").removeprefix("-m")
        if use in MODELS:
            with suppress(MlcliError):
                MODELS.load(use)
                yield use
