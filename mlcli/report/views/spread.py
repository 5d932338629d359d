"""How splits spread: of each model the values of its splits, whether they agree, and Wald's interval beside."""

from __future__ import annotations

from collections.abc import Iterator

from mlcli.metrics.base import Metric
from mlcli.metrics.intervals import effective_rows, wald
from mlcli.metrics.pooling import distinct
from mlcli.metrics.stability import fold_stability
from mlcli.report.document import Content, Element, Heading, grid, notes, strong
from mlcli.report.numbers import fixed
from mlcli.report.scoring.scored import Group, Scored, judged, swept_over
from mlcli.report.views.score_table import decimals_of

FEWEST_SPLITS = 3
HEADER = ("model", "sd", "lowest", "median", "highest", "Wald", "the splits are")
READING = "sd: standard deviation over splits (n - 1); Wald: no width where no row is wrong"


def spread_of(group: Group, metric: Metric) -> Iterator[Element]:
    """A line for each model; nothing where no model has values of several splits."""
    known = [one for one in group if one.done and len(_values(one, metric)) > 1]
    if not known:
        return
    decimals = decimals_of(metric, [one.summaries[metric.name] for one in known])
    yield Heading(f"{metric.name} over the splits")
    rows = ([strong(group[one]), *_line(one, metric, decimals)] for one in known)
    yield grid(HEADER, rows, right=range(1, len(HEADER) - 1))
    yield notes(READING)


def _line(one: Scored, metric: Metric, decimals: int | None) -> list[Content]:
    values, summary = sorted(_values(one, metric)), one.summaries[metric.name]
    spread = "-" if summary.std is None else fixed(summary.std, decimals)
    shown = (fixed(value, decimals) for value in (values[0], values[len(values) // 2], values[-1]))
    return [spread, *shown, _wald(one, metric, decimals), _agreement(one, metric)]


def _wald(one: Scored, metric: Metric, decimals: int | None) -> str:
    """Of shares of rows only."""
    mean = one.summaries[metric.name].mean
    if metric.aggregation != "share of rows" or mean is None:
        return "-"
    made = wald(mean, effective_rows(distinct(one.answers).weights))
    return f"{fixed(made.low or 0.0, decimals)} to {fixed(made.high or 0.0, decimals)}"


def _agreement(one: Scored, metric: Metric) -> str:
    """The verdict on folds, which is one on shares of rows."""
    values = _values(one, metric)
    told = metric.aggregation == "share of rows" and not one.result.pooled and not swept_over(one.result)
    if not told or len(values) < max(FEWEST_SPLITS, len(one.result.splits)):
        return "-"
    return fold_stability(values, [len(split) for split in judged(one.result)]).verdict


def _values(one: Scored, metric: Metric) -> list[float]:
    summary = one.summaries.get(metric.name)
    return [] if summary is None else [value for value in summary.splits if value is not None]
