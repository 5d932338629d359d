"""What the keys of an experiment file, and of a dataset in it, take."""

from __future__ import annotations

from mlcli.core.located_values import Keys
from mlcli.core.seeds import MAX_SEED
from mlcli.core.values import Value
from mlcli.experiment.spec.cells import AVERAGES

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
    "similarity": Value(
        "how alike two rows must be for fairness to compare them; left out: 0.9", (float,), ge=0, lt=1
    ),
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
