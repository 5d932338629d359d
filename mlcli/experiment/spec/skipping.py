"""Why a model cannot be run on a dataset at all: it is shown as skipped, and the others go on."""

from __future__ import annotations

from mlcli.core.nested import can_do
from mlcli.core.params import build
from mlcli.core.registry import MODELS, PROTOCOLS
from mlcli.experiment.spec.cells import ModelSpec, ProtocolSpec
from mlcli.experiment.spec.datasets import Ground
from mlcli.tasks.table import Kind, kind_named, kinds_of

FITTED = "whole, and {use: bootstrap-whole, asked: drawn}, ask about those"


def why_skipped(ground: Ground, model: ModelSpec, protocol: ProtocolSpec) -> str:
    """The reason in words, or nothing."""
    kinds = _kinds(model)
    if ground.kind not in kinds:
        does = " and ".join(kind.name for kind in kinds)
        return f"{model.label or model.use} does {does}; {ground.name} is {ground.kind.name}"
    splitter = build(PROTOCOLS.load(protocol.use), protocol.params)
    if getattr(MODELS.load(model.use), "transductive", False) and not splitter.asks_only_learned_rows():
        why = f"{model.use} can only place the rows that it was fitted on, and {protocol.use} asks about others"
        return f"{why}; {FITTED}"
    weight = ground.dataset.schema.the("weight")
    if weight is not None and not build(MODELS.load(model.use), model.params).accepts.weights:
        return f"{model.use} takes every row alike; {ground.name} has row weights in '{weight.name}'"
    return ""


def _kinds(model: ModelSpec) -> tuple[Kind, ...]:
    """The kinds of task that a configured model can do; a saved one does what it was trained for."""
    if model.saved is None:
        cls = MODELS.load(model.use)
        configured = build(cls, model.params)
        return tuple(kind for kind in kinds_of(cls) if can_do(configured, kind.base))
    from mlcli.experiment.saved.model_file import load_model

    return (kind_named(load_model(model.saved).kind),)
