"""The table of models of one dataset, and all scores as one rectangular table with every digit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mlcli.core.findings import Curve
from mlcli.core.registry import MODELS
from mlcli.experiment.results import TEST, TRAINING, each
from mlcli.experiment.spec.cells import WHOLE, settings_of
from mlcli.metrics.base import Metric, Summary, Undefined, distinct
from mlcli.metrics.interval_rules import fold_stability
from mlcli.metrics.intervals import effective_rows, wald
from mlcli.protocols._base import TRAINING_ROWS
from mlcli.report.document import (
    Content,
    Document,
    Element,
    Grid,
    GridCell,
    Heading,
    Legend,
    Style,
    decimals_of,
    fixed,
    grid,
    grid_of_numbers,
    notes,
    reach_of,
    short,
    short_p,
    strong,
)
from mlcli.report.views.plan import protocol_words, steps_of
from mlcli.scoring.differences import LARGEST_CLASS, TableDifferences, is_largest_class_standard
from mlcli.scoring.model_results import (
    Group,
    ModelResult,
    Series,
    badness,
    band,
    coordinate_name,
    judged_answers,
    metrics_in,
    requested_decomposition,
    series_of,
    subgroup,
    summaries_of,
    terms_by_name,
)
from mlcli.scoring.verdict import FEWEST_FOLDS

if TYPE_CHECKING:
    from mlcli.metrics.bias_variance import Decomposition

BEST, ALIKE = "*", "~"
TO_BEST = "Δ best (p)"


def table_of_models(
    group: Group, differences: TableDifferences | None = None, intervals: bool = True
) -> Iterator[Element]:
    """The scores of the models, each with its difference from the best, and why others have no score."""
    metrics = metrics_in(group)
    done = subgroup(group, [result for result in group if result.done])
    if done:
        table = _grid_of_scores(done, metrics, _differences_from_best(differences))
        yield table
        cells = [cell for row in table.rows for cell in row[table.keys :]]
        meanings = {
            (BEST, "best of its column"): any(cell.mark == BEST for cell in cells),
            ("±", "half-width of the 95 % confidence interval (longer side)"): any(cell.reach for cell in cells),
            ("[low, high]", "95 % confidence interval whose sides differ by more than a fifth"): any(
                cell.ends for cell in cells
            ),
            ("Δ best:", "difference from the best model (Holm-adjusted p)"): TO_BEST in table.header,
            ("training:", "score on the training rows"): any(result.training for result in done),
            ("SEEN:", "rows that the saved model has learned from"): any(
                result.cell.learned_rows for result in done
            ),
            ("seconds:", "total fit + predict time"): True,
        }
        yield Legend(tuple(item for item, is_in_table in meanings.items() if is_in_table))
        if intervals:
            yield notes(*_interval_notes(done, metrics))
    others: list[list[Content]] = [
        [strong(name), GridCell(result.status, "bad"), "; ".join(map(str.strip, result.why.splitlines()))]
        for result, name in group.items()
        if result not in done
    ]
    if others:
        yield grid(["model", "status", "why"], others)


def _grid_of_scores(done: Group, metrics: Sequence[Metric], from_best: Mapping[ModelResult, GridCell]) -> Grid:
    """Names, the rows that saved models are scored on, and the scores."""
    keys: dict[str, list[GridCell]] = {"model": list(map(strong, done.values()))}
    if any(result.cell.model.saved is not None for result in done):
        keys["scored on"] = []
        for result in done:
            cell = result.cell
            style: Style = ""
            if cell.model.saved is None:
                text = "its training rows" if cell.protocol.use == WHOLE else "unseen rows"
            elif cell.learned_rows:
                text = f"{cell.labelled_rows} rows, {cell.learned_rows} SEEN"
                style = "bad" if result.contaminated else ""
            else:
                text = f"{cell.labelled_rows} unseen rows"
            keys["scored on"].append(GridCell(text, style))
    columns: dict[str, list[GridCell]] = {}
    for metric in metrics:
        means = [result.summaries[metric.name].mean for result in done if not result.is_baseline]
        if columns and means and not any(mean is None or math.isfinite(mean) for mean in means):
            continue  # infinite for every model: a note says so
        summaries = [result.summaries[metric.name] for result in done]
        decimals = decimals_of(metric, summaries)
        fair = [result.summaries[metric.name].mean for result in done if not result.contaminated]
        ranked = sorted((mean for mean in fair if mean is not None), key=lambda mean: badness(metric, mean))
        texts = [fixed(mean, decimals) for mean in ranked]
        best = texts[0] if len(set(texts)) > 1 else None
        is_first = not columns
        columns[metric.name] = [
            score_cell(summary, decimals, None if result.contaminated else best)
            for result, summary in zip(done, summaries, strict=True)
        ]
        if is_first and any(metric.name in result.training for result in done):
            training = [result.training.get(metric.name) for result in done]
            columns[f"{TRAINING}-{metric.name}"] = [
                GridCell("-" if mean is None else fixed(mean, decimals), "weak") for mean in training
            ]
        if is_first and from_best:
            columns[TO_BEST] = [from_best.get(result, GridCell("")) for result in done]
    columns["seconds"] = [GridCell(seconds_of(result), "weak") for result in done]
    rows = zip(*keys.values(), *columns.values(), strict=True)
    return grid_of_numbers([*keys, *columns], rows, len(keys))


def seconds_of(result: ModelResult) -> str:
    """The total time of fitting and predicting, in seconds."""
    seconds = sum(each(result.splits, "seconds"))
    return "<.001" if seconds < 0.001 else f"{seconds:.{3 if seconds < 1 else 1 if seconds < 100 else 0}f}"


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
    # The legend tells this bound: the shorter side is shorter by at most a fifth.
    if min(sides) < 0.8 * max(sides) and len({fixed(side, decimals) for side in sides}) > 1:
        return replace(cell, ends=(fixed(summary.low, decimals), fixed(summary.high, decimals)))
    text = fixed(reach, decimals)
    if decimals and reach > 0 == float(text):  # no width is 0 only because it is rounded
        text = f"<{10.0**-decimals:.{decimals}f}".replace("0.", ".")
    return replace(cell, reach=text)


def _interval_notes(done: Group, metrics: Sequence[Metric]) -> Iterator[str]:
    """How the intervals were computed, metrics of one rule together, with the models where they differ."""
    metrics_of_rule: dict[tuple[str, str], list[str]] = {}
    models_by_trust: dict[tuple[str, float | None], dict[str, None]] = {}
    for metric in metrics:
        models_of_rule: dict[str, list[str]] = {}
        for result, name in done.items():
            summary = result.summaries[metric.name]
            if reach_of(summary) is not None:
                models_of_rule.setdefault(summary.interval, []).append(name)
                models_by_trust.setdefault((summary.units, summary.trust), {})[name] = None
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


def _differences_from_best(differences: TableDifferences | None) -> dict[ModelResult, GridCell]:
    """For each model its difference from the best, with p; nothing where none is compared."""
    if differences is None or not differences.to_best:
        return {}
    tests = {**differences.to_best, **differences.beside}
    metric = differences.metric
    decimals = decimals_of(metric, [result.summaries[metric.name] for result in (differences.best, *tests)])
    cells = {differences.best: GridCell("best", "weak")}
    for result, difference in tests.items():
        if difference.mean is None:
            cells[result] = GridCell("untested", "weak")
        else:
            p = difference.p if difference.corrected is None else difference.corrected
            text = f"{fixed(difference.mean, decimals)} ({short_p(p)})"
            cells[result] = GridCell(text, "" if difference.distinguishable else "weak")
    for result in filter(is_largest_class_standard, cells):  # its own score stands beside
        cells[result] = replace(cells[result], text=f"{cells[result].text} from {LARGEST_CLASS}")
    return cells


def spread_elements(group: Group, metric: Metric) -> Iterator[Element]:
    """How the scores vary over the splits; nothing where no model has values of several splits."""
    values_of: dict[ModelResult, list[float]] = {}
    for result in group:
        if result.done and metric.name in result.summaries:
            values = [value for value in result.summaries[metric.name].splits if value is not None]
            if len(values) > 1:
                values_of[result] = values
    if not values_of:
        return
    decimals = decimals_of(metric, [result.summaries[metric.name] for result in values_of])
    is_share = metric.aggregation == "share of rows"
    rows: list[list[Content]] = []
    for result, values in values_of.items():
        summary, ordered = result.summaries[metric.name], sorted(values)
        deviation = "-" if summary.std is None else fixed(summary.std, decimals)
        quantiles = (fixed(value, decimals) for value in (ordered[0], ordered[len(ordered) // 2], ordered[-1]))
        rows.append([strong(group[result]), deviation, *quantiles])
        if is_share and summary.mean is not None:
            wald_interval = wald(summary.mean, effective_rows(distinct(result.answers).weights))
            low, high = (fixed(end or 0.0, decimals) for end in (wald_interval.low, wald_interval.high))
            rows[-1] += [f"{low} to {high}", _stability_text(result, values)]
        elif is_share:
            rows[-1] += ["-", _stability_text(result, values)]
    header = ["model", "sd", "lowest", "median", "highest", *["Wald", "the splits are"] * is_share]
    yield Heading(f"{metric.name} over the splits")
    yield grid(header, rows, right=range(1, 6))
    wald_note = "; Wald: no width where no row is wrong" if is_share else ""
    yield notes(f"sd: standard deviation over splits (n - 1){wald_note}")


def _stability_text(result: ModelResult, values: Sequence[float]) -> str:
    """Whether the folds agree, where there are enough of them to tell."""
    is_swept = coordinate_name(result.cell_result) != ""
    if result.pooled or is_swept or len(values) < max(FEWEST_FOLDS, len(result.splits)):
        return "-"
    return fold_stability(values, [len(split) for split in judged_answers(result.cell_result)]).verdict


def scores_by_series(group: Group, metric: Metric) -> Iterator[Element]:
    """One metric over what was swept: a line for each value, a column for each model, and their curves."""
    all_series = [series for result in group for series in series_of(result)]
    plain = [series for series in all_series if not series.line]
    for over in dict.fromkeys(series.over for series in plain):
        by_model = {group[series.scored]: series for series in plain if series.over == over}
        yield from _table_of_series(by_model, metric, f"{metric.name} by {over}")
    for result in dict.fromkeys(series.scored for series in all_series if series.line):
        lines = {series.line: series for series in all_series if series.scored is result}
        over = next(iter(lines.values())).over
        yield from _table_of_series(lines, metric, f"{group[result]}: {metric.name} by {over}")


def _table_of_series(series_by_name: Mapping[str, Series], metric: Metric, title: str) -> Iterator[Element]:
    """A column for each series, by its name, and a curve for each below the table."""
    every, first = list(series_by_name.values()), next(iter(series_by_name.values()))
    values = sorted({value for series in every for value in series.answers})
    summaries = [
        {series: series.summary(metric, value) for series in every if value in series.answers} for value in values
    ]
    train_rows: list[str] = []
    for value in values:
        counts = [rows for series in every for rows in series.train_rows_at(value)]
        is_range = min(counts) < max(counts)
        train_rows.append(f"{min(counts)} to {max(counts)}" if is_range else short(counts[0]))
    with_train_rows = len(set(train_rows)) > 1 and not first.line
    rows: list[list[Content]] = []
    for value, learned, at_value in zip(values, train_rows, summaries, strict=True):
        cells = _cells_at_value(metric, value, at_value)
        learned_cell = [learned] if with_train_rows else []
        rows.append([strong(short(value)), *learned_cell, *(cells.get(series, GridCell("")) for series in every)])
    header = [first.over, *["rows learned from"] * with_train_rows, *series_by_name]
    yield Heading(title)
    yield grid(header, rows, right=range(len(header)))

    means: list[tuple[str, tuple[float | None, ...]]] = []
    bands: list[tuple[str, tuple[tuple[float, float] | None, ...]]] = []
    for name, series in series_by_name.items():
        line = [at_value.get(series) for at_value in summaries]
        means.append((name, tuple(None if summary is None else summary.mean for summary in line)))
        if first.line:
            bands.append(
                (name, tuple(summary if summary is None else band(summary.mean, summary.std) for summary in line))
            )
    yield Curve("", first.over, tuple(values), tuple(means), bands=tuple(bands))
    has_alike = any(isinstance(cell, GridCell) and cell.mark == ALIKE for row in rows for cell in row)
    yield Legend(((BEST, "best of its row"), *[(ALIKE, "not significantly different from it (5 %)")] * has_alike))
    if first.over == TRAINING_ROWS:
        yield notes("the table above shows the scores and tests of the largest size")
    elif first.line:
        yield notes("the table above shows the scores with all labels; bands: one standard deviation")
    elif first.kind == "stages":
        yield notes("the table above shows the scores of the complete fits")
    else:
        yield notes("the table above shows the means over all of these")


def _cells_at_value(metric: Metric, value: float, summaries: Mapping[Series, Summary]) -> dict[Series, GridCell]:
    """The cells of one value: the best marked, and those that do not differ significantly from it."""
    decimals = decimals_of(metric, list(summaries.values()))
    means = {series: summary.mean for series, summary in summaries.items() if summary.mean is not None}
    ranked = sorted(means, key=lambda series: badness(metric, means[series]))
    best = fixed(means[ranked[0]], decimals) if len(set(means.values())) > 1 else None
    finite = [series for series in ranked if math.isfinite(means[series])]
    alike = [series for series in finite[1:] if finite[0].is_like(series, metric, value)]
    return {
        series: score_cell(summary, decimals, best, ALIKE if series in alike else "")
        for series, summary in summaries.items()
    }


HEADER = (
    *("dataset", "model", "parameters", "metric", "value", "low", "high", "sd", "part", "over", "at"),
    *("status", "why", "kind", "steps", "protocol", "seed", "rows", "splits", "fit_seconds", "predict_seconds"),
)
"""The columns of scores; those of the second line are the same for every score of a model."""

Row = Mapping[str, str]


def scores_as_table(scored: Iterable[ModelResult]) -> Document:
    """The table of all models; a model without scores has a row with the reason."""
    return table_of_rows(row for result in scored for row in score_rows(result))


def table_of_rows(rows: Iterable[Row]) -> Document:
    """A table with the columns of scores, empty where a row has no such value."""
    return (grid(HEADER, ([row.get(name, "") for name in HEADER] for row in rows), keys=2),)


def score_rows(result: ModelResult) -> Iterator[Row]:
    """Every score of a model: on test rows, on training rows, and at each point of its sweep or stages.

    The points of a sweep have no score in common: a mean over training sizes would be that of none.
    """
    about = _about(result)
    if not result.summaries:
        yield about
    if not coordinate_name(result.cell_result):
        yield from _rows_of_summaries(about, result.summaries)
        for metric, mean in result.training.items():
            yield {**about, "part": TRAINING, "metric": metric, "value": repr(float(mean))}
    decomposition = requested_decomposition(result)
    if decomposition is not None and not isinstance(decomposition, Undefined):
        yield from rows_of_terms(result, decomposition)
    for series in series_of(result):
        for value, summaries in summaries_of(series).items():
            point = {"model": series.named(about["model"]), "over": series.over, "at": repr(float(value))}
            yield from _rows_of_summaries({**about, **point}, summaries)


def rows_of_terms(result: ModelResult, decomposition: Decomposition) -> Iterator[Row]:
    """The error of a model and its parts by bias and variance."""
    about = _about(result)
    for name, value in terms_by_name(decomposition).items():
        yield {**about, "part": TEST, "metric": name, "value": repr(float(value))}


def _rows_of_summaries(about: Row, summaries: Mapping[str, Summary]) -> Iterator[Row]:
    """A row for each metric, with its interval, or why it has no value."""
    for metric, summary in summaries.items():
        numbers = {"value": summary.mean, "low": summary.low, "high": summary.high, "sd": summary.std}
        texts = {name: "" if value is None else repr(float(value)) for name, value in numbers.items()}
        why = {"why": summary.why} if summary.why else {}
        yield {**about, "part": TEST, "metric": metric, **texts, **why}


def _about(result: ModelResult) -> dict[str, str]:
    """The columns that are the same for every score of a model."""
    cell, splits = result.cell, result.splits
    return {
        "dataset": cell.dataset.name,
        "model": cell.label,
        "parameters": "" if cell.model.saved else settings_of(cell.model, MODELS),
        "status": result.status,
        "why": "; ".join(result.why.splitlines()),
        "kind": cell.kind,
        "steps": steps_of(cell),
        "protocol": protocol_words(cell),
        "seed": str(cell.seed),
        "rows": str(cell.labelled_rows),
        "splits": str(len(splits)),
        "fit_seconds": f"{sum(each(splits, 'fit_seconds')):.6f}",
        "predict_seconds": f"{sum(each(splits, 'predict_seconds')):.6f}",
    }
