"""Comparisons: every pair of models of each dataset with its test, then ranks and pairs over the datasets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from mlcli import __version__
from mlcli.core.errors import UsageError
from mlcli.core.names import counted, did_you_mean
from mlcli.data.scores_file import read_scores
from mlcli.experiment.spec.cells import CellResult
from mlcli.experiment.store.store import metrics_of, named_run, results_together
from mlcli.metrics.base import Better, Metric
from mlcli.metrics.difference import ON_REQUEST, Difference, holm
from mlcli.metrics.over_datasets import ScoreTable, compare_over_datasets, score_table
from mlcli.metrics.registry import metric_named
from mlcli.report.document import Content, Document, Element, GridCell, Sentence, grid_of_numbers, notes
from mlcli.report.numbers import decimals_of, fixed, p_text
from mlcli.report.views.over_datasets import (
    MOST_PAIRS,
    elements_over_datasets,
    over_datasets_as_json,
    pairs_over_datasets,
    tables_over_datasets,
)
from mlcli.report.views.plan import opening
from mlcli.report.views.results_as_json import given, plain
from mlcli.scoring.differences import difference_between, pair_as_json
from mlcli.scoring.model_results import Group, badness, first_cell, groups_of, score_result
from mlcli.tasks.table import kind_named

ALL = "all"
"""Every metric of the runs."""
DIFFERS = "*"
LEGEND = f"{DIFFERS} differs at 5 %; p corrected by Holm for {{}}"


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


def compared_runs(
    sources: Sequence[str], store: Path | None, metrics: Sequence[str], rope: float, against: str, test: str = ""
) -> Comparison:
    """The models of some runs as if all had been one run, by each of some metrics, or by the first of the runs.

    ``test`` names one that is made on request.
    """
    runs = [named_run(source, store) for source in sources]
    results, usual = results_together(runs), metrics_of(runs)
    asked = list(dict.fromkeys(metrics)) or [""]
    if asked == [ALL]:
        known = [score_result(result, usual) for result in results]
        asked = list(dict.fromkeys(metric.name for one in known if one.done for metric in one.metrics))
    datasets: list[ComparedModels] = []
    tables: list[ScoreTable] = []
    for metric in asked:
        found = [score_result(result, (metric,) if metric else usual) for result in results]
        _refuse_unknown(against, [one.cell.label for one in found])
        if metric:
            _refuse_unknown_metric(metric, results)
        compared = [compared_models(group, metric, against, test) for group in groups_of(found)]
        if not any(compared):
            what = f"no two models have a score by {metric}" if metric else "there are no two models to compare"
            raise UsageError(what, hint=f"mlcli runs {sources[0]} shows what it holds")
        datasets += [one for one in compared if one is not None]
        tables += tables_over_datasets(found, metric)
    return Comparison(tuple(datasets), tuple(tables), rope, against)


def compared_file(path: Path, metric: str, better: Better, rope: float, against: str) -> Comparison:
    """The models of a CSV file of scores."""
    name, rows = read_scores(path, metric)
    table = score_table(rows, name, better)
    _refuse_unknown(against, table.models)
    if len(table.models) < 2:
        raise UsageError(f"{path} has no two models to compare", hint="each dataset needs a row for each model")
    return Comparison((), (table,), rope, against)


def refuse_unknown_test(name: str) -> None:
    """That there is no test of a name is said before runs are read."""
    if name and name not in ON_REQUEST:
        raise UsageError(f"there is no test '{name}'", hint=did_you_mean(name, ON_REQUEST, "tests"))


def _refuse_unknown(against: str, models: Sequence[str]) -> None:
    if against and against not in models:
        names = list(dict.fromkeys(models))
        raise UsageError(f"there is no model '{against}' here", hint=did_you_mean(against, names, "models"))


def _refuse_unknown_metric(name: str, results: Sequence[CellResult]) -> None:
    """A metric that can judge none of the models."""
    refusals: list[UsageError] = []
    for cell in (one.cell for one in results):
        target = cell.dataset.schema.the("target")
        try:
            metric_named(name, kind_named(cell.kind).answers, target.levels if target else ())
            return
        except UsageError as refusal:
            refusals.append(refusal)
    if refusals:
        raise refusals[0]


def compared_models(group: Group, name: str = "", against: str = "", test: str = "") -> ComparedModels | None:
    """The models of one dataset; nothing where there are no two to compare."""
    wanted = [one for one, name in group.items() if one.cell.model.asked or name == against]
    done = [one for one in wanted if one.done]
    metric = next((metric for one in done for metric in one.metrics if name in ("", metric.name)), None)
    if metric is None or len(done) < 2:
        return None
    means = {one: one.summaries[metric.name].mean for one in done if metric.name in one.summaries}
    fair = {one: mean for one, mean in means.items() if mean is not None and not one.contaminated}
    ranked = sorted(fair, key=lambda one: badness(metric, fair[one]))
    every = combinations(ranked, 2)
    pairs = [(one, other) for one, other in every if not against or against in (group[one], group[other])]
    tests = holm([difference_between(*pair, metric, test) for pair in pairs])
    of_pairs = zip(pairs, tests, strict=True)
    compared = tuple(ComparedPair(group[one], group[other], test) for (one, other), test in of_pairs)
    unscored = tuple(group[one] for one in wanted if one not in fair)
    return ComparedModels(group, metric, compared, group[ranked[0]] if ranked else "", unscored)


def comparison_of(comparison: Comparison) -> Document:
    """The pairs of each dataset, then what holds over datasets."""
    return tuple(_elements(comparison))


def _elements(comparison: Comparison) -> Iterator[Element]:
    for one in comparison.datasets:
        yield from opening([each.cell for each in one.group])
        yield from pairs_of(one)
    for table in comparison.tables:
        beaten = Counter(pair for one in comparison.datasets for pair in _beaten_pairs(one, table))
        over = compare_over_datasets(table, comparison.rope, comparison.against)
        yield from elements_over_datasets(over)
        yield from pairs_over_datasets(over, comparison.rope, beaten)


def _beaten_pairs(compared: ComparedModels, table: ScoreTable) -> Iterator[tuple[str, str]]:
    """The pairs of one dataset of a table of which the first is better, and not by chance."""
    if first_cell(compared.group).dataset.name in table.datasets and compared.metric.name == table.metric:
        yield from ((pair.first, pair.second) for pair in compared.pairs if pair.difference.distinguishable)


def pairs_of(compared: ComparedModels) -> Iterator[Element]:
    """Pairs of models of one dataset, and what they say of the best."""
    metric, pairs = compared.metric, compared.pairs
    shown = [pair for pair in pairs if len(pairs) <= MOST_PAIRS or compared.best in (pair.first, pair.second)]
    decimals = decimals_of(metric, [one.summaries[metric.name] for one in compared.group if one.done])
    header = ["model", "against", metric.name, "95 % interval", "p", "corrected p"]
    yield grid_of_numbers(header, [_pair_cells(pair, decimals) for pair in shown], keys=2)
    untested = (pair for pair in shown if pair.difference.p is None and pair.difference.why)
    left = len(pairs) - len(shown)
    yield notes(
        f"{LEGEND.format(counted(len(pairs), 'comparison'))}; "
        f"{metric.name}: the first model's score minus the other's",
        *(f"test: {test}" for test in dict.fromkeys(pair.difference.test for pair in pairs) if test),
        *(f"{pair.first} against {pair.second}: {pair.difference.why}" for pair in untested),
        *[f"no score to compare: {', '.join(compared.unscored)}"] * bool(compared.unscored),
        *[f"{left} more pairs are in --json"] * bool(left),
    )
    if shown:
        yield Sentence(_sentence_on_best(compared), "strong")


def _sentence_on_best(compared: ComparedModels) -> str:
    of_best = [pair for pair in compared.pairs if pair.first == compared.best]
    beaten = [pair.second for pair in of_best if pair.difference.distinguishable]
    untested = [pair.second for pair in of_best if pair.difference.p is None]
    alike = [one.second for one in of_best if one.second not in untested and not one.difference.distinguishable]
    said = {"better than": beaten, "not distinguishable from": alike, "not tested against": untested}
    parts = [f"Best by {compared.metric.name}: {compared.best}"]
    return "; ".join([*parts, *(f"{what} {', '.join(who)}" for what, who in said.items() if who)]) + "."


def _pair_cells(pair: ComparedPair, decimals: int | None) -> list[Content]:
    found = pair.difference
    if found.mean is None:
        return [pair.first, pair.second, GridCell("untested", "weak"), "-", "-", "-"]
    known = found.low is not None and found.high is not None
    interval = f"{fixed(found.low or 0.0, decimals)} to {fixed(found.high or 0.0, decimals)}" if known else "-"
    mean = fixed(found.mean, decimals)
    shown = GridCell(DIFFERS + mean, "best") if found.distinguishable else GridCell(mean)
    return [pair.first, pair.second, shown, interval, p_text(found.p), p_text(found.corrected)]


def comparison_as_json(comparison: Comparison) -> dict[str, Any]:
    """All comparisons as plain values."""
    over = (compare_over_datasets(table, comparison.rope, comparison.against) for table in comparison.tables)
    return {
        "version": __version__,
        "datasets": [_dataset_as_json(one) for one in comparison.datasets],
        "rope": comparison.rope,
        "over_datasets": [over_datasets_as_json(one) for one in over],
    }


def _dataset_as_json(compared: ComparedModels) -> dict[str, Any]:
    cell = first_cell(compared.group)
    return {
        "dataset": cell.dataset.name,
        "kind": cell.kind,
        "metric": compared.metric.name,
        "best": compared.best,
        "pairs": [plain(pair_as_json(pair.first, pair.second, pair.difference)) for pair in compared.pairs],
        **given({"unscored": list(compared.unscored)}),
    }
