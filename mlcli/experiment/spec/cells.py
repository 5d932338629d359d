"""An experiment as it is requested (specs), the unit of work (cell: one model on one dataset), and its result.

Cells have labels: parameters and steps as text, distinct for the models of a table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Self, TypeVar

from mlcli.core.model import Model, Step
from mlcli.core.params import build, settings
from mlcli.core.registry import MODELS, PROTOCOLS, STEPS, Catalogue, import_paths_in, may_import
from mlcli.core.rows import SIMILARITY
from mlcli.core.schema import Schema
from mlcli.data.dataset import Dataset, Recipe
from mlcli.experiment.results import SplitResult, each
from mlcli.protocols._base import Protocol

if TYPE_CHECKING:
    from mlcli.data.sidecar import Sidecar
    from mlcli.data.source import Source
    from mlcli.experiment.spec.datasets import PlannedDataset
    from mlcli.experiment.spec.expectations import Expectation

T = TypeVar("T")

WHOLE = "whole"
"""The protocol that tests the training rows themselves."""
Stages = bool | int | tuple[int, ...]
"""The stages of a fit that are scored besides the last: none, some, this many, or the listed ones."""
TUNED, SELECTED = "tuned", "selected-model"
"""The models that choose by inner validation: values of parameters, and one of several models."""
AS_SAVED = "as-saved"
"""The protocol of a cell with a saved model, which is tested on all rows and not fitted."""


@dataclass(frozen=True)
class Spec:
    """Something that was requested."""

    where: str = field(default="", compare=False, repr=False, kw_only=True)
    """Where it was requested (file:line:column), for messages."""


@dataclass(frozen=True)
class DataSpec(Spec):
    """A requested dataset: a shipped name or a path, with options that override its sidecar."""

    reference: str
    target: str | None = None
    task: str | None = None
    sensitive: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    """Columns that no model sees."""
    positive: str | None = None
    """The positive class."""
    source: Source | Dataset | None = None
    """The rows if they come from no file, or the dataset if it is loaded already."""

    def loaded(self, base: Path | None, task: str | None, earlier: Sidecar | None = None) -> Dataset:
        """The dataset, read by the rules of an ``earlier`` file; relative paths start at ``base``."""
        from mlcli.data.load import load

        if isinstance(self.source, Dataset):
            return self.source
        return load(
            self.source or self.reference,
            base=base,
            target=self.target,
            task=task,
            sensitive=self.sensitive,
            drop=self.drop,
            positive=self.positive,
            earlier=earlier,
        )


@dataclass(frozen=True)
class RegisteredSpec(Spec, Generic[T]):
    """Something registered of class ``T``, by its id, with its parameters."""

    catalogue: ClassVar[Catalogue]
    use: str
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def cls(self) -> type[T]:
        """Its class."""
        return self.catalogue.load(self.use)

    @property
    def is_installed(self) -> bool:
        """Whether it is installed and may be imported; a stored run can be shown without it."""
        return self.use in self.catalogue and all(map(may_import, import_paths_in([self.use, self.params])))

    def built(self) -> T:
        """An unfitted instance."""
        instance: T = build(self.cls, self.params)
        return instance

    def resolved(self) -> Self:
        """The same with all parameters, including defaults."""
        return replace(self, params=settings(self.built()))

    def as_mapping(self) -> dict[str, Any]:
        """The same as plain values, as an experiment file writes it."""
        return {"use": self.use, "params": dict(self.params)}


@dataclass(frozen=True)
class StepSpec(RegisteredSpec[Step]):
    """A step."""

    catalogue = STEPS

    @classmethod
    def of(cls, step: Step) -> Self:
        """The spec of a configured step."""
        return cls(step.id, settings(step))


@dataclass(frozen=True)
class ProtocolSpec(RegisteredSpec[Protocol]):
    """A protocol; an empty id is the default of the kind."""

    catalogue = PROTOCOLS


@dataclass(frozen=True)
class ModelSpec(RegisteredSpec[Model]):
    """A model, or a saved model file (``saved``; ``plan`` reads the id from it).

    ``steps`` are the user's own (None: as the model needs); ``label`` is its name in tables.
    """

    catalogue = MODELS
    steps: tuple[StepSpec, ...] | None = None
    label: str = ""
    saved: Path | None = None
    stages: Stages | None = None
    """None: as the experiment says."""
    requested: bool = field(default=True, compare=False)
    """False for a reference model, which is added to compare with."""
    shares_tune: bool = field(default=True, compare=False)
    """Whether the ``tune`` of the experiment applies to it; not if its entry has a ``tune`` of its own."""

    @property
    def name(self) -> str:
        """Its label, or its id; for a tuned model the id of the model inside."""
        if self.label or self.use != TUNED:
            return self.label or self.use
        base = self.params.get("base", {})
        return f"{base if isinstance(base, str) else base.get('use', self.use)} (tuned)"

    def as_mapping(self) -> dict[str, Any]:
        """The same as plain values, as an experiment file writes it and other models take it as a parameter."""
        if self.steps is None:
            return super().as_mapping()
        return super().as_mapping() | {"steps": [step.as_mapping() for step in self.steps]}


POOLED = "pooled"
AVERAGES = ("folds", POOLED)
"""The mean of the scores of splits, or one score of all their predictions together."""
FEW_ROWS = ProtocolSpec("few-rows")
"""Stands for the protocol of the kind of task that needs fewest rows."""
UNSPLIT = ProtocolSpec("unsplit")
"""Stands for the same protocol where all rows are trained on, so that too few rows are accepted."""


@dataclass(frozen=True)
class Budget:
    """Limits of time and memory; None: no limit."""

    cell: float | None = None
    """Seconds for one cell, including those of its stored splits."""
    total: float | None = None
    """Seconds of wall-clock time for the whole run."""
    memory: int | None = None
    """Bytes for the process that runs a cell."""


@dataclass(frozen=True)
class Experiment:
    """Everything that an experiment file or an ``eval`` command requests."""

    data: tuple[DataSpec, ...]
    models: tuple[ModelSpec, ...] | None = None
    """None: the default models of the kind of task."""
    protocol: ProtocolSpec | None = None
    """None: the default of the kind of task."""
    further_protocols: tuple[ProtocolSpec, ...] = ()
    """More protocols for the same models, each with a table of its own."""
    average: str = ""
    """How splits become one score, one of AVERAGES; empty: as the protocol and the metric define it."""
    metrics: tuple[str, ...] = ()
    """Empty: the defaults of the kind of task."""
    cost: Mapping[str, Any] | None = None
    """The cost of predictions, by the true class and then by the predicted class."""
    seed: int = 1
    budget: Budget = Budget()
    shortcuts: bool = True
    """Whether leave-one-out may be computed in closed form, without a fit for each row."""
    stages: Stages = False
    training: bool = False
    """Whether training rows are predicted, too."""
    fair: bool = False
    """Whether fairness between groups is reported."""
    similarity: float = SIMILARITY
    """How similar two rows must be for their predictions to be compared."""
    tune: Mapping[str, Any] | None = None
    """How every model is tuned; None: it is not."""
    nested: bool = False
    """Whether the best of the models, chosen in each split, is a row of the table."""
    expect: tuple[Expectation, ...] = ()
    """Conditions that the models must meet."""
    reference_models: bool = False
    """Whether the reference models of the kind of task are added to named models."""
    source: Path | None = None
    """The experiment file; paths of datasets are relative to its folder."""
    name: str = ""
    description: str = ""
    metrics_where: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Where each metric was requested (file:line:column), for messages."""

    @property
    def title(self) -> str:
        """The name of its runs."""
        return self.name or (self.source.stem if self.source else "eval")


@dataclass(frozen=True, eq=False)
class DatasetFacts:
    """What a stored run keeps of a dataset: everything but its table."""

    name: str
    content: str
    rows: int
    schema: Schema
    path: Path | None = None
    task: str | None = None
    notes: tuple[str, ...] = ()
    unlabelled: int = 0
    """The number of rows without a target."""
    recipe: Recipe | None = None
    """How it was read, if it came from a file."""
    file_hash: str = ""
    """The SHA-256 of the bytes of that file."""

    def __len__(self) -> int:
        return self.rows


@dataclass(frozen=True, eq=False)
class Cell:
    """One dataset, one model, one protocol and one seed, with all defaults resolved."""

    dataset: Dataset | DatasetFacts
    """Facts only if the cell comes from a stored run."""
    kind: str
    model: ModelSpec
    steps: tuple[StepSpec, ...]
    """All steps before the model in order, including the inserted ones."""
    protocol: ProtocolSpec
    seed: int
    budget: float | None = None
    """Its limit of seconds."""
    memory: int | None = None
    """The limit of bytes for the process that runs it."""
    skipped: str = ""
    """Why this cell cannot be run; empty if it can."""
    wrong_task: bool = False
    """Whether it cannot be run because its model does other kinds of task."""
    shortcuts: bool = True
    stages: Stages = False
    training: bool = False
    average: str = ""
    learned_rows: int = 0
    """How many of the test rows a saved model was trained on."""
    planned: PlannedDataset | None = field(default=None, repr=False)
    """The rows of the dataset and their splits; None in a stored run and for a saved model."""

    @property
    def label(self) -> str:
        """The label of the model in tables."""
        return self.model.name

    @property
    def labelled_rows(self) -> int:
        """The number of rows that can be scored: those with a target, or all if none is needed."""
        return len(self.dataset) - self.dataset.unlabelled


@dataclass(frozen=True, eq=False)
class CellResult:
    """The result of a cell: its status and the predictions of its splits."""

    cell: Cell
    status: str
    """One of done, failed, over-budget, died, skipped."""
    why: str = ""
    splits: Sequence[SplitResult] = ()
    pooled: bool = False
    """Whether metrics are computed over all predictions together, as for leave-one-out, rather than per split."""
    stored: bool = False
    """Whether all of it came from the store."""
    notes: tuple[str, ...] = ()
    """Remarks on the whole cell, such as classes too small for the folds."""
    damage: str = ""
    """What is damaged in the store, or nothing."""
    key: str = ""
    """Its key in the store, if it has one."""
    trace: str = ""
    """The traceback of a failure, shown only on request."""
    code: int = 0
    """The exit code of the error that it failed with."""

    def routes(self) -> dict[str, int]:
        """The shortcuts that answered, each with the number of splits that it answered."""
        counts = Counter(route for route in each(self.splits, "route") if route)
        return dict(counts)


class NestedModel(NamedTuple):
    """A nested model as plain values, and the path at which its parameters begin, such as ``base.``."""

    model: Mapping[str, Any]
    start: str

    @property
    def steps(self) -> tuple[StepSpec, ...] | None:
        """The steps before it; None if none are named."""
        steps = self.model.get("steps")
        return None if steps is None else tuple(StepSpec(step["use"], step["params"]) for step in steps)


class FlatParameter(NamedTuple):
    """A parameter at a path such as ``base.k``, with its value; for a nested model its id."""

    path: str
    value: Any
    owner: str
    """The id of the model that declares it."""
    name: str


def flat_parameters(use: str, params: Mapping[str, Any], start: str = "") -> Iterator[FlatParameter]:
    """All parameters, with those of a nested model behind its id."""
    for name, value in params.items():
        inside = _models_in(value, start + name)
        yield FlatParameter(start + name, _ids_in(value) if inside else value, use, name)
        for nested in inside:
            yield from flat_parameters(nested.model["use"], nested.model["params"], nested.start)


def nested_models(params: Mapping[str, Any], start: str = "") -> Iterator[NestedModel]:
    """All nested models, at any depth."""
    for name, value in params.items():
        for nested in _models_in(value, start + name):
            yield nested
            yield from nested_models(nested.model["params"], nested.start)


def _models_in(value: object, path: str) -> list[NestedModel]:
    """The models in the value of a parameter."""

    def is_model(value: object) -> bool:
        return isinstance(value, Mapping) and {"use", "params"} <= value.keys()

    if isinstance(value, Mapping) and is_model(value):
        return [NestedModel(value, f"{path}.")]
    if isinstance(value, list | tuple) and value and all(map(is_model, value)):
        return [NestedModel(model, f"{path}.{model['use']}.") for model in value]
    return []


def _ids_in(value: Any) -> Any:
    """The ids of the models in the value of a parameter."""
    return value["use"] if isinstance(value, Mapping) else tuple(model["use"] for model in value)


def as_typed(value: object) -> str:
    """The value of a parameter as you would type it."""

    def inside(value: object) -> str:  # a list in a mapping needs brackets
        return f"[{', '.join(map(inside, value))}]" if isinstance(value, list | tuple) else as_typed(value)

    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ",".join(map(as_typed, value))
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {inside(part)}' for key, part in value.items())}}}"
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def steps_text(steps: Sequence[StepSpec] | None) -> str:
    """Steps in order, or 'as needed' if none are named."""
    if steps is None:
        return "as needed"
    params = ((step.use, settings_of(step, STEPS)) for step in steps)
    return "+".join(f"{use}({text})" if text else use for use, text in params) or "none"


def settings_of(spec: ModelSpec | StepSpec, catalogue: Catalogue) -> str:
    """The parameters of a model or step, and of models inside it, that differ from their defaults."""
    chosen = []
    for parameter in flat_parameters(spec.use, spec.params):
        owners = MODELS if "." in parameter.path else catalogue
        # A stored run may have a method that is not installed: all its parameters are shown.
        defaults = settings(owners.load(parameter.owner)()) if parameter.owner in owners else {}
        if parameter.name in defaults:
            default = defaults[parameter.name]
            if parameter.value == (_ids_in(default) if _models_in(default, "") else default):
                continue
        chosen.append(f"{parameter.path}={as_typed(parameter.value)}")
    return ", ".join(chosen)


def distinct_labels(models: Sequence[ModelSpec]) -> list[str]:
    """A label for each model; models with the same name get the parameters and steps in which they differ."""
    texts = [settings_text(model) for model in models]
    namesakes: dict[tuple[str, str], list[dict[str, str]]] = {}
    for model, text in zip(models, texts, strict=True):
        namesakes.setdefault((model.use, model.name), []).append(text)
    labels = []
    for model, text in zip(models, texts, strict=True):
        others = namesakes[model.use, model.name]
        keys = {key for other in others for key in other}
        differing = {key for key in keys if len({other[key] for other in others if key in other}) > 1}
        # Parameters of a nested model that only some have do not count if the nested models differ.
        of_some = {key for key in keys if any(key not in other for other in others)}
        differing |= {key for key in of_some if key.partition(".")[0] not in differing}
        labels.append(" ".join((model.name, *(f"{key}={text[key]}" for key in text if key in differing))).strip())
    return labels


def settings_text(model: ModelSpec) -> dict[str, str]:
    """Everything in which two models with the same name may differ, as text."""
    file = {"file": str(model.saved)} if model.saved else {}
    params = {parameter.path: as_typed(parameter.value) for parameter in flat_parameters(model.use, model.params)}
    inside = {f"{nested.start}steps": steps_text(nested.steps) for nested in nested_models(model.params)}
    return {**file, **params, **inside, "steps": steps_text(model.steps)}
