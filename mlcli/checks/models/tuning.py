"""Parameters: chosen at the edge of what was tried, or left at their defaults where trying others is worth it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from mlcli.checks.diagnosed import Diagnosed
from mlcli.checks.suggestions import stated_params
from mlcli.core.findings import Entry, Issue, Repair
from mlcli.core.names import listed
from mlcli.core.nested import has_effect, without_effect
from mlcli.core.params import parameters
from mlcli.core.ranges import Range
from mlcli.core.registry import MODELS
from mlcli.engines.search_space import parameter_at, value_text
from mlcli.experiment.spec.cells import TUNED, ModelSpec, as_typed
from mlcli.experiment.spec.shorthands import can_be_tuned, values_compared
from mlcli.scoring.model_results import choices_of


def tuned_to_the_edge(diagnosed: Diagnosed) -> Iterator[Issue]:
    """Values that lie at the end of what was tried, beyond which better ones may be."""
    choices = choices_of(diagnosed.model)
    edges = Counter(
        (name, edge)
        for _, chosen in choices
        for name, edge in zip(chosen.names, chosen.edges, strict=True)
        if edge
    )
    for (name, edge), count in edges.items():
        if count >= len(choices) / 2:
            value = next(chosen.values[chosen.names.index(name)] for _, chosen in choices if name in chosen.names)
            beyond = "above" if edge == "highest" else "below"
            yield Issue(
                "warning",
                f"{name} was tuned to the {edge} value that was tried in {count} of {len(choices)} splits",
                f"such as {value}; values {beyond} it may be better",
                _wider_search(diagnosed, name, value, upwards=edge == "highest"),
            )


def _wider_search(diagnosed: Diagnosed, path: str, value: Entry, *, upwards: bool) -> tuple[Repair, ...]:
    """A search from the value that was chosen to one that lies well beyond it."""
    tuned = diagnosed.cell.model
    if tuned.use != TUNED or not isinstance(value, int | float):
        return ()
    wrapper: Any = tuned.built()
    parameter, base = parameter_at(wrapper.base, path), tuned.params["base"]
    for factor in (10, 3, 2) if value > 0 else ():  # the largest that is legal
        other = value * factor if upwards else value / factor
        other = round(other) if parameter.whole else other
        if other != value and parameter.problem_with(other) is None:
            low, high = sorted((value, other))
            tune = {path: {"from": low, "to": high, "scale": "log"}}
            params = stated_params(ModelSpec(base["use"], base["params"]), MODELS)
            keys = {**base, "params": params, "tune": tune}
            return (Repair("option", f"-m '{as_typed({key: name for key, name in keys.items() if name})}'"),)
    return ()


def no_effect(diagnosed: Diagnosed) -> Iterator[Issue]:
    """Parameters that were set and have no effect beside the others."""
    model = diagnosed.cell.model
    if model.saved is None:
        for sentence in without_effect(model.built()):
            yield Issue("warning", f"{diagnosed.cell.label}: {sentence}", "the scores are those without it")


def nothing_tuned(diagnosed: Diagnosed) -> Iterator[Issue]:
    """Parameters at their defaults that are worth tuning."""
    cell = diagnosed.cell
    if choices_of(diagnosed.model) or cell.model.saved is not None:
        return
    model = cell.model.built()
    default = [
        f"{parameter.name} ({value_text(parameter.default)})"
        for parameter in parameters(type(model))
        if parameter.tune is not None
        and has_effect(model, parameter)
        and cell.model.params.get(parameter.name) == parameter.default
    ]
    if default:
        yield Issue(
            "advice",
            f"nothing of {cell.label} was tuned: worth trying are {listed(default)}",
            "defaults suit most data, and yours may be others",
            tuning_repairs(diagnosed),
        )


def tuning_repairs(diagnosed: Diagnosed) -> tuple[Repair, ...]:
    """What tunes a model, or shows its score by parameter values; none if it declares no values to try."""
    use = diagnosed.cell.model.use
    declared = [parameter.tune for parameter in parameters(MODELS.load(use)) if parameter.tune is not None]
    if declared and can_be_tuned(use):
        return (Repair("option", "--tune"),)
    if any(isinstance(search, Range) for search in declared):
        return (Repair("option", values_compared(use).replace(" DATA ", f" {diagnosed.reference} ")),)
    return ()
