"""What is compared: every pair of models of one dataset with its test, and tables of scores over datasets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from mlcli.core.errors import UsageError
from mlcli.core.names import did_you_mean
from mlcli.data.scores_file import read_scores
from mlcli.experiment.store.named_runs import metrics_of, named_run, results_together
from mlcli.metrics.base import Better, Metric
from mlcli.metrics.difference import ON_REQUEST, Difference, holm
from mlcli.metrics.over_datasets import ScoreTable, score_table
from mlcli.metrics.registry import metric_named
from mlcli.report.differences import difference_between
from mlcli.report.over_datasets import tables_over_datasets
from mlcli.report.scored import Scored, grouped, names_of, scored
from mlcli.report.scores import badness
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

    group: Sequence[Scored]
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


def compared_runs(
    sources: Sequence[str], store: Path | None, metric: str, rope: float, against: str, test: str = ""
) -> Comparison:
    """The models of some runs by one metric, as if all had been one run; ``test`` names one made on request."""
    runs = [named_run(source, store) for source in sources]
    asked = (metric,) if metric else metrics_of(runs)
    found = [scored(result, asked) for result in results_together(runs)]
    _refuse_unknown(against, [one.cell.label for one in found])
    if metric:
        _refuse_unknown_metric(metric, found)
    datasets = [compared_models(group, metric, against, test) for group in grouped(found)]
    known = tuple(one for one in datasets if one is not None)
    if not known:
        what = f"no two models have a score by {metric}" if metric else "there are no two models to compare"
        raise UsageError(what, hint=f"mlcli runs {sources[0]} shows what it holds")
    return Comparison(known, tuple(tables_over_datasets(found, metric)), rope, against)


ALL = "all"
"""Every metric of the runs."""


def compared_by(
    sources: Sequence[str], store: Path | None, metrics: Sequence[str], rope: float, against: str, test: str = ""
) -> Comparison:
    """The same by each of several metrics, or by all that the runs have; by the first where none is named."""
    asked = list(dict.fromkeys(metrics))
    if asked == [ALL]:
        runs = [named_run(source, store) for source in sources]
        found = [scored(one, metrics_of(runs)) for one in results_together(runs)]
        asked = list(dict.fromkeys(metric.name for one in found if one.done for metric in one.metrics))
    every = [compared_runs(sources, store, metric, rope, against, test) for metric in asked or [""]]
    datasets = tuple(one for comparison in every for one in comparison.datasets)
    tables = tuple(table for comparison in every for table in comparison.tables)
    return Comparison(datasets, tables, rope, against)


def compared_file(path: Path, metric: str, better: Better, rope: float, against: str) -> Comparison:
    """The models of a CSV file of scores."""
    name, rows = read_scores(path, metric)
    table = score_table(rows, name, better)
    _refuse_unknown(against, table.models)
    if len(table.models) < 2:
        raise UsageError(f"{path} has no two models to compare", hint="each dataset needs a row for each model")
    return Comparison((), (table,), rope, against)


def _refuse_unknown(against: str, models: Sequence[str]) -> None:
    if against and against not in models:
        names = list(dict.fromkeys(models))
        raise UsageError(f"there is no model '{against}' here", hint=did_you_mean(against, names, "models"))


def refuse_unknown_test(name: str) -> None:
    """That there is no test of a name is said before runs are read."""
    if name and name not in ON_REQUEST:
        raise UsageError(f"there is no test '{name}'", hint=did_you_mean(name, ON_REQUEST, "tests"))


def _refuse_unknown_metric(name: str, found: Sequence[Scored]) -> None:
    """A metric that can judge none of the models."""
    refusals: list[UsageError] = []
    for cell in (one.cell for one in found):
        target = cell.dataset.schema.the("target")
        try:
            metric_named(name, kind_named(cell.kind).answers, target.levels if target else ())
            return
        except UsageError as refusal:
            refusals.append(refusal)
    if refusals:
        raise refusals[0]


def compared_models(
    group: Sequence[Scored], name: str = "", against: str = "", test: str = ""
) -> ComparedModels | None:
    """The models of one dataset; nothing where there are no two to compare."""
    done = [one for one in group if one.done]
    metric = next((metric for one in done for metric in one.metrics if name in ("", metric.name)), None)
    names = names_of(group)
    if metric is None or len(done) < 2:
        return None
    fair = [one for one in done if not one.contaminated and _mean(one, metric) is not None]
    ranked = sorted(fair, key=lambda one: badness(metric, _mean(one, metric) or 0.0))
    pairs = [
        (first, second)
        for first, second in combinations(ranked, 2)
        if not against or against in (names[first], names[second])
    ]
    tests = holm([difference_between(first, second, metric, test) for first, second in pairs])
    return ComparedModels(
        group,
        metric,
        tuple(
            ComparedPair(names[first], names[second], test)
            for (first, second), test in zip(pairs, tests, strict=True)
        ),
        names[ranked[0]] if ranked else "",
        tuple(names[one] for one in group if one not in fair),
    )


def _mean(one: Scored, metric: Metric) -> float | None:
    return one.summaries[metric.name].mean if metric.name in one.summaries else None
