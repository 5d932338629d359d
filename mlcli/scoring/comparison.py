"""Comparisons: every pair of models of each dataset with its test, and the tables of scores over datasets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from mlcli import __version__
from mlcli.core.errors import UsageError
from mlcli.core.names import did_you_mean
from mlcli.core.serialise import shown
from mlcli.data.scores_file import read_scores
from mlcli.experiment.spec.cells import CellResult
from mlcli.metrics.base import Better, Metric
from mlcli.metrics.difference import ON_REQUEST, Difference, holm
from mlcli.metrics.over_datasets import ScoreTable, compare_over_datasets, score_table
from mlcli.metrics.registry import metric_named
from mlcli.scoring.differences import difference_between, tables_over_datasets
from mlcli.scoring.model_results import Group, ModelResult, badness, first_cell, groups_of, score_result
from mlcli.scoring.records import OverDatasetsRecord, PairRecord, over_datasets_record
from mlcli.tasks.table import kind_named


@dataclass(frozen=True)
class ComparedPair:
    """Two models of one dataset, the better one first."""

    first: str
    second: str
    difference: Difference


@dataclass(frozen=True, eq=False)
class ComparedModels:
    """The models of one dataset by one metric."""

    group: Group
    metric: Metric
    pairs: tuple[ComparedPair, ...]
    best: str
    unscored: tuple[str, ...]
    """Models that have no score to compare."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """All that was compared, and how."""

    datasets: tuple[ComparedModels, ...]
    tables: tuple[ScoreTable, ...]
    rope: float
    against: str = ""
    """The model that all others are compared with; empty: every pair."""


def compared_results(
    results: Sequence[CellResult],
    usual: Sequence[str],
    metrics: Sequence[str],
    rope: float,
    against: str,
    test: str = "",
) -> Comparison:
    """Models as if all had been one run, by each of some metrics; by the ``usual`` ones where none is named.

    The metric ``all`` stands for every metric of the runs. ``test`` names one that is made on request.
    """
    requested = list(dict.fromkeys(metrics)) or [""]
    if requested == ["all"]:
        every = [score_result(result, usual) for result in results]
        requested = list(
            dict.fromkeys(metric.name for result in every if result.done for metric in result.metrics)
        )
    datasets: list[ComparedModels] = []
    tables: list[ScoreTable] = []
    for metric in requested:
        scored = [score_result(result, (metric,) if metric else usual) for result in results]
        _refuse_unknown_model(against, [result.cell.label for result in scored])
        if metric:
            _refuse_unknown_metric(metric, results)
        compared = [compared_models(group, metric, against, test) for group in groups_of(scored)]
        if not any(compared):
            what = f"no two models have a score by {metric}" if metric else "there are no two models to compare"
            raise UsageError(what, hint="mlcli runs RUN shows what a run holds")
        datasets += [models for models in compared if models is not None]
        tables += tables_over_datasets(scored, metric)
    return Comparison(tuple(datasets), tuple(tables), rope, against)


def compared_file(path: Path, metric: str, better: Better, rope: float, against: str) -> Comparison:
    """The models of a CSV file of scores."""
    name, rows = read_scores(path, metric)
    table = score_table(rows, name, better)
    _refuse_unknown_model(against, table.models)
    if len(table.models) < 2:
        raise UsageError(f"{path} has no two models to compare", hint="each dataset needs a row for each model")
    return Comparison((), (table,), rope, against)


def refuse_unknown_test(name: str) -> None:
    """Refuse a test that does not exist, before runs are read."""
    if name and name not in ON_REQUEST:
        raise UsageError(f"there is no test '{name}'", hint=did_you_mean(name, ON_REQUEST, "tests"))


def _refuse_unknown_model(against: str, models: Sequence[str]) -> None:
    if against and against not in models:
        names = list(dict.fromkeys(models))
        raise UsageError(f"there is no model '{against}' here", hint=did_you_mean(against, names, "models"))


def _refuse_unknown_metric(name: str, results: Sequence[CellResult]) -> None:
    """Refuse a metric that can score none of the models."""
    refusals: list[UsageError] = []
    for cell in (result.cell for result in results):
        target = cell.dataset.schema.the("target")
        try:
            metric_named(name, kind_named(cell.kind).answers, target.levels if target else ())
            return
        except UsageError as refusal:
            refusals.append(refusal)
    if refusals:
        raise refusals[0]


def compared_models(group: Group, name: str = "", against: str = "", test: str = "") -> ComparedModels | None:
    """The models of one dataset; None where there are no two to compare."""
    requested = [result for result, label in group.items() if result.cell.model.requested or label == against]
    done = [result for result in requested if result.done]
    metric = next((metric for result in done for metric in result.metrics if name in ("", metric.name)), None)
    if metric is None or len(done) < 2:
        return None
    means: dict[ModelResult, float] = {}
    for result in done:
        mean = result.summaries[metric.name].mean if metric.name in result.summaries else None
        if mean is not None and not result.contaminated:
            means[result] = mean
    ranked = sorted(means, key=lambda result: badness(metric, means[result]))
    pairs = [
        (better, worse)
        for better, worse in combinations(ranked, 2)
        if not against or against in (group[better], group[worse])
    ]
    tests = holm([difference_between(better, worse, metric, test) for better, worse in pairs])
    compared = tuple(
        ComparedPair(group[better], group[worse], difference)
        for (better, worse), difference in zip(pairs, tests, strict=True)
    )
    unscored = tuple(group[result] for result in requested if result not in means)
    return ComparedModels(group, metric, compared, group[ranked[0]] if ranked else "", unscored)


@dataclass(frozen=True)
class ComparedDatasetRecord:
    """Every pair of models of one dataset."""

    dataset: str
    kind: str
    metric: str
    best: str
    pairs: tuple[PairRecord, ...]
    unscored: tuple[str, ...] = field(metadata=shown(optional=True))


@dataclass(frozen=True)
class ComparisonRecord:
    """What ``--json`` writes of a comparison."""

    version: str
    datasets: tuple[ComparedDatasetRecord, ...]
    rope: float
    over_datasets: tuple[OverDatasetsRecord, ...]


def comparison_record(comparison: Comparison) -> ComparisonRecord:
    """All pairs of each dataset, then what holds over datasets."""
    datasets = tuple(
        ComparedDatasetRecord(
            first_cell(compared.group).dataset.name,
            first_cell(compared.group).kind,
            compared.metric.name,
            compared.best,
            tuple(PairRecord((pair.first, pair.second), pair.difference) for pair in compared.pairs),
            compared.unscored,
        )
        for compared in comparison.datasets
    )
    over = (compare_over_datasets(table, comparison.rope, comparison.against) for table in comparison.tables)
    return ComparisonRecord(__version__, datasets, comparison.rope, tuple(map(over_datasets_record, over)))
