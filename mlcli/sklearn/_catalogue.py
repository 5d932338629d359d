"""Which estimators there are, and their classes, which are made from the declarations of methods on first use."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from mlcli.core.errors import UsageError
from mlcli.core.registry import MODELS, STEPS, Catalogue, Entry
from mlcli.tasks.table import kinds_from_bases

if TYPE_CHECKING:
    from mlcli.sklearn._estimators import Estimator

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
SCALE = "scale"
"""The keyword that standardises numbers before a method that prefers it."""
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
        return "".join(map(str.capitalize, self.id.split("-"))) + SUFFIXES.get(self.kind, "Transformer")


@lru_cache(maxsize=1)
def _described() -> dict[str, DescribedMethod]:
    """By name, all estimators; read from the heads of files."""
    methods: list[DescribedMethod] = []
    for catalogue in (MODELS, STEPS):
        for entry in catalogue.entries():
            if entry.name not in NOT_MADE:
                methods += _described_in(entry)
    return {method.name: method for method in methods}


def _described_in(entry: Entry) -> Iterator[DescribedMethod]:
    if entry.noun == STEP:
        yield DescribedMethod(entry.name, STEP)
    for kind in kinds_from_bases(entry.bases):
        if kind.name in SUFFIXES:
            yield DescribedMethod(entry.name, kind.name)


def names() -> tuple[str, ...]:
    """The names of all estimators, methods first."""
    return tuple(_described())


def estimator_class(name: str) -> type[Estimator]:
    """The class of an estimator: the parameters of its method, ``fit``, and a docstring."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise UsageError("mlcli.sklearn needs scikit-learn", hint="pip install 'mlcli[sklearn]'") from None
    from mlcli.sklearn import _estimators as estimators
    from mlcli.sklearn._sequences import BaseTagger

    described = _described()[name]
    method = described.catalogue.load(described.id)
    bases: dict[str, type[Estimator]] = {
        "classification": estimators.BaseClassifier,
        "regression": estimators.BaseRegressor,
        "clustering": estimators.BaseClusterer,
        "anomaly": estimators.BaseDetector,
        "projection": estimators.BaseProjector,
        "sequence-labelling": BaseTagger,
        STEP: estimators.BaseStep,
    }
    base = bases[described.kind]
    if described.kind == "clustering" and getattr(method, "transductive", False):
        base = estimators.BaseTransductiveClusterer
    weighs = described.kind in ("classification", "regression") and bool(method().accepts.weights)
    fields: dict[str, object] = {
        "__doc__": _docstring(method, described.kind),
        "__module__": "mlcli.sklearn",
        "__init__": _init_function(_default_values(method, described.kind)),
        "_method": described.id,
        "_catalogue": described.catalogue,
        "_kind": described.kind,
        "fit": base.fit_with_weights if weighs else base.fit_without_weights,
    }
    if described.kind != STEP:
        fields |= {
            attribute: property(getter) for attribute, getter in _learned_attributes(method, described.kind)
        }
    return type(described.name, (base,), fields)


def keyword(parameter: str) -> str:
    """The name of a parameter in scikit-learn; ``score`` would hide a method."""
    return "scoring" if parameter == "score" else parameter


def _learned_attributes(method: type, kind: str) -> Iterator[tuple[str, Callable[[Estimator], object]]]:
    """The attributes that scikit-learn has of such methods."""
    from mlcli.core.abilities import HasImportances
    from mlcli.sklearn._estimators import cluster_centers, coef, feature_importances, intercept

    learned = {field.name for field in dataclasses.fields(method)}
    is_plane = kind != "anomaly" or getattr(method, "id", "") == "one-class-svm"  # others enclose rows by a sphere
    is_machine = {"coefficients_", "points_"} <= learned and is_plane
    if {"coefficients_", "centre_"} <= learned or (is_machine and learned & {"offsets_", "level_"}):
        yield "coef_", coef
        yield "intercept_", intercept
    if issubclass(method, HasImportances) or {"models_", "alphas_"} <= learned:
        yield "feature_importances_", feature_importances
    if {"centres_", "origin_"} <= learned or "medoids_" in learned:
        yield "cluster_centers_", cluster_centers


def _default_values(method: type, kind: str) -> dict[str, object]:
    """The keywords with their defaults; None stands for a declared default that scikit-learn cannot hold."""
    from mlcli.core.params import parameters

    plain = (str, int, float, bool, tuple, type(None))
    defaults: dict[str, object] = {
        keyword(parameter.name): parameter.default if isinstance(parameter.default, plain) else None
        for parameter in parameters(method)
    }
    return defaults | ({} if kind == STEP else {SCALE: False}) | {"random_state": 1}


def _init_function(defaults: dict[str, object]) -> Callable[..., None]:
    """An ``__init__`` with these keywords, which keeps what it is given as it is."""

    def __init__(self: object, **given: object) -> None:  # noqa: N807  # it is one
        unknown = next((name for name in given if name not in defaults), None)
        if unknown is not None:
            raise TypeError(f"{type(self).__name__}() got an unexpected keyword argument '{unknown}'")
        for name, default in defaults.items():
            setattr(self, name, given.get(name, default))

    keywords = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, default in defaults.items()
    ]
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    setattr(__init__, "__signature__", inspect.Signature([own, *keywords]))
    return __init__


def _docstring(method: type, kind: str) -> str:
    """What the method is, and what its parameters mean."""
    from mlcli.core.params import parameters

    module = inspect.getmodule(method)
    about = inspect.cleandoc((module.__doc__ if module else None) or method.__doc__ or "")
    lines = [
        f"{keyword(parameter.name)} : {parameter.words()}, default {parameter.default!r}\n    {parameter.help}"
        for parameter in parameters(method)
    ]
    if kind != STEP:
        lines.append(
            f"{SCALE} : true or false, default False\n    whether numbers are standardised before a method that "
            "prefers it, as the commands of mlcli do; coef_ and cluster_centers_ are those of standardised "
            "columns then"
        )
    lines.append(
        "random_state : a whole number, default 1\n    what all random numbers follow from: a number, a "
        "RandomState, or None for others each time"
    )
    return f"{about}\n\nParameters\n----------\n" + "\n".join(lines) + "\n"
