"""Density: the distribution that rows were drawn from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.model import Step, refuse_impossible
from mlcli.core.params import learned
from mlcli.core.tables import Array, Codes, Table
from mlcli.tasks.clustering import ClusterModel, store_profile
from mlcli.tasks.unsupervised import UnlabelledRows, UnsupervisedTask


@dataclass(frozen=True, eq=False, kw_only=True)
class DensityAnswers(Answers):
    """The logarithm of the density at each row, and what BIC and AIC need of the fit."""

    log_density: Array
    free_parameters: int
    fit_log_likelihood: float
    fit_rows: float


@dataclass(kw_only=True, eq=False)
class DensityEstimator(ClusterModel):
    """Estimates the density of rows. A method implements ``fit``, ``log_density`` and ``free_parameters``."""

    log_stretch_: float = learned()
    """By how much the steps raise the logarithm of the density, so that pipelines compare at any scale."""
    fit_log_likelihood_: float = learned()
    fit_rows_: float = learned()

    def fit(self, data: DensityRows, rng: np.random.Generator) -> None:
        """Learn from rows without labels."""
        super().fit(data, rng)

    def log_density(self, table: Table) -> Array:
        """The natural logarithm of p(x) of each row."""
        raise TypeError(f"{type(self).__name__} does not say how dense it finds rows")

    def log_density_in_file(self, table: Table) -> Array:
        """The same in the columns in front of the steps."""
        return self.log_density(table) + (self.log_stretch_ or 0.0)

    def cluster_count(self) -> int:
        """The number of components of a mixture."""
        return 1

    def cluster_of(self, table: Table) -> Codes:
        """The most probable component of each row."""
        return np.zeros(len(table), np.int32)

    def free_parameters(self) -> int:
        """The number of fitted parameters."""
        raise TypeError(f"{type(self).__name__} does not count its parameters")


class Density(UnsupervisedTask[DensityEstimator, "DensityRows", DensityAnswers]):
    """Describe the distribution that rows were drawn from."""

    base = DensityEstimator

    def annotate(
        self, model: DensityEstimator, prepared: DensityRows, given: DensityRows, steps: tuple[Step, ...]
    ) -> None:
        """Store how much the steps stretch volumes, the likelihood of the training rows, and their number.

        The profiles of the components of a mixture are stored, too.
        """
        if model.cluster_count() > 1:
            store_profile(model, prepared, given)
        model.log_stretch_ = float(sum(step.log_stretch() for step in steps))
        model.fit_log_likelihood_ = float(given.weights @ model.log_density_in_file(prepared.table))
        model.fit_rows_ = float(given.weights.sum())

    def predict_rows(self, model: DensityEstimator, rows: DensityRows) -> DensityAnswers:
        """The logarithm of the density at each row."""
        log_density = model.log_density_in_file(rows.table)
        refuse_impossible(model, log_density, (len(rows),))
        return DensityAnswers(
            header=rows.header(),
            log_density=log_density,
            free_parameters=model.free_parameters(),
            fit_log_likelihood=model.fit_log_likelihood_,
            fit_rows=model.fit_rows_,
        )

    def outputs_of(self, model: DensityEstimator, table: Table) -> Array:
        """The logarithm of the density."""
        return model.log_density_in_file(table)[:, None]

    def output_names(self, model: DensityEstimator) -> tuple[str, ...]:
        """What the number is."""
        return ("log density",)


class DensityRows(UnlabelledRows):
    """Rows drawn from a distribution to be described."""

    kind = "density"
    task = Density()
