"""Scores of models that are given in a CSV file: a row for each dataset and model.

What ``--format csv`` writes is such a file as well: ``metric`` says what the ``value`` of a row is.
"""

from __future__ import annotations

import math
from pathlib import Path

from mlcli.core.errors import DataError, Problem, raise_all
from mlcli.core.names import did_you_mean, number_in
from mlcli.data.records import Records, read_file

EXAMPLE = "such as dataset,model,score on its first line"


def read_scores(path: Path, metric: str = "") -> tuple[str, list[tuple[str, str, float]]]:
    """The name of the score, and (dataset, model, score) of each row; ``metric`` names the column of scores."""
    if not path.is_file():
        hint = f"a CSV file with a row for each dataset and model, {EXAMPLE}"
        raise DataError(f"there is no file '{path}'", hint=hint)
    records = read_file(path)
    for needed in ("dataset", "model"):
        if needed not in records.header:
            raise DataError(f"has no column '{needed}'", where=records.name, hint=EXAMPLE)
    if {"metric", "value", "part"} <= {*records.header}:
        name, rows = _rows_of_metric(records, metric)
        column = "value"
    else:
        name, rows = _score_column(records, metric), list(range(len(records)))
        column = name
    datasets, models, texts = (records.column(heading).cells() for heading in ("dataset", "model", column))
    scores, problems = [], []
    for row in rows:
        score = number_in(texts[row])
        if score is None or not math.isfinite(score):
            where = records.place(row, name)
            problems.append(Problem(f"'{texts[row]}' is no score", where, "a score is a number"))
        else:
            scores.append((datasets[row], models[row], score))
    raise_all(DataError, problems)
    return name, scores


def _rows_of_metric(records: Records, metric: str) -> tuple[str, list[int]]:
    """The requested metric, else the first, and its rows with scores of test rows."""
    names = records.column("metric").cells()
    metrics = list(dict.fromkeys(filter(None, names)))
    if not metrics or (metric and metric not in metrics):
        what = f"has no scores by '{metric}'" if metric else "has no scores"
        raise DataError(what, where=records.name, hint=did_you_mean(metric, metrics, "metrics"))
    metric = metric or metrics[0]
    cells = zip(names, records.column("part").cells(), strict=True)
    return metric, [row for row, (name, part) in enumerate(cells) if name == metric and part == "test"]


def _score_column(records: Records, metric: str) -> str:
    """The requested column, else the one named score, else the only one that is left."""
    others = [name for name in records.header if name not in ("dataset", "model")]
    if metric:
        if metric not in others:
            hint = did_you_mean(metric, others, "columns")
            raise DataError(f"has no column '{metric}'", where=records.name, hint=hint)
        return metric
    if "score" in others or len(others) == 1:
        return "score" if "score" in others else others[0]
    what = f"which of its columns are the scores? {', '.join(others)}" if others else "has no column of scores"
    raise DataError(what, where=records.name, hint="name it with --metric COLUMN" if others else EXAMPLE)
