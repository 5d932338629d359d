"""Expands `tune`, `decide` and `cost` to what they are short for: a wrapper around a model, and a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from mlcli.core.errors import Problem, UsageError
from mlcli.core.names import did_you_mean
from mlcli.core.params import build, by_name, parameters, problems_with
from mlcli.core.ranges import Range
from mlcli.core.registry import MODELS
from mlcli.core.strict_yaml import YamlNode
from mlcli.experiment.spec.cells import SELECTED, TUNED, Experiment, ModelSpec, ProtocolSpec
from mlcli.experiment.spec.labels import as_typed
from mlcli.metrics.confusion import COST, EXAMPLE, Costs, cost_name, problems_with_costs
from mlcli.tasks.table import Kind, kind_named

Settings = Mapping[str, Any]
"""The parameters of `tuned` without its base model."""
RANGES = "ranges"
COMPARED = 5
"""The number of values in a suggested comparison by hand."""
FORWARD = "forward-chaining"
FORMS = "true, [C], {C: [0.1, 1, 10]}, or {ranges: {C: [0.1, 1, 10]}, search: random, trials: 30}"
RULE, FAIR_RULE = "decision-rule", "fair-thresholds"
KINDS_OF_COST = "classification"
BY_COST = ("cost", "expected-cost")
DECIDE = "such as decide: f1, or decide: {by: cost, cost: {malignant: {benign: 5}}}"


def settings_of_tuning(written: Any) -> Settings | None:
    """Reads `tune`: false, true (the declared ranges), names, ranges, or settings of the search."""
    if written is False:
        return None
    if written is True:
        return {}
    if isinstance(written, list) and written and all(isinstance(path, str) for path in written):
        return {RANGES: dict.fromkeys(written)}
    if not isinstance(written, Mapping) or not written:
        hint = f"such as tune: [{written}]" if isinstance(written, str) else ""
        raise UsageError(f"'tune' takes {FORMS}; was given {written!r}", hint=hint)
    known = [name for name in by_name(MODELS.load(TUNED)) if name != "base"]
    if not _are_settings(written, known):
        return {RANGES: dict(written)}
    for name in written:
        if name not in known:
            raise UsageError(f"'tune' has no setting '{name}'", hint=did_you_mean(name, known, "settings"))
    return dict(written)


def _are_settings(written: Mapping[str, Any], known: Sequence[str]) -> bool:
    """Whether a mapping holds settings of the search rather than ranges, which are lists or have two ends."""
    if RANGES in written:
        return True
    plain = [name for name, value in written.items() if not isinstance(value, list) and not _is_range(value)]
    return bool(plain) and (all(name in known for name in plain) or len(plain) == len(written))


def _is_range(value: Any) -> bool:
    return value is None or value == "declared" or (isinstance(value, Mapping) and "use" not in value)


def tuned(spec: ModelSpec, settings: Settings) -> ModelSpec:
    """A model that tunes another; the steps are part of its base, since they are tuned with it."""
    return replace(spec, use=TUNED, params={**settings, "base": model_as_written(spec)}, steps=None, stages=None)


def selection_of(specs: Sequence[ModelSpec], settings: Settings, label: str) -> ModelSpec:
    """A model that chooses the best of several in each split."""
    params = {**settings, "models": [model_as_written(spec) for spec in specs]}
    return ModelSpec(SELECTED, params, label=label)


def model_as_written(spec: ModelSpec) -> dict[str, Any]:
    """A model as the value of a parameter of another."""
    plain: dict[str, Any] = {"use": spec.use, "params": dict(spec.params)}
    if spec.steps is None:
        return plain
    return plain | {"steps": [{"use": step.use, "params": dict(step.params)} for step in spec.steps]}


def tuned_if_tunable(spec: ModelSpec, settings: Settings) -> ModelSpec:
    """The model, tuned if its parameters declare ranges to try."""
    if spec.saved is not None or spec.use in (TUNED, SELECTED) or not spec.shares_tune:
        return spec
    if not can_be_tuned(spec.use):
        return spec
    cls, wrapper = spec.cls, MODELS.load(TUNED)
    from mlcli.engines.search_space import space_of

    if not space_of(build(cls, spec.params), None).dimensions:
        return spec
    made = tuned(spec, settings)
    build(wrapper, made.params)
    return made


def can_be_tuned(use: str) -> bool:
    """Whether a model can be tuned by inner validation, which needs a target to score by."""
    base: Any = by_name(MODELS.load(TUNED))["base"]
    return issubclass(MODELS.load(use), base.of)


def refuse_nothing_tuned(specs: Sequence[ModelSpec]) -> None:
    """Raise an error that says why none of these models can be tuned."""
    names = ", ".join(dict.fromkeys(model.name for model in specs))
    if any(model.saved is None and can_be_tuned(model.use) for model in specs):
        what = f"{names}: no parameters that are tuned where none are named"
        raise UsageError(what, hint="name them yourself, such as -m '{use: svm, tune: {C: [0.1, 1, 10]}}'")
    what = f"{names}: inner splits cannot tell what is better, since fits see nothing that judges"
    raise UsageError(what, hint=f"compare values: {values_compared(specs[0].use)}")


def values_compared(use: str) -> str:
    """A command that draws a score over values of the first parameter with a declared range."""
    ranges = (
        (parameter, parameter.tune)
        for parameter in parameters(MODELS.load(use))
        if isinstance(parameter.tune, Range)
    )
    tried = [f"-p {name.name}={as_typed(text.values(COMPARED, name.whole))}" for name, text in ranges]
    return f"mlcli curve validation DATA -m {use} {(*tried, '-p NAME=VALUE,VALUE')[0]}"


def tuned_in_order(spec: ModelSpec, protocol: ProtocolSpec) -> ModelSpec:
    """The model, with the gap and window of the outer forward-chaining in its inner validation."""
    if protocol.use != FORWARD or spec.use not in (TUNED, SELECTED) or spec.params.get("inner") is not None:
        return spec
    kept = {name: protocol.params.get(name) for name in ("gap", "window")}
    inner = {"use": FORWARD, **{name: value for name, value in kept.items() if value}}
    return replace(spec, params={**spec.params, "inner": inner})


def refuse_unknown_metric(spec: ModelSpec, kind: Kind, classes: Sequence[str]) -> None:
    """Refuse a metric of inner validation that cannot score this kind of task."""
    from mlcli.metrics.registry import metric_named

    metric = spec.params.get("metric") if spec.use in (TUNED, SELECTED) else None
    if metric is not None:
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
    if model.saved is None and model.is_installed and "decide" in by_name(model.cls):
        return _by_own_rule(model, rule, problems)
    asked = {"by": rule.value} if isinstance(rule.value, str) else rule.bare
    before = len(problems)
    if not isinstance(asked, dict):
        problems.append(rule.problem(f"'decide' takes a rule, was given {rule.given}", DECIDE))
    elif model.saved is not None:
        problems.append(rule.problem(f"{model.label} has learned already", "decide where it is trained"))
    elif "base" in asked:
        problems.append(rule.problem("'decide' stands beside the model that it decides for", "leave out 'base'"))
    else:
        params, use = {"base": model_as_written(model), **asked}, _rule_of(asked)
        problems += problems_with(MODELS.load(use), params, partial(_place, rule))
        if len(problems) == before:
            label = model.label or f"{model.name} (by {asked.get('by', 'cost')})".replace(") (", ", ")
            return [replace(model, use=use, params=params, steps=None, label=label, stages=None)]
    return []


def _by_own_rule(model: ModelSpec, rule: YamlNode, problems: list[Problem]) -> list[ModelSpec]:
    if "decide" in model.params:
        problems.append(
            rule.problem(f"{model.name}: 'decide' is among its params already", "leave out one of them")
        )
        return []
    params = {**model.params, "decide": rule.bare}
    wrong = problems_with(model.cls, params, partial(_place, rule))
    problems += wrong
    return [] if wrong else [replace(model, params=params)]


def costs_of(written: YamlNode, problems: list[Problem]) -> Costs | None:
    """Reads the costs of an experiment."""
    wrong = list(problems_with_costs(written.bare))
    problems += [written.problem(problem, EXAMPLE) for problem in wrong]
    return None if wrong else written.bare


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
    asked = experiment.metrics or (COST, *kind_named(KINDS_OF_COST).metrics)
    metrics = tuple(name if text == COST else text for text in asked)
    metrics = metrics if name in metrics else (*metrics, name)
    models = experiment.models
    return replace(
        experiment,
        metrics=metrics,
        metrics_where={
            name if key == COST else key: location for key, location in experiment.metrics_where.items()
        },
        models=None if models is None else tuple(_with_own_costs(model, costs) for model in models),
    )


def _with_own_costs(model: ModelSpec, costs: Costs) -> ModelSpec:
    takes = model.use == RULE and model.params.get("by", "cost") in BY_COST and not model.params.get("cost")
    return replace(model, params={**model.params, "cost": dict(costs)}) if takes else model


def _rule_of(asked: Mapping[str, Any]) -> str:
    """The wrapper for a decision rule: thresholds by group if the rule names a fairness criterion."""
    from mlcli.metrics.fairness import CRITERIA

    return FAIR_RULE if asked.get("by") in CRITERIA else RULE


def _place(rule: YamlNode, *keys: str | int) -> str:
    """The place of a parameter in ``decide``, or of ``decide`` itself."""
    return rule.place(*keys) if keys and isinstance(rule.value, Mapping) and keys[0] in rule.value else rule.where
