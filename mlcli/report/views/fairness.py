"""Rates by group, differences between groups, similar rows, and the trade-off of fairness and accuracy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from mlcli.core.findings import Points
from mlcli.core.rows import SIMILARITY, groups_by
from mlcli.core.tables import Table
from mlcli.data.dataset import Dataset
from mlcli.metrics.fairness import CRITERIA, FEW, NO_PROBABILITIES, Gap, GroupRates, IndividualFairness, Rate
from mlcli.report.document import (
    Content,
    Element,
    GridCell,
    Heading,
    Sentence,
    grid,
    grid_of_numbers,
    notes,
    strong,
)
from mlcli.report.numbers import UNIT_DECIMALS, fixed
from mlcli.scoring.fairness import GroupFairness, TradeOff, fairness_by_groups, similar_rows, trade_off_of
from mlcli.scoring.model_results import Group, ModelResult

SHOWN = ("base-rate", "selected", "tpr", "fpr", "precision", "accuracy")
NOTHING = "--show fairness: there is no sensitive nominal column to group by; name one with --sensitive COLUMN"
READING = (
    "base-rate: of the class; selected: answered with it; tpr, fpr: answered with it among rows that are of it, "
    "and that are not; fnr is 1 - tpr; calibration: mean probability less base-rate",
    f"in brackets the 95 % interval; a fraction is of fewer than {FEW} rows, which say nothing; a row counts once",
)
READING_GAPS = (
    "largest difference between two groups [95 % interval (Newcombe)]; smallest rate over largest",
    "the two groups were picked since they lie farthest apart, so that by chance alone it is above 0",
)
HEADER_ALIKE = ("model", "consistency", "pairs", "decided differently", "probability difference")
READING_ALIKE = (
    "consistency: 1 less the mean distance of an answer from those of the 5 nearest rows of its split",
    "pairs: rows of one split that are more than {similarity:g} alike (Gower, without sensitive columns); how "
    "many are decided differently, and how far their probabilities are apart; set another share with similarity "
    "in an experiment file",
)
BEST = "*"
READING_COSTS = (
    "the largest difference over all sensitive columns, each by itself, of all answers at once",
    f"{BEST}: no other model is at least as accurate and as fair by this criterion, and better in one of them "
    "(Pareto); who answers everybody alike is fair by most of them, and of no use",
)


def fairness_of(group: Group, similarity: float = SIMILARITY) -> Iterator[Element]:
    """Every model by the groups of each sensitive column and of all together."""
    group_fairnesses = {result: by for result in group if result.done and (by := fairness_by_groups(result))}
    if not group_fairnesses:
        yield Sentence(NOTHING)
        return
    learners = [result for result in group_fairnesses if not result.is_baseline] or list(group_fairnesses)
    first = group_fairnesses[learners[0]]
    yield from _group_sizes(learners[0], first)
    for index, text in enumerate(first):
        yield Heading(f"Fairness by {text.name}: {text.label}")
        for model in learners:
            yield _rates_grid(group[model], group_fairnesses[model][index].groups)
        if index == 0:
            yield notes(*READING)
    yield from _gaps_elements({group[result]: by for result, by in group_fairnesses.items()})
    alike = ((group[learner], similar_rows(learner, similarity)) for learner in learners)
    yield from _similar_rows_elements({name: similar for name, similar in alike if similar is not None})
    yield from _trade_off_elements(group_fairnesses, group)


def _group_sizes(model_result: ModelResult, fairness: Sequence[GroupFairness]) -> Iterator[Element]:
    """How many rows each group has, and how many of its cells are empty."""
    dataset = model_result.cell.dataset
    if not isinstance(dataset, Dataset):
        return
    features = dataset.table.select(field.column.name for field in dataset.schema.with_role("feature"))
    rows: list[list[Content]] = []
    for by in {group_fairness.columns: group_fairness for group_fairness in fairness}.values():
        groups = groups_by(dataset.table, by.columns)
        for index, label in enumerate(groups.labels):
            member = np.flatnonzero(groups.codes == index)
            share = len(member) / len(dataset)
            gaps = _share_of_empty_cells(features.take(member))
            rows.append([by.name, strong(label), str(len(member)), fixed(share, 3), fixed(gaps, 3)])
    yield Heading("Groups")
    yield grid(["by", "group", "rows", "share", "empty cells"], rows, right=(2, 3, 4), keys=2)


def _share_of_empty_cells(table: Table) -> float:
    cells = table.numbers.size + table.codes.size
    return float((np.isnan(table.numbers).sum() + (table.codes < 0).sum()) / cells) if cells else 0.0


def _rates_grid(name: str, groups: Sequence[GroupRates]) -> Element:
    rows: list[list[Content]] = []
    for group in groups:
        rates = (_rate_cell(group.rates[rate]) for rate in SHOWN)
        rows.append([group.label, str(group.rows), *rates, _rate_cell(group.calibration, sign="+")])
    return grid_of_numbers([name, "rows", *SHOWN, "calibration"], rows)


def _rate_cell(rate: Rate, sign: str = "") -> Content:
    if rate.counted is not None:
        return GridCell(f"{rate.counted}/{rate.rows}", "weak")
    if rate.value is None:
        return GridCell("-" if rate.why == NO_PROBABILITIES else "too few", "weak")
    value = f"{rate.value:{sign}.{UNIT_DECIMALS}f}"
    return value if rate.low is None else f"{value} [{rate.low:{sign}.2f}, {rate.high:{sign}.2f}]"


def _gaps_elements(by_model: Mapping[str, Sequence[GroupFairness]]) -> Iterator[Element]:
    several = any(len({fairness.label for fairness in by}) > 1 for by in by_model.values())
    rows = (
        [name, f"{text.name}: {text.label}" if several else text.name, *map(_gap_cell, text.gaps.values())]
        for name, by in by_model.items()
        for text in by
    )
    yield Heading("Differences between groups")
    yield grid_of_numbers(["model", "by", *CRITERIA], rows, keys=2)
    yield notes(*READING_GAPS)


def _gap_cell(gap: Gap) -> Content:
    if gap.difference is None:
        return GridCell("too few", "weak")
    ratio = "" if gap.ratio is None else f"; {gap.ratio:.2f}"
    reach = "" if gap.low is None else f" [{gap.low:.2f}, {gap.high:.2f}]"
    return f"{gap.difference:.{UNIT_DECIMALS}f}{reach}{ratio}"


def _similar_rows_elements(by_model: Mapping[str, IndividualFairness]) -> Iterator[Element]:
    if not by_model:
        return
    rows = []
    for name, fairness in by_model.items():
        apart = map(_share_cell, (fairness.decided_differently, fairness.probability_difference))
        rows.append([name, _share_cell(fairness.consistency), str(fairness.pairs), *apart])
    yield Heading("Individual fairness: similar rows, similar answers")
    yield grid_of_numbers(HEADER_ALIKE, rows)
    similarity = next(iter(by_model.values())).similarity
    yield notes(*(text.format(similarity=similarity) for text in READING_ALIKE))


def _share_cell(value: float | None) -> Content:
    return GridCell("-", "weak") if value is None else fixed(value, UNIT_DECIMALS)


def _trade_off_elements(
    by_model: Mapping[ModelResult, Sequence[GroupFairness]], names: Group
) -> Iterator[Element]:
    """A table by falling accuracy, and a point for each model, those of one method in one group."""
    first = next(iter(CRITERIA))
    positions = [trade_off_of(result, by, names[result]) for result, by in by_model.items()]
    known = [position for position in positions if position.gaps[first] is not None]
    if len(known) < 2:
        return
    known.sort(key=lambda trade_off: (-trade_off.accuracy, trade_off.gaps[first]))
    yield Heading("Trade-off of fairness and accuracy")
    rows = (
        [
            trade_off.name,
            fixed(trade_off.accuracy, UNIT_DECIMALS),
            *(_difference_cell(trade_off, known, criterion) for criterion in CRITERIA),
        ]
        for trade_off in known
    )
    yield grid_of_numbers(["model", "accuracy", *CRITERIA], rows)
    yield notes(*READING_COSTS)
    methods: dict[str, list[tuple[float, float]]] = {}
    for trade_off in known:
        methods.setdefault(trade_off.method, []).append((trade_off.gaps[first] or 0.0, trade_off.accuracy))
    points = tuple((method, tuple(of_method)) for method, of_method in methods.items())
    yield Points("", f"{first} (difference; left is fairer)", "accuracy", points)


def _difference_cell(trade_off: TradeOff, others: Sequence[TradeOff], criterion: str) -> Content:
    value = trade_off.gaps[criterion]
    if value is None:
        return GridCell("too few", "weak")
    best = trade_off.is_on_front(others, criterion)
    return GridCell(fixed(value, UNIT_DECIMALS), "best" if best else "", mark=BEST * best)
