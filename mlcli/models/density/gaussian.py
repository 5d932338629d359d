"""Gaussian: describes all rows by a single Gaussian, its mean and its covariance.

Formula:
    p(x) = exp(−½ (x − μ)ᵀ Σ⁻¹ (x − μ)) / √((2π)^p |Σ|), with μ = Σᵢ wᵢ xᵢ / W and
    Σ = Σᵢ wᵢ (xᵢ − μ)(xᵢ − μ)ᵀ / (W − ddof), W being the summed weight.
    `diagonal` keeps the variances only, `spherical` their mean.

Assumes:
    Rows of one kind, without far-off values, and relations between columns that are straight. It is the baseline
    of densities: a mixture has to find more than one kind of row to beat it on rows that it has not seen.

Cost:
    rows × columns² to fit and to ask (rows × columns unless the covariance is full).

Choices:
    Σ divides by N unless `ddof` is 1 (the notes do both). No direction has a variance below `floor` times the
    variance of the columns, so that columns that follow from each other leave a finite density. A column
    with one value in all training rows is left out, with a warning.
"""

from __future__ import annotations

import warnings

import numpy as np

from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.findings import Explanation
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array
from mlcli.engines.covariances import COVARIANCE_TYPES
from mlcli.models.density._components import SET_BY_FLOOR, DensityOfComponents, MixtureOfGaussians
from mlcli.tasks.density import DensityEstimator
from mlcli.tasks.unsupervised import UnlabelledRows


@register("gaussian", reference="Bishop 2006, Pattern Recognition and Machine Learning, section 2.3")
class Gaussian(DensityOfComponents, DensityEstimator):
    """A mixture of one component."""

    covariance: str = param("full", "how columns vary together", choices=COVARIANCE_TYPES)
    ddof: int = param(0, "delta degrees of freedom: the covariance is divided by N less this", ge=0, le=1)
    floor: float = param(1e-6, "smallest variance in any direction, as a share of the column's", ge=0, lt=1)

    mean_: Array = learned("varying")
    covariance_: Array = learned()

    @property
    def accepts(self) -> Accepts:
        """Numbers; one scale only where all columns get the same variance."""
        return Accepts(weights=True, prefers_scaled=self.covariance == "spherical")

    def fit(self, data: UnlabelledRows, rng: np.random.Generator) -> None:
        """Learn the mean and the covariance."""
        data = data.counted()
        X, self.mean_, deviations = self.learn_columns(data)
        freedom = data.weights.sum() - self.ddof
        if freedom <= 0:
            raise FitError(f"a covariance with ddof {self.ddof} needs more rows")
        kind = COVARIANCE_TYPES[self.covariance]
        scatter = kind.scatter(X - self.mean_, data.weights) / freedom
        floor = self.floor * deviations**2
        self.covariance_ = kind.likeliest(scatter, floor)
        if floor.all() and kind.lies_on(floor, self.covariance_):
            warnings.warn(SET_BY_FLOOR, MlcliWarning, stacklevel=2)

    def free_parameters(self) -> int:
        """The mean, and the free numbers of the covariance."""
        columns = len(self.mean_)
        return columns + COVARIANCE_TYPES[self.covariance].free_parameters(columns)

    def mixture(self) -> MixtureOfGaussians:
        """One component."""
        return MixtureOfGaussians(
            COVARIANCE_TYPES[self.covariance], np.ones(1), self.mean_[None], self.covariance_[None]
        )

    def explain(self) -> Explanation:
        """The mean and the spread."""
        return self.component_tables()
