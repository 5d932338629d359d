"""Expands `tune`, `decide` and `cost` to what they are short for: a wrapper around a model, and a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mlcli.core.errors import Problem, UsageError
from mlcli.core.names import did_you_mean
from mlcli.core.nested import ModelParameter
from mlcli.core.params import build, by_name, parameters, problems_with
from mlcli.core.ranges import Range
from mlcli.core.registry import MODELS
from mlcli.core.strict_yaml import YamlNode
from mlcli.experiment.spec.cells import SELECTED, TUNED, Experiment, ModelSpec, ProtocolSpec, as_typed
from mlcli.metrics.confusion import COST, EXAMPLE, Costs, cost_name, problems_with_costs
from mlcli.tasks.table import Kind, kind_named

Settings = Mapping[str, Any]
"""The parameters of `tuned` without its base model."""
RULE, FAIR_RULE = "decision-rule", "fair-thresholds"
KINDS_OF_COST = "classification"


def settings_of_tuning(written: Any) -> Settings | None:
    """Reads `tune`: false, true (the declared ranges), names, ranges, or settings of the search."""
    if written is False:
        return None
    if written is True:
        return {}
    if isinstance(written, list) and written and all(isinstance(path, str) for path in written):
        return {"ranges": dict.fromkeys(written)}
    if not isinstance(written, Mapping) or not written:
        forms = "true, [C], {C: [0.1, 1, 10]}, or {ranges: {C: [0.1, 1, 10]}, search: random, trials: 30}"
        hint = f"such as tune: [{written}]" if isinstance(written, str) else ""
        raise UsageError(f"'tune' takes {forms}; was given {written!r}", hint=hint)
    valid = [name for name in by_name(MODELS.load(TUNED)) if name != "base"]
    if "ranges" not in written:
        # Ranges are lists or have two ends; anything else is a setting of the search.
        plain = [
            name
            for name, value in written.items()
            if not (isinstance(value, list) or value is None or value == "declared")
            and not (isinstance(value, Mapping) and "use" not in value)
        ]
        if not plain or not (all(name in valid for name in plain) or len(plain) == len(written)):
            return {"ranges": dict(written)}
    for name in written:
        if name not in valid:
            raise UsageError(f"'tune' has no setting '{name}'", hint=did_you_mean(name, valid, "settings"))
    return dict(written)


def tuned(spec: ModelSpec, settings: Settings) -> ModelSpec:
    """A model that tunes another; the steps are part of its base, since they are tuned with it."""
    return replace(spec, use=TUNED, params={**settings, "base": spec.as_mapping()}, steps=None, stages=None)


def selection_of(specs: Sequence[ModelSpec], settings: Settings, label: str) -> ModelSpec:
    """A model that chooses the best of several in each split."""
    params = {**settings, "models": [spec.as_mapping() for spec in specs]}
    return ModelSpec(SELECTED, params, label=label)


def tuned_if_tunable(spec: ModelSpec, settings: Settings) -> ModelSpec:
    """The model, tuned if its parameters declare ranges to try."""
    if spec.saved is not None or spec.use in (TUNED, SELECTED) or not spec.shares_tune:
        return spec
    if not can_be_tuned(spec.use):
        return spec
    from mlcli.engines.search_space import space_of

    if not space_of(spec.built(), None).dimensions:
        return spec
    wrapped = tuned(spec, settings)
    build(MODELS.load(TUNED), wrapped.params)
    return wrapped


def can_be_tuned(use: str) -> bool:
    """Whether a model can be tuned by inner validation, which needs a target to score by."""
    base = by_name(MODELS.load(TUNED))["base"]
    return isinstance(base, ModelParameter) and issubclass(MODELS.load(use), base.of)


def refuse_nothing_tuned(specs: Sequence[ModelSpec]) -> None:
    """Raise an error that says why none of these models can be tuned."""
    names = ", ".join(dict.fromkeys(model.name for model in specs))
    if any(model.saved is None and can_be_tuned(model.use) for model in specs):
        what = f"{names}: no parameters that are tuned where none are named"
        raise UsageError(what, hint="name them yourself, such as -m '{use: svm, tune: {C: [0.1, 1, 10]}}'")
    what = f"{names}: inner splits cannot tell what is better, since fits see no target"
    raise UsageError(what, hint=f"compare values: {values_compared(specs[0].use)}")


def values_compared(use: str) -> str:
    """A command that draws a score over five values of the first parameter with a declared range."""
    option = "-p NAME=VALUE,VALUE"
    for parameter in parameters(MODELS.load(use)):
        if isinstance(parameter.tune, Range):
            option = f"-p {parameter.name}={as_typed(parameter.tune.values(5, parameter.whole))}"
            break
    return f"mlcli curve validation DATA -m {use} {option}"


def tuned_in_order(spec: ModelSpec, protocol: ProtocolSpec) -> ModelSpec:
    """The model, with the gap and window of the outer forward-chaining in its inner validation."""
    use = "forward-chaining"
    if protocol.use != use or spec.use not in (TUNED, SELECTED) or spec.params.get("inner") is not None:
        return spec
    inner = {name: value for name in ("gap", "window") if (value := protocol.params.get(name))}
    return replace(spec, params={**spec.params, "inner": {"use": use, **inner}})


def refuse_unknown_metric(spec: ModelSpec, kind: Kind, classes: Sequence[str]) -> None:
    """Refuse a metric of inner validation that cannot score this kind of task."""
    metric = spec.params.get("metric") if spec.use in (TUNED, SELECTED) else None
    if metric is not None:
        from mlcli.metrics.registry import metric_named

        metric_named(metric, kind.answers, classes)


def tuned_by_metric(spec: ModelSpec, metric: str, kind: Kind) -> ModelSpec:
    """The model, choosing by the first metric of the experiment unless it names one itself."""
    if spec.use not in (TUNED, SELECTED) or spec.params.get("metric") is not None:
        return spec
    from mlcli.metrics.registry import metric_named

    try:
        metric_named(metric, kind.answers)
    except UsageError:
        return spec
    return replace(spec, params={**spec.params, "metric": metric})


def with_decision_rule(model: ModelSpec, rule: YamlNode, problems: list[Problem]) -> list[ModelSpec]:
    """A model with the decision rule of ``decide`` around it; empty if the rule is not valid.

    A detector takes the rule as its own parameter ``decide``.
    """

    def place(*keys: str | int) -> str:
        inside = keys and isinstance(rule.value, Mapping) and keys[0] in rule.value
        return rule.place(*keys) if inside else rule.where

    before = len(problems)
    if model.saved is None and model.is_installed and "decide" in by_name(model.cls):
        params = {**model.params, "decide": rule.bare}
        if "decide" in model.params:
            what = f"{model.name}: 'decide' is among its params already"
            problems.append(rule.problem(what, "leave out one of them"))
        else:
            problems += problems_with(model.cls, params, place)
        return [] if len(problems) > before else [replace(model, params=params)]
    written = {"by": rule.value} if isinstance(rule.value, str) else rule.bare
    if not isinstance(written, dict):
        example = "such as decide: f1, or decide: {by: cost, cost: {malignant: {benign: 5}}}"
        problems.append(rule.problem(f"'decide' takes a rule, was given {rule.given}", example))
    elif model.saved is not None:
        problems.append(rule.problem(f"{model.label} has learned already", "decide where it is trained"))
    elif "base" in written:
        problems.append(rule.problem("'decide' stands beside the model that it decides for", "leave out 'base'"))
    else:
        from mlcli.metrics.fairness import CRITERIA

        use = FAIR_RULE if written.get("by") in CRITERIA else RULE
        params = {"base": model.as_mapping(), **written}
        problems += problems_with(MODELS.load(use), params, place)
        if len(problems) == before:
            label = model.label or f"{model.name} (by {written.get('by', 'cost')})".replace(") (", ", ")
            return [replace(model, use=use, params=params, steps=None, label=label, stages=None)]
    return []


def costs_of(node: YamlNode, problems: list[Problem]) -> Costs | None:
    """Reads the costs of an experiment."""
    wrong = list(problems_with_costs(node.bare))
    problems += [node.problem(problem, EXAMPLE) for problem in wrong]
    return None if wrong else node.bare


def costs_from_text(text: str) -> Costs:
    """Reads costs that are typed in a shell."""
    from mlcli.core.strict_yaml import parse

    problems: list[Problem] = []
    document = parse(text, "--cost", UsageError)
    costs = costs_of(YamlNode(document.value, document), problems)
    if costs is None:
        raise UsageError(*problems)
    return costs


def with_costs(experiment: Experiment) -> Experiment:
    """The experiment with its costs as a metric, and in decision rules by cost that have none of their own."""
    costs = experiment.cost
    if costs is None:
        return experiment
    name = cost_name(costs)
    requested = experiment.metrics or (COST, *kind_named(KINDS_OF_COST).metrics)
    metrics = tuple(name if metric == COST else metric for metric in requested)
    where = {name if metric == COST else metric: place for metric, place in experiment.metrics_where.items()}
    models = None if experiment.models is None else list(experiment.models)
    for index, model in enumerate(models or ()):
        by = model.params.get("by", "cost")
        if models and model.use == RULE and by in ("cost", "expected-cost") and not model.params.get("cost"):
            models[index] = replace(model, params={**model.params, "cost": dict(costs)})
    return replace(
        experiment,
        metrics=metrics if name in metrics else (*metrics, name),
        metrics_where=where,
        models=None if models is None else tuple(models),
    )
