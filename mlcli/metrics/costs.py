"""What answers cost: a matrix written as ``{actual: {predicted: value}}``, and its name among metrics."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mlcli.core.errors import UsageError
from mlcli.core.names import did_you_mean
from mlcli.core.tables import Array

COST = "cost"
EXAMPLE = "such as {malignant: {benign: 5}, benign: {malignant: 1}}: by the true class, then by the answer"
Costs = Mapping[str, Mapping[str, float]]


def cost_matrix(costs: Costs | None, classes: Sequence[str]) -> Array:
    """The cost of each answer (columns) for each true class; what is not said is 0 for right, 1 for wrong."""
    matrix = 1.0 - np.eye(len(classes))
    for actual, by_answer in (costs or {}).items():
        for predicted, value in by_answer.items():
            matrix[_place(actual, classes), _place(predicted, classes)] = value
    return matrix


def problems_with_costs(costs: Any) -> Iterator[str]:
    """What is wrong with the form of costs, whatever the classes are."""
    if not isinstance(costs, Mapping) or not costs:
        yield f"costs are a mapping, were given {costs!r}"
        return
    for actual, by_answer in costs.items():
        if not isinstance(by_answer, Mapping) or not by_answer:
            yield f"the costs of {actual} are a mapping of answers to numbers, were given {by_answer!r}"
            continue
        for predicted, value in by_answer.items():
            number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            if not number:
                yield f"what it costs to answer {predicted} for {actual} is a number, was given {value!r}"


def cost_name(costs: Costs) -> str:
    """The name of the metric of these costs."""
    plain = {str(actual): {str(one): float(value) for one, value in row.items()} for actual, row in costs.items()}
    return f"{COST}[{json.dumps(plain, sort_keys=True)}]"


def costs_named(text: str) -> Costs:
    """The costs that stand in the brackets of a name."""
    try:
        costs = json.loads(text)
    except ValueError:
        raise UsageError(f"the costs '{text}' cannot be read", hint=EXAMPLE) from None
    if problem := next(problems_with_costs(costs), ""):
        raise UsageError(problem, hint=EXAMPLE)
    found: Costs = costs
    return found


def _place(label: str, classes: Sequence[str]) -> int:
    if str(label) not in classes:
        raise UsageError(
            f"there is no class '{label}' to cost anything", hint=did_you_mean(str(label), classes, "classes")
        )
    return list(classes).index(str(label))
