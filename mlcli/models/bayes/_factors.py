"""The product of naive Bayes as on paper: the prior, a factor for each known cell, and the share of each class."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from mlcli.core import findings
from mlcli.core.tables import MISSING_CODE, Array, Table
from mlcli.engines.posteriors import posterior
from mlcli.engines.score_terms import known_cells

LogJoint = Callable[[Table], Array]


def factors_of(one: Table, log_joint: LogJoint, classes: tuple[str, ...]) -> findings.Table:
    """Of one row: a line for each factor, a column for each class."""
    prior, product = log_joint(_alone(one, "")), log_joint(one)
    possible = np.where(np.isneginf(prior), 0.0, prior)
    factors = [(what, log_joint(_alone(one, name)) - possible) for name, what in known_cells(one)]
    lines = [("prior", prior), *factors, ("product", product)]
    rows = [(what, *np.exp(logs[0]).tolist()) for what, logs in lines]
    if np.isfinite(product).any():
        rows.append(("share of the products", *posterior(product)[0].tolist()))
    return findings.Table("Factors", ("factor", *classes), tuple(rows))


def _alone(one: Table, name: str) -> Table:
    """The row with only one of its cells; a cell that is empty adds no factor."""
    numbers = np.array([column.name == name for column in one.number_columns], bool)
    codes = np.array([column.name == name for column in one.code_columns], bool)
    return Table(one.columns, np.where(numbers, one.numbers, np.nan), np.where(codes, one.codes, MISSING_CODE))
