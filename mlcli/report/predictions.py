"""Predictions as columns of text, ready to be written as CSV: how depends on what the answers hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mlcli.core.errors import DataError
from mlcli.core.tables import Array, Table

Columns = dict[str, list[str]]
PREDICTION = "prediction"


def predictions_of(pipeline: Any, kind: str, table: Table, *, probabilities: bool) -> Columns:
    """What a model says of rows whose truth is not known."""
    return COLUMNS_OF[kind](pipeline, table, probabilities)


def _labels(pipeline: Any, table: Table, probabilities: bool) -> Columns:
    shares = pipeline.predict_proba(table)
    _refuse_not_finite(shares)
    columns = {PREDICTION: [pipeline.classes_[code] for code in pipeline.decide(shares)]}
    if probabilities:
        columns |= {
            f"p({label})": [repr(float(share)) for share in shares[:, place]]
            for place, label in enumerate(pipeline.classes_)
        }
    return columns


def _values(pipeline: Any, table: Table, probabilities: bool) -> Columns:
    if probabilities:
        raise DataError(
            "the model predicts numbers, which have no probabilities", hint="leave out --probabilities"
        )
    values = pipeline.predict_values(table)
    _refuse_not_finite(values)
    return {PREDICTION: [repr(float(value)) for value in values]}


def _refuse_not_finite(answers: Array) -> None:
    finite = np.isfinite(answers.reshape(len(answers), -1)).all(axis=1)
    if not finite.all():
        rows = ", ".join(str(row + 1) for row in np.flatnonzero(~finite)[:10])
        what = f"the model has no answer for {(~finite).sum()} of {len(answers)} rows, the first of them: {rows}"
        raise DataError(what, hint="fill their empty cells, or train with a step that does: steps: [impute]")


def _groups(pipeline: Any, table: Table, probabilities: bool) -> Columns:
    if probabilities:
        raise DataError("groups have no probabilities", hint="leave out --probabilities")
    if pipeline.transductive:
        what = f"{pipeline.name} can only place the rows that it was fitted on"
        raise DataError(what, hint="k-means and gmm place new rows")
    return {"cluster": [str(group) for group in pipeline.cluster_of(table)]}


COLUMNS_OF: dict[str, Callable[[Any, Table, bool], Columns]] = {
    "classification": _labels,
    "regression": _values,
    "clustering": _groups,
}
"""By the kind of task."""
