"""The table of models of one dataset: baseline first, the best of each metric marked, nothing left out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from mlcli.core.findings import Curve
from mlcli.experiment.run.split_results import TRAINING, each
from mlcli.experiment.spec.cells import WHOLE
from mlcli.metrics.base import Metric, Summary
from mlcli.metrics.difference import Difference
from mlcli.metrics.intervals import effective_rows, wald
from mlcli.metrics.pooling import distinct
from mlcli.metrics.stability import fold_stability
from mlcli.report.document import (
    Content,
    Element,
    Grid,
    GridCell,
    Heading,
    Legend,
    grid,
    grid_of_numbers,
    notes,
    strong,
)
from mlcli.report.numbers import decimals_of, fixed, reach_of, short, short_p
from mlcli.scoring.curves import Series, band, series_of
from mlcli.scoring.differences import LARGEST_CLASS, TableDifferences, is_largest_class_standard
from mlcli.scoring.model_results import (
    Group,
    ModelResult,
    badness,
    coordinate_name,
    judged_answers,
    metrics_in,
    subgroup,
)

BEST = "*"
BEST_OF_COLUMN = "best of its column"
UNEVEN = 0.2
""" ± is shown where the shorter side of an interval is shorter by at most this share; else its ends are."""
TO_BEST = "Δ best (p)"
SECONDS = "seconds"
FEWEST_SPLITS = 3
SPREAD_HEADER = ("model", "sd", "lowest", "median", "highest")
SHARES_HEADER = ("Wald", "the splits are")
"""What only shares of rows have beside."""
SPREAD_READING = "sd: standard deviation over splits (n - 1)"
SHARES_READING = "; Wald: no width where no row is wrong"


def table_of_models(
    group: Group, beside: Mapping[ModelResult, GridCell] | None = None, intervals: bool = True
) -> Iterator[Element]:
    """The scores of the models, each with its difference from the best, and why others have no score."""
    metrics = metrics_in(group)
    done = subgroup(group, [result for result in group if result.done])
    if done:
        table = _grid_of_scores(done, metrics, beside or {})
        yield table
        yield _legend_of(table, done)
        if intervals:
            yield notes(*_interval_notes(done, metrics))
    others = [_undone_cells(result, name) for result, name in group.items() if result not in done]
    if others:
        yield grid(["model", "status", "why"], others)


def _grid_of_scores(done: Group, metrics: Sequence[Metric], beside: Mapping[ModelResult, GridCell]) -> Grid:
    """Names, the rows that saved models are scored on, and the scores."""
    keys: dict[str, Iterable[GridCell]] = {"model": map(strong, done.values())}
    if any(result.cell.model.saved is not None for result in done):
        keys["scored on"] = map(_rows_that_judge, done)
    first, *others = metrics
    columns = {first.name: _score_cells(first, done)}
    if any(first.name in result.training for result in done):
        columns[f"{TRAINING}-{first.name}"] = _training_cells(first, done)
    if beside:
        columns[TO_BEST] = [beside.get(result, GridCell("")) for result in done]
    columns |= {metric.name: _score_cells(metric, done) for metric in others if _tells_models_apart(metric, done)}
    columns[SECONDS] = [GridCell(seconds_of(result), "weak") for result in done]
    rows = zip(*keys.values(), *columns.values(), strict=True)
    return grid_of_numbers([*keys, *columns], rows, len(keys))


def _tells_models_apart(metric: Metric, done: Iterable[ModelResult]) -> bool:
    """Whether some model beside the baselines has a finite score; a note names infinite ones."""
    means = [result.summaries[metric.name].mean for result in done if not result.is_baseline]
    return not means or any(mean is None or math.isfinite(mean) for mean in means)


def _rows_that_judge(model_result: ModelResult) -> GridCell:
    cell = model_result.cell
    if cell.model.saved is None:
        return GridCell("its training rows" if cell.protocol.use == WHOLE else "unseen rows")
    if not cell.learned_rows:
        return GridCell(f"{cell.labelled_rows} unseen rows")
    return GridCell(
        f"{cell.labelled_rows} rows, {cell.learned_rows} SEEN", "bad" if model_result.contaminated else ""
    )


def _score_cells(metric: Metric, done: Iterable[ModelResult]) -> list[GridCell]:
    summaries = [result.summaries[metric.name] for result in done]
    decimals = decimals_of(metric, summaries)
    best = _best_mean_text(metric, done, decimals)
    return [
        score_cell(result.summaries[metric.name], decimals, None if result.contaminated else best)
        for result in done
    ]


def seconds_of(model_result: ModelResult) -> str:
    """The total time of fitting and predicting, in seconds."""
    seconds = sum(each(model_result.splits, "seconds"))
    return "<.001" if seconds < 0.001 else f"{seconds:.{3 if seconds < 1 else 1 if seconds < 100 else 0}f}"


def _training_cells(metric: Metric, done: Iterable[ModelResult]) -> list[GridCell]:
    """A metric on the training rows, with the decimals of the score beside it."""
    decimals = decimals_of(metric, [result.summaries[metric.name] for result in done])
    means = [result.training.get(metric.name) for result in done]
    return [GridCell("-" if mean is None else fixed(mean, decimals), "weak") for mean in means]


def _best_mean_text(metric: Metric, done: Iterable[ModelResult], decimals: int | None) -> str | None:
    """The best mean as it is written, where there is one that is worse."""
    means = [result.summaries[metric.name].mean for result in done if not result.contaminated]
    ranked = sorted((mean for mean in means if mean is not None), key=lambda mean: badness(metric, mean))
    written = [fixed(mean, decimals) for mean in ranked]
    return written[0] if len(set(written)) > 1 else None


def score_cell(summary: Summary, decimals: int | None, best: str | None, sign: str = "") -> GridCell:
    """A mean with its interval, marked if it is the best, else with another sign.

    The interval has a half-width, or its ends where its two sides are too uneven for one.
    """
    if summary.mean is None:
        return GridCell("undefined", "weak")
    mean, reach = fixed(summary.mean, decimals), reach_of(summary)
    cell = GridCell(mean, "best", mark=BEST) if mean == best else GridCell(mean, mark=sign)
    if reach is None or summary.low is None or summary.high is None:
        return cell
    sides = (summary.mean - summary.low, summary.high - summary.mean)
    if min(sides) >= (1 - UNEVEN) * max(sides) or len({fixed(side, decimals) for side in sides}) == 1:
        return replace(cell, reach=_reach_text(reach, decimals))
    return replace(cell, ends=(fixed(summary.low, decimals), fixed(summary.high, decimals)))


def _reach_text(reach: float, decimals: int | None) -> str:
    """How far an interval reaches; no width is 0 because it is rounded."""
    text = fixed(reach, decimals)
    return f"<{10.0**-decimals:.{decimals}f}".replace("0.", ".") if decimals and reach > 0 == float(text) else text


def _legend_of(table: Grid, done: Group) -> Legend:
    """The meaning of each mark, sign and column that stands in the table."""
    cells = [cell for row in table.rows for cell in row[table.keys :]]
    meanings = {
        (BEST, BEST_OF_COLUMN): any(cell.mark == BEST for cell in cells),
        ("±", "half-width of the 95 % confidence interval (longer side)"): any(cell.reach for cell in cells),
        ("[low, high]", "95 % confidence interval whose sides differ by more than a fifth"): any(
            cell.ends for cell in cells
        ),
        ("Δ best:", "difference from the best model (Holm-adjusted p)"): TO_BEST in table.header,
        ("training:", "score on the training rows"): any(result.training for result in done),
        ("SEEN:", "rows that the saved model has learned from"): any(result.cell.learned_rows for result in done),
        ("seconds:", "total fit + predict time"): True,
    }
    return Legend(tuple(item for item, stands_there in meanings.items() if stands_there))


def _interval_notes(done: Group, metrics: Sequence[Metric]) -> Iterator[str]:
    """How the intervals were made, metrics of one rule together, with the models where they differ."""
    metrics_of_rule: dict[tuple[str, str], list[str]] = {}
    models_by_trust: dict[tuple[str, float | None], list[str]] = {}
    for metric in metrics:
        models_of_rule: dict[str, list[str]] = {}
        for result, name in done.items():
            summary = result.summaries[metric.name]
            if reach_of(summary) is None:
                continue
            models_of_rule.setdefault(summary.interval, []).append(name)
            models = models_by_trust.setdefault((summary.units, summary.trust), [])
            models += () if name in models else (name,)
        for rule, models in models_of_rule.items():
            only = f" ({', '.join(models)})" if len(models_of_rule) > 1 else ""
            metrics_of_rule.setdefault((rule, only), []).append(metric.name)
    for (rule, only), names in metrics_of_rule.items():
        yield f"interval of {', '.join(names)}{only}: {rule}"
    for unit in ("rows", "groups"):
        trusted = {trust: models for (units, trust), models in models_by_trust.items() if units == unit and trust}
        if trusted:
            usual = max(trusted, key=lambda trust: len(trusted[trust]))
            others = [f"{trust} for {', '.join(models)}" for trust, models in trusted.items() if trust != usual]
            rest = f" ({'; '.join(others)})" if others else ""
            why = "since fits change with their training rows"
            yield f"in these, one of the {unit} counts as {usual}{rest} independent {unit}, {why}"


def _undone_cells(model_result: ModelResult, name: str) -> list[Content]:
    why = (model_result.why).splitlines()
    return [strong(name), GridCell(model_result.status, "bad"), "; ".join(map(str.strip, why))]


def spread_of(group: Group, metric: Metric) -> Iterator[Element]:
    """A line for each model; nothing where no model has values of several splits."""
    known = [result for result in group if result.done and len(_split_values(result, metric)) > 1]
    if not known:
        return
    decimals = decimals_of(metric, [result.summaries[metric.name] for result in known])
    of_shares = metric.aggregation == "share of rows"
    header = (*SPREAD_HEADER, *SHARES_HEADER * of_shares)
    cells = _spread_cells_of_shares if of_shares else _spread_cells
    rows = ([strong(group[result]), *cells(result, metric, decimals)] for result in known)
    yield Heading(f"{metric.name} over the splits")
    yield grid(header, rows, right=range(1, len(SPREAD_HEADER) + 1))
    yield notes(SPREAD_READING + SHARES_READING * of_shares)


def _spread_cells(model_result: ModelResult, metric: Metric, decimals: int | None) -> list[Content]:
    values, summary = sorted(_split_values(model_result, metric)), model_result.summaries[metric.name]
    spread = "-" if summary.std is None else fixed(summary.std, decimals)
    shown = (fixed(value, decimals) for value in (values[0], values[len(values) // 2], values[-1]))
    return [spread, *shown]


def _spread_cells_of_shares(model_result: ModelResult, metric: Metric, decimals: int | None) -> list[Content]:
    return [
        *_spread_cells(model_result, metric, decimals),
        _wald_text(model_result, metric, decimals),
        _stability_text(model_result, metric),
    ]


def _wald_text(model_result: ModelResult, metric: Metric, decimals: int | None) -> str:
    mean = model_result.summaries[metric.name].mean
    if mean is None:
        return "-"
    made = wald(mean, effective_rows(distinct(model_result.answers).weights))
    return f"{fixed(made.low or 0.0, decimals)} to {fixed(made.high or 0.0, decimals)}"


def _stability_text(model_result: ModelResult, metric: Metric) -> str:
    """The verdict on folds, where each has enough to say."""
    values = _split_values(model_result, metric)
    apart = model_result.pooled or coordinate_name(model_result.cell_result)
    if apart or len(values) < max(FEWEST_SPLITS, len(model_result.splits)):
        return "-"
    return fold_stability(values, [len(split) for split in judged_answers(model_result.cell_result)]).verdict


def _split_values(model_result: ModelResult, metric: Metric) -> list[float]:
    summary = model_result.summaries.get(metric.name)
    return [] if summary is None else [value for value in summary.splits if value is not None]


def distances_to_best(differences: TableDifferences | None) -> dict[ModelResult, GridCell]:
    """For each model how far it is from the best, with p; nothing where none is compared."""
    if differences is None or not differences.to_best:
        return {}
    tests = {**differences.to_best, **differences.beside}
    known = [test.summaries[differences.metric.name] for test in (differences.best, *tests)]
    decimals = decimals_of(differences.metric, known)
    fields = {result: _distance_to_best(difference, decimals) for result, difference in tests.items()}
    cells = {differences.best: GridCell("best", "weak"), **fields}
    for cell in filter(is_largest_class_standard, cells):  # its own score stands beside
        cells[cell] = replace(cells[cell], text=f"{cells[cell].text} from {LARGEST_CLASS}")
    return cells


def _distance_to_best(difference: Difference, decimals: int | None) -> GridCell:
    if difference.mean is None:
        return GridCell("untested", "weak")
    p = difference.p if difference.corrected is None else difference.corrected
    text = f"{fixed(difference.mean, decimals)} ({short_p(p)})"
    return GridCell(text, "" if difference.distinguishable else "weak")


ALIKE = "~"
READING = {
    "training rows": "the table above shows the scores and tests of the largest size",
    "series": "the table above shows the means over all of these",
    "stages": "the table above shows the scores of the complete fits",
    "lines": "the table above shows the scores with all labels; bands: one standard deviation",
}

T = TypeVar("T")


def scores_by_series(group: Group, metric: Metric) -> Iterator[Element]:
    """One metric: a line for each value, a column for each model that was judged there, and their curves."""
    serieses = [series for result in group for series in series_of(result)]
    for over in dict.fromkeys(series.over for series in serieses if not series.line):
        of_models = {
            group[series.scored]: series for series in serieses if series.over == over and not series.line
        }
        yield from _table_of_series(of_models, metric, f"{metric.name} by {over}")
    for fromkey in dict.fromkeys(series.scored for series in serieses if series.line):
        lines = {series.line: series for series in serieses if series.scored is fromkey}
        over = next(iter(lines.values())).over
        yield from _table_of_series(lines, metric, f"{group[fromkey]}: {metric.name} by {over}")


def _table_of_series(several: Mapping[str, Series], metric: Metric, title: str) -> Iterator[Element]:
    """A column for each series, by its name, and a curve for each below the table."""
    of_all, first = list(several.values()), next(iter(several.values()))
    values = sorted({value for series in of_all for value in series.answers})
    table = [
        {series: series.summary(metric, value) for series in of_all if value in series.answers} for value in values
    ]
    learned = [_rows_learned_from(of_all, value) for value in values]
    differ = len(set(learned)) > 1 and not first.line
    rows: list[list[Content]] = []
    for value, known, summaries in zip(values, learned, table, strict=True):
        of_models = _cells_at_value(metric, value, summaries)
        rows.append(
            [strong(short(value)), *[known] * differ, *(of_models.get(series, GridCell("")) for series in of_all)]
        )
    header = [first.over, *["rows learned from"] * differ, *several]
    yield Heading(title)
    yield grid(header, rows, right=range(len(header)))
    means = [[line[series].mean if series in line else None for line in table] for series in of_all]
    spreads = [[line[series].std if series in line else None for line in table] for series in of_all]
    bands = [map(band, *ends) for ends in zip(means, spreads, strict=True)] if first.line else []
    yield Curve("", first.over, tuple(values), _named_lines(several, means), bands=_named_lines(several, bands))
    alike = any(cell.mark == ALIKE for row in rows for cell in row if isinstance(cell, GridCell))
    yield Legend(((BEST, "best of its row"), *[(ALIKE, "not significantly different from it (5 %)")] * alike))
    yield notes(READING.get(first.over) or READING["lines" if first.line else first.kind])


def _named_lines(names: Iterable[str], lines: Iterable[Iterable[T]]) -> tuple[tuple[str, tuple[T, ...]], ...]:
    return tuple(zip(names, map(tuple, lines), strict=False))


def _rows_learned_from(several: Sequence[Series], value: float) -> str:
    learned = [rows for series in several for rows in series.learned_from(value)]
    return f"{min(learned)} to {max(learned)}" if min(learned) < max(learned) else short(learned[0])


def _cells_at_value(metric: Metric, value: float, summaries: Mapping[Series, Summary]) -> dict[Series, GridCell]:
    """The cells of one value: the best marked, and those that no test tells from it."""
    decimals = decimals_of(metric, list(summaries.values()))
    means = {series: summary.mean for series, summary in summaries.items() if summary.mean is not None}
    ranked = sorted(means, key=lambda series: badness(metric, means[series]))
    best = fixed(means[ranked[0]], decimals) if len(set(means.values())) > 1 else None
    known = [series for series in ranked if math.isfinite(means[series])]
    alike = [series for series in known[1:] if known[0].is_like(series, metric, value)]
    return {
        series: score_cell(summary, decimals, best, ALIKE if series in alike else "")
        for series, summary in summaries.items()
    }
