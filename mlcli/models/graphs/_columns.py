"""What models over a graph of columns share: variables, their codes, chances of classes, and names."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.names import did_you_mean
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.graphs.factors import Factor
from mlcli.engines.graphs.inference import Inference, log_marginals
from mlcli.engines.posteriors import posterior
from mlcli.tasks.classification import Classifier, LabelledRows

ACCEPTS = Accepts(numbers=False, nominal=True, missing=True, weights=True, levels_only=True)
"""Levels and gaps; numbers are cut into bins."""


def variables_of(model: Classifier) -> tuple[Column, ...]:
    """The columns, then the target."""
    return (*model.columns_, Column(model.target_, "nominal", model.classes_))


def level_counts(model: Classifier) -> tuple[int, ...]:
    """How many levels each variable has; a column without any has one that is never met."""
    return tuple(max(1, len(column.levels)) for column in variables_of(model))


def codes_of(table: Table) -> Codes:
    """The codes of columns, with an unknown target behind them."""
    return np.hstack([table.codes, np.full((len(table), 1), -1, np.int32)])


def labelled_codes(data: LabelledRows) -> Codes:
    """The codes of columns, with the target behind them."""
    return np.hstack([data.table.codes, data.y[:, None].astype(np.int32)])


def log_joint(model: Classifier, factors: Sequence[Factor], table: Table, how: Inference) -> Array:
    """The logarithm of P(class, known cells) of each class; but for a constant where it is not exact."""
    classes = len(model.classes_)
    return log_marginals(factors, codes_of(table), len(model.columns_), classes, how)


def class_shares(model: Classifier, logs: Array) -> Array:
    """Probabilities of classes; those never met have none, and an impossible row has the shares of training."""
    met = model.class_totals_ > 0
    logs = np.where(met, logs, -np.inf)
    impossible = np.isneginf(logs).all(axis=1)
    if impossible.any():
        text = (
            f"{impossible.sum()} rows are impossible by what was learned: they have the class shares of training"
        )
        warnings.warn(text, MlcliWarning, stacklevel=2)
        with np.errstate(divide="ignore"):
            logs[impossible] = np.log(model.class_totals_)
    return posterior(logs)


def place_of(name: object, columns: Sequence[Column], where: str) -> int:
    """The number of a variable that a parameter names."""
    names = [column.name for column in columns]
    if name not in names:
        raise FitError(f"{where}: there is no column '{name}'", hint=did_you_mean(str(name), names, "columns"))
    return names.index(str(name))


def listed_names(columns: Sequence[Column], places: Iterable[int]) -> str:
    """Variables by name, with commas."""
    return ", ".join(columns[place].name for place in places)
