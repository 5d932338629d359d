"""Rates by group, differences between groups, similar rows, and the trade-off of fairness and accuracy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from mlcli.core.findings import Points
from mlcli.core.rows import SIMILARITY, groups_by
from mlcli.data.dataset import Dataset
from mlcli.metrics.fairness import CRITERIA, FEW, NO_PROBABILITIES, GroupRates, IndividualFairness, Rate
from mlcli.report.document import (
    UNIT_DECIMALS,
    Content,
    Element,
    Grid,
    GridCell,
    Heading,
    Sentence,
    fixed,
    grid,
    grid_of_numbers,
    notes,
    strong,
)
from mlcli.scoring.fairness import GroupFairness, fairness_by_groups, similar_rows, trade_off_of
from mlcli.scoring.model_results import Group, ModelResult

TOO_FEW = GridCell("too few", "weak")


def fairness_of(group: Group, similarity: float = SIMILARITY) -> Iterator[Element]:
    """Every model by the groups of each sensitive column and of all together."""
    by_model = {result: fairness for result in group if result.done and (fairness := fairness_by_groups(result))}
    if not by_model:
        yield Sentence(
            "--show fairness: there is no sensitive nominal column to group by; name one with --sensitive COLUMN"
        )
        return
    models = [result for result in by_model if not result.is_baseline] or list(by_model)
    first = by_model[models[0]]
    dataset = models[0].cell.dataset
    if isinstance(dataset, Dataset):
        yield Heading("Groups")
        yield _group_sizes(dataset, list(dict.fromkeys(fairness.columns for fairness in first)))
    for index, grouping in enumerate(first):
        yield Heading(f"Fairness by {grouping.name}: {grouping.label}")
        for model in models:
            yield _rates_grid(group[model], by_model[model][index].groups)
        if index == 0:
            yield notes(
                "base-rate: of the class; selected: predicted as it; tpr, fpr: predicted as it among rows that "
                "are of it, and that are not; fnr is 1 - tpr; calibration: mean probability less base-rate",
                f"in brackets the 95 % interval; a fraction is of fewer than {FEW} rows, which say nothing; a row "
                "counts once",
            )
    yield from _gap_elements({group[result]: fairness for result, fairness in by_model.items()})
    similar = {group[model]: individual for model in models if (individual := similar_rows(model, similarity))}
    if similar:
        yield from _similar_rows_elements(similar)
    yield from _trade_off_elements(by_model, group)


def _group_sizes(dataset: Dataset, columns: Sequence[tuple[str, ...]]) -> Grid:
    """How many rows each group has, and how many of its cells are empty."""
    features = dataset.table.select(field.column.name for field in dataset.schema.with_role("feature"))
    rows: list[list[Content]] = []
    for names in columns:
        groups = groups_by(dataset.table, names)
        for index, label in enumerate(groups.labels):
            members = np.flatnonzero(groups.codes == index)
            table = features.take(members)
            cells = table.numbers.size + table.codes.size
            empty = np.isnan(table.numbers).sum() + (table.codes < 0).sum()
            shares = (len(members) / len(dataset), float(empty / cells) if cells else 0.0)
            texts = (fixed(share, 3) for share in shares)
            rows.append([" × ".join(names), strong(label), str(len(members)), *texts])
    return grid(["by", "group", "rows", "share", "empty cells"], rows, right=(2, 3, 4), keys=2)


def _rates_grid(name: str, groups: Sequence[GroupRates]) -> Grid:
    shown = ("base-rate", "selected", "tpr", "fpr", "precision", "accuracy")
    rows: list[list[Content]] = []
    for group in groups:
        rates = (_rate_cell(group.rates[rate]) for rate in shown)
        rows.append([group.label, str(group.rows), *rates, _rate_cell(group.calibration, sign="+")])
    return grid_of_numbers([name, "rows", *shown, "calibration"], rows)


def _rate_cell(rate: Rate, sign: str = "") -> Content:
    if rate.counted is not None:
        return GridCell(f"{rate.counted}/{rate.rows}", "weak")
    if rate.value is None:
        return GridCell("-", "weak") if rate.why == NO_PROBABILITIES else TOO_FEW
    value = f"{rate.value:{sign}.{UNIT_DECIMALS}f}"
    return value if rate.low is None else f"{value} [{rate.low:{sign}.2f}, {rate.high:{sign}.2f}]"


def _gap_elements(by_model: Mapping[str, Sequence[GroupFairness]]) -> Iterator[Element]:
    several_classes = any(len({fairness.label for fairness in by_column}) > 1 for by_column in by_model.values())
    rows: list[list[Content]] = []
    for name, by_column in by_model.items():
        for fairness in by_column:
            grouping = f"{fairness.name}: {fairness.label}" if several_classes else fairness.name
            cells: list[Content] = [name, grouping]
            for gap in fairness.gaps.values():
                interval = "" if gap.low is None else f" [{gap.low:.2f}, {gap.high:.2f}]"
                ratio = "" if gap.ratio is None else f"; {gap.ratio:.2f}"
                is_known = gap.difference is not None
                cells.append(f"{gap.difference:.{UNIT_DECIMALS}f}{interval}{ratio}" if is_known else TOO_FEW)
            rows.append(cells)
    yield Heading("Differences between groups")
    yield grid_of_numbers(["model", "by", *CRITERIA], rows, keys=2)
    yield notes(
        "largest difference between two groups [95 % interval (Newcombe)]; smallest rate over largest",
        "the two groups were picked since they lie farthest apart, so that by chance alone it is above 0",
    )


def _similar_rows_elements(by_model: Mapping[str, IndividualFairness]) -> Iterator[Element]:
    def cell(value: float | None) -> Content:
        return GridCell("-", "weak") if value is None else fixed(value, UNIT_DECIMALS)

    rows = [
        [
            name,
            cell(fairness.consistency),
            str(fairness.pairs),
            cell(fairness.decided_differently),
            cell(fairness.probability_difference),
        ]
        for name, fairness in by_model.items()
    ]
    similarity = next(iter(by_model.values())).similarity
    yield Heading("Individual fairness: similar rows, similar answers")
    header = ("model", "consistency", "pairs", "decided differently", "probability difference")
    yield grid_of_numbers(header, rows)
    yield notes(
        "consistency: 1 less the mean distance of a prediction from those of the 5 nearest rows of its split",
        f"pairs: rows of one split that are more than {similarity:g} alike (Gower, without sensitive columns); "
        "how many are decided differently, and how far their probabilities are apart; set another share with "
        "similarity in an experiment file",
    )


def _trade_off_elements(
    by_model: Mapping[ModelResult, Sequence[GroupFairness]], names: Group
) -> Iterator[Element]:
    """A table by falling accuracy, and a point for each model, those of one method in one group."""
    first = next(iter(CRITERIA))
    trade_offs = [trade_off_of(result, fairness, names[result]) for result, fairness in by_model.items()]
    models = [model for model in trade_offs if model.gaps[first] is not None]
    if len(models) < 2:
        return
    models.sort(key=lambda model: (-model.accuracy, model.gaps[first]))
    rows: list[list[Content]] = []
    methods: dict[str, list[tuple[float, float]]] = {}
    for model in models:
        cells: list[Content] = [model.name, fixed(model.accuracy, UNIT_DECIMALS)]
        for criterion in CRITERIA:
            value = model.gaps[criterion]
            if value is None:
                cells.append(TOO_FEW)
            elif model.is_on_front(models, criterion):
                cells.append(GridCell(fixed(value, UNIT_DECIMALS), "best", mark="*"))
            else:
                cells.append(fixed(value, UNIT_DECIMALS))
        rows.append(cells)
        methods.setdefault(model.method, []).append((model.gaps[first] or 0.0, model.accuracy))
    yield Heading("Trade-off of fairness and accuracy")
    yield grid_of_numbers(["model", "accuracy", *CRITERIA], rows)
    yield notes(
        "the largest difference over all sensitive columns, each by itself, of all predictions at once",
        "*: no other model is at least as accurate and as fair by this criterion, and better in one of them "
        "(Pareto); a model that predicts the same for everybody is fair by most of them, and of no use",
    )
    points = tuple((method, tuple(coordinates)) for method, coordinates in methods.items())
    yield Points("", f"{first} (difference; left is fairer)", "accuracy", points)
