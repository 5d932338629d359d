"""The datasets of an experiment, each loaded once, with its kind of task, and the protocol and metrics for it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mlcli.core.answers import Answers
from mlcli.core.errors import DataError, Faults, Problem, UsageError, raise_all
from mlcli.core.nested import effective
from mlcli.core.params import build, by_name, settings
from mlcli.core.registry import PROTOCOLS
from mlcli.core.rows import RowsOfTable, SplitInfo
from mlcli.core.serialise import rng_for
from mlcli.core.strict_yaml import MOST_FOUND
from mlcli.data.dataset import Dataset
from mlcli.experiment.spec.cells import FEW_ROWS, UNSPLIT, Cell, DataSpec, Experiment, ProtocolSpec
from mlcli.experiment.spec.expectations import Bound
from mlcli.metrics.registry import SimilarMetricError, class_names_for, metric_named
from mlcli.protocols._base import Protocol, Split, warn_of_few_judged
from mlcli.tasks.table import KINDS, Kind, common_to, implied_by, kind_named, kind_of, kinds_of

if TYPE_CHECKING:
    from mlcli.experiment.saved.saved_model import SavedModel

JudgedAnswers = tuple[type[Answers], Sequence[str]]
"""What metrics score: the type of answers, and the names of the classes, if there are classes."""


@dataclass(frozen=True, eq=False)
class PlannedSplits:
    """The splits of a dataset by one protocol, and the warnings of making them."""

    splits: Sequence[Split]
    pooled: bool
    """Whether metrics are taken over the answers of all splits at once."""
    warnings: dict[str, type[Warning]]
    """The category of each warning, by its text."""


@dataclass(frozen=True, eq=False)
class PlannedDataset:
    """A dataset with what all of its cells share: its kind of task, its rows and its splits, each made once."""

    spec: DataSpec
    dataset: Dataset
    kind: Kind
    all_rows: RowsOfTable
    """The rows that have a target, or all rows if the kind of task needs none."""
    rows: RowsOfTable
    """The rows that are split: those whose weight is not 0."""
    strata: SplitInfo
    """What protocols see of the rows."""
    made_splits: dict[str, PlannedSplits] = field(default_factory=dict, repr=False)

    def splits_by(self, spec: ProtocolSpec, seed: int) -> PlannedSplits:
        """The splits by a protocol, made at the first call; rows that cannot be split are refused."""
        protocol = spec.built()
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
            categories = {str(warning.message): warning.category for warning in caught}
            self.made_splits[key] = PlannedSplits(splits, protocol.pooled, categories)
        return self.made_splits[key]

    @property
    def name(self) -> str:
        """What tables call the dataset."""
        return self.dataset.name

    @property
    def classes(self) -> Sequence[str]:
        """The labels of the target, if it has any."""
        target = self.dataset.schema.the("target")
        return target.levels if target else ()

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
            for other in datasets:
                if (other.dataset.content, other.kind) == (planned.dataset.content, planned.kind):
                    raise UsageError(f"{spec.reference} and {other.spec.reference} are the same data")
            datasets.append(planned)
    return [_distinctly_named(planned, datasets) for planned in datasets]


def _loaded(
    spec: DataSpec, base: Path | None, models: Sequence[type], saved: Sequence[SavedModel]
) -> PlannedDataset:
    """A dataset with the kind of task that it names, that all models can do, or that its sidecar lists."""
    implied = None if saved else implied_by(models)
    task = spec.task or (implied.name if implied else None)
    rules = None
    if saved:  # read the file as the training files of the models were read; the first model takes precedence
        sidecars = [model.reading_rules for model in saved]
        tasks = sidecars[0].tasks if len({model.kind for model in saved}) == 1 else ()
        columns = {name: column for sidecar in reversed(sidecars) for name, column in sidecar.columns.items()}
        rules = replace(sidecars[0], tasks=tasks, columns=columns)
    dataset = spec.loaded(base, task, rules)
    if task is None and (other := _other_task(dataset, models)) is not None:
        dataset = spec.loaded(base, other, rules)
    return planned_dataset(spec, dataset)


def _other_task(dataset: Dataset, models: Sequence[type]) -> str | None:
    """A later task of the sidecar, if all models can do it and none of them the first."""
    tasks = {kind.name for kind in common_to(models)}
    if dataset.task is None or any(kind.name == dataset.task for model in models for kind in kinds_of(model)):
        return None
    return next((task for task in dataset.sidecar.tasks if task in tasks), None)


def _distinctly_named(planned: PlannedDataset, datasets: Sequence[PlannedDataset]) -> PlannedDataset:
    """A dataset whose name is not unique, with its path in the name, or its target if paths are equal, too."""
    namesakes = [other for other in datasets if other.name == planned.name]
    if len(namesakes) == 1:
        return planned
    is_one_file = len({other.spec.reference for other in namesakes}) < len(namesakes)
    target = planned.dataset.schema.the("target")
    mark = target.name if is_one_file and target else planned.spec.reference
    return replace(planned, dataset=replace(planned.dataset, name=f"{planned.name} ({mark})"))


def planned_dataset(spec: DataSpec, dataset: Dataset, kind: Kind | None = None) -> PlannedDataset:
    """A loaded dataset with its kind of task, unless that is given, and its rows."""
    kind = kind or (kind_named(dataset.task) if dataset.task else kind_of(dataset.schema))
    if kind is None:
        hint = "name the column to predict: --target in the shell, 'target' in the experiment file or the sidecar"
        raise DataError(f"{dataset.name}: the target is unknown", hint=hint)
    try:
        all_rows = kind.rows.from_table(dataset.table, dataset.schema)
    except DataError as error:
        places = (", ".join(filter(None, (dataset.name, problem.where))) for problem in error.problems)
        problems = zip(error.problems, places, strict=True)
        raise DataError(*(replace(problem, where=place) for problem, place in problems)) from None
    all_count = all_rows.stay_whole or not all_rows.weights.any()
    rows = all_rows if all_count else all_rows.counted()
    info, notes = rows.split_info(), list(dataset.notes)
    if kind.protocol_without_labels and info.strata is None:
        no_labels = "there are no labels to score by (--target COLUMN names some), so rows are described"
        notes.append(f"{no_labels}; the default protocol is then {kind.protocol_without_labels}")
    if len(rows) < len(all_rows):
        notes.append(f"rows of weight 0 are left out: {len(all_rows) - len(rows)} of {len(all_rows)}")
    dataset = dataset if len(notes) == len(dataset.notes) else replace(dataset, notes=tuple(notes))
    return PlannedDataset(spec, dataset, kind, all_rows, rows, info)


def cell_on(cell: Cell, dataset: Dataset) -> Cell:
    """A cell of a stored run with the rows of its dataset."""
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
    for_few = spec is FEW_ROWS or spec is UNSPLIT
    use = planned.kind.protocol_for_few_rows if for_few else spec.use or planned.default_protocol
    cls: type[Protocol] = PROTOCOLS.load(use)
    if use not in planned.kind.protocols and planned.kind.name not in cls.kinds:
        name, default = planned.kind.name, planned.kind.protocols[0]
        hint = f"protocols for {name}: {', '.join(legal_protocols(planned.kind))}; without 'use', each dataset "
        hint += f"gets the default of its kind ({default} here)"
        raise UsageError(f"{planned.name} is {name}, which {use} cannot split", hint=hint)
    try:
        protocol = build(cls, spec.params)
    except UsageError as error:
        raise _with_protocols_that_take(spec, planned.kind, error) from None
    spec_in_full = replace(spec, use=use, params=settings(protocol))
    if not any_rows and spec is not UNSPLIT:
        raise_all(DataError, problems_with_rows(planned, spec_in_full))
    return spec_in_full


def _with_protocols_that_take(spec: ProtocolSpec, kind: Kind, error: UsageError) -> UsageError:
    """The error, or if no protocol was named, one that names the protocols that have such parameters."""
    params_of = {name: by_name(PROTOCOLS.load(name)).keys() for name in legal_protocols(kind)}
    if spec.use or not all(any(param in params for params in params_of.values()) for param in spec.params):
        return error
    default, requested = kind.protocols[0], " and ".join(spec.params)
    suitable = [name for name, params in params_of.items() if spec.params.keys() <= params]
    if default in suitable:
        return error
    if not suitable:
        hint = f"leave one out, and name the protocol that has the other; {default} otherwise"
        return UsageError(f"no protocol of {kind.name} has {requested} together", hint=hint)
    what = f"{default}, the protocol of {kind.name} where none is named, has no parameter '{requested}'"
    hint = f"name one that has it, such as {' or '.join(f'--protocol {name}' for name in suitable[:2])}"
    return UsageError(what, hint=hint)


def problems_with_rows(planned: PlannedDataset, protocol: ProtocolSpec) -> Iterator[Problem]:
    """Why a protocol cannot split the rows of a dataset, such as too few for its folds."""
    for problem in protocol.built().problems_with_rows(planned.strata):
        yield replace(problem, what=f"{planned.name}: {problem.what}")


def legal_protocols(kind: Kind) -> tuple[str, ...]:
    """The protocols that can split a kind of task, the default first."""
    protocols: dict[str, type[Protocol]] = {name: PROTOCOLS.load(name) for name in PROTOCOLS.names()}
    return (*kind.protocols, *(name for name, protocol in protocols.items() if kind.name in protocol.kinds))


def metrics_of_class(metrics: Sequence[str], positive: str | None) -> tuple[str, ...]:
    """The metrics; if a positive class is named, rates of a class are those of this class."""
    if positive is None:
        return tuple(metrics)
    of_class = class_names_for(kind_named("classification").answers)
    return tuple(f"{name}[{positive}]" if name in of_class else name for name in metrics)


def check_metrics(experiment: Experiment, datasets: Sequence[PlannedDataset], faults: Faults) -> None:
    """Collect a fault for each metric that can score no dataset, and each dataset that no metric can score."""
    scored: list[JudgedAnswers] = [(planned.kind.answers, planned.classes) for planned in datasets]
    scored = scored or [(kind.answers, ()) for kind in KINDS]
    where_requested = {bound.metric: bound.where for bound in experiment.expect if isinstance(bound, Bound)}
    where_requested |= {name: experiment.metrics_where.get(name, "") for name in experiment.metrics}
    all_valid = True
    for name, where in where_requested.items():
        refusals = [refusal for target in scored if (refusal := _refusal(name, target)) is not None]
        if len(refusals) == len(scored):
            all_valid = False
            with faults.collected(where):
                similar = [refusal for refusal in refusals if isinstance(refusal, SimilarMetricError)]
                raise (similar or refusals)[0]
    for planned, target in zip(datasets, scored, strict=False) if all_valid and experiment.metrics else ():
        with faults.collected(planned.spec.where):
            if all(_refusal(name, target) for name in experiment.metrics):
                what = f"no metric of this experiment can score {planned.name}, which is {planned.kind.name}"
                raise UsageError(what, hint=f"add one of {', '.join(planned.kind.metrics)}")


def _refusal(name: str, target: JudgedAnswers) -> UsageError | None:
    try:
        metric_named(name, *target)
    except UsageError as error:
        return error
    return None
