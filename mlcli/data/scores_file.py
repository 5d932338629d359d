"""Scores of models that are given in a CSV file: a row for each dataset and model.

What ``--format csv`` writes is such a file as well: ``metric`` says what the ``value`` of a row is.
"""

from __future__ import annotations

import math
from pathlib import Path

from mlcli.core.errors import DataError, Problem, raise_all
from mlcli.core.names import did_you_mean
from mlcli.core.quantities import number_in
from mlcli.data.records import Records, read_file

DATASET, MODEL, SCORE, METRIC, VALUE, PART = "dataset", "model", "score", "metric", "value", "part"
EXAMPLE = "such as dataset,model,score on its first line"


def read_scores(path: Path, metric: str = "") -> tuple[str, list[tuple[str, str, float]]]:
    """The name of the score, and (dataset, model, score) of each row; ``metric`` names the column of scores."""
    if not path.is_file():
        hint = f"a CSV file with a row for each dataset and model, {EXAMPLE}"
        raise DataError(f"there is no file '{path}'", hint=hint)
    records = read_file(path)
    for needed in (DATASET, MODEL):
        if needed not in records.header:
            raise DataError(f"has no column '{needed}'", where=records.name, hint=EXAMPLE)
    long = {METRIC, VALUE, PART} <= {*records.header}
    name = _metric_of(records, metric) if long else _score_column(records, metric)
    cells = [records.column(column).cells() for column in (DATASET, MODEL, VALUE if long else name)]
    requested = _rows_of(records, name) if long else range(len(records))
    rows, problems = [], []
    for index in requested:
        dataset, model, written = (column[index] for column in cells)
        score = number_in(written)
        if score is None or not math.isfinite(score):
            problems.append(Problem(f"'{written}' is no score", records.place(index, name), "a score is a number"))
        else:
            rows.append((dataset, model, score))
    raise_all(DataError, problems)
    return name, rows


def _metric_of(records: Records, metric: str) -> str:
    """The metric that is asked for, else the first."""
    metrics = list(dict.fromkeys(filter(None, records.column(METRIC).cells())))
    if not metrics or (metric and metric not in metrics):
        what = f"has no scores by '{metric}'" if metric else "has no scores"
        raise DataError(what, where=records.name, hint=did_you_mean(metric, metrics, "metrics"))
    return metric or metrics[0]


def _rows_of(records: Records, metric: str) -> list[int]:
    """The rows with the scores by a metric of rows that judge."""
    cells = zip(records.column(METRIC).cells(), records.column(PART).cells(), strict=True)
    return [row for row, (name, part) in enumerate(cells) if name == metric and part == "test"]


def _score_column(records: Records, metric: str) -> str:
    """The column that is asked for, else the one named score, else the only one that is left."""
    others = [name for name in records.header if name not in (DATASET, MODEL)]
    if metric:
        if metric not in others:
            hint = did_you_mean(metric, others, "columns")
            raise DataError(f"has no column '{metric}'", where=records.name, hint=hint)
        return metric
    if SCORE in others or len(others) == 1:
        return SCORE if SCORE in others else others[0]
    what = f"which of its columns are the scores? {', '.join(others)}" if others else "has no column of scores"
    raise DataError(what, where=records.name, hint="name it with --metric COLUMN" if others else EXAMPLE)
