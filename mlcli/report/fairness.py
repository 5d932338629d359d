"""How groups are answered: rates by group, how far groups lie apart, similar rows, and what fairness costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from mlcli.core.findings import Points
from mlcli.core.groups import groups_by, sensitive_names
from mlcli.core.tables import Table
from mlcli.data.dataset import Dataset
from mlcli.metrics.fairness import (
    CRITERIA,
    FEW,
    Gap,
    GroupRates,
    IndividualFairness,
    Rate,
    gap,
    gower_distances,
    individual_fairness,
    rates_by_group,
)
from mlcli.metrics.pooling import distinct, joined
from mlcli.metrics.scores.fairness import favourable_codes
from mlcli.report.document import Content, Element, Field, Heading, Sentence, grid, grid_of_numbers, notes, strong
from mlcli.report.numbers import fixed
from mlcli.report.scored import Group, Scored, judged
from mlcli.tasks.classification import LabelAnswers

SHOWN = ("base-rate", "selected", "tpr", "fpr", "precision", "accuracy")
DECIMALS = 3
MOST_ROWS = 1000
"""So many rows of a split are compared with each other; of more, these at even steps."""
NOTHING = (
    "--fair: groups are made of sensitive columns of levels, and there is none; name one with --sensitive COLUMN"
)
READING = (
    "base-rate: of the class; selected: answered with it; tpr, fpr: answered with it among rows that are of it, "
    "and that are not; fnr is 1 - tpr; calibration: mean probability less base-rate",
    f"in brackets the 95 % interval; too few: fewer than {FEW} rows, which say nothing; each row counts once",
)
READING_GAPS = (
    "largest difference between two groups [95 % interval (Newcombe)]; smallest rate over largest",
    "the two groups were picked since they lie farthest apart, so that by chance alone it is above 0",
)
HEADER_ALIKE = ("model", "consistency", "pairs", "decided differently", "probability difference")
READING_ALIKE = (
    "consistency: 1 less the mean distance of an answer from those of the 5 nearest rows of its split",
    "pairs: rows of one split that are more than 0.9 alike (Gower, without sensitive columns); how many of them "
    "are decided differently, and how far their probabilities are apart",
)
BEST = "*"
READING_COSTS = (
    "the largest difference over all sensitive columns, each by itself, of all answers at once",
    f"{BEST}: no other model is at least as accurate and as fair by this criterion, and better in one of them "
    "(Pareto); who answers everybody alike is fair by most of them, and of no use",
)


@dataclass(frozen=True, eq=False)
class OfGroups:
    """What is said of the groups that some columns make, for one class against the rest."""

    columns: tuple[str, ...]
    label: str
    groups: Sequence[GroupRates]

    @property
    def name(self) -> str:
        """The columns."""
        return " × ".join(self.columns)

    @property
    def gaps(self) -> dict[str, Gap]:
        """How far the groups are from each criterion."""
        return {criterion: gap(criterion, self.groups) for criterion in CRITERIA}


@dataclass(frozen=True, eq=False)
class Position:
    """One model: how accurate it is, and by criterion how far groups lie apart."""

    name: str
    method: str
    """With the steps that were asked for."""
    accuracy: float
    apart: Mapping[str, float | None]


def fairness_of(group: Group) -> Iterator[Element]:
    """Every model by the groups of each sensitive column and of all together."""
    found = {one: by for one in group if one.done and (by := by_groups(one))}
    if not found:
        yield Sentence(NOTHING)
        return
    learners = [one for one in found if not one.is_baseline] or list(found)
    first = found[learners[0]]
    yield from _who_is_there(learners[0], first)
    for place, one in enumerate(first):
        yield Heading(f"Fairness by {one.name}: {one.label}")
        for model in learners:
            yield _rates(group[model], found[model][place].groups)
        if place == 0:
            yield notes(*READING)
    yield from _gaps({group[one]: by for one, by in found.items()})
    yield from _alike({group[one]: similar for one in learners if (similar := alike(one))})
    yield from _trade_off(found, group)


def fairness_as_json(one: Scored) -> dict[str, Any]:
    """The same of one cell, for scripts."""
    found = by_groups(one) if one.done else []
    if not found:
        return {}
    groups = [
        {
            "columns": list(by.columns),
            "class": by.label,
            "groups": list(map(asdict, by.groups)),
            "gaps": {name: asdict(found_gap) for name, found_gap in by.gaps.items()},
        }
        for by in found
    ]
    similar = alike(one)
    return {"fairness": {"groups": groups, **({"individual": asdict(similar)} if similar else {})}}


def by_groups(one: Scored) -> list[OfGroups]:
    """Each sensitive column, then all of them together, for each favourable class."""
    answers = one.answers
    if not isinstance(answers, LabelAnswers):
        return []
    answers = distinct(answers)
    context = answers.header.context
    names = sensitive_names(context)
    makers = [(name,) for name in names] + [names] * (len(names) > 1)
    classes = answers.classes
    every = ((columns, code) for columns in makers for code in favourable_codes(classes))
    return [
        OfGroups(by, classes[code], rates_by_group(answers, groups_by(context, by), code)) for by, code in every
    ]


def alike(one: Scored) -> IndividualFairness | None:
    """How similar rows of one split are answered, as the mean over splits; None where the data are not at hand."""
    dataset, answers = one.cell.dataset, judged(one.result)
    if not isinstance(dataset, Dataset) or not isinstance(answers[0], LabelAnswers):
        return None
    table = dataset.table.select(field.column.name for field in dataset.schema.with_role("feature"))
    large = [split for split in answers if len(split) > 2 * FEW] or [distinct(joined(answers))]
    found = [_alike_in(split, table) for split in large]
    pairs = sum(one.pairs for one in found)
    return IndividualFairness(
        _mean([(one.consistency, 1) for one in found]),
        pairs,
        _mean([(one.decided_differently, one.pairs) for one in found]),
        _mean([(one.probability_difference, one.pairs) for one in found]),
    )


def _alike_in(answers: LabelAnswers, table: Table) -> IndividualFairness:
    some = np.unique(np.linspace(0, len(answers) - 1, min(len(answers), MOST_ROWS)).round().astype(np.intp))
    answers = answers.take(some)
    code = favourable_codes(answers.classes)[0]
    said = (answers.predicted == code).astype(np.float64)
    probability = None if answers.probabilities is None else answers.probabilities[:, code]
    return individual_fairness(gower_distances(table.take(answers.rows)), said, probability)


def _mean(values: Sequence[tuple[float | None, int]]) -> float | None:
    known = [(value, weight) for value, weight in values if value is not None]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if total else None


def _who_is_there(one: Scored, found: Sequence[OfGroups]) -> Iterator[Element]:
    """How many rows each group has, and how many of its cells are empty."""
    dataset = one.cell.dataset
    if not isinstance(dataset, Dataset):
        return
    features = dataset.table.select(field.column.name for field in dataset.schema.with_role("feature"))
    rows: list[list[Content]] = []
    for by in {one.columns: one for one in found}.values():
        groups = groups_by(dataset.table, by.columns)
        for place, label in enumerate(groups.labels):
            member = np.flatnonzero(groups.codes == place)
            share = len(member) / len(dataset)
            gaps = _empty(features.take(member))
            rows.append([by.name, strong(label), str(len(member)), fixed(share, 3), fixed(gaps, 3)])
    yield Heading("Groups")
    yield grid(["by", "group", "rows", "share", "empty cells"], rows, right=(2, 3, 4), keys=2)


def _empty(table: Table) -> float:
    cells = table.numbers.size + table.codes.size
    return float((np.isnan(table.numbers).sum() + (table.codes < 0).sum()) / cells) if cells else 0.0


def _rates(name: str, groups: Sequence[GroupRates]) -> Element:
    rows = (
        [one.label, str(one.rows), *(_rate(one.rates[rate]) for rate in SHOWN), _rate(one.calibration, sign="+")]
        for one in groups
    )
    return grid_of_numbers([name, "rows", *SHOWN, "calibration"], rows)


def _rate(rate: Rate, sign: str = "") -> Content:
    if rate.value is None:
        return Field("-" if rate.why.startswith("no ") else "too few", "weak")
    value = f"{rate.value:{sign}.{DECIMALS}f}"
    return value if rate.low is None else f"{value} [{rate.low:{sign}.2f}, {rate.high:{sign}.2f}]"


def _gaps(found: Mapping[str, Sequence[OfGroups]]) -> Iterator[Element]:
    several = any(len({one.label for one in by}) > 1 for by in found.values())
    rows = (
        [name, f"{one.name}: {one.label}" if several else one.name, *map(_gap, one.gaps.values())]
        for name, by in found.items()
        for one in by
    )
    yield Heading("How far groups lie apart")
    yield grid_of_numbers(["model", "by", *CRITERIA], rows, keys=2)
    yield notes(*READING_GAPS)


def _gap(found: Gap) -> Content:
    if found.difference is None:
        return Field("too few", "weak")
    ratio = "" if found.ratio is None else f"; {found.ratio:.2f}"
    reach = "" if found.low is None else f" [{found.low:.2f}, {found.high:.2f}]"
    return f"{found.difference:.{DECIMALS}f}{reach}{ratio}"


def _alike(found: Mapping[str, IndividualFairness]) -> Iterator[Element]:
    if not found:
        return
    rows = []
    for name, one in found.items():
        apart = map(_share, (one.decided_differently, one.probability_difference))
        rows.append([name, _share(one.consistency), str(one.pairs), *apart])
    yield Heading("Similar rows, similar answers")
    yield grid_of_numbers(HEADER_ALIKE, rows)
    yield notes(*READING_ALIKE)


def _share(value: float | None) -> Content:
    return Field("-", "weak") if value is None else fixed(value, DECIMALS)


def _trade_off(found: Mapping[Scored, Sequence[OfGroups]], names: Group) -> Iterator[Element]:
    """A table by falling accuracy, and a point for each model, those of one method in one group."""
    first = next(iter(CRITERIA))
    positions = [_position(one, by, names[one]) for one, by in found.items()]
    known = [one for one in positions if one.apart[first] is not None]
    if len(known) < 2:
        return
    known.sort(key=lambda one: (-one.accuracy, one.apart[first]))
    yield Heading("What fairness costs")
    rows = (
        [one.name, f"{one.accuracy:.{DECIMALS}f}", *(_difference(one, known, criterion) for criterion in CRITERIA)]
        for one in known
    )
    yield grid_of_numbers(["model", "accuracy", *CRITERIA], rows)
    yield notes(*READING_COSTS)
    methods: dict[str, list[tuple[float, float]]] = {}
    for one in known:
        methods.setdefault(one.method, []).append((one.apart[first] or 0.0, one.accuracy))
    points = tuple((method, tuple(of_method)) for method, of_method in methods.items())
    yield Points("", f"{first} (difference; left is fairer)", "accuracy", points)


def _position(one: Scored, by: Sequence[OfGroups], name: str) -> Position:
    answers, model = distinct(one.answers), one.cell.model
    accuracy = float(((answers.truth == answers.predicted) * answers.weights).sum() / answers.weights.sum())
    gaps = [each.gaps for each in by if len(each.columns) == 1]
    apart: dict[str, float | None] = {}
    for criterion in CRITERIA:
        known = [of[criterion].difference for of in gaps]
        apart[criterion] = max((value for value in known if value is not None), default=None)
    return Position(name, " → ".join([*(step.use for step in model.steps or ()), model.use]), accuracy, apart)


def _difference(one: Position, others: Sequence[Position], criterion: str) -> Content:
    value = one.apart[criterion]
    if value is None:
        return Field("too few", "weak")
    best = _on_front(one, others, criterion)
    return Field(BEST * best + f"{value:.{DECIMALS}f}", "best" if best else "")


def _on_front(one: Position, others: Sequence[Position], criterion: str) -> bool:
    """Whether no other is at least as good in both, and better in one."""
    own, accuracy = one.apart[criterion], one.accuracy
    known = [(apart, other.accuracy) for other in others if (apart := other.apart[criterion]) is not None]
    beside = [other for other in known if other != (own, accuracy)]
    return own is not None and not any(apart <= own and right >= accuracy for apart, right in beside)
