"""Predictions as columns of text, ready to be written as CSV: how depends on what the answers hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from mlcli.core.errors import DataError
from mlcli.core.principal import component_names
from mlcli.core.ranking import places
from mlcli.core.sequences import in_order, numbered
from mlcli.core.tables import Array, Table
from mlcli.core.transactions import worded
from mlcli.data.number_text import as_numbers

Columns = dict[str, list[str]]
PREDICTION = "prediction"
NOTHING: Mapping[str, Sequence[str]] = MappingProxyType({})


def predictions_of(
    pipeline: Any, kind: str, table: Table, *, probabilities: bool, beside: Mapping[str, Sequence[str]] = NOTHING
) -> Columns:
    """What a model says of rows whose truth is not known.

    ``beside`` are cells, by role, that the model does not see, but that say which rows belong together.
    """
    if kind in COLUMNS_OF_TOGETHER:
        return COLUMNS_OF_TOGETHER[kind](pipeline, table, probabilities, beside)
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


def _densities(pipeline: Any, table: Table, probabilities: bool) -> Columns:
    if probabilities:
        raise DataError("a density is no probability", hint="leave out --probabilities")
    values = pipeline.log_density(table)
    _refuse_not_finite(values)
    return {"log_density": [repr(float(value)) for value in values]}


def _components(pipeline: Any, table: Table, probabilities: bool) -> Columns:
    if probabilities:
        raise DataError("components have no probabilities", hint="leave out --probabilities")
    found = pipeline.project(table)
    _refuse_not_finite(found)
    return {
        name: [repr(float(place)) for place in column]
        for name, column in zip(component_names(found.shape[1]), found.T, strict=True)
    }


def _tags(pipeline: Any, table: Table, probabilities: bool, beside: Mapping[str, Sequence[str]]) -> Columns:
    """A tag per row, in the order of the file, whatever the order in which the model goes through it."""
    if probabilities:
        raise DataError("tags of whole sequences have no probabilities", hint="leave out --probabilities")
    sequence = numbered(beside["sequence"])
    rows = in_order(sequence, _places(beside["order"]) if "order" in beside else None)
    tags = np.empty(len(table), np.int32)
    tags[rows] = pipeline.tag(table.take(rows), sequence[rows])
    return {PREDICTION: [pipeline.classes_[tag] for tag in tags]}


def _places(cells: Sequence[str]) -> Array:
    places = as_numbers(cells)
    if places is None:
        raise DataError("the order of rows in their sequences is not in numbers", hint="correct or fill its cells")
    return places


def _scores(pipeline: Any, table: Table, probabilities: bool) -> Columns:
    if probabilities:
        raise DataError("scores of oddness are no probabilities", hint="leave out --probabilities")
    scores = pipeline.score_rows(table)
    _refuse_not_finite(scores)
    return {"score": [repr(float(value)) for value in scores]}


def _order(pipeline: Any, table: Table, probabilities: bool, beside: Mapping[str, Sequence[str]]) -> Columns:
    """The score of each row, and its place in its group; rows that tie share the better place."""
    if probabilities:
        raise DataError("an order has no probabilities", hint="leave out --probabilities")
    scores = pipeline.score_rows(table)
    _refuse_not_finite(scores)
    rank = places(scores, numbered(beside["group"]))
    return {"score": [repr(float(value)) for value in scores], "rank": [str(place) for place in rank]}


def _expected(pipeline: Any, table: Table, probabilities: bool) -> Columns:
    """By the surest rule that applies and expects something that the row has not got: what, why, how sure."""
    if probabilities:
        raise DataError("rules have no probabilities", hint="leave out --probabilities")
    fires, holds = pipeline.applied(table)
    rules, names = pipeline.rules(), pipeline.item_names()
    order = sorted(range(len(rules)), key=lambda place: -rules[place].confidence)
    chosen = [next((rules[place] for place in order if new[place]), None) for new in fires & ~holds]
    return {
        PREDICTION: [worded(rule.then, names) if rule else "" for rule in chosen],
        "because": [worded(rule.when, names) if rule else "" for rule in chosen],
        "confidence": [repr(float(rule.confidence)) if rule else "" for rule in chosen],
    }


COLUMNS_OF: dict[str, Callable[[Any, Table, bool], Columns]] = {
    "association": _expected,
    "recommendation": _values,
    "classification": _labels,
    "regression": _values,
    "clustering": _groups,
    "anomaly": _scores,
    "density": _densities,
    "projection": _components,
}
"""By the kind of task."""
COLUMNS_OF_TOGETHER: dict[str, Callable[[Any, Table, bool, Mapping[str, Sequence[str]]], Columns]] = {
    "sequence-labelling": _tags,
    "ranking": _order,
}
"""By the kind of task, where rows are not answered one by one."""
