"""The keys of an experiment file and of its datasets: what each takes, and what is written in a wrong place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mlcli.core.errors import Problem
from mlcli.core.names import did_you_mean
from mlcli.core.params import SCHEMA_TYPES, TYPE_WORDS
from mlcli.core.seeds import MAX_SEED
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


@dataclass(frozen=True)
class Key:
    """What a key is for, and what its value has to be; what has no type is looked at by who reads it."""

    help: str
    type: type | None = None
    required: bool = False
    filled: bool = True
    """Whether text or a list may not be empty."""
    choices: tuple[str, ...] = ()
    most: int | None = None
    """The largest number; the least is 0."""

    def problem_with(self, value: Any) -> str:
        """What is wrong with a value, nothing if it is legal."""
        given = "nothing" if value is None else repr(value)
        if self.type is not None and type(value) is not self.type:
            return f"takes {'a list' if self.type is list else TYPE_WORDS[self.type]}, was given {given}"
        if self.filled and self.type in (str, list) and not value:
            return "takes text that is not empty" if self.type is str else "takes a list of at least one"
        if self.choices and value not in self.choices:
            return f"is one of {' or '.join(map(repr, self.choices))}, was given {given}"
        if self.most is not None and not 0 <= value <= self.most:
            return f"must be at {f'most {self.most}' if value > 0 else 'least 0'}, was given {given}"
        return ""

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its value."""
        found: dict[str, Any] = {"description": self.help}
        if self.type is not None:
            found["type"] = "array" if self.type is list else SCHEMA_TYPES[self.type]
        if self.filled and self.type in (str, list):
            found["minLength" if self.type is str else "minItems"] = 1
        found |= {"enum": list(self.choices)} if self.choices else {}
        return found | ({"minimum": 0, "maximum": self.most} if self.most is not None else {})


Keys = Mapping[str, Key]
EXPERIMENT: Keys = {
    "data": Key("the datasets: shipped names, paths, or mappings", list, required=True),
    "models": Key("the models; left out: the panel of each dataset's kind of task", list),
    "protocol": Key("how rows are split, or several ways; left out: as the kind of task"),
    "average": Key("the mean over splits, or of all answers at once", str, choices=("folds", "pooled")),
    "cost": Key("what answers cost: {actual: {predicted: value}}, by which cost is measured"),
    "metrics": Key("what is measured; left out: the defaults of the kind of task", list),
    "seed": Key("the random seed", int, most=MAX_SEED),
    "task": Key("the kind of task of every dataset that does not name its own", str),
    "stages": Key("at which stages of a fit models are judged, too"),
    "training": Key("whether training rows are answered, too", bool),
    "fair": Key("whether it is shown how groups are answered, as by --fair", bool),
    "tune": Key("whether, and how, models are tuned by splits of training rows"),
    "nested": Key("whether the best model, chosen in each split for itself, is a row", bool),
    "expect": Key("what models must reach: bounds of scores, models to beat", list),
    "budget": Key("what a cell may take, in seconds and memory, and all in seconds"),
    "plugins": Key("Python files with methods of your own, relative to this file", list),
    "name": Key("what the experiment is called", str, filled=False),
    "description": Key("what it is for", str, filled=False),
}
DATASET: Keys = {
    "path": Key("a CSV file, relative to the experiment file", str),
    "name": Key("a shipped dataset", str),
    "target": Key("the column to predict", str),
    "task": Key("the kind of task", str),
    "sensitive": Key("columns by whose groups fairness is judged; no model sees them", list),
    "drop": Key("columns that are left out", list),
    "positive": Key("the class that is looked for, such as yes or malignant", str),
}


def legal_parts(keys: Keys, written: Written, found: list[Problem]) -> dict[str, Written]:
    """Those parts of a mapping that are as its keys say; what is wrong with the others is added to ``found``."""
    parts = written.named()
    legal = {key: part for key, part in parts.items() if key in keys and not keys[key].problem_with(part.value)}
    wrong = [key for key in parts if key not in legal]
    missing = [key for key, one in keys.items() if one.required and key not in parts]
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
    one_item = keys[key].type is list and isinstance(part.value, str)
    hint = f"such as {key}: [{part.value}]" if one_item else keys[key].help
    return part.problem(f"'{key}' {wrong}", hint)
