"""Prediction error: a row is odd when models that learned from other rows cannot predict its cells.

Formula:
    For each column j a model f_j predicts it from the other columns, or from the ``window`` rows before. e_j(x) =
    (x_j − f_j(x)) / σ_j, with σ_j the root mean square of these errors out of fold. s(x) = mean_j e_j(x)². Of a
    nominal column a classifier gives probabilities, and √(−ln p(x_j)) stands for x_j − f_j(x).
    ``score: psnr``: with the errors in units of the range of their column, PSNR(x) = −10 log₁₀ mean_j error_j²,
    and s(x) = 1 − (PSNR(x) − min) / (max − min), over the training rows out of fold.
    With a ``second`` model, the training rows of the largest errors (``marked``) are its positive class, and s(x)
    is the probability that it gives to that.

Assumes:
    Good rows can be predicted: columns depend on each other, or a sequence on its past. A column of noise adds
    noise to all scores.

Cost:
    folds + 1 fits of the model for each column predicted.

Choices:
    ``columns`` says what is predicted, by default every column that varies and that the model can predict: a
    regressor numbers, a classifier levels, one that is both all columns. A regressor sees levels as 0 and 1. A
    probability counts as at least 0.001, and a level that training did not have as improbable. Errors of training
    rows are out of fold, so that a model that remembers rows does not look exact; predicted rows meet the model
    of all training rows. σ is at least a thousandth of the deviation of its column. With a window, rows are
    taken in their order (role order, else that of the file), sequence by sequence, and before the first row
    stands itself.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mlcli.core import ROUNDING, findings
from mlcli.core.configuration import with_steps
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.model import Model
from mlcli.core.names import did_you_mean
from mlcli.core.nested import model_param
from mlcli.core.params import GIVEN, learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts, Column
from mlcli.core.tables import Array, Codes, Table, joined
from mlcli.engines.content_seeds import order_of_content
from mlcli.engines.ensemble import fitted, outputs
from mlcli.engines.inner_validation import held_out_outputs, inner_folds
from mlcli.models.anomaly.collective import warn_of_gaps
from mlcli.tasks.anomaly import Detector, ScreenedRows
from mlcli.tasks.supervised import CLASSIFICATION, REGRESSION, Classifier, LabelledRows, Regressor, ValuedRows

Cell = TypeVar("Cell", bound=np.generic)


@register(
    "prediction-error", reference="Noto, Brodley & Slonim 2012 (FRaC); Liu et al. 2018 (future frames)", revision=2
)
class PredictionError(Detector):
    """How badly each row is predicted."""

    base: Model = model_param("ridge", "the model that predicts a column", of=(Classifier, Regressor))
    columns: tuple[str, ...] = param((), "the columns that are predicted; none: all that the model can predict")
    window: int = param(0, "from how many rows before a row is predicted; 0: from its other columns", ge=0)
    score: str = param("error", "how errors are counted", choices=("error", "psnr"))
    folds: int = param(5, "how many folds the training rows are split into", ge=2)
    second: Model | None = model_param(None, "a model that learns which rows have large errors", of=(Classifier,))
    marked: float = param(
        0.1, "the share of rows that it learns as odd", gt=0, lt=1, matters_when={"second": GIVEN}
    )

    models_: tuple[Model, ...] = learned("predicted")
    predicted_: tuple[str, ...] = learned("predicted")
    """The names of the columns that are predicted."""
    units_: Array = learned("predicted")
    """σ of each, or its range."""
    psnr_: Array = learned()
    """The smallest and the largest of the training rows."""
    second_: Model | None = learned()

    @property
    def accepts(self) -> Accepts:
        """Levels as well, for a model that predicts them."""
        return Accepts(nominal=isinstance(self.base.final, Classifier))

    def conflicts(self) -> list[str]:
        """A ratio of numbers, for a model that predicts none."""
        none = self.score == "psnr" and not isinstance(self.base.final, Regressor)
        return [f"score psnr is of numbers, and {self.base.final.id} predicts levels"] if none else []

    @property
    def in_sequence(self) -> bool:
        """With a window a row is scored by those before it."""
        return self.window > 0

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Predict each column out of fold, measure the errors, and fit the models again to all rows."""
        if self.window:
            warn_of_gaps(data, self.id)
        windows = data.sequence_windows() if self.window else [order_of_content(data)]
        seen = joined([self._seen(data.table.take(rows)) for rows in windows])
        data = data.take(np.concatenate(windows))
        if len(data) < 3:
            raise FitError("prediction-error needs at least three training rows")
        self.predicted_ = tuple(column.name for column in self._predicted(data.table))
        rows = [self._labelled(data, seen, name) for name in self.predicted_]
        bases = [with_steps(self.base, part.table.columns) for part in rows]
        folds = inner_folds(rows[0], self.folds, rng)
        errors = np.column_stack(
            [
                _errors(part.y, held_out_outputs(base, part, folds, rng.spawn(1)[0]))
                for base, part in zip(bases, rows, strict=True)
            ]
        )
        self.models_ = tuple(fitted(base, part, rng.spawn(1)[0]) for base, part in zip(bases, rows, strict=True))
        self.psnr_ = np.zeros(2)
        if self.score == "psnr":
            self.units_ = np.array([np.ptp(part.y) for part in rows], np.float64)
            psnr = _psnr(errors / self.units_)
            self.psnr_ = np.array([psnr.min(), psnr.max()])
        else:
            least = 1e-3 * np.array([_spread(part) for part in rows])
            self.units_ = np.maximum(np.sqrt((errors**2).mean(axis=0)), least)
        self.second_ = None
        if self.second is not None:
            odd = np.zeros(len(errors), np.int32)
            count = max(1, round(self.marked * len(errors)))
            odd[np.argsort(-self._score(errors), kind="stable")[:count]] = 1
            marked = LabelledRows(table=seen, rows=data.rows, target="error", y=odd, classes=("predicted", "odd"))
            self.second_ = fitted(with_steps(self.second, seen.columns), marked, rng.spawn(1)[0])

    def _predicted(self, table: Table) -> list[Column]:
        """The columns that are predicted, numbers first; those that do not vary are left out."""
        base = self.base.final
        able = [*(table.number_columns if isinstance(base, Regressor) else ())]
        able += table.code_columns if isinstance(base, Classifier) and self.score != "psnr" else ()
        names = [column.name for column in able]
        for name in self.columns:
            if name not in names:
                hint = did_you_mean(name, names, "columns that it can predict")
                problem = f"prediction-error: there is no column '{name}' that {base.id} could predict"
                raise FitError(problem, hint=hint)
        requested = [column for column in able if not self.columns or column.name in self.columns]
        varying = [column for column in requested if len(np.unique(table.cells(column.name))) > 1]
        if not varying:
            raise FitError(f"prediction-error needs a column that varies and that {base.id} can predict")
        if not self.window and len(table.columns) < 2:
            raise FitError("prediction-error needs a second column to predict from, or a window of a sequence")
        if len(varying) < len(requested):
            warnings.warn("columns with one value in all training rows are left out", MlcliWarning, stacklevel=3)
        return varying

    def _labelled(self, data: ScreenedRows, seen: Table, name: str) -> LabelledRows | ValuedRows:
        """Rows whose target is a column."""
        column = next(column for column in data.table.columns if column.name == name)
        cells, seen = data.table.cells(name), _without(seen, name)
        if column.coded:
            codes = cells.astype(np.int32)
            return LabelledRows(table=seen, rows=data.rows, target=name, y=codes, classes=column.levels)
        return ValuedRows(table=seen, rows=data.rows, target=name, y=cells.astype(np.float64))

    def _seen(self, table: Table) -> Table:
        """What a prediction is made from: the columns, or those of the rows before."""
        if not self.window:
            return table
        numbers, codes = rows_before(table.numbers, self.window), rows_before(table.codes, self.window)
        columns = tuple(
            replace(column, name=f"{column.name} {rows} before")
            for block in (table.number_columns, table.code_columns)
            for rows in range(1, self.window + 1)
            for column in block
        )
        numbers = numbers.reshape(len(table), self.window * len(table.number_columns))
        return Table(columns, numbers, codes.reshape(len(table), self.window * len(table.code_columns)))

    def _score(self, errors: Array) -> Array:
        """The mean squared error, or how far its PSNR lies below the best of the training rows."""
        if self.score == "error":
            return np.asarray(((errors / self.units_) ** 2).mean(axis=1))
        low, high = self.psnr_
        return np.asarray(1 - (_psnr(errors / self.units_) - low) / ((high - low) or 1.0))

    def errors(self, table: Table) -> Array:
        """The error of each column that is predicted."""
        seen, levels = self._seen(table), {column.name for column in table.code_columns}
        errors = []
        for model, name in zip(self.models_, self.predicted_, strict=True):
            predictions = outputs(model, _without(seen, name), CLASSIFICATION if name in levels else REGRESSION)
            errors.append(_errors(table.cells(name), predictions))
        return np.column_stack(errors)

    def score_rows(self, table: Table) -> Array:
        """The score by the errors, or the probability that the second model gives."""
        if self.second_ is not None:
            return np.asarray(outputs(self.second_, self._seen(table), CLASSIFICATION)[:, 1])
        return self._score(self.errors(table))

    def reasons(self, table: Table) -> tuple[tuple[str, ...], Array]:
        """The squared error of each column, of numbers with its sign."""
        if self.second_ is not None and not self.window:
            return super().reasons(table)
        names = tuple(column.name for column in (*table.number_columns, *table.code_columns))
        errors = self.errors(table) / self.units_
        reasons = np.zeros((len(table), len(names)))
        reasons[:, [names.index(name) for name in self.predicted_]] = errors * np.abs(errors)
        return names, reasons

    def explain(self) -> findings.Explanation:
        """How well each column is predicted."""
        rows = tuple(zip(self.predicted_, self.units_.tolist(), strict=True))
        what = "range" if self.score == "psnr" else "error out of fold"
        table = findings.Table("Predicted columns", ("column", what), rows)
        return (table, *(self.second_.explain() if self.second_ is not None else ()))

    def check_learned(self) -> None:
        """Units above 0."""
        super().check_learned()
        if not set(self.predicted_) <= {column.name for column in self.columns_}:
            raise ValueError("the saved models predict other columns")
        if not (self.units_ > 0).all():
            raise ValueError("the errors of prediction-error have no unit")


def _without(seen: Table, name: str) -> Table:
    return seen.select(column.name for column in seen.columns if column.name != name)


def _errors(cells: NDArray[np.generic] | Array | Codes, predictions: Array) -> Array:
    """Numbers less their predictions, or the roots of how surprising levels are by their probabilities."""
    if predictions.shape[1] == 1:
        return np.asarray(cells.astype(np.float64) - predictions[:, 0])
    codes = cells.astype(np.intp)
    probabilities = np.where(codes < 0, 0.0, predictions[np.arange(len(codes)), codes])
    return np.asarray(np.sqrt(-np.log(np.clip(probabilities, 1e-3, 1.0))))


def _spread(rows: LabelledRows | ValuedRows) -> float:
    """The standard deviation of numbers, or the same for levels: the root of the error of their shares."""
    if isinstance(rows, LabelledRows):
        shares = rows.class_totals / rows.class_totals.sum()
        return float(np.sqrt(-(shares * np.log(np.maximum(shares, ROUNDING))).sum()))
    return float(np.std(rows.y))


def _psnr(errors: Array) -> Array:
    """In decibels, of errors in units of the range."""
    return np.asarray(-10 * np.log10(np.maximum((errors**2).mean(axis=1), ROUNDING)))


def rows_before(X: NDArray[Cell], size: int) -> NDArray[Cell]:
    """The rows before each row, the nearest first (n × size × columns); before the first row stands itself."""
    if not len(X):
        return np.empty((0, size, X.shape[1]), X.dtype)
    index = np.arange(len(X))[:, None] - np.arange(1, size + 1)
    return np.asarray(X[np.maximum(index, 0)])
