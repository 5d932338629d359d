"""What a user wrote, and where: values that specs are read from, what keys take, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Self

from mlcli.core.errors import MlcliError, Problem, UsageError, placed
from mlcli.core.names import did_you_mean
from mlcli.core.seeds import MAX_SEED
from mlcli.core.strict_yaml import Document
from mlcli.core.values import Value, quoted
from mlcli.experiment.spec.cells import AVERAGES

IGNORED = "x-"
"""Keys that begin so are the user's own."""
MOST_FOUND = 40
"""Fewer than the shell shows, so that it is seen how much was not looked at."""


@dataclass(frozen=True)
class Written:
    """A value with its place in a document; one typed in a shell has no place."""

    value: Any
    document: Document | None = None
    keys: tuple[str | int, ...] = ()

    @classmethod
    def typed(cls, text: str, option: str) -> Self:
        """What was typed for an option of a shell: a mapping in braces, or text."""
        if not text.lstrip().startswith("{"):
            return cls(text)
        from mlcli.core.strict_yaml import parse

        document = parse(text, option, UsageError)
        return cls(document.value, document)

    @property
    def where(self) -> str:
        """Where it stands, as "file.yaml:3:7"."""
        return self.place()

    def place(self, *keys: str | int) -> str:
        """Where what is under some keys in it stands."""
        return self.document.place(*self.keys, *keys) if self.document else ""

    @property
    def given(self) -> str:
        """The value as messages quote it."""
        return quoted(self.value)

    def at(self, key: str | int) -> Written:
        """The value of a key or list item, None where there is none."""
        value = self.value.get(key) if isinstance(self.value, dict) else self.value[key]
        return replace(self, value=value, keys=(*self.keys, key))

    def items(self) -> list[Written]:
        """Each item of a list."""
        return [self.at(index) for index in range(len(self.value))]

    def named(self) -> dict[str, Written]:
        """Each value of a mapping by its key, those that begin with "x-" left out."""
        return {key: self.at(key) for key in self.value if not key.startswith(IGNORED)}

    @property
    def bare(self) -> Any:
        """The value without keys of the user's own."""
        return _bare(self.value)

    def problem(self, what: str, hint: str = "") -> Problem:
        """Something that is wrong here."""
        return Problem(what, where=self.where, hint=hint)


def _bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _bare(part) for key, part in value.items() if not str(key).startswith(IGNORED)}
    return [_bare(part) for part in value] if isinstance(value, list) else value


def until_too_many_problems(items: Sequence[Written], problems: list[Problem]) -> Iterator[Written]:
    """The items of a list, until so much is wrong with them that nobody reads on."""
    before = len(problems)
    for place, item in enumerate(items):
        if len(problems) - before > MOST_FOUND:
            problems.append(item.problem(f"{len(items) - place:,} more stand here that were not looked at"))
            return
        yield item


@dataclass(frozen=True)
class Faults:
    """Errors collected until everything has been looked at, so that a user meets all of them at once."""

    errors: list[MlcliError] = field(default_factory=list)

    @contextmanager
    def collected(self, where: str = "") -> Iterator[None]:
        """Run the body; an error of the user's is kept, and stands at ``where`` unless it says better."""
        try:
            yield
        except MlcliError as error:
            self.errors.append(type(error)(*placed(error.problems, where)))

    def problems(self) -> list[Problem]:
        """Every problem, once."""
        return list(dict.fromkeys(problem for error in self.errors for problem in error.problems))

    def raise_any(self, asked: type[MlcliError]) -> None:
        """Raise all as one error: about data or a model file where that is all, else about what was ``asked``."""
        types = {asked if type(error) is UsageError else type(error) for error in self.errors}
        if types:
            raise (types.pop() if len(types) == 1 else asked)(*self.problems())


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
    keys: Keys, written: Written, problems: list[Problem], required: Sequence[str] = ()
) -> dict[str, Written]:
    """The parts of a mapping that are as its keys say; what is wrong with the others is added to ``problems``."""
    parts = written.named()
    legal = {key: part for key, part in parts.items() if key in keys and not keys[key].problem_with(part.value)}
    wrong = [key for key in parts if key not in legal]
    missing = [key for key in required if key not in parts]
    problems += [written.problem(f"the key '{key}' is missing", keys[key].help) for key in missing]
    problems += [_problem_with(keys, key, parts[key]) for key in wrong[:MOST_NAMED]]
    if len(wrong) > MOST_NAMED:
        problems.append(written.problem(f"{len(wrong) - MOST_NAMED:,} more keys are wrong here"))
    return legal


def _problem_with(keys: Keys, key: str, part: Written) -> Problem:
    if key not in keys:
        elsewhere = ELSEWHERE.get(key, "").replace("KEY", key).replace("VALUE", str(part.value))
        return part.problem(f"there is no key '{key}' here", elsewhere or did_you_mean(key, keys, "keys"))
    wrong = keys[key].problem_with(part.value)
    one_item = keys[key].types == (list,) and isinstance(part.value, str)
    hint = f"such as {key}: [{part.value}]" if one_item else keys[key].help
    return part.problem(f"'{key}' {wrong}", hint)
