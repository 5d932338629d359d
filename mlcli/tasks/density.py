"""Density: the distribution that rows were drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.model import Model, refuse_not_finite
from mlcli.core.params import learned
from mlcli.core.tables import Array, Codes, Table
from mlcli.tasks.group_profile import profile_of
from mlcli.tasks.unsupervised import UnlabelledRows, Unsupervised


class DensityRows(UnlabelledRows):
    """Rows drawn from a distribution to be described."""

    kind = "density"

    @property
    def base(self) -> type[Model]:
        """How a model learns from such rows, and is asked about them."""
        return DensityEstimator


@dataclass(frozen=True, eq=False, kw_only=True)
class DensityAnswers(Answers):
    """Density: the logarithm of the density at each row, and what BIC and AIC need to know of the fit."""

    log_density: Array
    free_parameters: int
    fit_log_likelihood: float
    fit_rows: float


@dataclass(kw_only=True, eq=False)
class DensityEstimator(Unsupervised):
    """Describes the distribution that rows were drawn from."""

    fit_log_likelihood_: float = learned()
    fit_rows_: float = learned()

    @staticmethod
    def learn(model: Any, data: Any, rng: np.random.Generator) -> None:
        """Let a model learn, and note how likely it finds its own training rows and how many they count as.

        What its groups look like is noted, too, if it tells several apart.
        """
        Unsupervised.learn(model, data, rng)
        if model.groups() > 1:
            model.profile_ = profile_of(data.table, model.cluster_of(data.table), model.groups(), data.weights)
        model.fit_log_likelihood_ = float(data.weights @ model.log_density(data.table))
        model.fit_rows_ = float(data.weights.sum())

    @staticmethod
    def ask(model: Any, data: Any) -> Answers:
        """The logarithm of the density at each row."""
        log_density = model.log_density(data.table)
        refuse_not_finite(model, log_density)
        return DensityAnswers(
            header=data.header(),
            log_density=log_density,
            free_parameters=model.free_parameters(),
            fit_log_likelihood=model.fit_log_likelihood_,
            fit_rows=model.fit_rows_,
        )

    def log_density(self, table: Table) -> Array:
        """The natural logarithm of p(x) of each row."""
        raise TypeError(f"{type(self).__name__} does not say how dense it finds rows")

    def groups(self) -> int:
        """How many groups of rows it tells apart."""
        return 1

    def cluster_of(self, table: Table) -> Codes:
        """The group that each row most probably belongs to."""
        return np.zeros(len(table), np.int32)

    def free_parameters(self) -> int:
        """How many numbers were fitted."""
        raise TypeError(f"{type(self).__name__} does not count its parameters")
