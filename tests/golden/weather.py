"""The weather table of SOURCES.md, section 1, with what naive Bayes makes of it (weather_nb.csv)."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from mlcli.core.tables import Array
from mlcli.tasks.supervised import LabelledRows
from tests.support.rows import labelled, table_of

FEATURES = ("outlook", "temperature", "humidity", "windy")


def printed(column: str) -> Array:
    """The numbers of one column of weather_nb.csv."""
    return np.array([float(row[column]) for row in _rows()])


def weather() -> LabelledRows:
    """The 14 rows, in the order of the worked examples."""
    table = table_of({name: [row[name].lower() for row in _rows()] for name in FEATURES})
    return labelled(table, [row["play"].lower() for row in _rows()])


def weather_with_numbers() -> LabelledRows:
    """Table 1.3 of Witten, Frank & Hall, Data Mining: temperature and humidity as numbers, in its order."""
    table = table_of(
        {
            "temperature": [85, 80, 83, 70, 68, 65, 64, 72, 69, 75, 75, 72, 81, 71],
            "humidity": [85, 90, 86, 96, 80, 70, 65, 95, 70, 80, 70, 90, 75, 91],
        }
    )
    return labelled(table, [{"n": "no", "y": "yes"}[letter] for letter in "nnyyynynyyyyyn"])


def _rows() -> list[dict[str, str]]:
    with Path(__file__).with_name("weather_nb.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))
