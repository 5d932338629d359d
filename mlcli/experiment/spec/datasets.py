"""The datasets of an experiment, each loaded once, with its kind of task, and the protocol and metrics for it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mlcli.core.answers import Answers
from mlcli.core.effective import effective
from mlcli.core.errors import DataError, Faults, Problem, UsageError, raise_all
from mlcli.core.params import build, by_name, settings
from mlcli.core.registry import PROTOCOLS
from mlcli.core.rows import RowsOfTable, SplitInfo
from mlcli.core.seeds import rng_for
from mlcli.core.strict_yaml import MOST_FOUND
from mlcli.data.dataset import Dataset
from mlcli.data.sidecar import Sidecar
from mlcli.experiment.spec.cells import FEW_ROWS, UNSPLIT, Cell, DataSpec, Experiment, ProtocolSpec
from mlcli.experiment.spec.expectations import Bound
from mlcli.metrics.registry import class_names_for, metric_named
from mlcli.protocols._base import Protocol, Split, warn_of_few_judged
from mlcli.tasks.table import KINDS, Kind, common_to, implied_by, kind_named, kind_of, kinds_of

if TYPE_CHECKING:
    from mlcli.experiment.saved.saved_model import SavedModel

NO_LABELS = (
    "there are no labels to score by (--target COLUMN names some), so rows are described; "
    "the default protocol is then {}"
)
Judged = tuple[type[Answers], Sequence[str]]
"""What metrics score: the type of predictions, and the names of the classes, if there are classes."""


@dataclass(frozen=True, eq=False)
class PlannedSplits:
    """The splits of a dataset by one protocol, and what the protocol warned of while making them."""

    splits: Sequence[Split]
    pooled: bool
    """Whether metrics are taken over the predictions of all splits at once."""
    warnings: dict[str, type[Warning]]
    """The category of each warning, by its text."""


@dataclass(frozen=True, eq=False)
class PlannedDataset:
    """A dataset with what all of its cells share: its kind of task, its rows and its splits, each made once."""

    spec: DataSpec
    dataset: Dataset
    kind: Kind
    all_rows: RowsOfTable
    """The rows that have a target, or all rows where the kind of task needs none."""
    rows: RowsOfTable
    """The rows that are split: those whose weight is not 0."""
    strata: SplitInfo
    """What protocols see of the rows."""
    made_splits: dict[str, PlannedSplits] = field(default_factory=dict, repr=False)

    def splits_by(self, spec: ProtocolSpec, seed: int) -> PlannedSplits:
        """The splits by a protocol, made at the first call; rows that cannot be split are refused."""
        protocol: Protocol = spec.built()
        params = settings(effective(protocol, self.rows.task.noun))
        key = repr((protocol.id, params, seed))
        if key not in self.made_splits:
            rng = rng_for("splits", self.dataset.content, protocol.id, params, seed)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("ignore")
                warnings.simplefilter("always", UserWarning)
                splits = protocol.splits(self.strata, rng)
                if splits and not protocol.asks_only_learned_rows():
                    warn_of_few_judged(splits, self.strata, pooled=protocol.pooled)
            categories = {str(one.message): one.category for one in caught}
            self.made_splits[key] = PlannedSplits(splits, protocol.pooled, categories)
        return self.made_splits[key]

    @property
    def name(self) -> str:
        """What tables call the dataset."""
        return self.dataset.name

    @property
    def classes(self) -> Sequence[str]:
        """The labels of the target, where it has any."""
        target = self.dataset.schema.the("target")
        return target.levels if target else ()

    @property
    def judged(self) -> Judged:
        """What the metrics of this dataset score."""
        return self.kind.answers, self.classes

    @property
    def default_protocol(self) -> str:
        """The default protocol of the kind of task; there may be another for rows without labels."""
        without = self.kind.protocol_without_labels if self.strata.strata is None else ""
        return without or self.kind.protocols[0]


def planned_datasets(
    data: Sequence[DataSpec],
    base: Path | None,
    faults: Faults,
    models: Sequence[type] = (),
    saved: Sequence[SavedModel] = (),
) -> list[PlannedDataset]:
    """All datasets that can be loaded, with distinct names.

    If the models can do only one kind of task, it is this one, whatever the data look like. Files are read by the
    rules of the files that ``saved`` models were trained on.
    """
    datasets: list[PlannedDataset] = []
    seen: set[DataSpec] = set()
    for index, spec in enumerate(data):
        if len(faults.errors) > MOST_FOUND:
            faults.errors.append(UsageError(f"{len(data) - index:,} more were not looked at", where=spec.where))
            break
        with faults.collected(spec.where):
            if spec in seen:
                raise UsageError(f"{spec.reference} is listed twice")
            seen.add(spec)
            planned = _loaded(spec, base, models, saved)
            _refuse_repeated(planned, datasets)
            datasets.append(planned)
    return [_distinctly_named(planned, datasets) for planned in datasets]


def planned_dataset(spec: DataSpec, dataset: Dataset, kind: Kind | None = None) -> PlannedDataset:
    """A loaded dataset with its kind of task, unless that is given, and its rows."""
    kind = kind or (kind_named(dataset.task) if dataset.task else kind_of(dataset.schema))
    if kind is None:
        hint = "name the column to predict: --target in the shell, 'target' in the experiment file or the sidecar"
        raise DataError(f"{dataset.name}: the target is unknown", hint=hint)
    try:
        all_rows = kind.rows.from_table(dataset.table, dataset.schema)
    except DataError as error:
        generator = (", ".join(filter(None, (dataset.name, problem.where))) for problem in error.problems)
        placed = (
            replace(problem, where=location) for problem, location in zip(error.problems, generator, strict=True)
        )
        raise DataError(*placed) from None
    whole = all_rows.stay_whole or not all_rows.weights.any()
    rows = all_rows if whole else all_rows.counted()
    strata, notes = rows.split_info(), list(dataset.notes)
    if kind.protocol_without_labels and strata.strata is None:
        notes.append(NO_LABELS.format(kind.protocol_without_labels))
    if len(rows) < len(all_rows):
        notes.append(f"rows of weight 0 are left out: {len(all_rows) - len(rows)} of {len(all_rows)}")
    dataset = dataset if len(notes) == len(dataset.notes) else replace(dataset, notes=tuple(notes))
    return PlannedDataset(spec, dataset, kind, all_rows, rows, strata)


def cell_on(cell: Cell, dataset: Dataset) -> Cell:
    """A cell with the rows of its dataset, which those of a stored run lack."""
    if cell.planned is not None or cell.model.saved is not None:
        return replace(cell, dataset=dataset)
    planned = planned_dataset(DataSpec(dataset.name), dataset, kind_named(cell.kind))
    return replace(cell, dataset=dataset, planned=planned)


def protocol_for(planned: PlannedDataset, spec: ProtocolSpec | None, *, any_rows: bool = False) -> ProtocolSpec:
    """The requested protocol, or the default of the kind of task, with all parameters.

    A protocol that cannot split this kind of task is refused, and unless ``any_rows`` one that cannot split these
    rows.
    """
    spec = spec or ProtocolSpec("")
    any_rows = any_rows or spec is UNSPLIT
    for_few = spec is FEW_ROWS or spec is UNSPLIT
    use = planned.kind.protocol_for_few_rows if for_few else spec.use or planned.default_protocol
    cls: type[Protocol] = PROTOCOLS.load(use)
    if use not in planned.kind.protocols and planned.kind.name not in cls.kinds:
        what = f"{planned.name} is {planned.kind.name}, which {use} cannot split"
        raise UsageError(what, hint=_hint_for_protocol(planned.kind))
    try:
        protocol = build(cls, spec.params)
    except UsageError as error:
        raise _with_protocols_that_take(spec, planned.kind, error) from None
    spec = replace(spec, use=use, params=settings(protocol))
    if not any_rows:
        raise_all(DataError, problems_with_rows(planned, spec))
    return spec


def problems_with_rows(planned: PlannedDataset, protocol: ProtocolSpec) -> Iterator[Problem]:
    """Why a protocol cannot split the rows of a dataset, such as too few for its folds."""
    for problem in protocol.built().problems_with_rows(planned.strata):
        yield replace(problem, what=f"{planned.name}: {problem.what}")


def metrics_of_class(metrics: Sequence[str], positive: str | None) -> tuple[str, ...]:
    """The metrics; if a positive class is named, rates of a class are those of this class."""
    if positive is None:
        return tuple(metrics)
    known = class_names_for(kind_named("classification").answers)
    return tuple(f"{name}[{positive}]" if name in known else name for name in metrics)


def legal_protocols(kind: Kind) -> tuple[str, ...]:
    """The protocols that can split a kind of task, the default first."""
    every: dict[str, type[Protocol]] = {name: PROTOCOLS.load(name) for name in PROTOCOLS.names()}
    return (*kind.protocols, *(name for name, protocol in every.items() if kind.name in protocol.kinds))


def _with_protocols_that_take(spec: ProtocolSpec, kind: Kind, error: UsageError) -> UsageError:
    """The error, or if no protocol was named, one that names the protocols that have such parameters."""
    every = {name: by_name(PROTOCOLS.load(name)).keys() for name in legal_protocols(kind)}
    if spec.use or not all(any(param in known for known in every.values()) for param in spec.params):
        return error
    default, asked = kind.protocols[0], " and ".join(spec.params)
    able = [name for name, known in every.items() if spec.params.keys() <= known]
    if default in able:
        return error
    if not able:
        hint = f"leave one out, and name the protocol that has the other; {default} otherwise"
        return UsageError(f"no protocol of {kind.name} has {asked} together", hint=hint)
    what = f"{default}, the protocol of {kind.name} where none is named, has no parameter '{asked}'"
    hint = f"name one that has it, such as {' or '.join(f'--protocol {name}' for name in able[:2])}"
    return UsageError(what, hint=hint)


def _hint_for_protocol(kind: Kind) -> str:
    """The protocols for a kind of task, and how to split data of several kinds."""
    legal = f"protocols for {kind.name}: {', '.join(legal_protocols(kind))}"
    return f"{legal}; without 'use', each dataset gets the default of its kind ({kind.protocols[0]} here)"


def _loaded(
    spec: DataSpec, base: Path | None, models: Sequence[type], saved: Sequence[SavedModel]
) -> PlannedDataset:
    implied = None if saved else implied_by(models)
    task = spec.task or (implied.name if implied else None)
    earlier = _reading_rules(saved) if saved else None
    dataset = spec.loaded(base, task, earlier)
    if task is None and (other := _other_task(dataset, models)) is not None:
        dataset = spec.loaded(base, other, earlier)
    return planned_dataset(spec, dataset)


def _reading_rules(saved: Sequence[SavedModel]) -> Sidecar:
    """How the training files of models were read; the first model takes precedence."""
    rules = [model.reading_rules for model in saved]
    tasks = rules[0].tasks if len({model.kind for model in saved}) == 1 else ()
    columns = {name: column for each in reversed(rules) for name, column in each.columns.items()}
    return replace(rules[0], tasks=tasks, columns=columns)


def _other_task(dataset: Dataset, models: Sequence[type]) -> str | None:
    """A later task of the sidecar, if all models can do it and none of them the first."""
    able = {kind.name for kind in common_to(models)}
    if dataset.task is None or any(kind.name == dataset.task for model in models for kind in kinds_of(model)):
        return None
    return next((task for task in dataset.sidecar.tasks if task in able), None)


def _refuse_repeated(planned: PlannedDataset, before: Sequence[PlannedDataset]) -> None:
    for other in before:
        if (other.dataset.content, other.kind) == (planned.dataset.content, planned.kind):
            raise UsageError(f"{planned.spec.reference} and {other.spec.reference} are the same data")


def _distinctly_named(planned: PlannedDataset, datasets: Sequence[PlannedDataset]) -> PlannedDataset:
    """A dataset whose name is not unique, with its path in the name, or its target if paths are equal, too."""
    namesakes = [other for other in datasets if other.name == planned.name]
    if len(namesakes) == 1:
        return planned
    one_file = len({other.spec.reference for other in namesakes}) < len(namesakes)
    target = planned.dataset.schema.the("target")
    mark = target.name if one_file and target else planned.spec.reference
    return replace(planned, dataset=replace(planned.dataset, name=f"{planned.name} ({mark})"))


def check_metrics(experiment: Experiment, datasets: Sequence[PlannedDataset], faults: Faults) -> None:
    """Collect a fault for each metric that can score no dataset, and each dataset that no metric can score."""
    judged = [planned.judged for planned in datasets] or [(kind.answers, ()) for kind in KINDS]
    all_known = True
    for name, where in _metrics_asked_for(experiment).items():
        refusals = [refusal for one in judged if (refusal := _refusal(name, one)) is not None]
        if len(refusals) == len(judged):
            all_known = False
            with faults.collected(where):
                similar = (refusal for refusal in refusals if refusal.problems[0].hint.startswith("did you mean"))
                raise next(similar, refusals[0])
    for planned in datasets if all_known and experiment.metrics else ():
        with faults.collected(planned.spec.where):
            _refuse_unjudged(planned, experiment.metrics)


def _metrics_asked_for(experiment: Experiment) -> dict[str, str]:
    """All requested metrics and those of expectations, each with its place."""
    expected = {bound.metric: bound.where for bound in experiment.expect if isinstance(bound, Bound)}
    return expected | {name: experiment.metrics_where.get(name, "") for name in experiment.metrics}


def _refusal(name: str, judged: Judged) -> UsageError | None:
    try:
        metric_named(name, *judged)
    except UsageError as error:
        return error
    return None


def _refuse_unjudged(planned: PlannedDataset, metrics: Sequence[str]) -> None:
    if all(_refusal(name, planned.judged) for name in metrics):
        what = f"no metric of this experiment can judge {planned.name}, which is {planned.kind.name}"
        raise UsageError(what, hint=f"add one of {', '.join(planned.kind.metrics)}")
