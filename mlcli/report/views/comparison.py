"""Pairs of models of each dataset with their tests, and models over several datasets: ranks and tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from mlcli.core.findings import CriticalDifference
from mlcli.core.names import counted
from mlcli.metrics.over_datasets import OverDatasets, ScoreTable, compare_over_datasets, wins_ties_losses
from mlcli.report.document import (
    UNIT_DECIMALS,
    Content,
    Document,
    Element,
    GridCell,
    Heading,
    Legend,
    Sentence,
    as_equation,
    decimals_for,
    decimals_of,
    fixed,
    grid_of_numbers,
    notes,
    p_text,
    strong,
)
from mlcli.report.views.plan import opening
from mlcli.report.views.score_table import BEST
from mlcli.scoring.comparison import ComparedModels, ComparedPair, Comparison
from mlcli.scoring.differences import compared_over_datasets
from mlcli.scoring.model_results import ModelResult, first_cell

RANK_DECIMALS = 2
MOST_PAIRS = 15
"""Of more pairs, only those with the best model are shown."""


def comparison_of(comparison: Comparison) -> Document:
    """The pairs of each dataset, then the models over datasets."""
    elements: list[Element] = []
    for dataset in comparison.datasets:
        elements += opening([result.cell for result in dataset.group])
        elements += pairs_of(dataset)
    for table in comparison.tables:
        significant: Counter[tuple[str, str]] = Counter()
        for dataset in comparison.datasets:
            if first_cell(dataset.group).dataset.name in table.datasets and dataset.metric.name == table.metric:
                better = ((pair.first, pair.second) for pair in dataset.pairs if pair.difference.distinguishable)
                significant.update(better)
        over = compare_over_datasets(table, comparison.rope, comparison.against)
        elements += _elements_over_datasets(over)
        elements += _pairs_over_datasets(over, comparison.rope, significant)
    return tuple(elements)


def pairs_of(compared: ComparedModels) -> Iterator[Element]:
    """Pairs of models of one dataset, and which models differ from the best."""
    metric, pairs = compared.metric, compared.pairs
    shown = [pair for pair in pairs if len(pairs) <= MOST_PAIRS or compared.best in (pair.first, pair.second)]
    decimals = decimals_of(metric, [result.summaries[metric.name] for result in compared.group if result.done])
    header = ["model", "against", metric.name, "95 % interval", "p", "adjusted p"]
    yield grid_of_numbers(header, [_pair_cells(pair, decimals) for pair in shown], keys=2)
    correction = f"significant at 5 %; adjusted p: Holm correction for {counted(len(pairs), 'comparison')}"
    yield Legend((("*", correction),))
    untested = (pair for pair in shown if pair.difference.p is None and pair.difference.why)
    left_out = len(pairs) - len(shown)
    yield notes(
        f"{metric.name}: the first model's score minus the other's",
        *(f"test: {test}" for test in dict.fromkeys(pair.difference.test for pair in pairs) if test),
        *(f"{pair.first} against {pair.second}: {pair.difference.why}" for pair in untested),
        *[f"no score to compare: {', '.join(compared.unscored)}"] * bool(compared.unscored),
        *[f"{left_out} more pairs are in --json"] * bool(left_out),
    )
    if not shown:
        return
    relations: dict[str, list[str]] = {
        "better than": [],
        "not significantly different from": [],
        "not tested against": [],
    }
    for pair in pairs:
        if pair.first == compared.best:
            if pair.difference.distinguishable:
                relations["better than"].append(pair.second)
            elif pair.difference.p is not None:
                relations["not significantly different from"].append(pair.second)
            if pair.difference.p is None:
                relations["not tested against"].append(pair.second)
    parts = [f"{relation} {', '.join(models)}" for relation, models in relations.items() if models]
    yield Sentence(f"{'; '.join([f'Best by {metric.name}: {compared.best}', *parts])}.", "strong")


def _pair_cells(pair: ComparedPair, decimals: int | None) -> list[Content]:
    difference = pair.difference
    if difference.mean is None:
        return [pair.first, pair.second, GridCell("untested", "weak"), "-", "-", "-"]
    interval = "-"
    if difference.low is not None and difference.high is not None:
        interval = f"{fixed(difference.low, decimals)} to {fixed(difference.high, decimals)}"
    mean = fixed(difference.mean, decimals)
    cell = GridCell(mean, "best", mark="*") if difference.distinguishable else GridCell(mean)
    return [pair.first, pair.second, cell, interval, p_text(difference.p), p_text(difference.corrected)]


def summary_over_datasets(results: Sequence[ModelResult]) -> Iterator[Element]:
    """The models over several datasets, below the results of each."""
    for over in compared_over_datasets(results):
        yield from _elements_over_datasets(over)


def _elements_over_datasets(over: OverDatasets) -> Iterator[Element]:
    """Scores, mean ranks and the test over datasets."""
    table, best = over.table, over.order[0]
    rows = [[strong(name), *_dataset_cells(table, index)] for index, name in enumerate(table.datasets)]
    rows.append([GridCell("mean rank"), *(GridCell(fixed(rank, RANK_DECIMALS)) for rank in over.ranks)])
    counts = [
        "-"
        if index == best
        else ", ".join(map(str, wins_ties_losses(table.merits[:, index] - table.merits[:, best], table.rounding)))
        for index in range(len(over.ranks))
    ]
    rows.append([GridCell("won, tied, lost"), *map(GridCell, counts)])
    yield Heading(f"{len(table.datasets)} datasets: {table.metric}", 1)
    yield grid_of_numbers(["dataset", *table.models], rows)
    yield Legend(((BEST, "best of its row"),))
    yield notes(f"won, tied and lost: on how many datasets against {table.models[best]}", *table.left_out)
    yield Sentence(_test_sentence(over), "strong")
    if over.difference is not None and len(table.models) > 2:
        yield Heading("Mean ranks")
        yield CriticalDifference(
            "Mean ranks",
            tuple(table.models[index] for index in over.order),
            tuple(over.ranks[index] for index in over.order),
            over.difference,
            tuple(tuple(over.order.index(index) for index in group) for group in over.groups),
        )
        yield notes("models beside one line do not differ significantly (Nemenyi, 5 %)")


def _dataset_cells(table: ScoreTable, index: int) -> list[GridCell]:
    scores = table.scores[index].tolist()
    whole = table.scores if not table.by_factors else table.scores[index]
    decimals = UNIT_DECIMALS if abs(whole).max() <= 1 else decimals_for(map(float, whole.ravel()))
    texts = [fixed(score, decimals) for score in scores]
    best = texts[int(table.merits[index].argmax())]
    if len(set(texts)) == 1:
        return [GridCell(text) for text in texts]
    return [GridCell(text, "best", mark=BEST) if text == best else GridCell(text) for text in texts]


def _test_sentence(over: OverDatasets) -> str:
    """The result of the test, in one sentence."""

    def significance(p: float | None) -> str:
        return "the models differ" if p is not None and p < 1 - 0.95 else "not significant"

    table, best_rank = over.table, min(over.ranks)
    first = [name for name, rank in zip(table.models, over.ranks, strict=True) if rank == best_rank]
    subject = f"Best mean rank by {table.metric}: {' and '.join(first)} with {fixed(best_rank, RANK_DECIMALS)}"
    if over.why:
        return f"{subject}; {over.why}."
    if len(table.models) == 2:
        difference = over.pairs[0].difference
        return f"{subject}; {difference.test}: p {as_equation(difference.p)}, {significance(difference.p)}."
    assert over.test is not None
    test = f"Friedman test (Iman-Davenport): p {as_equation(over.test.p)}, {significance(over.test.p)}"
    alike = [table.models[index] for group in over.groups if over.order[0] in group for index in group]
    others = [name for name in alike if name not in first]
    ties = f"; not significantly different from it: {', '.join(others)}" if others else ""
    return f"{subject}; {test}{ties}."


def _pairs_over_datasets(
    over: OverDatasets, rope: float, significant: Counter[tuple[str, str]]
) -> Iterator[Element]:
    """Each pair of models with its counts, its p and its posterior probabilities.

    ``significant`` counts the datasets on which a test of that dataset alone finds the first model better.
    """

    def count_text(count: int, better: str, worse: str) -> str:
        return f"{count} ({significant[better, worse]})" if significant else str(count)

    best = over.table.models[over.order[0]]
    shown = [pair for pair in over.pairs if len(over.pairs) <= MOST_PAIRS or pair.first == best]
    if not any(pair.belief for pair in shown):
        return
    rows: list[list[Content]] = []
    for pair in shown:
        belief, difference = pair.belief, pair.difference
        shares = (belief.better, belief.alike, belief.worse) if belief else ()
        rows.append(
            [
                pair.first,
                pair.second,
                count_text(pair.wins, pair.first, pair.second),
                str(pair.ties),
                count_text(pair.losses, pair.second, pair.first),
                p_text(difference.p),
                GridCell(p_text(difference.corrected), "best" if difference.distinguishable else ""),
                *(fixed(share, UNIT_DECIMALS) for share in shares),
            ]
        )
    yield Heading(f"Pairs of models over {len(over.table.datasets)} datasets")
    header = ["model", "against", "won", "tied", "lost", "p", "corrected p", "better", "alike", "worse"]
    yield grid_of_numbers(header, rows, keys=2)
    unit = "of its logarithm (1 is a factor of 2.7)" if over.table.by_factors else f"of {over.table.metric}"
    belief_note = "better, alike, worse: the probability of each on a dataset to come (Bayesian signed-rank test)"
    left_out = len(over.pairs) - len(shown)
    yield notes(
        "p: exact Wilcoxon signed-rank test; corrected by Holm for all pairs",
        f"{belief_note}; alike: within {rope:g} {unit}",
        *(
            ["in brackets: on how many datasets a test of that dataset alone is significant"]
            if significant
            else []
        ),
        *[f"{left_out} more pairs are in --json"] * (left_out > 0),
    )
