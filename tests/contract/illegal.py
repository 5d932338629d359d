"""Values that the declaration of a parameter does not allow."""

from __future__ import annotations

import math
from functools import singledispatch
from typing import Any

from mlcli.core.nested import ModelParameter
from mlcli.core.params import Parameter
from mlcli.core.registry import MODELS
from mlcli.tasks.anomaly_thresholds import DecisionParameter


@singledispatch
def illegal_values(parameter: Parameter) -> list[Any]:
    """Values just outside the declaration."""
    wrong: list[Any] = [] if parameter.optional else [None]
    wrong += (
        [{"a": 1} if dict not in parameter.types else 1] if str in parameter.types else ["no such value", True]
    )
    wrong += ["no such value"] if parameter.choices is not None else []
    wrong += [math.nan, math.inf] if float in parameter.types else []
    wrong += [parameter.ge - 1] if parameter.ge is not None else []
    wrong += [parameter.gt] if parameter.gt is not None else []
    wrong += [parameter.le + 1] if parameter.le is not None else []
    wrong += [parameter.lt] if parameter.lt is not None else []
    wrong = [value for value in wrong if not (value is True and bool in parameter.types)]
    return [[value] for value in wrong] if parameter.many else wrong


@illegal_values.register
def _of_models(parameter: ModelParameter) -> list[Any]:
    """What names no model, names one of another kind, or sets what it has not."""
    fit = {name: issubclass(MODELS.load(name), parameter.of) for name in MODELS.names()}
    some, other = (next(name for name, of in fit.items() if of is wanted) for wanted in (True, False))
    wrong: list[Any] = [1, "no such model", other, {"params": {}}, {"use": some, "steps": "x"}]
    wrong += [] if parameter.optional else [None]
    wrong.append({"use": some, "params": {"no_such_parameter": 1}})
    return [some, [], *([value] for value in wrong)] if parameter.many else wrong


@illegal_values.register
def _of_rules(parameter: DecisionParameter) -> list[Any]:
    """Unknown rules and impossible amounts."""
    amounts = ({"top": 0}, {"top": 1.5}, {"share": 1}, {"p": 0}, {"threshold": math.inf})
    return ["no such rule", True, 3, {"rule": 1}, {"top": 1, "share": 0.1}, "p < 2", *amounts]
