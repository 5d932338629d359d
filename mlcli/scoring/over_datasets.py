"""The models of several datasets together: their scores as a table, mean ranks and tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mlcli.metrics.over_datasets import OverDatasets, ScoreTable, compare_over_datasets, score_table
from mlcli.scoring.model_results import ModelResult, first_cell, groups_of, table_key


def compared_over_datasets(results: Sequence[ModelResult]) -> list[OverDatasets]:
    """The comparison of each table of scores; none of a single dataset."""
    return [compare_over_datasets(table) for table in tables_over_datasets(results)]


def tables_over_datasets(results: Sequence[ModelResult], metric: str = "") -> list[ScoreTable]:
    """A table for each kind of task that several datasets share; of a metric, else of the first they have.

    Where datasets are split by several protocols, there is a table for the first of each, for the second, ...
    """
    seen: Counter[tuple[object, ...]] = Counter()
    together: dict[tuple[str, int], list[ModelResult]] = {}
    for group in groups_of(results):
        cell = first_cell(group)
        together.setdefault((cell.kind, seen[table_key(cell)]), []).extend(group)
        seen[table_key(cell)] += 1
    tables = (_score_table_of(group, metric) for group in together.values())
    return [table for table in tables if table is not None and len(table.datasets) > 1 and len(table.models) > 1]


def _score_table_of(group: Sequence[ModelResult], name: str) -> ScoreTable | None:
    """The scores of the models that were not put beside others only to be beaten, where there are such."""
    fair = [result for result in group if result.cell.model.requested and not result.contaminated]
    models = [result for result in fair if not result.is_baseline]
    ranked = models if len({model.cell.label for model in models}) > 1 else fair
    every = ranked[0].metrics if ranked else ()
    shared = [metric for metric in every if all(metric in each.metrics for each in ranked)]
    metric = next((metric for metric in shared if name in ("", metric.name)), None)
    if metric is None:
        return None
    means = ((result.cell, result.summaries[metric.name].mean) for result in ranked if result.done)
    rows = ((cell.dataset.name, cell.label, mean) for cell, mean in means if mean is not None)
    return score_table(rows, metric.name, metric.better, by_factors=metric.better == "low" and metric.high is None)
