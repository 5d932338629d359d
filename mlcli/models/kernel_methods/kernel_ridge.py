"""Kernel ridge: least squares with a penalty, in the space of a kernel, for values and for classes.

Formula:
    Minimise Σᵢ wᵢ (yᵢ − f(xᵢ))² + α‖f‖² for f(x) = Σᵢ βᵢ K(xᵢ, x) + b, with b free: β = A⁻¹(y − b),
    b = 1ᵀA⁻¹y / 1ᵀA⁻¹1, A = K + α diag(1/wᵢ). A row that is left out is missed by βᵢ / (A⁻¹ − A⁻¹11ᵀA⁻¹/1ᵀA⁻¹1)ᵢᵢ.
    Of classes the outputs are indicators; the class is the one with the largest f.

Assumes:
    Large errors count by their square.

Cost:
    n² kernel values and n³/3 products; to predict a row, a kernel value for each training row. Up to 17,000
    different rows. The values of alpha that `tuned` tries share the kernel matrix, but not the equations.

Choices:
    b is not penalised, like the intercept of ridge, so that adding a number to the target adds it to the
    predictions; scikit-learn's KernelRidge has no b. Probabilities are a softmax of a·f; a maximises the
    likelihood of the leave-one-out values, which the formula above gives without another fit. Equal f go to the
    class with more training rows. Kernels, and a matrix of your own, are those of ``svm``.
"""

from __future__ import annotations

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import ComparesPairs, RowExplainer
from mlcli.core.params import learned, param
from mlcli.core.ranges import log_range
from mlcli.core.registry import register
from mlcli.core.tables import Array, Table
from mlcli.engines.calibration import of_present_classes, slope_of_present
from mlcli.engines.kernel_models import KernelModel, distinct_rows
from mlcli.engines.symmetric import inverse_factor
from mlcli.tasks.supervised import Classifier, LabelledRows, Regressor, SupervisedRows


@register("kernel-ridge", reference="Saunders, Gammerman & Vovk 1998, Ridge regression learning in dual variables")
class KernelRidge(KernelModel, Classifier, Regressor, ComparesPairs, RowExplainer):
    """A smooth function near all rows."""

    bytes_per_pair = 40.0

    alpha: float = param(
        1.0,
        "L2 penalty: larger values give smoother functions",
        ge=1e-9,
        le=1e9,
        tune=log_range(0.001, 100, simpler="high"),
    )

    coefficients_: Array = learned("points", "outputs")
    """β (training rows × outputs)."""
    levels_: Array = learned("outputs")
    slope_: float = learned()
    errors_: Array = learned()
    """The root of the mean squared error of training rows, by all rows and by all others."""
    effective_: float = learned()

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Solve the equations, and predict each row from the others."""
        rows = distinct_rows(data)
        outputs = rows.outputs
        self.points_, K = self.kernel_of(rows, precise=True)
        self.rows_ = rows.rows
        system = K.copy()
        system[np.diag_indices(len(rows))] += self.alpha / rows.weights
        inverse = inverse_factor(system)
        ones = inverse.sum(axis=1)
        self.levels_ = (ones @ (inverse @ outputs)) / (ones @ ones)
        self.coefficients_ = inverse.T @ (inverse @ (outputs - self.levels_))
        diagonal = (inverse**2).sum(axis=0)
        own = diagonal - (ones @ inverse) ** 2 / (ones @ ones)
        alone = own <= 1e-12 * diagonal
        left_out = self.coefficients_ / np.where(alone, np.inf, own)[:, None]
        residuals = self.coefficients_ * (self.alpha / rows.weights)[:, None]
        squares = [(errors**2).sum(axis=1) for errors in (residuals, left_out)]
        self.errors_ = np.array([np.sqrt(np.average(square, weights=rows.weights)) for square in squares])
        self.effective_ = len(rows) - float((self.alpha / rows.weights) @ own)
        self.slope_ = 1.0
        if isinstance(rows, LabelledRows):
            self.slope_ = slope_of_present(outputs - left_out, rows.y, rows.weights)

    def _outputs(self, table: Table) -> Array:
        return self.responses(table, self.coefficients_) + self.levels_

    def predict_values(self, table: Table) -> Array:
        """The function."""
        return np.asarray(self._outputs(table)[:, 0])

    def predict_proba(self, table: Table) -> Array:
        """The softmax of the function of each class that had rows."""
        return of_present_classes(self._outputs(table), self.slope_, self.class_totals_)

    def explain(self) -> findings.Explanation:
        """How far off the rows are, and the weights where there are any."""
        errors = zip(("of the training rows", "leave-one-out"), self.errors_.tolist(), strict=True)
        note = f"The function uses {self.effective_:.4g} effective parameters of {len(self.points_)} rows."
        outputs = self.classes_ if self.classes_ else ("weight",)
        return (
            findings.Table("Root mean squared error", ("error", self.target_), tuple(errors), note=note),
            *self.weights(outputs, self.coefficients_),
        )

    def explain_answer(self, table: Table) -> findings.Explanation:
        """Contribution of each training row."""
        outputs = self.classes_ or (self.target_,)
        return (self.terms_of_points(table, outputs, self.coefficients_, self.levels_),)

    def check_learned(self) -> None:
        """Numbers for each point and output."""
        self.check_points(self.coefficients_)
        if not np.isfinite(self.levels_).all():
            raise ValueError("the levels of kernel-ridge are no numbers")
