"""Every registered model × kind at its defaults, and in few configurations that have every choice between them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlcli.core.configuration import missing_steps
from mlcli.core.errors import UsageError
from mlcli.core.params import Parameter, build, parameters
from mlcli.core.pipeline import Pipeline, learn, predict_rows
from mlcli.core.registry import MODELS
from mlcli.core.schema import Column
from mlcli.tasks.table import kinds_of
from tests.contract.toys import EVERYTHING, REAL, SUPERVISED, UNSUPERVISED, halves, rows_for

FEW = {"bags": 3, "rounds": 5, "epochs": 20, "sweeps": 100, "trees": 25}
"""Promises are the same for a few models or epochs as for many."""
QUICK: dict[str, dict[str, Any]] = {
    "adaboost": {"rounds": 5},
    "selected-model": {"models": ["knn", "decision-tree"]},
    "stacking": {"models": ["knn", "decision-tree"]},
    "voting": {"models": ["knn", "decision-tree"]},
}
"""And the same for quick models inside as for slow ones."""

ALSO: dict[str, tuple[tuple[tuple[str, Any], ...], ...]] = {
    "adaboost": ((("base", "naive-bayes"),),),
    "bagging": ((("base", "knn"),), (("column_share", 0.5), ("row_share", 0.7))),
    "cluster-then-label": ((("classifier", "naive-bayes"),),),
    "decision-tree": ((("bins", 8),),),
    "output-codes": ((("base", "decision-tree"), ("length", 2)),),
    "self-training": ((("base", "logistic-regression"),),),
    "tuned": ((("base", "decision-tree"), ("ranges", {"max_depth": [1, 2, 4]})),),
    "voting": ((("validation", 0.3),),),
}
"""Configurations that make a method another one, though no choice of a parameter says so."""
ONLY: dict[tuple[str, str], tuple[tuple[str, Any], ...]] = {
    ("tuned", "density"): (("base", "kde"), ("ranges", {"factor": [0.5, 1.0]})),
    ("tuned", "recommendation"): (("base", "user-item-bias"), ("ranges", {"l2": [1.0, 10.0]})),
    ("tuned", "ranking"): (("base", "ranking-svm"), ("ranges", {"C": [0.1, 1.0]})),
    ("tuned", "sequence-labelling"): (("base", "hmm"), ("ranges", {"alpha": [0.1, 1.0]})),
}
"""The one configuration of a method for a kind of task that its default is not for."""


@dataclass(frozen=True)
class Subject:
    """One configuration of one model for one kind of task, bare or behind the steps that it needs."""

    model: str
    kind: str
    params: tuple[tuple[str, Any], ...] = ()
    piped: bool = False

    def __str__(self) -> str:
        said = ",".join(f"{name}={value}" for name, value in self.params)
        return f"{self.model}[{said}]-{self.kind}{'-piped' if self.piped else ''}"

    def made_for(self, columns: Sequence[Column]) -> Any:
        """A fresh model; piped, it stands behind the steps that the columns need."""
        model = self.model_alone()
        if not self.piped:
            return model
        return Pipeline(steps=tuple(missing_steps(model.accepts, columns, None)), model=model)

    def model_alone(self) -> Any:
        """A fresh model with this configuration."""
        return build(MODELS.load(self.model), quick(self.model) | dict(self.params))

    def accepts(self) -> Any:
        """What the rows of this subject may hold."""
        return EVERYTHING if self.piped else self.model_alone().accepts

    def needs_steps(self) -> bool:
        """Whether something must stand before it, where rows hold everything that rows can hold."""
        columns = rows_for(self.kind, EVERYTHING, 10).table.columns if self.kind in REAL else ()
        return bool(missing_steps(self.model_alone().accepts, columns, None))

    def rows(self, n: int = 150, seed: int = 7) -> Any:
        """Toy rows that the subject accepts."""
        return rows_for(self.kind, self.accepts(), n, seed)

    def fitted(self, data: Any, seed: int = 3) -> Any:
        """The model after learning from some rows."""
        model = self.made_for(data.table.columns)
        learn(model, data, np.random.default_rng(seed))
        return model

    def answers(self, train: Any, test: Any, seed: int = 3) -> Any:
        """What a model that learned from ``train`` says of ``test``."""
        return predict_rows(self.fitted(train, seed), test)


def quick(model: str) -> dict[str, Any]:
    """Settings with which a method is as it is, and quicker."""
    declared = {parameter.name for parameter in parameters(MODELS.load(model))}
    return {name: value for name, value in FEW.items() if name in declared} | QUICK.get(model, {})


def transductive(subject: Subject) -> bool:
    """Whether it can place the rows that it learned from alone."""
    return bool(getattr(subject.model_alone(), "transductive", False))


def parts(subject: Subject, n: int = 150) -> tuple[Any, Any]:
    """What it learns from and what it is asked: the same rows, where it can place no others."""
    data = subject.rows(n=n)
    return (data, data) if transductive(subject) else halves(data)


_learned: dict[str, tuple[Any, list[str]]] = {}


def learned_quietly(subject: Subject) -> tuple[Any, list[str]]:
    """The model after learning from its toy rows, which many promises ask, and what NumPy has warned of."""
    if str(subject) not in _learned:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = subject.fitted(parts(subject)[0])
        _learned[str(subject)] = model, [str(one.message) for one in caught if one.category is RuntimeWarning]
    return _learned[str(subject)]


def usual(subject: Subject) -> Any:
    """The model after learning from its toy rows."""
    return learned_quietly(subject)[0]


def usual_answers(subject: Subject, test: Any) -> Any:
    """What that model says of some rows."""
    return predict_rows(usual(subject), test)


def arrays_of(*parts: Any) -> list[np.ndarray[Any, Any]]:
    """The cells and targets, or labels, of some rows."""
    targets = [data.y if hasattr(data, "y") else data.labels for data in parts]
    return [array for data in parts for array in (data.table.numbers, data.table.codes)] + targets


def frozen(*parts: Any) -> list[bytes]:
    """The same as bytes; nobody may write to them from now on."""
    for array in arrays_of(*parts):
        array.setflags(write=False)
    return [array.tobytes() for array in arrays_of(*parts)]


SAID = ("probabilities", "predicted", "cluster", "log_density", "error", "score")


def said_by(answers: Any) -> Any:
    """The numbers of an answer: probabilities where there are any, else values, groups, densities or scores."""
    return next(said for name in SAID if (said := getattr(answers, name, None)) is not None)


def configurations(cls: type) -> Iterator[tuple[tuple[str, Any], ...]]:
    """The defaults, and every other choice of each parameter with the rest at its default."""
    yield ()
    for parameter in parameters(cls):
        for choice in alternatives(parameter):
            if buildable(cls, {parameter.name: choice}):
                yield ((parameter.name, choice),)


def covering(cls: type) -> Iterator[tuple[tuple[str, Any], ...]]:
    """Few configurations that have every choice of every parameter between them: each has all that go together."""
    left = [choice for choices in configurations(cls) for choice in choices]
    while left:
        chosen: dict[str, Any] = {}
        for name, choice in tuple(left):
            if name not in chosen and buildable(cls, chosen | {name: choice}):
                chosen[name] = choice
                left.remove((name, choice))
        yield tuple(chosen.items())


def alternatives(parameter: Parameter) -> Iterator[Any]:
    """What a parameter could be but for its default, where that can be listed."""
    options = parameter.choices or ((True, False) if parameter.types == (bool,) else ())
    return (choice for choice in options if choice != parameter.default)


def buildable(cls: type, params: dict[str, Any]) -> bool:
    """Whether some choices are legal while everything else is at its default."""
    try:
        build(cls, params)
    except UsageError:
        return False
    return True


def subjects() -> Iterator[Subject]:
    """All of them: the defaults bare and behind the steps that they need, other configurations bare."""
    for name in MODELS.names():
        cls = MODELS.load(name)
        for kind in kinds_of(cls):
            if (name, kind.name) in ONLY:
                yield Subject(name, kind.name, ONLY[name, kind.name])
                continue
            default = Subject(name, kind.name)
            yield default
            if default.needs_steps():
                yield Subject(name, kind.name, piped=True)
            yield from (Subject(name, kind.name, params) for params in (*covering(cls), *ALSO.get(name, ())))


EVERYONE = list(subjects())
SUBJECTS = [subject for subject in EVERYONE if subject.kind in SUPERVISED]
UNLABELLED = [subject for subject in EVERYONE if subject.kind in UNSUPERVISED]
DEFAULTS = [subject for subject in SUBJECTS if not subject.params]
