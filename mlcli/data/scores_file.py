"""Scores of models that are given in a CSV file: a row for each dataset and model."""

from __future__ import annotations

import math
from pathlib import Path

from mlcli.core.errors import DataError, Problem, raise_all
from mlcli.core.names import did_you_mean
from mlcli.core.quantities import number_in
from mlcli.data.read_records import read_file
from mlcli.data.records import Records

DATASET, MODEL, SCORE = "dataset", "model", "score"
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
    name = _score_column(records, metric)
    cells = {column: records.column(column).cells() for column in (DATASET, MODEL, name)}
    rows, problems = [], []
    for place, (dataset, model, written) in enumerate(zip(*cells.values(), strict=True)):
        score = number_in(written)
        if score is None or not math.isfinite(score):
            problems.append(Problem(f"'{written}' is no score", records.place(place, name), "a score is a number"))
        else:
            rows.append((dataset, model, score))
    raise_all(DataError, problems)
    return name, rows


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
