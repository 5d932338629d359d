"""Suggestions against over- and underfitting: parameters of the model itself, then other columns and wrappers.

Against high variance: a simpler model, fewer columns, bagging (and more rows, which cannot be tried). Against high
bias: a more flexible model, more columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mlcli.core.errors import UsageError
from mlcli.core.nested import has_effect
from mlcli.core.params import build, by_name, parameters, settings
from mlcli.core.ranges import Range
from mlcli.core.registry import MODELS, STEPS, Catalogue
from mlcli.experiment.spec.cells import Cell, ModelSpec, StepSpec, as_typed


@dataclass(frozen=True)
class Suggestion:
    """A model that may do better, and what must be typed for it."""

    model: ModelSpec
    text: str


def simpler(cell: Cell) -> Iterator[Suggestion]:
    """Models that fit training rows less closely."""
    yield from _other_settings(cell.model, towards_simple=True)
    if cell.model.use in ("decision-tree", "one-r", "mlp"):  # unstable models gain most from bagging
        base = {"use": cell.model.use, "params": dict(cell.model.params)}
        text = f"{{use: bagging, params: {{base: {short_text(cell.model, MODELS)}}}}}"
        yield Suggestion(ModelSpec("bagging", {"base": base}), f"-m '{text}'")
    if len(cell.dataset.schema.features()) > 1:
        yield from _behind_one_more_step(cell, "anova")


def richer(cell: Cell) -> Iterator[Suggestion]:
    """Models that can fit training rows more closely."""
    yield from _other_settings(cell.model, towards_simple=False)
    linear = ("linear-regression", "ridge", "lasso", "logistic-regression", "linear-svm", "log-linear", "lda")
    if cell.model.use in linear and len(cell.dataset.schema.features()) <= 20:  # else products are too many
        yield from _behind_one_more_step(cell, "polynomial")


def other_model(cell: Cell, use: str) -> Suggestion:
    """Another method."""
    return Suggestion(ModelSpec(use), f"-m {use}")


def _other_settings(model: ModelSpec, *, towards_simple: bool) -> Iterator[Suggestion]:
    """Each parameter whose range says which end is the simpler one, moved towards that end or the other."""
    for share in (0.5, 0.85):
        for declared in parameters(model.cls):
            search, value = declared.tune, model.params.get(declared.name)
            if not isinstance(search, Range) or not search.simpler or not search.unasked:
                continue
            end = float((search.simpler == "high") == towards_simple)
            start = _place_in_range(search, value, 1.0 - float(search.simpler == "high"))
            other = search.drawn(start + share * (end - start), int in declared.types)
            params = {**model.params, declared.name: other}
            if other == value or declared.problem_with(other) is not None:
                continue
            if _matters(model.use, params, declared.name):
                yield Suggestion(replace(model, params=params, label=""), f"-p {declared.name}={as_typed(other)}")


def _place_in_range(search: Range, value: Any, free: float) -> float:
    """Where a value lies in a range, from 0 to 1; none is at the end where nothing binds (``free``)."""
    if value is None:
        return free
    scale = math.log if search.log else float
    low, high = scale(search.low), scale(search.high)
    inside = min(max(float(value), search.low), search.high)
    return (scale(inside) - low) / (high - low)


def _matters(use: str, params: Mapping[str, Any], name: str) -> bool:
    """Whether a model can have these parameters, and uses one of them."""
    try:
        cls = MODELS.load(use)
        return has_effect(build(cls, params), by_name(cls)[name])
    except UsageError:
        return False


def _behind_one_more_step(cell: Cell, step: str) -> Iterator[Suggestion]:
    """The model behind one more step."""
    steps = (*cell.steps, StepSpec(step))
    yield Suggestion(replace(cell.model, steps=steps), f"-m '{text_behind_steps(cell.model, steps)}'")


def text_behind_steps(model: ModelSpec, steps: Sequence[StepSpec]) -> str:
    """A model behind steps, as it is typed in a shell."""
    params = stated_params(model, MODELS)
    keys = {"use": model.use, **({"params": params} if params else {})}
    inside = ", ".join(f"{key}: {as_typed(value)}" for key, value in keys.items())
    return f"{{{inside}, steps: [{', '.join(short_text(step, STEPS) for step in steps)}]}}"


def short_text(spec: ModelSpec | StepSpec, catalogue: Catalogue) -> str:
    """A model or step as it is typed inside another: its id, with its parameters where these are chosen."""
    params = stated_params(spec, catalogue)
    return as_typed({"use": spec.use, "params": params}) if params else spec.use


def stated_params(spec: ModelSpec | StepSpec, catalogue: Catalogue) -> dict[str, Any]:
    """The parameters that are not at their defaults."""
    defaults = settings(catalogue.load(spec.use)())
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in spec.params.items()
        if value != defaults.get(name)
    }
