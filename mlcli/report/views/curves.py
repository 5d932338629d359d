"""Curves: a score of judged and of training rows over what was swept, with the spread over splits as a band."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlcli.core.findings import Curve, as_json
from mlcli.metrics.base import Metric, Summary
from mlcli.metrics.declaring import defined_values
from mlcli.report.document import Content, Element, Field, Heading, grid, notes, strong
from mlcli.report.numbers import fixed, short
from mlcli.report.scoring.curves import band, series_of, summaries_of
from mlcli.report.scoring.scored import Scored, training_answers
from mlcli.report.views.results_as_json import given, plain, summary_as_json
from mlcli.report.views.score_table import BEST, badness, decimals_of, score_cell

READING = "±: 95 % interval; spread: the standard deviation over splits"
OF_TRAINING = "; training: of the rows that were learned from; gap: how much better these are answered"


@dataclass(frozen=True, eq=False)
class Point:
    """A score at one value of what was swept."""

    value: float
    judged: Summary
    every: Mapping[str, Summary]
    """All metrics there."""
    training: float | None
    training_spread: float | None
    label: str = ""
    """The value as it is written, where it is no plain number."""

    def gap(self, metric: Metric) -> float | None:
        """How much better training rows are answered than others, in the units of the score."""
        if self.training is None or self.judged.mean is None:
            return None
        return badness(metric, self.judged.mean) - badness(metric, self.training)


@dataclass(frozen=True, eq=False)
class ScoreCurve:
    """One metric of one model over something."""

    title: str
    over: str
    metric: Metric
    points: tuple[Point, ...]
    baseline: float | None = None

    @property
    def best(self) -> Point | None:
        """The point of the best judged mean; of equals, the first."""
        known = [point for point in self.points if point.judged.mean is not None]
        return min(known, key=lambda point: badness(self.metric, point.judged.mean or 0.0), default=None)

    def per_doubling(self) -> float | None:
        """How much better the score is for twice as much of what was swept, over the last doubling."""
        known = [(point.value, point.judged.mean) for point in self.points if point.judged.mean is not None]
        if len(known) < 2 or known[0][0] <= 0:
            return None
        (start, before), (end, after) = next(
            ((one, known[-1]) for one in reversed(known[:-1]) if 2 * one[0] <= known[-1][0]), (known[0], known[-1])
        )
        better = badness(self.metric, before or 0.0) - badness(self.metric, after or 0.0)
        return better / math.log2(end / start)


def curves_over(one: Scored, name: str, kind: str, baseline: Scored | None = None) -> Iterator[ScoreCurve]:
    """The curves of a cell: of what its protocol swept over (``series``), or of the stages of its fits."""
    metric = one.metrics[0]
    for series in series_of(one):
        if series.kind == kind:
            points = tuple(
                Point(value, every[metric.name], every, *_of_training(metric, series.training.get(value, ())))
                for value, every in summaries_of(series).items()
            )
            yield ScoreCurve(series.named(name), series.over, metric, points, _mean_of(baseline, metric))


def validation_curve(
    cells: Sequence[Scored], values: Sequence[Any], over: str, name: str, baseline: Scored | None = None
) -> ScoreCurve:
    """The curve of cells that differ in one parameter."""
    metric = cells[0].metrics[0]
    numeric = all(map(_is_number, values))
    points = []
    for number, (one, value) in enumerate(zip(cells, values, strict=True), 1):
        found = _of_training(metric, training_answers(one.result))
        label = short(float(value)) if _is_number(value) else str(value)
        place = float(value) if numeric else float(number)
        points.append(Point(place, one.summaries[metric.name], one.summaries, *found, label))
    return ScoreCurve(name, over, metric, tuple(points), _mean_of(baseline, metric))


def curve_elements(curve: ScoreCurve) -> Iterator[Element]:
    """A table with a line for each value, the curves below it, and what they say."""
    metric = curve.metric
    decimals = decimals_of(metric, [point.judged for point in curve.points])
    with_training = any(point.training is not None for point in curve.points)
    header = [curve.over, metric.name, "spread", *["training", "gap"] * with_training]
    rows = [list(_line(curve, point, decimals, with_training)) for point in curve.points]
    yield Heading(f"{curve.title}: {metric.name} by {curve.over}")
    yield grid(header, rows, right=range(len(header)))
    if len(curve.points) > 1:
        yield finding_of(curve)
    yield notes(f"{BEST} is the best; {READING}{OF_TRAINING * with_training}", *_said(curve))


def finding_of(curve: ScoreCurve) -> Curve:
    """The curve as data: judged and training means, with the band of the judged ones."""
    means = tuple(point.judged.mean for point in curve.points)
    lines = [("judged", means)]
    if any(point.training is not None for point in curve.points):
        lines.append(("training", tuple(point.training for point in curve.points)))
    bands = [("judged", tuple(band(point.judged.mean, point.judged.std) for point in curve.points))]
    if len(lines) > 1:
        of_training = tuple(band(point.training, point.training_spread) for point in curve.points)
        bands.append(("training", of_training))
    return Curve(
        f"{curve.metric.name} by {curve.over}",
        curve.over,
        tuple(point.value for point in curve.points),
        tuple(lines),
        bands=tuple(bands),
        note="bands: mean ± standard deviation over splits",
    )


def curve_as_json(curve: ScoreCurve) -> dict[str, Any]:
    """A curve as plain values."""
    points = [
        {
            "value": point.value,
            **given({"label": point.label}),
            "metrics": {name: summary_as_json(summary) for name, summary in point.every.items()},
            "training": plain({"mean": point.training, "std": point.training_spread}),
        }
        for point in curve.points
    ]
    best = curve.best
    return {
        "model": curve.title,
        "over": curve.over,
        "metric": curve.metric.name,
        "best": None if best is None else best.value,
        "per_doubling": plain(curve.per_doubling()),
        "baseline": plain(curve.baseline),
        "points": points,
        "findings": [plain(as_json(finding_of(curve)))],
    }


def _of_training(metric: Metric, answers: Sequence[Any]) -> tuple[float | None, float | None]:
    found = defined_values(metric, answers)
    if not len(found) or not math.isfinite(found.mean()):
        return None, None
    return float(found.mean()), float(found.std(ddof=1)) if len(found) > 1 else None


def _mean_of(one: Scored | None, metric: Metric) -> float | None:
    known = one.summaries.get(metric.name) if one is not None else None
    return None if known is None else known.mean


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _line(curve: ScoreCurve, point: Point, decimals: int | None, with_training: bool) -> Iterator[Content]:
    yield strong(point.label or short(point.value))
    best = fixed(point.judged.mean or 0.0, decimals) if point is curve.best else None
    yield score_cell(point.judged, decimals, best)
    for number in (point.judged.std, *((point.training, point.gap(curve.metric)) if with_training else ())):
        yield Field("-" if number is None else fixed(number, decimals), "weak")


def _said(curve: ScoreCurve) -> Iterator[str]:
    decimals = decimals_of(curve.metric, [point.judged for point in curve.points])
    if curve.baseline is not None:
        yield f"the baseline has {fixed(curve.baseline, decimals)}"
    if len({point.judged.mean for point in curve.points}) == 1 < len(curve.points):
        yield f"the score is the same at every {curve.over}: as the model is set, it may be of no use"
    gain = curve.per_doubling() if curve.over == "training rows" else None
    if gain is not None:
        turn = "better" if gain >= 0 else "worse"
        yield f"over the last doubling of the rows the score gets {turn} by {fixed(abs(gain), decimals)}"
