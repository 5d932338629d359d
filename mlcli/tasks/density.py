"""Density: the distribution that rows were drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.model import one_number, refuse_impossible
from mlcli.core.params import learned
from mlcli.core.step import Step
from mlcli.core.tables import Array, Codes, Table
from mlcli.tasks.cluster_profiles import ClusterModel
from mlcli.tasks.unsupervised import UnlabelledRows


@dataclass(frozen=True, eq=False, kw_only=True)
class DensityAnswers(Answers):
    """Density: the logarithm of the density at each row, and what BIC and AIC need to know of the fit."""

    log_density: Array
    free_parameters: int
    fit_log_likelihood: float
    fit_rows: float


@dataclass(kw_only=True, eq=False)
class DensityEstimator(ClusterModel):
    """Describes the distribution that rows were drawn from."""

    log_stretch_: float = learned()
    """How much higher the logarithm of the density is before the steps, so that pipelines compare at any scale."""
    fit_log_likelihood_: float = learned()
    fit_rows_: float = learned()

    @classmethod
    def note(cls, model: Any, prepared: Any, data: Any, steps: tuple[Step, ...]) -> None:
        """How much steps stretch volumes, how likely the model finds its training rows, and how many they are.

        What its clusters look like is noted, too, if it tells several apart.
        """
        if model.cluster_count() > 1:
            super().note(model, prepared, data, steps)
        model.log_stretch_ = float(sum(step.log_stretch() for step in steps))
        model.fit_log_likelihood_ = float(data.weights @ model.log_density_in_file(prepared.table))
        model.fit_rows_ = float(data.weights.sum())

    @staticmethod
    def ask(model: Any, data: Any) -> Answers:
        """The logarithm of the density at each row."""
        log_density = model.log_density_in_file(data.table)
        refuse_impossible(model, log_density, (len(data),))
        return DensityAnswers(
            header=data.header(),
            log_density=log_density,
            free_parameters=model.free_parameters(),
            fit_log_likelihood=model.fit_log_likelihood_,
            fit_rows=model.fit_rows_,
        )

    outputs_of, output_names = one_number("log_density_in_file", "log density")

    def log_density(self, table: Table) -> Array:
        """The natural logarithm of p(x) of each row."""
        raise TypeError(f"{type(self).__name__} does not say how dense it finds rows")

    def log_density_in_file(self, table: Table) -> Array:
        """The same of the rows as they were before the steps."""
        return self.log_density(table) + (self.log_stretch_ or 0.0)

    def cluster_count(self) -> int:
        """How many: one for each component of a mixture."""
        return 1

    def cluster_of(self, table: Table) -> Codes:
        """The component that each row most probably belongs to."""
        return np.zeros(len(table), np.int32)

    def free_parameters(self) -> int:
        """How many numbers were fitted."""
        raise TypeError(f"{type(self).__name__} does not count its parameters")


class DensityRows(UnlabelledRows):
    """Rows drawn from a distribution to be described."""

    kind = "density"
    base = DensityEstimator
