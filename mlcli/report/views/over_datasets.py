"""Models over several datasets: the scores side by side, mean ranks, the test, and which cannot be told apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from mlcli.core.findings import CriticalDifference
from mlcli.metrics.over_datasets import (
    OverDatasets,
    PairOverDatasets,
    RankTest,
    ScoreTable,
    compare_over_datasets,
    score_table,
    wins_ties_losses,
)
from mlcli.report.document import (
    Content,
    Element,
    Grid,
    GridCell,
    Heading,
    Sentence,
    grid_of_numbers,
    notes,
    strong,
)
from mlcli.report.numbers import UNIT_DECIMALS, as_equation, decimals_for, fixed, p_text
from mlcli.report.views.results_as_json import given, plain
from mlcli.report.views.score_table import BEST, LEGEND_OF_BEST
from mlcli.scoring.model_results import ModelResult, first_cell, groups_of, table_key

RANK_DECIMALS = 2
Beaten = tuple[str, str]
"""A model, and one that it is better than."""
MOST_PAIRS = 15
"""That are all shown; of more, those with the best."""
READING_RANKS = "models beside one line cannot be told apart (Nemenyi, 5 %)"
READING_BELIEF = "better, alike, worse: the probability of each on a dataset to come (Bayesian signed-rank test)"


def tables_over_datasets(scored: Sequence[ModelResult], metric: str = "") -> list[ScoreTable]:
    """A table for each kind of task that several datasets share; of a metric, else of the first they have.

    Where datasets are split by several protocols, there is a table for the first of each, for the second, ...
    """
    seen: Counter[tuple[object, ...]] = Counter()
    together: dict[tuple[str, int], list[ModelResult]] = {}
    for group in groups_of(scored):
        cell = first_cell(group)
        together.setdefault((cell.kind, seen[table_key(cell)]), []).extend(group)
        seen[table_key(cell)] += 1
    tables = (_score_table_of(group, metric) for group in together.values())
    return [table for table in tables if table is not None and len(table.datasets) > 1 and len(table.models) > 1]


def _score_table_of(group: Sequence[ModelResult], name: str) -> ScoreTable | None:
    """The scores of the models that were not put beside others only to be beaten, where there are such."""
    fair = [one for one in group if one.cell.model.asked and not one.contaminated]
    models = [one for one in fair if not one.is_baseline]
    ranked = models if len({one.cell.label for one in models}) > 1 else fair
    every = ranked[0].metrics if ranked else ()
    shared = [one for one in every if all(one in each.metrics for each in ranked)]
    metric = next((one for one in shared if name in ("", one.name)), None)
    if metric is None:
        return None
    means = ((one.cell, one.summaries[metric.name].mean) for one in ranked if one.done)
    rows = ((cell.dataset.name, cell.label, mean) for cell, mean in means if mean is not None)
    return score_table(rows, metric.name, metric.better, by_factors=metric.better == "low" and metric.high is None)


def summary_over_datasets(scored: Sequence[ModelResult]) -> Iterator[Element]:
    """What closes the results of several datasets."""
    for table in tables_over_datasets(scored):
        yield from elements_over_datasets(compare_over_datasets(table))


def elements_over_datasets(over: OverDatasets) -> Iterator[Element]:
    """Scores, mean ranks and the test over datasets."""
    table = over.table
    yield Heading(f"{len(table.datasets)} datasets: {table.metric}", 1)
    yield _scores_grid(over)
    counts = f"won, tied and lost: on how many datasets against {table.models[over.order[0]]}"
    yield notes(f"{LEGEND_OF_BEST_OF_ROW}; {counts}", *table.left_out)
    yield Sentence(sentence_over_datasets(over), "strong")
    if over.difference is not None and len(table.models) > 2:
        yield Heading("Mean ranks")
        yield critical_difference_of(over)
        yield notes(READING_RANKS)


LEGEND_OF_BEST_OF_ROW = LEGEND_OF_BEST.replace("column", "row")


def _scores_grid(over: OverDatasets) -> Grid:
    table, best = over.table, over.order[0]
    rows = [[strong(name), *_dataset_cells(table, place)] for place, name in enumerate(table.datasets)]
    rows.append([GridCell(text) for text in ("mean rank", *(fixed(rank, RANK_DECIMALS) for rank in over.ranks))])
    counts = (_counts_against(over, best, place) for place in range(len(over.ranks)))
    rows.append([GridCell(text) for text in ("won, tied, lost", *counts)])
    return grid_of_numbers(["dataset", *table.models], rows)


def _dataset_cells(table: ScoreTable, place: int) -> list[GridCell]:
    scores = table.scores[place].tolist()
    whole = table.scores if not table.by_factors else table.scores[place]
    decimals = UNIT_DECIMALS if abs(whole).max() <= 1 else decimals_for(map(float, whole.ravel()))
    written = [fixed(score, decimals) for score in scores]
    best = written[int(table.merits[place].argmax())]
    if len(set(written)) == 1:
        return [GridCell(text) for text in written]
    return [GridCell(BEST + text, "best") if text == best else GridCell(text) for text in written]


def _counts_against(over: OverDatasets, best: int, place: int) -> str:
    if place == best:
        return "-"
    merits, rounding = over.table.merits, over.table.rounding
    return ", ".join(map(str, wins_ties_losses(merits[:, place] - merits[:, best], rounding)))


def sentence_over_datasets(over: OverDatasets) -> str:
    """What the test found, in one sentence."""
    table = over.table
    first = [name for name, rank in zip(table.models, over.ranks, strict=True) if rank == min(over.ranks)]
    opening = (
        f"Best mean rank by {table.metric}: {' and '.join(first)} with {fixed(min(over.ranks), RANK_DECIMALS)}"
    )
    if over.why:
        return f"{opening}; {over.why}."
    if len(table.models) == 2:
        p = over.pairs[0].difference.p
        return f"{opening}; {over.pairs[0].difference.test}: p {as_equation(p)}, {_significance_text(p)}."
    assert over.test is not None
    found = f"Friedman test (Iman-Davenport): p {as_equation(over.test.p)}, {_significance_text(over.test.p)}"
    alike = [table.models[place] for group in over.groups if over.order[0] in group for place in group]
    others = [name for name in alike if name not in first]
    return f"{opening}; {found}" + (f"; not distinguishable from it: {', '.join(others)}." if others else ".")


def _significance_text(p: float | None) -> str:
    return "the models differ" if p is not None and p < 1 - 0.95 else "which may be chance"


def critical_difference_of(over: OverDatasets) -> CriticalDifference:
    """The mean ranks as a finding, best first."""
    order = over.order
    assert over.difference is not None
    return CriticalDifference(
        "Mean ranks",
        tuple(over.table.models[place] for place in order),
        tuple(over.ranks[place] for place in order),
        over.difference,
        tuple(tuple(order.index(place) for place in group) for group in over.groups),
    )


def pairs_over_datasets(over: OverDatasets, rope: float, beaten: Counter[Beaten]) -> Iterator[Element]:
    """Each pair of models with its counts, its p and what is to be believed.

    ``beaten`` counts the datasets on which one is better than another by a test of that dataset alone.
    """
    best = over.table.models[over.order[0]]
    few = len(over.pairs) <= MOST_PAIRS
    shown = [pair for pair in over.pairs if few or pair.first == best]
    if not any(pair.belief for pair in shown):
        return
    yield Heading(f"Pairs of models over {len(over.table.datasets)} datasets")
    header = ["model", "against", "won", "tied", "lost", "p", "corrected p", "better", "alike", "worse"]
    yield grid_of_numbers(header, [_pair_cells(pair, beaten) for pair in shown], keys=2)
    unit = "of its logarithm (1 is a factor of 2.7)" if over.table.by_factors else f"of {over.table.metric}"
    left = len(over.pairs) - len(shown)
    yield notes(
        "p: exact Wilcoxon signed-rank test; corrected by Holm for all pairs",
        f"{READING_BELIEF}; alike: within {rope:g} {unit}",
        *(["in brackets: on how many of these datasets a test of that dataset alone says so"] if beaten else []),
        *[f"{left} more pairs are in --json"] * (left > 0),
    )


def _pair_cells(pair: PairOverDatasets, beaten: Counter[Beaten]) -> list[Content]:
    belief = pair.belief
    shares = (belief.better, belief.alike, belief.worse) if belief else ()
    found = pair.difference
    return [
        pair.first,
        pair.second,
        _count_text(pair.wins, beaten, (pair.first, pair.second)),
        str(pair.ties),
        _count_text(pair.losses, beaten, (pair.second, pair.first)),
        p_text(found.p),
        GridCell(p_text(found.corrected), "best" if found.distinguishable else ""),
        *(fixed(share, UNIT_DECIMALS) for share in shares),
    ]


def _count_text(count: int, beaten: Counter[Beaten], pair: Beaten) -> str:
    """A number of datasets, and of those among them that are sure by themselves."""
    return f"{count} ({beaten[pair]})" if beaten else str(count)


def over_datasets_as_json(over: OverDatasets) -> dict[str, Any]:
    """All of it as plain values."""
    table = over.table
    return {
        "metric": table.metric,
        "datasets": list(table.datasets),
        "models": list(table.models),
        "scores": plain(table.scores.tolist()),
        "mean_ranks": plain(over.ranks),
        **given({"why": over.why}),
        **(_test_as_json(over.test) if over.test else {}),
        **given({"critical_difference": over.difference}),
        "groups": [[table.models[place] for place in group] for group in over.groups],
        "pairs": [_pair_as_json(pair) for pair in over.pairs],
        **given({"left_out": list(table.left_out)}),
    }


def _test_as_json(test: RankTest) -> dict[str, Any]:
    return {
        "friedman": plain({"chi_square": test.chi_square, "p": test.chi_square_p}),
        "iman_davenport": plain({"f": test.f, "freedom": test.freedom, "p": test.p}),
    }


def _pair_as_json(pair: PairOverDatasets) -> dict[str, Any]:
    test, belief = pair.difference, pair.belief
    return {
        "models": [pair.first, pair.second],
        "difference": plain(test.mean),
        "p": plain(test.p),
        "corrected_p": plain(test.corrected),
        "test": test.test,
        **given({"why": test.why}),
        "wins": pair.wins,
        "ties": pair.ties,
        "losses": pair.losses,
        **({"better": belief.better, "alike": belief.alike, "worse": belief.worse} if belief else {}),
    }
