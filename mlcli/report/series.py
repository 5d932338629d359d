"""Scores by what the splits of a protocol sweep over, such as the share of labelled rows: a line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mlcli.core.registry import PROTOCOLS
from mlcli.experiment.cells import CellResult
from mlcli.metrics.base import Metric, Summary
from mlcli.metrics.summary import summarise
from mlcli.report.document import Block, Cell, Content, Heading, grid, notes
from mlcli.report.numbers import fixed, short
from mlcli.report.scored import Scored, judged
from mlcli.report.scores import BEST, badness, decimals_of, reach_of


def series_of(result: CellResult) -> dict[str, list[int]]:
    """The places of the splits by the value that their labels begin with; none where nothing is swept over."""
    if not _swept(result):
        return {}
    places: dict[str, list[int]] = {}
    for place, split in enumerate(result.splits):
        places.setdefault(split.label.partition(", ")[0], []).append(place)
    return places


def scores_by_series(group: Sequence[Scored], names: Mapping[Scored, str], metric: Metric) -> Iterator[Block]:
    """One metric, a line for each value and a column for each model that was judged."""
    swept = [one for one in group if one.done and _swept(one.result)]
    if not swept:
        return
    what = _swept(swept[0].result)
    lines = [_line(swept, metric, value) for value in series_of(swept[0].result)]
    header = [what, "rows learned from", *(names[one] for one in swept)]
    yield Heading(f"{metric.name} by {what}")
    yield grid(header, lines, right=range(1, len(header)))
    yield notes(f"{BEST} is the best of its line; the means further up are over all of these")


def _swept(result: CellResult) -> str:
    """What the protocol sweeps over, if it does and is known."""
    use = result.cell.protocol.use
    return str(getattr(PROTOCOLS.load(use), "series", "")) if use in PROTOCOLS else ""


def _line(swept: Sequence[Scored], metric: Metric, value: str) -> list[Content]:
    summaries = [_summary(one, metric, series_of(one.result)[value]) for one in swept]
    decimals = decimals_of(metric, summaries)
    means = [summary.mean for summary in summaries if summary.mean is not None]
    best = fixed(min(means, key=lambda mean: badness(metric, mean)), decimals) if len(set(means)) > 1 else None
    learned = [swept[0].result.splits[place].train_rows for place in series_of(swept[0].result)[value]]
    rows = f"{min(learned)} to {max(learned)}" if min(learned) < max(learned) else short(learned[0])
    return [Cell(value, "strong"), rows, *(_score(summary, decimals, best) for summary in summaries)]


def _summary(one: Scored, metric: Metric, places: Sequence[int]) -> Summary:
    answers, splits = judged(one.result), one.result.splits
    return summarise(metric, [answers[place] for place in places], [splits[place].train_rows for place in places])


def _score(summary: Summary, decimals: int | None, best: str | None) -> Cell:
    if summary.mean is None:
        return Cell("undefined", "weak")
    mean, reach = fixed(summary.mean, decimals), reach_of(summary)
    text = mean + ("" if reach is None else f" ±{fixed(reach, decimals)}")
    return Cell(BEST + text, "best") if mean == best else Cell(text)
