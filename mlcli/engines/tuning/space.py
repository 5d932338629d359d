"""The space that is searched: for each path into a model the values, or the range, that are tried.

It is written as lists, as ranges such as {from: 0.01, to: 100, scale: log, points: 5}, or as nothing: what the
parameter declares.
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
from mlcli.core.effective import condition_text, has_effect
from mlcli.core.errors import FitError, Problem, UsageError, raise_all
from mlcli.core.model import Model
from mlcli.core.names import did_you_mean
from mlcli.core.params import Parameter, by_name, nowhere, parameters
from mlcli.core.ranges import Among, ByRows, Range, Search, Simpler
from mlcli.core.registry import MODELS

Values = dict[str, Any]
"""By path the value of a candidate."""
RANGE_KEYS = ("from", "to", "scale", "points")
SCALES = ("linear", "log")
MOST_POINTS, FEWEST_POINTS = 10, 2
EXAMPLE = "such as [0.1, 1, 10], or {from: 0.01, to: 100, scale: log}"


@dataclass(frozen=True)
class Dimension:
    """One path of a space with what is tried there."""

    path: str
    search: Search
    parameter: Parameter

    @property
    def by_rows(self) -> bool:
        """Whether only the rows tell what is tried."""
        return isinstance(self.search, ByRows)

    @property
    def simpler(self) -> str:
        """Which end of the values makes the simpler model, where that is known."""
        own = getattr(self.search, "simpler", "")
        return own or getattr(self.parameter.tune, "simpler", "")

    def simplicity(self, value: Any) -> float:
        """Smaller for a simpler model: by the declaration, else the place in the list as it is written."""
        if isinstance(value, int | float) and not isinstance(value, bool) and self.simpler:
            return float(value) if self.simpler == "low" else -float(value)
        if isinstance(self.search, Among):
            return float(self.search.options.index(value)) if value in self.search.options else math.inf
        return 0.0

    def edge(self, value: Any) -> str:
        """Whether a value is the least or the largest that was tried, where others beyond it would be legal."""
        numbers = isinstance(value, int | float) and not isinstance(value, bool)
        tried = self._ends()
        if not numbers or tried is None or tried[0] == tried[1]:
            return ""
        if value == tried[0] and self.parameter.problem_with(_beyond(value, -1, self.parameter.whole)) is None:
            return "lowest"
        if value == tried[1] and self.parameter.problem_with(_beyond(value, 1, self.parameter.whole)) is None:
            return "highest"
        return ""

    def _ends(self) -> tuple[float, float] | None:
        if isinstance(self.search, Range):
            return self.search.low, self.search.high
        if isinstance(self.search, Among) and all(
            isinstance(option, int | float) for option in self.search.options
        ):
            return min(self.search.options), max(self.search.options)
        return None

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
        """Whether some dimension is a range that no grid divides."""
        return any(
            isinstance(dimension.search, Range) and dimension.search.points is None
            for dimension in self.dimensions
        )

    def grid(self, budget: int | None, free: str = "") -> list[Values]:
        """Every combination; ranges have as many points as the budget allows, to which ``free`` does not count."""
        points = self._points(budget, free)
        every = [dimension.values(points[dimension.path]) for dimension in self.dimensions]
        return [dict(zip(self.paths, chosen, strict=True)) for chosen in product(*every)]

    def _points(self, budget: int | None, free: str) -> dict[str, int]:
        open_ = [
            dimension
            for dimension in self.dimensions
            if isinstance(dimension.search, Range) and dimension.search.points is None
        ]
        paid = [dimension for dimension in open_ if dimension.path != free]
        listed = math.prod(
            len(dimension.values(1))
            for dimension in self.dimensions
            if dimension not in open_ and dimension.path != free
        )
        each = MOST_POINTS
        if paid and budget is not None:
            each = int((budget / max(listed, 1)) ** (1 / len(paid)) + 1e-9)
        each = min(max(each, FEWEST_POINTS), MOST_POINTS)
        return {dimension.path: each if dimension in paid else MOST_POINTS for dimension in self.dimensions}

    @property
    def paths(self) -> tuple[str, ...]:
        """Where values go."""
        return tuple(dimension.path for dimension in self.dimensions)

    def drawn(self, count: int, rng: np.random.Generator) -> list[Values]:
        """Random candidates, no two alike; fewer where there are not so many."""
        results: dict[str, Values] = {}
        for _ in range(20 * count):
            if len(results) == count:
                break
            values = {dimension.path: dimension.drawn(rng) for dimension in self.dimensions}
            results.setdefault(repr(values), values)
        return list(results.values())

    def simplicity(self, values: Values) -> tuple[float, ...]:
        """What sorts candidates from the simplest to the least simple."""
        return tuple(dimension.simplicity(values[dimension.path]) for dimension in self.dimensions)

    def settled(self, model: Model, data: Any) -> SearchSpace:
        """The space with what prepared rows tell."""
        return SearchSpace(tuple(_settled(dimension, model, data) for dimension in self.dimensions))


def space_of(model: Model, written: Mapping[str, Any] | None) -> SearchSpace:
    """The space of a configured model as it is written, or what its parameters declare; every problem at once."""
    if written is None:
        return SearchSpace(tuple(_declared(model.final)))
    problems: list[Problem] = []
    dimensions = [_dimension(model, path, value, problems) for path, value in written.items()]
    if not written:
        problems.append(Problem("the space is empty", hint=f"name a parameter with values, {EXAMPLE}"))
    problems += _without_effect(model.final, [dimension for dimension in dimensions if dimension is not None])
    if problems:
        raise UsageError(*problems)
    return SearchSpace(tuple(dimension for dimension in dimensions if dimension is not None))


def _without_effect(model: Model, dimensions: Sequence[Dimension]) -> Iterator[Problem]:
    """Parameters that change nothing, whatever the candidate."""
    varied = {dimension.path for dimension in dimensions}
    for dimension in dimensions:
        conditions = dimension.parameter.matters_when or {}
        if (
            "." not in dimension.path
            and not conditions.keys() & varied
            and not has_effect(model, dimension.parameter)
        ):
            yield Problem(f"'{dimension.path}' has no effect here: it matters {condition_text(conditions)}")


def _declared(model: Model, start: str = "") -> Iterator[Dimension]:
    """What parameters declare to be worth trying, those of a nested model included where it is the only one."""
    for parameter in parameters(type(model)):
        worth, given = parameter.tune, parameter.value_in(model)
        if worth is not None and worth.unasked and has_effect(model, parameter):
            yield Dimension(start + parameter.name, worth, parameter)
        for nested in parameter.models(given) if not parameter.many else ():
            yield from _declared(nested.final, f"{start}{parameter.name}.")


def _dimension(model: Model, path: str, value: Any, problems: list[Problem]) -> Dimension | None:
    try:
        parameter = parameter_at(model, path)
        search = _search(path, value, parameter)
    except UsageError as error:
        problems += error.problems
        return None
    tried = search.options if isinstance(search, Among) else _ends(search)
    wrong = [problem for given in tried for problem in parameter.problems(path, given, {}, nowhere)]
    problems += [replace(problem, what=problem.what.removeprefix(f"{path}: ")) for problem in wrong]
    return Dimension(path, search, parameter)


def _ends(search: Search) -> tuple[Any, ...]:
    return (search.low, search.high) if isinstance(search, Range) else ()


def _search(path: str, value: Any, parameter: Parameter) -> Search:
    """What is tried at a path, as it is written."""
    if value is None or value == "declared":
        if parameter.tune is None:
            raise UsageError(f"'{path}' declares no range", hint=f"say what to try, {EXAMPLE}")
        return parameter.tune
    if isinstance(value, list | tuple) and value:
        return Among(tuple(value), ordered=True)
    if isinstance(value, Mapping) and value.keys() & set(RANGE_KEYS):
        return _range(path, value, parameter)
    raise UsageError(f"'{path}' takes values to try, was given {value!r}", hint=EXAMPLE)


def _range(path: str, value: Mapping[str, Any], parameter: Parameter) -> Range:
    """A range from a mapping; what is left out is as declared."""
    for key in value:
        if key not in RANGE_KEYS:
            raise UsageError(
                f"the range of '{path}' has no key '{key}'", hint=did_you_mean(key, RANGE_KEYS, "keys")
            )
    known = parameter.tune if isinstance(parameter.tune, Range) else None
    low, high = (value.get(key, getattr(known, name, None)) for key, name in (("from", "low"), ("to", "high")))
    points, scale = value.get("points"), value.get("scale", "log" if known and known.log else "linear")
    for end in (low, high):
        if isinstance(end, bool) or not isinstance(end, int | float) or not math.isfinite(end):
            raise UsageError(f"the range of '{path}' goes from a number to a number, was given {dict(value)!r}")
    if not low < high:
        raise UsageError(f"the range of '{path}' ends at {high}, which is not above its beginning {low}")
    if scale not in SCALES:
        raise UsageError(f"the scale of '{path}' is linear or log, was given {scale!r}")
    if scale == "log" and low <= 0:
        raise UsageError(f"a log scale of '{path}' begins above 0, was given {low}")
    if points is not None and (isinstance(points, bool) or not isinstance(points, int) or points < FEWEST_POINTS):
        raise UsageError(
            f"the points of '{path}' are a whole number from {FEWEST_POINTS} up, was given {points!r}"
        )
    simpler: Simpler = getattr(parameter.tune, "simpler", "")
    return Range(low, high, log=scale == "log", simpler=simpler, points=points)


def _settled(dimension: Dimension, model: Model, data: Any) -> Dimension:
    if not isinstance(dimension.search, ByRows):
        return dimension
    final = model.final
    found = None
    if isinstance(final, SearchRanges) and "." not in dimension.path:
        found = final.search_range(dimension.path, data)
    if found is None:
        what = f"which values of '{dimension.path}' are worth trying does not follow from the rows"
        raise FitError(what, hint=f"say what to try, {EXAMPLE}")
    return replace(dimension, search=replace(found, simpler=dimension.search.simpler))


def _beyond(value: float, sign: int, whole: bool) -> float:
    """A value a little further out."""
    return value + sign * (1 if whole else 0.01 * (abs(value) or 1.0))


def text_of(values: Mapping[str, Any]) -> str:
    """A candidate in a few words."""
    return ", ".join(f"{path}={value_text(value)}" for path, value in values.items())


def value_text(value: Any) -> str:
    """A value as it would be written; a nested model by its id."""
    if isinstance(value, Mapping):
        return str(value.get("use", dict(value)))
    if isinstance(value, list | tuple):
        return ",".join(
            f"[{value_text(name)}]" if isinstance(name, list | tuple) else value_text(name) for name in value
        )
    if value is None or isinstance(value, bool):
        return {None: "none", True: "true", False: "false"}[value]
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def parameter_at(model: Model, path: str) -> Parameter:
    """The parameter at a path into a configured model; a path that leads nowhere is refused."""
    configuration = Configuration(MODELS, described_as(model))
    result = configuration.parameter(path)
    if result is None:
        steps = [f"{step.use}." for step in configuration.steps or ()]
        names = [*by_name(configuration.cls), *steps]
        hint = did_you_mean(path.partition(".")[0], names, f"parameters of {configuration.use}")
        raise UsageError(f"the path '{path}' leads nowhere in {configuration.use}", hint=hint)
    return result


def with_values(model: Model, values: Mapping[str, Any]) -> Model:
    """The same configuration, nothing learned, with other values at some paths, those of whole models first."""
    plain = _editable(described_as(model))
    for path in sorted(values, key=lambda path: path.count(".")):
        owner, name = _owner(plain, path)
        owner["params"][name] = _editable(values[path])
    configuration = Configuration(MODELS, plain)
    raise_all(UsageError, list(configuration.problems()))
    changed: Model = configuration.built()
    return changed


def _owner(plain: dict[str, Any], path: str) -> tuple[dict[str, Any], str]:
    """The model or step that a path leads to, in plain values, and the name of its parameter."""
    name, dot, rest = path.partition(".")
    if not dot:
        return plain, name
    if name not in plain["params"]:
        inside = next((step for step in plain.get("steps", ()) if step["use"] == name), None)
    elif isinstance(plain["params"][name], list):
        use, _, rest = rest.partition(".")
        inside = next((one for one in plain["params"][name] if one["use"] == use), None)
    else:
        inside = plain["params"][name]
        if isinstance(inside, str):  # an id that another value has put here
            inside = plain["params"][name] = {"use": inside}
    if not isinstance(inside, dict):
        raise UsageError(f"the path '{path}' leads nowhere in {plain['use']}")
    inside.setdefault("params", {})
    return _owner(inside, rest)


def _editable(value: Any) -> Any:
    """Plain values that may be changed."""
    if isinstance(value, Mapping):
        return {key: _editable(one) for key, one in value.items()}
    return [_editable(one) for one in value] if isinstance(value, list | tuple) else value
