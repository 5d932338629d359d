"""A few rows of a shipped dataset for each kind of task; what belongs together stays together."""

from __future__ import annotations

from functools import cache
from typing import Any

from mlcli.data.dataset import Dataset
from mlcli.data.load import load
from mlcli.tasks.table import kind_named

SAMPLES = {
    "classification": ("penguins", slice(0, 344, 3)),
    "regression": ("cpu", slice(0, 209, 2)),
    "clustering": ("ruspini", slice(0, 75)),
    "density": ("faithful", slice(0, 272, 3)),
    "anomaly": ("ionosphere", slice(0, 351, 3)),
    "sequence-labelling": ("cmudict_stress", slice(0, 300)),
    "ranking": ("travelmode", slice(0, 120)),
    "projection": ("iris", slice(0, 150, 2)),
    "recommendation": ("insteval_1200", slice(0, 400)),
    "association": ("vote", slice(0, 435, 3)),
}
"""By kind a dataset, and which of its rows."""


@cache
def dataset_of(kind: str) -> Dataset:
    """The whole dataset of a kind."""
    return load(SAMPLES[kind][0], task=kind)


def rows_of(kind: str) -> Any:
    """The sample of a kind, as its models learn from it."""
    return taken(dataset_of(kind), kind, SAMPLES[kind][1])


def taken(dataset: Dataset, kind: str, rows: slice) -> Any:
    """Some rows of a dataset, as models of a kind learn from them."""
    return kind_named(kind).rows.from_table(dataset.table, dataset.schema).take(rows)
