"""The table of models of one dataset: baseline first, the best of each metric marked, nothing left out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mlcli.experiment.run.split_results import TRAINING, each
from mlcli.experiment.spec.cells import WHOLE
from mlcli.metrics.base import Metric, Summary
from mlcli.metrics.interval_rules import COUNTED_AS
from mlcli.report.document import Content, Element, Field, Grid, grid, grid_of_numbers, notes, strong
from mlcli.report.numbers import LARGE, NOISE, decimals_for, fixed
from mlcli.report.scored import Group, Scored, metrics_in, only_of

BEST = "*"
UNIT_DECIMALS = 3
MOST_DIGITS = 6
"""Of the largest score; a column whose others are small shows fewer of theirs."""
MOST_UNLIKE = 1e-5
"""A score this much smaller than the largest would look like 0 beside it."""
LEGEND_OF_BEST = f"{BEST} is the best of its column"
INTERVAL = "±"
LEGEND_OF_INTERVAL = f"{INTERVAL} is the 95 % CI half-width, to its farther end"
TO_BEST = "to best (p)"
LEGEND_OF_TO_BEST = f"{TO_BEST}: how far from the best of the column before it, with p by Holm"
LEGEND_OF_TRAINING = "training: of the rows that were learned from"
SECONDS = "seconds"
LEGEND_OF_SECONDS = f"{SECONDS} of all fits and answers"
LEGEND_OF_SEEN = "SEEN counts rows that a saved model has learned from"


def table_of_models(
    group: Group, beside: Mapping[Scored, Field] | None = None, intervals: bool = True
) -> Iterator[Element]:
    """The scores of the cells that are done, with how far from the best each is, and what became of the others."""
    metrics = metrics_in(group)
    done = only_of(group, [one for one in group if one.done])
    if done:
        table = _scores(done, metrics, beside or {})
        yield table
        yield notes(_legend(table, done), *(_intervals(done, metrics) if intervals else ()))
    others = [_undone(one, name) for one, name in group.items() if one not in done]
    if others:
        yield grid(["model", "status", "why"], others)


def _scores(done: Group, metrics: Sequence[Metric], beside: Mapping[Scored, Field]) -> Grid:
    """Names, and which rows judge each model where a saved one may have learned from them; then the scores."""
    keys: dict[str, Iterable[Field]] = {"model": map(strong, done.values())}
    if any(one.cell.model.saved is not None for one in done):
        keys["judged by"] = map(_rows_that_judge, done)
    first, *others = metrics
    columns = {first.name: _column(first, done)}
    if any(first.name in one.training for one in done):
        columns[f"{TRAINING}-{first.name}"] = _training(first, done)
    if beside:
        columns[TO_BEST] = [beside.get(one, Field("")) for one in done]
    columns |= {metric.name: _column(metric, done) for metric in others}
    columns[SECONDS] = [Field(seconds_of(one), "weak") for one in done]
    rows = zip(*keys.values(), *columns.values(), strict=True)
    return grid_of_numbers([*keys, *columns], rows, len(keys))


def _rows_that_judge(one: Scored) -> Field:
    cell = one.cell
    if cell.model.saved is None:
        return Field("the rows it learned from" if cell.protocol.use == WHOLE else "unseen rows")
    if not cell.learned_rows:
        return Field(f"{cell.labelled_rows} unseen rows")
    return Field(f"{cell.labelled_rows} rows, {cell.learned_rows} SEEN", "bad" if one.contaminated else "")


def _column(metric: Metric, done: Iterable[Scored]) -> list[Field]:
    summaries = [one.summaries[metric.name] for one in done]
    decimals = decimals_of(metric, summaries)
    best = _best(metric, done, decimals)
    return [score_cell(one.summaries[metric.name], decimals, None if one.contaminated else best) for one in done]


def seconds_of(one: Scored) -> str:
    """How long the fits of a model took in all, with its answers."""
    seconds = sum(each(one.result.splits, "seconds"))
    return "<.001" if seconds < 0.001 else f"{seconds:.{3 if seconds < 1 else 1 if seconds < 100 else 0}f}"


def _training(metric: Metric, done: Iterable[Scored]) -> list[Field]:
    """A metric of the rows that were learned from, with the decimals of the score beside it."""
    decimals = decimals_of(metric, [one.summaries[metric.name] for one in done])
    means = [one.training.get(metric.name) for one in done]
    return [Field("-" if mean is None else fixed(mean, decimals), "weak") for mean in means]


def _best(metric: Metric, done: Iterable[Scored], decimals: int | None) -> str | None:
    """The best mean as it is written, where there is one that is worse."""
    means = [one.summaries[metric.name].mean for one in done if not one.contaminated]
    ranked = sorted((mean for mean in means if mean is not None), key=lambda mean: badness(metric, mean))
    written = [fixed(mean, decimals) for mean in ranked]
    return written[0] if len(set(written)) > 1 else None


def badness(metric: Metric, mean: float) -> float:
    """A number that is smaller for a better mean."""
    return {"high": -mean, "low": mean, "zero": abs(mean)}[metric.better]


def score_cell(summary: Summary, decimals: int | None, best: str | None, sign: str = "") -> Field:
    """A mean with the reach of its interval, marked if it is the best, else behind a sign."""
    if summary.mean is None:
        return Field("undefined", "weak")
    mean, reach = fixed(summary.mean, decimals), reach_of(summary)
    text = mean + ("" if reach is None else f" {INTERVAL}{_width(reach, decimals)}")
    return Field(BEST + text, "best") if mean == best else Field(sign + text)


def _width(reach: float, decimals: int | None) -> str:
    """How far an interval reaches; no width is 0 because it is rounded."""
    text = fixed(reach, decimals)
    return f"<{10.0**-decimals:.{decimals}f}".replace("0.", ".") if decimals and reach > 0 == float(text) else text


def _legend(table: Grid, done: Group) -> str:
    texts = [cell.text for row in table.rows for cell in row[table.keys :]]
    signs = {
        LEGEND_OF_BEST: any(text.startswith(BEST) for text in texts),
        LEGEND_OF_INTERVAL: any(INTERVAL in text for text in texts),
        LEGEND_OF_TO_BEST: TO_BEST in table.header,
        LEGEND_OF_SECONDS: True,
        LEGEND_OF_TRAINING: any(title.startswith(TRAINING) for title in table.header),
        LEGEND_OF_SEEN: any(one.cell.learned_rows for one in done),
    }
    return "; ".join(meaning for meaning, stands_there in signs.items() if stands_there)


def decimals_of(metric: Metric, summaries: Sequence[Summary]) -> int | None:
    """Decimals for scores of one metric: three where it is bounded, else by the size of score and interval.

    None where no number of decimals suits scores that are so large, or so unlike.
    """
    if metric.low is not None and metric.high is not None:
        return UNIT_DECIMALS
    means = [abs(one.mean) for one in summaries if one.mean is not None and math.isfinite(one.mean)]
    largest = max(means, default=0.0)
    smallest = min((mean for mean in means if mean > NOISE * largest), default=0.0)
    unlike = metric.better != "zero" and smallest < MOST_UNLIKE * largest
    if largest >= LARGE or unlike:
        return None
    decimals = decimals_for(max(abs(summary.mean or 0.0), reach_of(summary) or 0.0) for summary in summaries)
    if largest < 1:
        return decimals
    return min(decimals, max(0, MOST_DIGITS - 1 - math.floor(math.log10(largest))))


def reach_of(summary: Summary) -> float | None:
    """How far the interval reaches from the mean, on its longer side."""
    if summary.mean is None or summary.low is None or summary.high is None:
        return None
    reach = max(summary.high - summary.mean, summary.mean - summary.low)
    return reach if math.isfinite(reach) else None


def _intervals(done: Group, metrics: Sequence[Metric]) -> Iterable[str]:
    """How the intervals were made, metrics of one rule together, with the models where they differ."""
    rules: dict[tuple[str, str], list[str]] = {}
    trusted: dict[tuple[str, str], dict[str, None]] = {}
    for metric in metrics:
        models: dict[str, list[str]] = {}
        for one, name in done.items():
            summary = one.summaries[metric.name]
            if reach_of(summary) is not None:
                rule, _, trust = summary.interval.partition(";")[0].partition(COUNTED_AS)
                models.setdefault(rule, []).append(name)
                trusted.setdefault((_unit(rule), trust), {})[name] = None
        for rule, of_rule in models.items():
            rules.setdefault((rule, f" ({', '.join(of_rule)})" * (len(models) > 1)), []).append(metric.name)
    yield from (f"interval of {', '.join(of)}{models}: {rule}" for (rule, models), of in rules.items())
    for unit in ("row", "group"):
        found = {trust: list(of) for (of_unit, trust), of in trusted.items() if of_unit == unit and trust}
        yield from _trust(unit, found, ", but for bootstraps" * any("bootstrap" in rule for rule, _ in rules))


def _unit(rule: str) -> str:
    """What a rule counts: rows, or groups of rows that hang together."""
    return "group" if rule.endswith(" groups") or " groups," in rule else "row"


def _trust(unit: str, models: Mapping[str, Sequence[str]], but: str) -> Iterable[str]:
    """For how much judged rows or groups count, where fits change with their training rows."""
    if models:
        usual = max(models, key=lambda trust: len(models[trust]))
        others = [f"{trust} for {', '.join(of)}" for trust, of in models.items() if trust != usual]
        rest = f" ({'; '.join(others)})" if others else ""
        why = "since fits change with their training rows"
        yield f"each {unit} counts as {usual}{rest} of one in these{but}, {why}"


def _undone(one: Scored, name: str) -> list[Content]:
    why = (one.result.why or one.cell.skipped).splitlines()
    return [strong(name), Field(one.result.status, "bad"), "; ".join(map(str.strip, why))]
