"""Pairs of models of each dataset with their tests, and models over several datasets: ranks and tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from mlcli.core.findings import CriticalDifference
from mlcli.core.names import counted
from mlcli.metrics.over_datasets import (
    OverDatasets,
    PairOverDatasets,
    ScoreTable,
    compare_over_datasets,
    wins_ties_losses,
)
from mlcli.report.document import (
    Content,
    Document,
    Element,
    Grid,
    GridCell,
    Heading,
    Legend,
    Sentence,
    grid_of_numbers,
    notes,
    strong,
)
from mlcli.report.numbers import UNIT_DECIMALS, as_equation, decimals_for, decimals_of, fixed, p_text
from mlcli.report.views.plan import opening
from mlcli.report.views.score_table import BEST
from mlcli.scoring.comparison import ComparedModels, ComparedPair, Comparison
from mlcli.scoring.model_results import ModelResult, first_cell
from mlcli.scoring.over_datasets import compared_over_datasets

DIFFERS = "*"
LEGEND = "significant at 5 %; adjusted p: Holm correction for {}"


def comparison_of(comparison: Comparison) -> Document:
    """The pairs of each dataset, then what holds over datasets."""
    return tuple(_elements(comparison))


def _elements(comparison: Comparison) -> Iterator[Element]:
    for dataset in comparison.datasets:
        yield from opening([each.cell for each in dataset.group])
        yield from pairs_of(dataset)
    for table in comparison.tables:
        beaten = Counter(pair for dataset in comparison.datasets for pair in _beaten_pairs(dataset, table))
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
    decimals = decimals_of(metric, [result.summaries[metric.name] for result in compared.group if result.done])
    header = ["model", "against", metric.name, "95 % interval", "p", "adjusted p"]
    yield grid_of_numbers(header, [_pair_cells(pair, decimals) for pair in shown], keys=2)
    yield Legend(((DIFFERS, LEGEND.format(counted(len(pairs), "comparison"))),))
    untested = (pair for pair in shown if pair.difference.p is None and pair.difference.why)
    left = len(pairs) - len(shown)
    yield notes(
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
    alike = [
        pair.second for pair in of_best if pair.second not in untested and not pair.difference.distinguishable
    ]
    message = {"better than": beaten, "not significantly different from": alike, "not tested against": untested}
    parts = [f"Best by {compared.metric.name}: {compared.best}"]
    return "; ".join([*parts, *(f"{what} {', '.join(who)}" for what, who in message.items() if who)]) + "."


def _pair_cells(pair: ComparedPair, decimals: int | None) -> list[Content]:
    difference = pair.difference
    if difference.mean is None:
        return [pair.first, pair.second, GridCell("untested", "weak"), "-", "-", "-"]
    known = difference.low is not None and difference.high is not None
    interval = (
        f"{fixed(difference.low or 0.0, decimals)} to {fixed(difference.high or 0.0, decimals)}" if known else "-"
    )
    mean = fixed(difference.mean, decimals)
    shown = GridCell(mean, "best", mark=DIFFERS) if difference.distinguishable else GridCell(mean)
    return [pair.first, pair.second, shown, interval, p_text(difference.p), p_text(difference.corrected)]


RANK_DECIMALS = 2
Beaten = tuple[str, str]
"""A model, and one that it is better than."""
MOST_PAIRS = 15
"""That are all shown; of more, those with the best."""
READING_RANKS = "models beside one line do not differ significantly (Nemenyi, 5 %)"
READING_BELIEF = "better, alike, worse: the probability of each on a dataset to come (Bayesian signed-rank test)"


def summary_over_datasets(results: Sequence[ModelResult]) -> Iterator[Element]:
    """What closes the results of several datasets."""
    for over in compared_over_datasets(results):
        yield from elements_over_datasets(over)


def elements_over_datasets(over: OverDatasets) -> Iterator[Element]:
    """Scores, mean ranks and the test over datasets."""
    table = over.table
    yield Heading(f"{len(table.datasets)} datasets: {table.metric}", 1)
    yield _scores_grid(over)
    counts = f"won, tied and lost: on how many datasets against {table.models[over.order[0]]}"
    yield Legend(((BEST, "best of its row"),))
    yield notes(counts, *table.left_out)
    yield Sentence(sentence_over_datasets(over), "strong")
    if over.difference is not None and len(table.models) > 2:
        yield Heading("Mean ranks")
        yield critical_difference_of(over)
        yield notes(READING_RANKS)


def _scores_grid(over: OverDatasets) -> Grid:
    table, best = over.table, over.order[0]
    rows = [[strong(name), *_dataset_cells(table, index)] for index, name in enumerate(table.datasets)]
    rows.append([GridCell(text) for text in ("mean rank", *(fixed(rank, RANK_DECIMALS) for rank in over.ranks))])
    counts = (_counts_against(over, best, index) for index in range(len(over.ranks)))
    rows.append([GridCell(text) for text in ("won, tied, lost", *counts)])
    return grid_of_numbers(["dataset", *table.models], rows)


def _dataset_cells(table: ScoreTable, index: int) -> list[GridCell]:
    scores = table.scores[index].tolist()
    whole = table.scores if not table.by_factors else table.scores[index]
    decimals = UNIT_DECIMALS if abs(whole).max() <= 1 else decimals_for(map(float, whole.ravel()))
    written = [fixed(score, decimals) for score in scores]
    best = written[int(table.merits[index].argmax())]
    if len(set(written)) == 1:
        return [GridCell(text) for text in written]
    return [GridCell(text, "best", mark=BEST) if text == best else GridCell(text) for text in written]


def _counts_against(over: OverDatasets, best: int, index: int) -> str:
    if index == best:
        return "-"
    merits, rounding = over.table.merits, over.table.rounding
    return ", ".join(map(str, wins_ties_losses(merits[:, index] - merits[:, best], rounding)))


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
    text = f"Friedman test (Iman-Davenport): p {as_equation(over.test.p)}, {_significance_text(over.test.p)}"
    alike = [table.models[index] for group in over.groups if over.order[0] in group for index in group]
    others = [name for name in alike if name not in first]
    return f"{opening}; {text}" + (
        f"; not significantly different from it: {', '.join(others)}." if others else "."
    )


def _significance_text(p: float | None) -> str:
    return "the models differ" if p is not None and p < 1 - 0.95 else "not significant"


def critical_difference_of(over: OverDatasets) -> CriticalDifference:
    """The mean ranks as a finding, best first."""
    order = over.order
    assert over.difference is not None
    return CriticalDifference(
        "Mean ranks",
        tuple(over.table.models[index] for index in order),
        tuple(over.ranks[index] for index in order),
        over.difference,
        tuple(tuple(order.index(index) for index in group) for group in over.groups),
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
    yield grid_of_numbers(header, [_cells_of_pair(pair, beaten) for pair in shown], keys=2)
    unit = "of its logarithm (1 is a factor of 2.7)" if over.table.by_factors else f"of {over.table.metric}"
    left = len(over.pairs) - len(shown)
    yield notes(
        "p: exact Wilcoxon signed-rank test; corrected by Holm for all pairs",
        f"{READING_BELIEF}; alike: within {rope:g} {unit}",
        *(["in brackets: on how many of these datasets a test of that dataset alone says so"] if beaten else []),
        *[f"{left} more pairs are in --json"] * (left > 0),
    )


def _cells_of_pair(pair: PairOverDatasets, beaten: Counter[Beaten]) -> list[Content]:
    belief = pair.belief
    shares = (belief.better, belief.alike, belief.worse) if belief else ()
    difference = pair.difference
    return [
        pair.first,
        pair.second,
        _count_text(pair.wins, beaten, (pair.first, pair.second)),
        str(pair.ties),
        _count_text(pair.losses, beaten, (pair.second, pair.first)),
        p_text(difference.p),
        GridCell(p_text(difference.corrected), "best" if difference.distinguishable else ""),
        *(fixed(share, UNIT_DECIMALS) for share in shares),
    ]


def _count_text(count: int, beaten: Counter[Beaten], pair: Beaten) -> str:
    """A number of datasets, and of those among them that are sure by themselves."""
    return f"{count} ({beaten[pair]})" if beaten else str(count)
