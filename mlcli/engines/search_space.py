"""The search space of tuning: for each path into a model the values, or the range, to try.

A space is written as lists, or as ranges such as {from: 0.01, to: 100, scale: log, points: 5}; without any, it is
what the parameters declare.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from mlcli.core.abilities import SearchRanges
from mlcli.core.configuration import Configuration, described_as
from mlcli.core.errors import FitError, Problem, UsageError, raise_all
from mlcli.core.model import Model
from mlcli.core.names import did_you_mean
from mlcli.core.nested import condition_text, has_effect
from mlcli.core.params import Parameter, by_name, nowhere, parameters
from mlcli.core.ranges import Among, ByRows, Range, Search, Simpler
from mlcli.core.registry import MODELS
from mlcli.core.rows import RowsOfTable

Values = dict[str, Any]
"""The values of a candidate by path."""
RANGE_KEYS = ("from", "to", "scale", "points")
MOST_POINTS, FEWEST_POINTS = 10, 2
"""The points of a range in a grid, whatever the budget."""
EXAMPLE = "such as [0.1, 1, 10], or {from: 0.01, to: 100, scale: log}"


@dataclass(frozen=True)
class Dimension:
    """One path of a space, and what to try there."""

    path: str
    search: Search
    parameter: Parameter

    @property
    def by_rows(self) -> bool:
        """Whether the values to try depend on the rows."""
        return isinstance(self.search, ByRows)

    @property
    def is_open(self) -> bool:
        """Whether it is a range without a number of points."""
        return isinstance(self.search, Range) and self.search.points is None

    def simplicity(self, value: object) -> float:
        """Smaller for a simpler model: by the declaration, else by the order of the list."""
        simpler = getattr(self.search, "simpler", "") or getattr(self.parameter.tune, "simpler", "")
        if isinstance(value, int | float) and not isinstance(value, bool) and simpler:
            return float(value) if simpler == "low" else -float(value)
        if isinstance(self.search, Among):
            return float(self.search.options.index(value)) if value in self.search.options else math.inf
        return 0.0

    def edge(self, value: object) -> str:
        """The word lowest or highest for a value at an end of those to try, if values beyond it would be legal."""
        if not isinstance(value, int | float) or isinstance(value, bool):
            return ""
        if isinstance(self.search, Range):
            low, high = self.search.low, self.search.high
        elif isinstance(self.search, Among) and all(isinstance(one, int | float) for one in self.search.options):
            low, high = min(self.search.options), max(self.search.options)
        else:
            return ""
        step = 1 if self.parameter.whole else 0.01 * (abs(value) or 1.0)
        if low == high:
            return ""
        if value == low and self.parameter.problem_with(value - step) is None:
            return "lowest"
        return "highest" if value == high and self.parameter.problem_with(value + step) is None else ""

    def drawn(self, rng: np.random.Generator) -> Any:
        """A random value."""
        if isinstance(self.search, Range):
            return self.search.drawn(float(rng.random()), self.parameter.whole)
        assert isinstance(self.search, Among)
        return self.search.options[int(rng.integers(len(self.search.options)))]

    def values(self, points: int) -> tuple[Any, ...]:
        """The values of a grid."""
        if isinstance(self.search, Range):
            return self.search.values(self.search.points or points, self.parameter.whole)
        assert isinstance(self.search, Among)
        return self.search.options


@dataclass(frozen=True)
class SearchSpace:
    """All dimensions; a candidate has a value of each."""

    dimensions: tuple[Dimension, ...]

    @property
    def endless(self) -> bool:
        """Whether some dimension is a range without a number of points."""
        return any(dimension.is_open for dimension in self.dimensions)

    def grid(self, budget: int | None, free: str = "") -> list[Values]:
        """Every combination. Ranges have as many points as the budget allows; ``free`` does not count to that."""
        paid = [dimension for dimension in self.dimensions if dimension.path != free]
        open_ranges = [dimension for dimension in paid if dimension.is_open]
        listed = math.prod(len(dimension.values(1)) for dimension in paid if not dimension.is_open)
        points = MOST_POINTS
        if open_ranges and budget is not None:
            points = int((budget / max(listed, 1)) ** (1 / len(open_ranges)) + 1e-9)
        points = min(max(points, FEWEST_POINTS), MOST_POINTS)
        every = [
            dimension.values(points if dimension in open_ranges else MOST_POINTS) for dimension in self.dimensions
        ]
        paths = [dimension.path for dimension in self.dimensions]
        return [dict(zip(paths, values, strict=True)) for values in product(*every)]

    def drawn(self, count: int, rng: np.random.Generator) -> list[Values]:
        """Random candidates without repetition; fewer if there are not so many."""
        results: dict[str, Values] = {}
        for _ in range(20 * count):
            if len(results) == count:
                break
            values = {dimension.path: dimension.drawn(rng) for dimension in self.dimensions}
            results.setdefault(repr(values), values)
        return list(results.values())

    def simplicity(self, values: Values) -> tuple[float, ...]:
        """A key that sorts candidates from the simplest to the least simple."""
        return tuple(dimension.simplicity(values[dimension.path]) for dimension in self.dimensions)

    def settled(self, model: Model, data: RowsOfTable) -> SearchSpace:
        """The space with the ranges that depend on prepared rows."""
        final, dimensions = model.final, []
        for dimension in self.dimensions:
            if isinstance(dimension.search, ByRows):
                by_rows = None
                if isinstance(final, SearchRanges) and "." not in dimension.path:
                    by_rows = final.search_range(dimension.path, data)
                if by_rows is None:
                    what = f"which values of '{dimension.path}' are worth trying does not follow from the rows"
                    raise FitError(what, hint=f"say what to try, {EXAMPLE}")
                search = replace(by_rows, simpler=dimension.search.simpler)
                dimensions.append(replace(dimension, search=search))
            else:
                dimensions.append(dimension)
        return SearchSpace(tuple(dimensions))


def space_of(model: Model, written: Mapping[str, Any] | None) -> SearchSpace:
    """The space of a configured model as written, or as its parameters declare; UsageError has all problems."""
    if written is None:
        return SearchSpace(tuple(_declared(model.final)))
    problems, dimensions = list[Problem](), list[Dimension]()
    for path, value in written.items():
        try:
            parameter = parameter_at(model, path)
            search = _read_search(path, value, parameter)
        except UsageError as error:
            problems += error.problems
            continue
        dimensions.append(Dimension(path, search, parameter))
        values: Sequence[object] = search.options if isinstance(search, Among) else ()
        if isinstance(search, Range):
            values = search.low, search.high
        for tried in values:
            for problem in parameter.problems(path, tried, {}, nowhere):
                problems.append(replace(problem, what=problem.what.removeprefix(f"{path}: ")))
    if not written:
        problems.append(Problem("the space is empty", hint=f"name a parameter with values, {EXAMPLE}"))
    varied = {dimension.path for dimension in dimensions}
    for dimension in dimensions:
        conditions = dimension.parameter.matters_when or {}
        could_matter = "." in dimension.path or conditions.keys() & varied
        if not could_matter and not has_effect(model.final, dimension.parameter):
            what = f"'{dimension.path}' has no effect here: it matters {condition_text(conditions)}"
            problems.append(Problem(what))
    if problems:
        raise UsageError(*problems)
    return SearchSpace(tuple(dimensions))


def _declared(model: Model, start: str = "") -> Iterator[Dimension]:
    """The declared ranges of the parameters of a model, and of its nested model if there is only one."""
    for parameter in parameters(type(model)):
        search, given = parameter.tune, parameter.value_in(model)
        if search is not None and search.unasked and has_effect(model, parameter):
            yield Dimension(start + parameter.name, search, parameter)
        for nested in parameter.models(given) if not parameter.many else ():
            yield from _declared(nested.final, f"{start}{parameter.name}.")


def _read_search(path: str, value: object, parameter: Parameter) -> Search:
    """What to try at a path, as written."""
    if value is None or value == "declared":
        if parameter.tune is None:
            raise UsageError(f"'{path}' declares no range", hint=f"say what to try, {EXAMPLE}")
        return parameter.tune
    if isinstance(value, list | tuple) and value:
        return Among(tuple(value), ordered=True)
    if isinstance(value, Mapping) and value.keys() & set(RANGE_KEYS):
        return _read_range(path, value, parameter)
    raise UsageError(f"'{path}' takes values to try, was given {value!r}", hint=EXAMPLE)


def _read_range(path: str, value: Mapping[str, Any], parameter: Parameter) -> Range:
    """A range from a mapping; what is left out is as declared."""
    for key in value:
        if key not in RANGE_KEYS:
            hint = did_you_mean(key, RANGE_KEYS, "keys")
            raise UsageError(f"the range of '{path}' has no key '{key}'", hint=hint)
    declared = parameter.tune if isinstance(parameter.tune, Range) else None
    low = value.get("from", declared.low if declared else None)
    high = value.get("to", declared.high if declared else None)
    points, scale = value.get("points"), value.get("scale", "log" if declared and declared.log else "linear")
    for end in (low, high):
        if isinstance(end, bool) or not isinstance(end, int | float) or not math.isfinite(end):
            raise UsageError(f"the range of '{path}' goes from a number to a number, was given {dict(value)!r}")
    if not low < high:
        raise UsageError(f"the range of '{path}' ends at {high}, which is not above its beginning {low}")
    if scale not in ("linear", "log"):
        raise UsageError(f"the scale of '{path}' is linear or log, was given {scale!r}")
    if scale == "log" and low <= 0:
        raise UsageError(f"a log scale of '{path}' begins above 0, was given {low}")
    if points is not None and (isinstance(points, bool) or not isinstance(points, int) or points < FEWEST_POINTS):
        what = f"the points of '{path}' are a whole number from {FEWEST_POINTS} up, was given {points!r}"
        raise UsageError(what)
    simpler: Simpler = getattr(parameter.tune, "simpler", "")
    return Range(low, high, log=scale == "log", simpler=simpler, points=points)


def text_of(values: Mapping[str, object]) -> str:
    """The values of a candidate as text, such as "k=3, weights=uniform"."""
    return ", ".join(f"{path}={value_text(value)}" for path, value in values.items())


def value_text(value: object) -> str:
    """A value as a user would write it; a nested model by its id."""
    if isinstance(value, Mapping):
        return str(value.get("use", dict(value)))
    if isinstance(value, list | tuple):
        parts = (f"[{value_text(part)}]" if isinstance(part, list | tuple) else value_text(part) for part in value)
        return ",".join(parts)
    if value is None or isinstance(value, bool):
        return {None: "none", True: "true", False: "false"}[value]
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def parameter_at(model: Model, path: str) -> Parameter:
    """The parameter at a path into a configured model; UsageError if there is none."""
    configuration = Configuration(MODELS, described_as(model))
    parameter = configuration.parameter(path)
    if parameter is None:
        steps = [f"{step.use}." for step in configuration.steps or ()]
        names = [*by_name(configuration.cls), *steps]
        hint = did_you_mean(path.partition(".")[0], names, f"parameters of {configuration.use}")
        raise UsageError(f"the path '{path}' leads nowhere in {configuration.use}", hint=hint)
    return parameter


def with_values(model: Model, values: Mapping[str, Any]) -> Model:
    """The same configuration, with nothing learned and other values at some paths."""
    plain = _editable(described_as(model))
    for path in sorted(values, key=lambda path: path.count(".")):  # whole models before their parameters
        owner, name = _owner(plain, path)
        owner["params"][name] = _editable(values[path])
    configuration = Configuration(MODELS, plain)
    raise_all(UsageError, list(configuration.problems()))
    changed: Model = configuration.built()
    return changed


def _owner(plain: dict[str, Any], path: str) -> tuple[dict[str, Any], str]:
    """The plain values of the model or step that a path leads to, and the name of the parameter there."""
    name, dot, rest = path.partition(".")
    if not dot:
        return plain, name
    if name not in plain["params"]:
        inside = next((step for step in plain.get("steps", ()) if step["use"] == name), None)
    elif isinstance(plain["params"][name], list):
        use, _, rest = rest.partition(".")
        inside = next((model for model in plain["params"][name] if model["use"] == use), None)
    else:
        inside = plain["params"][name]
        if isinstance(inside, str):  # an id that another value has put here
            inside = plain["params"][name] = {"use": inside}
    if not isinstance(inside, dict):
        raise UsageError(f"the path '{path}' leads nowhere in {plain['use']}")
    inside.setdefault("params", {})
    return _owner(inside, rest)


def _editable(value: Any) -> Any:
    """A copy of plain values in dictionaries and lists."""
    if isinstance(value, Mapping):
        return {key: _editable(part) for key, part in value.items()}
    return [_editable(part) for part in value] if isinstance(value, list | tuple) else value
