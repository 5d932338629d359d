"""Rates by group, differences between groups, similar rows, and the trade-off of fairness and accuracy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from mlcli.core.findings import Points
from mlcli.core.groups import SIMILARITY, groups_by
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
    found = {one: by for one in group if one.done and (by := fairness_by_groups(one))}
    if not found:
        yield Sentence(NOTHING)
        return
    learners = [one for one in found if not one.is_baseline] or list(found)
    first = found[learners[0]]
    yield from _group_sizes(learners[0], first)
    for place, one in enumerate(first):
        yield Heading(f"Fairness by {one.name}: {one.label}")
        for model in learners:
            yield _rates_grid(group[model], found[model][place].groups)
        if place == 0:
            yield notes(*READING)
    yield from _gaps_elements({group[one]: by for one, by in found.items()})
    alike = ((group[one], similar_rows(one, similarity)) for one in learners)
    yield from _similar_rows_elements({name: similar for name, similar in alike if similar is not None})
    yield from _trade_off_elements(found, group)


def _group_sizes(one: ModelResult, fairness: Sequence[GroupFairness]) -> Iterator[Element]:
    """How many rows each group has, and how many of its cells are empty."""
    dataset = one.cell.dataset
    if not isinstance(dataset, Dataset):
        return
    features = dataset.table.select(field.column.name for field in dataset.schema.with_role("feature"))
    rows: list[list[Content]] = []
    for by in {one.columns: one for one in fairness}.values():
        groups = groups_by(dataset.table, by.columns)
        for place, label in enumerate(groups.labels):
            member = np.flatnonzero(groups.codes == place)
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
    for one in groups:
        rates = (_rate_cell(one.rates[rate]) for rate in SHOWN)
        rows.append([one.label, str(one.rows), *rates, _rate_cell(one.calibration, sign="+")])
    return grid_of_numbers([name, "rows", *SHOWN, "calibration"], rows)


def _rate_cell(rate: Rate, sign: str = "") -> Content:
    if rate.counted is not None:
        return GridCell(f"{rate.counted}/{rate.rows}", "weak")
    if rate.value is None:
        return GridCell("-" if rate.why == NO_PROBABILITIES else "too few", "weak")
    value = f"{rate.value:{sign}.{UNIT_DECIMALS}f}"
    return value if rate.low is None else f"{value} [{rate.low:{sign}.2f}, {rate.high:{sign}.2f}]"


def _gaps_elements(by_model: Mapping[str, Sequence[GroupFairness]]) -> Iterator[Element]:
    several = any(len({one.label for one in by}) > 1 for by in by_model.values())
    rows = (
        [name, f"{one.name}: {one.label}" if several else one.name, *map(_gap_cell, one.gaps.values())]
        for name, by in by_model.items()
        for one in by
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
    for name, one in by_model.items():
        apart = map(_share_cell, (one.decided_differently, one.probability_difference))
        rows.append([name, _share_cell(one.consistency), str(one.pairs), *apart])
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
    positions = [trade_off_of(one, by, names[one]) for one, by in by_model.items()]
    known = [one for one in positions if one.gaps[first] is not None]
    if len(known) < 2:
        return
    known.sort(key=lambda one: (-one.accuracy, one.gaps[first]))
    yield Heading("Trade-off of fairness and accuracy")
    rows = (
        [
            one.name,
            fixed(one.accuracy, UNIT_DECIMALS),
            *(_difference_cell(one, known, criterion) for criterion in CRITERIA),
        ]
        for one in known
    )
    yield grid_of_numbers(["model", "accuracy", *CRITERIA], rows)
    yield notes(*READING_COSTS)
    methods: dict[str, list[tuple[float, float]]] = {}
    for one in known:
        methods.setdefault(one.method, []).append((one.gaps[first] or 0.0, one.accuracy))
    points = tuple((method, tuple(of_method)) for method, of_method in methods.items())
    yield Points("", f"{first} (difference; left is fairer)", "accuracy", points)


def _difference_cell(one: TradeOff, others: Sequence[TradeOff], criterion: str) -> Content:
    value = one.gaps[criterion]
    if value is None:
        return GridCell("too few", "weak")
    best = one.is_on_front(others, criterion)
    return GridCell(fixed(value, UNIT_DECIMALS), "best" if best else "", mark=BEST * best)
