"""A scikit-learn class from the declaration of a method: its parameters, its ``fit``, its docstring."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from mlcli.core.abilities import HasImportances
from mlcli.core.params import parameters
from mlcli.sklearn._catalogue import STEP, DescribedMethod
from mlcli.sklearn._estimators import (
    SCALE,
    BaseClassifier,
    BaseClusterer,
    BaseDetector,
    BaseProjector,
    BaseRegressor,
    BaseStep,
    BaseTransductiveClusterer,
    Estimator,
    cluster_centers,
    coef,
    feature_importances,
    intercept,
    keyword,
)
from mlcli.sklearn._sequences import BaseTagger

BASES: dict[str, type[Estimator]] = {
    "classification": BaseClassifier,
    "regression": BaseRegressor,
    "clustering": BaseClusterer,
    "anomaly": BaseDetector,
    "projection": BaseProjector,
    "sequence-labelling": BaseTagger,
    STEP: BaseStep,
}
RANDOM_STATE = "random_state"
SEEDED_BY = "what all random numbers follow from: a number, a RandomState, or None for others each time"
SCALED_BY = (
    "whether numbers are standardised before a method that prefers it, as the commands of mlcli do; coef_ and "
    "cluster_centers_ are those of standardised columns then"
)
PLAIN = (str, int, float, bool, tuple, type(None))
"""What a default of scikit-learn may be; what is no such is None, which stands for the declared default."""


def class_for(described: DescribedMethod) -> type[Estimator]:
    """The estimator of a method or step."""
    method = described.cls
    base = BASES[described.kind]
    if base is BaseClusterer and method.transductive:
        base = BaseTransductiveClusterer
    fields = {
        "__doc__": _docstring(method, described.kind),
        "__module__": "mlcli.sklearn",
        "__init__": _init_function(_default_values(method, described.kind)),
        "_method": described.id,
        "_catalogue": described.catalogue,
        "_kind": described.kind,
    }
    if described.kind != STEP:
        fields |= {name: property(value) for name, value in _learned_attributes(method, described.kind)}
    weighs = described.kind in ("classification", "regression") and bool(method().accepts.weights)
    fit = base.fit_with_weights if weighs else base.fit_without_weights
    return type(described.name, (base,), {**fields, "fit": fit})


def _learned_attributes(method: Any, kind: str) -> Iterator[tuple[str, Any]]:
    """The attributes that scikit-learn has of such methods."""
    learned = {field.name for field in dataclasses.fields(method)}
    is_plane = kind != "anomaly" or method.id == "one-class-svm"  # the others enclose rows by a sphere
    is_machine = {"coefficients_", "points_"} <= learned and is_plane
    if {"coefficients_", "centre_"} <= learned or (is_machine and learned & {"offsets_", "level_"}):
        yield from (("coef_", coef), ("intercept_", intercept))
    if issubclass(method, HasImportances) or {"models_", "alphas_"} <= learned:
        yield "feature_importances_", feature_importances
    if {"centres_", "origin_"} <= learned or "medoids_" in learned:
        yield "cluster_centers_", cluster_centers


def _default_values(method: Any, kind: str) -> dict[str, Any]:
    declared = {keyword(parameter.name): parameter.default for parameter in parameters(method)}
    plain = {name: value if isinstance(value, PLAIN) else None for name, value in declared.items()}
    return {**plain, **({} if kind == STEP else {SCALE: False}), RANDOM_STATE: 1}


def _init_function(defaults: Mapping[str, Any]) -> Any:
    """An ``__init__`` with these keywords, which keeps what it is given as it is."""

    def __init__(self: Any, **given: Any) -> None:  # noqa: N807  # it is one
        unknown = next((name for name in given if name not in defaults), None)
        if unknown is not None:
            raise TypeError(f"{type(self).__name__}() got an unexpected keyword argument '{unknown}'")
        for name, default in defaults.items():
            setattr(self, name, given.get(name, default))

    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    keywords = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default)
        for name, default in defaults.items()
    ]
    setattr(__init__, "__signature__", inspect.Signature([own, *keywords]))
    return __init__


def _docstring(method: Any, kind: str) -> str:
    """What the method is, and what its parameters mean."""
    module = inspect.getmodule(method)
    about = inspect.cleandoc((module.__doc__ if module else None) or method.__doc__ or "")
    lines = [
        f"{keyword(parameter.name)} : {parameter.words()}, default {parameter.default!r}\n    {parameter.help}"
        for parameter in parameters(method)
    ]
    if kind != STEP:
        lines.append(f"{SCALE} : true or false, default False\n    {SCALED_BY}")
    lines.append(f"{RANDOM_STATE} : a whole number, default 1\n    {SEEDED_BY}")
    return f"{about}\n\nParameters\n----------\n" + "\n".join(lines) + "\n"
