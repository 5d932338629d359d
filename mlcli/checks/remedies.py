"""Remedies for fitting too closely or too little: settings of the model itself, then other columns and wrappers.

Against high variance: a simpler model, fewer columns, bagging (and more rows, which cannot be tried). Against high
bias: a more flexible model, more columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mlcli.core.errors import UsageError
from mlcli.core.params import build, by_name
from mlcli.core.registry import MODELS
from mlcli.experiment.spec.cells import Cell, ModelSpec, StepSpec
from mlcli.experiment.spec.labels import as_typed

Values = Callable[[Any], list[Any]]
"""From the value of a parameter to others, the nearest first."""


@dataclass(frozen=True)
class Remedy:
    """A model that may do better, and what must be typed for it."""

    model: ModelSpec
    text: str


@dataclass(frozen=True)
class Setting:
    """The values of a parameter that make a model simpler, and those that make it more flexible."""

    simpler: Values
    richer: Values


def _times(*factors: float) -> Values:
    return lambda value: [] if value is None else [type(value)(value * factor) for factor in factors if value > 0]


def _none(value: Any) -> list[Any]:
    return []


def _up_to(*limits: int) -> Values:
    return lambda value: [limit for limit in limits if value is None or limit < value]


PENALTY = Setting(_times(10.0, 100.0), _times(0.1, 0.01))
SETTINGS: Mapping[str, Setting] = {
    "prune": Setting(lambda value: ["cost-complexity"] if value in ("auto", "none") else [], _none),
    "max_depth": Setting(_up_to(6, 3), lambda value: [] if value is None else [2 * value, None]),
    "max_leaves": Setting(_up_to(8), lambda value: [] if value is None else [4 * value]),
    "min_leaf": Setting(_times(5, 20), lambda value: [1] if value > 1 else []),
    "k": Setting(_times(3, 9), lambda value: [1] if value > 1 else []),
    "C": Setting(_times(0.1, 0.01), _times(10.0, 100.0)),
    "l1": PENALTY,
    "l2": PENALTY,
    "strength": PENALTY,
    "shrinkage": Setting(lambda value: [0.3] if value < 0.3 else [], lambda value: [0.0] if value > 0 else []),
    "rounds": Setting(_times(0.25), _times(4)),
}
"""By the names of parameters, which say the same wherever they occur."""
BAGGED = ("decision-tree", "one-r", "mlp")
"""What bagging steadies most; a wrapper of what is steady is a waste."""
STIFF = ("linear-regression", "ridge", "lasso", "logistic-regression", "linear-svm", "log-linear", "lda")
"""What sees only sums of columns, so that products of them are new to it."""
MOST_MULTIPLIED = 20
"""Columns, of which products are not too many to be tried."""


def simpler(cell: Cell) -> Iterator[Remedy]:
    """What fits training rows less closely."""
    yield from _settings(cell.model, lambda setting: setting.simpler)
    if cell.model.use in BAGGED:
        base = {"use": cell.model.use, "params": dict(cell.model.params)}
        yield Remedy(
            ModelSpec("bagging", {"base": base}), f"-m '{{use: bagging, params: {{base: {cell.model.use}}}}}'"
        )
    if len(cell.dataset.schema.features()) > 1:
        yield from _with_step(cell, "anova")


def richer(cell: Cell) -> Iterator[Remedy]:
    """What can follow the training rows more closely."""
    yield from _settings(cell.model, lambda setting: setting.richer)
    if cell.model.use in STIFF and len(cell.dataset.schema.features()) <= MOST_MULTIPLIED:
        yield from _with_step(cell, "polynomial")


def other_model(cell: Cell, use: str) -> Remedy:
    """Another method."""
    return Remedy(ModelSpec(use), f"-m {use}")


def _settings(model: ModelSpec, of: Callable[[Setting], Values]) -> Iterator[Remedy]:
    """The parameters of the model that have such values, each with them."""
    declared = by_name(MODELS.load(model.use))
    for name, setting in SETTINGS.items():
        value = model.params.get(name)
        if name not in declared or isinstance(value, bool):
            continue
        for other in of(setting)(value):
            params = {**model.params, name: other}
            if other != value and declared[name].problem_with(other) is None and _is_legal(model.use, params):
                yield Remedy(replace(model, params=params, label=""), f"-p {name}={as_typed(other)}")


def _is_legal(use: str, params: Mapping[str, Any]) -> bool:
    try:
        build(MODELS.load(use), params)
    except UsageError:
        return False
    return True


def _with_step(cell: Cell, step: str) -> Iterator[Remedy]:
    """The model behind one more step."""
    steps = (*cell.steps, StepSpec(step))
    names = ", ".join(one.use for one in steps)
    yield Remedy(replace(cell.model, steps=steps), f"-m '{{use: {cell.model.use}, steps: [{names}]}}'")
