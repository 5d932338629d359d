"""What ``--json`` writes of an experiment: its models with their scores, their differences, several datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mlcli import __version__
from mlcli.core.findings import Curve, Entry, Finding
from mlcli.core.rows import SIMILARITY
from mlcli.core.serialise import shown
from mlcli.experiment.results import each
from mlcli.experiment.run.estimates import CellEstimate
from mlcli.experiment.spec.cells import Cell
from mlcli.metrics.base import Summary
from mlcli.metrics.bias_variance import Decomposition
from mlcli.metrics.confusion import Confusion
from mlcli.metrics.difference import Difference
from mlcli.metrics.fairness import IndividualFairness
from mlcli.metrics.over_datasets import OverDatasets, Posterior
from mlcli.metrics.scores.labels import ClassRates
from mlcli.scoring.differences import compared_over_datasets, differences_of, named_pairs
from mlcli.scoring.fairness import GroupFairness, fairness_by_groups, similar_rows
from mlcli.scoring.gates import Gate
from mlcli.scoring.kinds import AssociationRule, KindFields, OddRow
from mlcli.scoring.model_results import (
    ModelResult,
    Series,
    choices_of,
    first_cell,
    groups_of,
    metrics_in,
    requested_decomposition,
    series_of,
    summaries_of,
)
from mlcli.scoring.verdict import Remark, Verdict, remarks_of, verdict_on
from mlcli.tasks.table import kind_named, named


@dataclass(frozen=True)
class StepRecord:
    """A step before a model, with its parameters."""

    use: str
    params: Mapping[str, object]


@dataclass(frozen=True)
class CellRecord:
    """A model on a dataset, and how it is scored."""

    dataset: str
    kind: str
    model: str
    label: str
    params: Mapping[str, object]
    steps: tuple[StepRecord, ...]
    protocol: str
    protocol_params: Mapping[str, object]
    seed: int
    rows: int
    """Rows that have a target: only these are scored."""
    rows_without_target: int
    reference: bool = field(default=False, metadata=shown(optional=True))
    """Whether the model was added for comparison and not requested."""
    saved: str = field(default="", metadata=shown(optional=True))
    """The file of a saved model."""
    rows_learned_from: int | None = field(default=None, metadata=shown(optional=True))
    """How many of the rows a saved model has learned from."""


@dataclass(frozen=True)
class PlannedRecord:
    """A model on a dataset that would be run, with what it may take."""

    cell: CellRecord = field(metadata=shown(merged=True))
    stages: object = field(metadata=shown(optional=True))
    training: bool = field(metadata=shown(optional=True))
    skipped: str = field(metadata=shown(optional=True))
    """Why it cannot be run."""
    estimate: CellEstimate | None = field(metadata=shown(optional=True))


@dataclass(frozen=True)
class PlanRecord:
    """What an experiment would run."""

    cells: tuple[PlannedRecord, ...]


@dataclass(frozen=True)
class SecondsRecord:
    """Seconds of all fits, and of all predictions."""

    fit: float
    predict: float


@dataclass(frozen=True)
class PointRecord:
    """All metrics at one value of what was swept."""

    value: float
    metrics: Mapping[str, Summary]


@dataclass(frozen=True)
class SeriesRecord:
    """Scores over what a protocol swept, or over the stages of fits."""

    over: str
    values: tuple[PointRecord, ...]


@dataclass(frozen=True)
class LinesRecord:
    """Several such series, by name."""

    over: str
    values: Mapping[str, tuple[PointRecord, ...]]


@dataclass(frozen=True)
class ChoiceRecord:
    """What inner splits chose in one split."""

    split: str
    chosen: Mapping[str, Entry]
    inner_score: float
    edges: Mapping[str, str]
    """Values that are the lowest or the highest that was tried."""


@dataclass(frozen=True)
class FairnessRecord:
    """How groups, and similar rows, are treated."""

    groups: tuple[GroupFairness, ...]
    individual: IndividualFairness | None = field(default=None, metadata=shown(optional=True))


@dataclass(frozen=True, kw_only=True)
class ModelRecord:
    """A model on a dataset with its scores."""

    cell: CellRecord = field(metadata=shown(merged=True))
    status: str
    why: str = field(metadata=shown(optional=True))
    splits: int
    shortcuts: Mapping[str, int] = field(metadata=shown(optional=True))
    seconds: SecondsRecord
    metrics: Mapping[str, Summary]
    training: Mapping[str, float] = field(metadata=shown(optional=True))
    """Each metric on the training rows, where these were scored."""
    series: SeriesRecord | None = field(metadata=shown(optional=True))
    stages: SeriesRecord | None = field(metadata=shown(optional=True))
    lines: LinesRecord | None = field(metadata=shown(optional=True))
    bias_variance: Decomposition | None = field(metadata=shown(optional=True))
    confusion: Confusion | None = field(metadata=shown(optional=True))
    classes: tuple[ClassRates, ...] = field(metadata=shown(optional=True))
    rules: tuple[AssociationRule, ...] = field(default=(), metadata=shown(optional=True))
    oddest: tuple[OddRow, ...] = field(default=(), metadata=shown(optional=True))
    thresholds: tuple[float, ...] | None = field(default=None, metadata=shown(optional=True))
    flagged: tuple[OddRow, ...] | None = field(default=None, metadata=shown(optional=True))
    findings: tuple[Finding, ...] = field(metadata=shown(optional=True))
    """What the model of the first split says of itself."""
    chosen: tuple[ChoiceRecord, ...] = field(metadata=shown(optional=True))
    curves: tuple[Curve, ...] = field(metadata=shown(optional=True))
    """ROC, precision and recall, calibration."""
    fairness: FairnessRecord | None = field(metadata=shown(optional=True))
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    remarks: tuple[Remark, ...] = field(metadata=shown(optional=True))
    """Notes, warnings and doubts about the scores, with their codes."""


@dataclass(frozen=True)
class PairRecord:
    """The difference of two models."""

    models: tuple[str, str]
    difference: Difference = field(metadata=shown(merged=True))


@dataclass(frozen=True)
class DifferencesRecord:
    """The models of one table beside its best and its baseline, by one metric."""

    dataset: str
    kind: str
    seed: int
    metric: str
    best: str
    chosen_among: int
    pairs: tuple[PairRecord, ...]


@dataclass(frozen=True)
class FriedmanRecord:
    """Friedman's test of mean ranks."""

    chi_square: float
    p: float


@dataclass(frozen=True)
class ImanDavenportRecord:
    """The F test of Iman and Davenport."""

    f: float
    freedom: tuple[int, int]
    p: float


@dataclass(frozen=True)
class PairOverDatasetsRecord:
    """Two models over several datasets."""

    models: tuple[str, str]
    difference: Difference = field(metadata=shown(merged=True))
    wins: int
    ties: int
    losses: int
    belief: Posterior | None = field(metadata=shown(merged=True, optional=True))


@dataclass(frozen=True, kw_only=True)
class OverDatasetsRecord:
    """The models of several datasets by one metric: mean ranks and tests."""

    metric: str
    datasets: tuple[str, ...]
    models: tuple[str, ...]
    scores: Sequence[Sequence[float]]
    mean_ranks: tuple[float, ...]
    why: str = field(metadata=shown(optional=True))
    friedman: FriedmanRecord | None = field(metadata=shown(optional=True))
    iman_davenport: ImanDavenportRecord | None = field(metadata=shown(optional=True))
    critical_difference: float | None = field(metadata=shown(optional=True))
    groups: tuple[tuple[str, ...], ...]
    """Models whose mean ranks do not differ."""
    pairs: tuple[PairOverDatasetsRecord, ...]
    left_out: tuple[str, ...] = field(metadata=shown(optional=True))


@dataclass(frozen=True)
class ExperimentRecord:
    """The results of an experiment."""

    version: str
    cells: tuple[ModelRecord, ...]
    comparisons: tuple[DifferencesRecord, ...]
    verdicts: tuple[Verdict, ...] = field(metadata=shown(optional=True))
    """One for each table, by the metric that decides."""
    over_datasets: tuple[OverDatasetsRecord, ...] = field(metadata=shown(optional=True))
    gates: tuple[Gate, ...] = field(default=(), metadata=shown(optional=True))


def experiment_record(
    results: Sequence[ModelResult],
    *,
    curves: bool = False,
    fair: bool = False,
    similarity: float = SIMILARITY,
    gates: Sequence[Gate] = (),
) -> ExperimentRecord:
    """The record of an experiment: an entry for each model, in the order of the plan."""
    comparisons: list[DifferencesRecord] = []
    verdicts: list[Verdict] = []
    for group in groups_of(results):
        cell = first_cell(group)
        differences_by_metric = [differences_of(group, metric) for metric in metrics_in(group)]
        verdict = verdict_on(group, differences_by_metric[0])
        verdicts += [] if verdict is None else [verdict]
        comparisons += [
            DifferencesRecord(
                cell.dataset.name,
                cell.kind,
                cell.seed,
                differences.metric.name,
                group[differences.best],
                len(differences.to_best) + 1,
                tuple(PairRecord(models, test) for models, test in named_pairs(differences, group)),
            )
            for differences in differences_by_metric
            if differences is not None and differences.to_best
        ]
    return ExperimentRecord(
        __version__,
        tuple(model_record(result, curves, similarity if fair else None) for result in results),
        tuple(comparisons),
        tuple(verdicts),
        tuple(over_datasets_record(over) for over in compared_over_datasets(results)),
        tuple(gates),
    )


def cell_record(cell: Cell) -> CellRecord:
    """What is requested of a model on a dataset."""
    model = cell.model
    return CellRecord(
        dataset=cell.dataset.name,
        kind=cell.kind,
        model=model.use,
        label=cell.label,
        params=model.params,
        steps=tuple(StepRecord(step.use, step.params) for step in cell.steps),
        protocol=cell.protocol.use,
        protocol_params=cell.protocol.params,
        seed=cell.seed,
        rows=cell.labelled_rows,
        rows_without_target=cell.dataset.unlabelled,
        reference=not model.requested,
        saved=str(model.saved or ""),
        rows_learned_from=cell.learned_rows if model.saved else None,
    )


def plan_record(cells: Sequence[Cell], estimates: Sequence[CellEstimate | None]) -> PlanRecord:
    """The cells of an experiment, each with what it may take where a store knows."""
    return PlanRecord(
        tuple(
            PlannedRecord(
                cell_record(cell),
                cell.stages,
                cell.training,
                cell.skipped,
                None if cell.skipped else estimate,
            )
            for cell, estimate in zip(cells, estimates, strict=True)
        )
    )


def model_record(result: ModelResult, curves: bool = False, similarity: float | None = None) -> ModelRecord:
    """A model with its scores, and if requested curves of probabilities and fairness."""
    from mlcli.scoring.class_curves import curves_as_findings

    def points(series: Series) -> tuple[PointRecord, ...]:
        return tuple(PointRecord(value, summaries) for value, summaries in summaries_of(series).items())

    splits, cell = result.splits, result.cell
    every_series = series_of(result)
    series = {series.kind: SeriesRecord(series.over, points(series)) for series in every_series if not series.line}
    lines = [series for series in every_series if series.line]
    decomposition = requested_decomposition(result)
    groups = fairness_by_groups(result) if similarity is not None and result.done else []
    fields_at = kind_named(cell.kind).fields_at if result.done else ""
    fields_of_kind: KindFields = named(fields_at)(result) if fields_at else {}
    return ModelRecord(
        cell=cell_record(cell),
        status=result.status,
        why=result.why,
        splits=len(splits),
        shortcuts=result.cell_result.routes(),
        seconds=SecondsRecord(sum(each(splits, "fit_seconds")), sum(each(splits, "predict_seconds"))),
        metrics=result.summaries,
        training=result.training,
        series=series.get("series"),
        stages=series.get("stages"),
        lines=LinesRecord(lines[0].over, {line.line: points(line) for line in lines}) if lines else None,
        bias_variance=decomposition if isinstance(decomposition, Decomposition) else None,
        confusion=result.confusion,
        classes=result.classes,
        findings=splits[0].explanation if splits else (),
        chosen=tuple(
            ChoiceRecord(
                split.label,
                dict(zip(chosen.names, chosen.values, strict=True)),
                chosen.score,
                {name: edge for name, edge in zip(chosen.names, chosen.edges, strict=True) if edge},
            )
            for split, chosen in choices_of(result)
        ),
        curves=tuple(curves_as_findings(result)) if curves else (),
        fairness=FairnessRecord(tuple(groups), similar_rows(result, similarity or SIMILARITY)) if groups else None,
        notes=(*cell.dataset.notes, *result.cell_result.notes),
        warnings=tuple(dict.fromkeys(text for of_split in each(splits, "warnings") for text in of_split)),
        remarks=remarks_of(result),
        **fields_of_kind,
    )


def over_datasets_record(over: OverDatasets) -> OverDatasetsRecord:
    """Models over several datasets, by their names."""
    table, test = over.table, over.test
    return OverDatasetsRecord(
        metric=table.metric,
        datasets=table.datasets,
        models=table.models,
        scores=table.scores.tolist(),
        mean_ranks=over.ranks,
        why=over.why,
        friedman=FriedmanRecord(test.chi_square, test.chi_square_p) if test else None,
        iman_davenport=ImanDavenportRecord(test.f, test.freedom, test.p) if test else None,
        critical_difference=over.difference,
        groups=tuple(tuple(table.models[index] for index in group) for group in over.groups),
        pairs=tuple(
            PairOverDatasetsRecord(
                (pair.first, pair.second), pair.difference, pair.wins, pair.ties, pair.losses, pair.belief
            )
            for pair in over.pairs
        ),
        left_out=table.left_out,
    )
