"""The keys of an experiment file and of its datasets: what each takes, and what is written in a wrong place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlcli.core.errors import Problem
from mlcli.core.names import did_you_mean
from mlcli.core.seeds import MAX_SEED
from mlcli.core.values import Value
from mlcli.experiment.spec.cells import AVERAGES
from mlcli.experiment.spec.written import Written

MOST_NAMED = 20
"""More wrong keys than these are counted only."""
ELSEWHERE = {
    **dict.fromkeys(("folds", "cv", "kfold", "n_splits"), "write protocol: {folds: VALUE}"),
    "repeats": "write protocol: {repeats: VALUE}",
    **dict.fromkeys(("test_size", "test_share"), "write protocol: {use: holdout, test_share: VALUE}"),
    **dict.fromkeys(
        ("target", "label", "y"), "it belongs to a dataset: write data: [{path: my.csv, target: VALUE}]"
    ),
    **dict.fromkeys(("params", "grid", "steps"), "it belongs to a model: write models: [{use: knn, KEY: ...}]"),
    **dict.fromkeys(("jobs", "n_jobs"), "it is an option: mlcli run FILE --jobs VALUE"),
    **dict.fromkeys(("output", "store"), "it is an option: mlcli run FILE --store PLACE"),
}
"""Where else something stands that is written as a key of its own."""


Keys = Mapping[str, Value]
EXPERIMENT: Keys = {
    "data": Value("the datasets: shipped names, paths, or mappings", (list,), filled=True),
    "models": Value("the models; left out: the panel of each dataset's kind of task", (list,), filled=True),
    "protocol": Value("how rows are split, or several ways; left out: as the kind of task"),
    "average": Value("the mean over splits, or of all answers at once", (str,), choices=AVERAGES),
    "cost": Value("what answers cost: {actual: {predicted: value}}, by which cost is measured"),
    "metrics": Value("what is measured; left out: the defaults of the kind of task", (list,), filled=True),
    "seed": Value("the random seed", (int,), ge=0, le=MAX_SEED),
    "task": Value("the kind of task of every dataset that does not name its own", (str,), filled=True),
    "stages": Value("at which stages of a fit models are judged, too"),
    "training": Value("whether training rows are answered, too", (bool,)),
    "fair": Value("whether it is shown how groups are answered, as by --fair", (bool,)),
    "tune": Value("whether, and how, models are tuned by splits of training rows"),
    "nested": Value("whether the best model, chosen in each split for itself, is a row", (bool,)),
    "expect": Value("what models must reach: bounds of scores, models to beat", (list,), filled=True),
    "budget": Value("what a cell may take, in seconds and memory, and all in seconds"),
    "plugins": Value("Python files with methods of your own, relative to this file", (list,), filled=True),
    "name": Value("what the experiment is called", (str,)),
    "description": Value("what it is for", (str,)),
}
REQUIRED = ("data",)
DATASET: Keys = {
    "path": Value("a CSV file, relative to the experiment file", (str,), filled=True),
    "name": Value("a shipped dataset", (str,), filled=True),
    "target": Value("the column to predict", (str,), filled=True),
    "task": Value("the kind of task", (str,), filled=True),
    "sensitive": Value("columns by whose groups fairness is judged; no model sees them", (list,), filled=True),
    "drop": Value("columns that are left out", (list,), filled=True),
    "positive": Value("the class that is looked for, such as yes or malignant", (str,), filled=True),
}


def legal_parts(
    keys: Keys, written: Written, found: list[Problem], required: Sequence[str] = ()
) -> dict[str, Written]:
    """Those parts of a mapping that are as its keys say; what is wrong with the others is added to ``found``."""
    parts = written.named()
    legal = {key: part for key, part in parts.items() if key in keys and not keys[key].problem_with(part.value)}
    wrong = [key for key in parts if key not in legal]
    missing = [key for key in required if key not in parts]
    found += [written.problem(f"the key '{key}' is missing", keys[key].help) for key in missing]
    found += [_problem_with(keys, key, parts[key]) for key in wrong[:MOST_NAMED]]
    if len(wrong) > MOST_NAMED:
        found.append(written.problem(f"{len(wrong) - MOST_NAMED:,} more keys are wrong here"))
    return legal


def _problem_with(keys: Keys, key: str, part: Written) -> Problem:
    if key not in keys:
        elsewhere = ELSEWHERE.get(key, "").replace("KEY", key).replace("VALUE", str(part.value))
        return part.problem(f"there is no key '{key}' here", elsewhere or did_you_mean(key, keys, "keys"))
    wrong = keys[key].problem_with(part.value)
    single = keys[key].types == (list,) and not isinstance(part.value, list)
    in_a_list = f"such as {key}: [{part.value}]" if single else ""
    return part.problem(f"'{key}' {wrong}", in_a_list or keys[key].help)
