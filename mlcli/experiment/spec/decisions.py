"""Decisions: ``decide`` is short for a decision rule round a model, ``cost`` says what wrong answers cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from mlcli.core.errors import Problem, UsageError
from mlcli.core.params import build, by_name, problems_with
from mlcli.core.registry import MODELS
from mlcli.experiment.spec.cells import Experiment, ModelSpec
from mlcli.experiment.spec.tuning import plain_model
from mlcli.experiment.spec.written import Written, placed
from mlcli.metrics.costs import COST, EXAMPLE, Costs, cost_name, problems_with_costs
from mlcli.tasks.table import kind_named

RULE, FAIR_RULE = "decision-rule", "fair-thresholds"
KINDS_OF_COST = "classification"
BY_COST = ("cost", "expected-cost")
DECIDE = "such as decide: f1, or decide: {by: cost, cost: {malignant: {benign: 5}}}"


def decided(model: ModelSpec, rule: Written, found: list[Problem]) -> list[ModelSpec]:
    """A model behind a decision rule, as ``decide`` says; nothing where that is not legal.

    A detector has rules of its own, in its parameter of that name.
    """
    if model.saved is None and model.use in MODELS and "decide" in by_name(MODELS.load(model.use)):
        return _by_own_rule(model, rule, found)
    asked = {"by": rule.value} if isinstance(rule.value, str) else rule.bare
    before = len(found)
    if not isinstance(asked, dict):
        found.append(rule.problem(f"'decide' takes a rule, was given {rule.given}", DECIDE))
    elif model.saved is not None:
        found.append(rule.problem(f"{model.label} has learned already", "decide where it is trained"))
    elif "base" in asked:
        found.append(rule.problem("'decide' stands beside the model that it decides for", "leave out 'base'"))
    else:
        params, use = {"base": plain_model(model), **asked}, _rule_of(asked)
        found += problems_with(MODELS.load(use), params, partial(_place, rule))
        if len(found) == before:
            found += _together(use, params, rule)
        if len(found) == before:
            label = model.label or f"{model.name} (by {asked.get('by', 'cost')})".replace(") (", ", ")
            return [replace(model, use=use, params=params, steps=None, label=label, stages=None)]
    return []


def _by_own_rule(model: ModelSpec, rule: Written, found: list[Problem]) -> list[ModelSpec]:
    if "decide" in model.params:
        found.append(rule.problem(f"{model.name}: 'decide' is among its params already", "leave out one of them"))
        return []
    params = {**model.params, "decide": rule.bare}
    problems = problems_with(MODELS.load(model.use), {"decide": rule.bare}, partial(_place, rule))
    found += problems
    return [] if problems else [replace(model, params=params)]


def costs_of(written: Written, found: list[Problem]) -> Costs | None:
    """The costs of an experiment."""
    problems = list(problems_with_costs(written.bare))
    found += [written.problem(problem, EXAMPLE) for problem in problems]
    return None if problems else written.bare


def costs_from_text(text: str) -> Costs:
    """Costs as they are typed in a shell."""
    from mlcli.core.strict_yaml import parse

    found: list[Problem] = []
    document = parse(text, "--cost", UsageError)
    costs = costs_of(Written(document.value, document), found)
    if costs is None:
        raise UsageError(*found)
    return costs


def with_costs(experiment: Experiment) -> Experiment:
    """The experiment measured by its costs, if it names some; rules by cost without their own use them."""
    costs = experiment.cost
    if costs is None:
        return experiment
    name = cost_name(costs)
    asked = experiment.metrics or (COST, *kind_named(KINDS_OF_COST).metrics)
    metrics = tuple(name if one == COST else one for one in asked)
    metrics = metrics if name in metrics else (*metrics, name)
    models = experiment.models
    return replace(
        experiment,
        metrics=metrics,
        metrics_where={name if key == COST else key: place for key, place in experiment.metrics_where.items()},
        models=None if models is None else tuple(_with_own_costs(model, costs) for model in models),
    )


def _with_own_costs(model: ModelSpec, costs: Costs) -> ModelSpec:
    takes = model.use == RULE and model.params.get("by", "cost") in BY_COST and not model.params.get("cost")
    return replace(model, params={**model.params, "cost": dict(costs)}) if takes else model


def _rule_of(asked: Mapping[str, Any]) -> str:
    """The method that decides: thresholds by group where a criterion of fairness is named."""
    from mlcli.metrics.fairness import CRITERIA

    return FAIR_RULE if asked.get("by") in CRITERIA else RULE


def _place(rule: Written, name: str, *keys: str | int) -> str:
    return rule.place(name, *keys) if isinstance(rule.value, Mapping) and name in rule.value else rule.where


def _together(use: str, params: Mapping[str, Any], rule: Written) -> list[Problem]:
    try:
        build(MODELS.load(use), params)
    except UsageError as error:
        return placed(error.problems, rule.where)
    return []
