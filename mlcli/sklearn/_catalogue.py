"""Which estimators there are: their names, the methods and steps behind them, and classes made when asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from mlcli.core.errors import UsageError
from mlcli.core.registry import MODELS, STEPS, Catalogue, Entry
from mlcli.tasks.table import kinds_from_bases

SUFFIXES = {
    "classification": "Classifier",
    "regression": "Regressor",
    "clustering": "Clusterer",
    "anomaly": "Detector",
    "projection": "Projector",
    "sequence-labelling": "Tagger",
}
"""By kind of task, how the names of its estimators end."""
STEP = "step"
TRANSFORMER = "Transformer"
NEEDS_SENSITIVE = "it needs sensitive columns, which an array does not mark"
CHANGES_ROWS = "it changes which rows are learned from, which no transformer may"
NOT_MADE = {
    "fair-logistic-regression": NEEDS_SENSITIVE, "fair-thresholds": NEEDS_SENSITIVE,
    "show-sensitive": NEEDS_SENSITIVE, "class-weights": CHANGES_ROWS, "coral": CHANGES_ROWS,
    "fair-sample": CHANGES_ROWS, "fair-weights": CHANGES_ROWS, "importance-weights": CHANGES_ROWS,
    "noise": CHANGES_ROWS, "sample-rows": CHANGES_ROWS, "smote": CHANGES_ROWS,
}  # fmt: skip
"""By id, what is no estimator, and why."""


@dataclass(frozen=True)
class DescribedMethod:
    """A method or step for a kind of task."""

    id: str
    kind: str

    @property
    def catalogue(self) -> Catalogue:
        """Where it is found."""
        return STEPS if self.kind == STEP else MODELS

    @property
    def name(self) -> str:
        """The name of its estimator."""
        return "".join(map(str.capitalize, self.id.split("-"))) + SUFFIXES.get(self.kind, TRANSFORMER)

    @property
    def cls(self) -> Any:
        """The class of the method or step, imported now."""
        return self.catalogue.load(self.id)


@lru_cache(maxsize=1)
def _described() -> dict[str, DescribedMethod]:
    """By name, all that there are; read from the heads of files."""
    generator = (
        method for catalogue in (MODELS, STEPS) for entry in catalogue.entries() for method in _described_in(entry)
    )
    return {method.name: method for method in generator}


def _described_in(entry: Entry) -> Iterator[DescribedMethod]:
    if entry.name in NOT_MADE:
        return
    if entry.noun == STEP:
        yield DescribedMethod(entry.name, STEP)
    for kind in kinds_from_bases(entry.bases):
        if kind.name in SUFFIXES:
            yield DescribedMethod(entry.name, kind.name)


def names() -> tuple[str, ...]:
    """The names of all estimators, methods first."""
    return tuple(_described())


def estimator_class(name: str) -> type:
    """The class of an estimator."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise UsageError("mlcli.sklearn needs scikit-learn", hint="pip install 'mlcli[sklearn]'") from None
    from mlcli.sklearn._making import class_for

    return class_for(_described()[name])
