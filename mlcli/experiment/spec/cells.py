"""The words of an experiment: what is asked for (specs), the unit of results (cell), and what came of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from mlcli.core.groups import SIMILARITY
from mlcli.core.params import build, settings
from mlcli.core.plugins import import_paths_in, may_import
from mlcli.core.registry import MODELS, PROTOCOLS, STEPS, Catalogue
from mlcli.core.schema import Schema
from mlcli.data.dataset import Dataset, Recipe
from mlcli.experiment.run.split_results import SplitResult, each

if TYPE_CHECKING:
    from mlcli.core.step import Step
    from mlcli.data.sidecar import Sidecar
    from mlcli.data.source import Source
    from mlcli.experiment.spec.datasets import PlannedDataset
    from mlcli.experiment.spec.expectations import Expectation

WHOLE = "whole"
"""The protocol that asks about the rows that were learned from."""
Stages = bool | int | tuple[int, ...]
"""At which stages of a fit it is answered beside the last: none, some, so many, or those that are listed."""
TUNED, SELECTED = "tuned", "selected-model"
"""The models that choose by inner splits: the values of parameters, and one of several models."""
AS_SAVED = "as-saved"
"""The protocol word of a cell whose model is a saved file: judged on all rows, learning nothing."""


@dataclass(frozen=True)
class Spec:
    """Something that is asked for."""

    where: str = field(default="", compare=False, repr=False, kw_only=True)
    """Where it was asked for (file:line:column), for messages."""


@dataclass(frozen=True)
class DataSpec(Spec):
    """A dataset as asked for: a shipped name or a path, with what overrides its sidecar."""

    reference: str
    target: str | None = None
    task: str | None = None
    sensitive: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    """Columns that no model sees."""
    positive: str | None = None
    """The class that is looked for."""
    source: Source | Dataset | None = None
    """The rows themselves, where the reference names no file, or the dataset where it is loaded."""

    def loaded(self, base: Path | None, task: str | None, earlier: Sidecar | None = None) -> Dataset:
        """The dataset, read as an ``earlier`` file was; ``base`` is where relative paths begin."""
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
class RegisteredSpec(Spec):
    """Something registered, by id, with its parameters."""

    catalogue: ClassVar[Catalogue]
    use: str
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def cls(self) -> Any:
        """Its class."""
        return self.catalogue.load(self.use)

    @property
    def is_installed(self) -> bool:
        """Whether it is here, and may be imported: a stored run can be shown without it."""
        return self.use in self.catalogue and all(map(may_import, import_paths_in([self.use, self.params])))

    def built(self) -> Any:
        """It with its parameters, nothing learned."""
        return build(self.cls, self.params)

    def resolved(self) -> Self:
        """The same with every parameter, those at their defaults included."""
        return replace(self, params=settings(self.built()))


@dataclass(frozen=True)
class StepSpec(RegisteredSpec):
    """A step."""

    catalogue = STEPS

    @classmethod
    def of(cls, step: Step) -> Self:
        """What a configured step was made from."""
        return cls(step.id, settings(step))


@dataclass(frozen=True)
class ProtocolSpec(RegisteredSpec):
    """A protocol; an empty id is the default of the kind."""

    catalogue = PROTOCOLS


@dataclass(frozen=True)
class ModelSpec(RegisteredSpec):
    """A model, or a saved model file (``saved``; ``plan`` reads the id from it).

    ``steps`` are the user's own (None: as the model needs); ``label`` is its name in tables.
    """

    catalogue = MODELS
    steps: tuple[StepSpec, ...] | None = None
    label: str = ""
    saved: Path | None = None
    stages: Stages | None = None
    """None: as the experiment says."""
    asked: bool = field(default=True, compare=False)
    """Whether somebody asked for it; a yardstick stands in the table by itself."""
    shares_tune: bool = field(default=True, compare=False)
    """Whether the ``tune`` of the experiment is for it; an entry with a ``tune`` of its own is left as it is."""

    @property
    def name(self) -> str:
        """Its own name, or the id of the method; of one that is tuned that of the method inside."""
        if self.label or self.use != TUNED:
            return self.label or self.use
        base = self.params.get("base", {})
        return f"{base if isinstance(base, str) else base.get('use', self.use)} (tuned)"


POOLED = "pooled"
AVERAGES = ("folds", POOLED)
"""The mean of the scores of splits; one score of all their answers at once."""
FEW_ROWS = ProtocolSpec("few-rows")
"""Stands for the protocol of the kind that the fewest rows can serve."""
UNSPLIT = ProtocolSpec("unsplit")
"""Stands for the same where all rows are learned from, so that they need not be enough for it."""


@dataclass(frozen=True)
class Budget:
    """What may be taken; None: as much as it needs."""

    cell: float | None = None
    """Seconds of one cell, those of its stored splits included."""
    total: float | None = None
    """Seconds on the clock for everything that is run now."""
    memory: int | None = None
    """Bytes of the process that runs a cell."""


@dataclass(frozen=True)
class Experiment:
    """Everything that an experiment file, or an ``eval`` command, asks for."""

    data: tuple[DataSpec, ...]
    models: tuple[ModelSpec, ...] | None = None
    """None: the panel of the kind."""
    protocol: ProtocolSpec | None = None
    """None: the default of the kind."""
    further_protocols: tuple[ProtocolSpec, ...] = ()
    """Others by which the same models are judged, each in a table of its own."""
    average: str = ""
    """How splits become one score, one of AVERAGES; empty: as the protocol and the metric do it."""
    metrics: tuple[str, ...] = ()
    """Empty: the defaults of the kind."""
    cost: Mapping[str, Any] | None = None
    """What answers cost, by the true class and then by the answer."""
    seed: int = 1
    budget: Budget = Budget()
    shortcuts: bool = True
    """Whether a method may use its closed form over all splits; the plain loop fits one after another."""
    stages: Stages = False
    training: bool = False
    """Whether answers about the training rows are kept, too."""
    fair: bool = False
    """Whether it is shown how groups are answered."""
    similarity: float = SIMILARITY
    """How alike two rows must be for their answers to be compared."""
    tune: Mapping[str, Any] | None = None
    """How every model is tuned; None: it is not."""
    nested: bool = False
    """Whether the best of the models, chosen in each split for itself, is a row of the table."""
    expect: tuple[Expectation, ...] = ()
    """What its models must reach."""
    yardsticks: bool = False
    """Whether yardsticks of the kind stand beside models that are named."""
    source: Path | None = None
    """The experiment file; dataset paths are relative to it."""
    name: str = ""
    description: str = ""
    metrics_where: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    """Where each metric was asked for (file:line:column), for messages."""

    @property
    def title(self) -> str:
        """What its runs are called."""
        return self.name or (self.source.stem if self.source else "eval")


@dataclass(frozen=True, eq=False)
class DatasetFacts:
    """A dataset without its table: what a stored run remembers of it."""

    name: str
    content: str
    rows: int
    schema: Schema
    path: Path | None = None
    task: str | None = None
    notes: tuple[str, ...] = ()
    unlabelled: int = 0
    """How many rows have no target."""
    recipe: Recipe | None = None
    """How it was read from its file, if it was."""
    file_hash: str = ""
    """The SHA-256 of the bytes of that file."""

    def __len__(self) -> int:
        return self.rows


@dataclass(frozen=True, eq=False)
class Cell:
    """One dataset × one model × one protocol × one seed, all defaults resolved."""

    dataset: Dataset | DatasetFacts
    """Facts only where the cell comes from a stored run."""
    kind: str
    model: ModelSpec
    steps: tuple[StepSpec, ...]
    """Every step that is run, the inserted ones included, in order."""
    protocol: ProtocolSpec
    seed: int
    budget: float | None = None
    """Seconds that it may take."""
    memory: int | None = None
    """Bytes that the process may hold that runs it."""
    skipped: str = ""
    """Why this cell cannot be run at all, or empty."""
    wrong_task: bool = False
    """Whether it cannot be run because its model does other kinds of task."""
    shortcuts: bool = True
    stages: Stages = False
    training: bool = False
    average: str = ""
    learned_rows: int = 0
    """How many of the rows that it is asked about a saved model has learned from."""
    planned: PlannedDataset | None = field(default=None, repr=False)
    """The rows of the dataset and their splits; None in a stored run and for a saved model."""

    @property
    def label(self) -> str:
        """The name of the model in tables."""
        return self.model.name

    @property
    def labelled_rows(self) -> int:
        """How many rows have a target, or how many there are where none is needed: these are judged."""
        return len(self.dataset) - self.dataset.unlabelled


@dataclass(frozen=True, eq=False)
class CellResult:
    """A cell with its status and the splits that were answered."""

    cell: Cell
    status: str
    """One of done, failed, over-budget, died, skipped."""
    why: str = ""
    splits: Sequence[SplitResult] = ()
    pooled: bool = False
    """Whether metrics are taken over all answers at once (leave-one-out) rather than per split."""
    stored: bool = False
    """Whether all of it was already in the store."""
    notes: tuple[str, ...] = ()
    """Remarks on the cell as a whole, such as classes too small for the folds."""
    key: str = ""
    """Its key in the store, if there is one."""
    trace: str = ""
    """Where a method broke down, for whoever repairs it; never shown unasked."""

    def routes(self) -> dict[str, int]:
        """The shortcuts that answered, each with the number of splits that it answered."""
        counts = Counter(route for route in each(self.splits, "route") if route)
        return dict(counts)
