"""A classifier, regressor, clusterer or detector of another package as a method: ``use: sklearn.svm.SVC``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mlcli.core import findings
from mlcli.core.accepts import Accepts
from mlcli.core.errors import UsageError
from mlcli.core.model import Model
from mlcli.core.params import learned
from mlcli.core.registry import Entry, ImportedEntry
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.imported import (
    LARGEST_SEED,
    ForeignEstimator,
    as_a_guest,
    class_for,
    example_of,
    made,
    summary_of,
    takes_gaps,
    takes_weights,
    version_of,
)
from mlcli.tasks.anomaly import Detector
from mlcli.tasks.classification import Classifier
from mlcli.tasks.clustering import Clusterer
from mlcli.tasks.regression import Regressor

IMPORTANCES, COEFFICIENTS = "feature_importances_", "coef_"


def entry_of(path: str) -> Entry:
    """What is known of the method at an import path."""
    bases = (_kind_of(path).__bases__[-1].__name__,)
    return ImportedEntry(
        path, summary_of(path), version_of(path), "model", bases, lambda: class_for(path, _kind_of(path))
    )


@dataclass(kw_only=True, eq=False)
class Imported(ForeignEstimator, Model):
    """What all kinds share: the estimator is made anew for each fit."""

    ours: ClassVar[str] = "decide"

    estimator_: Any = learned()

    @property
    def accepts(self) -> Accepts:
        """Numbers; gaps where its tags say so; weights where its fit takes them."""
        return Accepts(missing=takes_gaps(self.path), weights=takes_weights(self.path))

    def _fitted(self, data: Any, target: tuple[Any, ...], rng: np.random.Generator) -> Any:
        estimator = made(self.path, self.given(), int(rng.integers(LARGEST_SEED)))
        weights = {} if data.weight is None else {"sample_weight": data.weight}
        with as_a_guest(self.path):
            return estimator.fit(data.table.numbers, *target, **weights)

    def _answer_by(self, method: str, table: Table) -> Any:
        """What a method of the fitted estimator says of rows."""
        with as_a_guest(self.path):
            return getattr(self.estimator_, method)(table.numbers)

    def explain(self) -> findings.Explanation:
        """Importances or coefficients of the columns, where it has them."""
        worth = getattr(self.estimator_, IMPORTANCES, getattr(self.estimator_, COEFFICIENTS, None))
        names = [column.name for column in self.columns_]
        if worth is None or np.asarray(worth).shape[-1] != len(names):
            return ()
        values = np.atleast_2d(worth).T.tolist()
        rows = tuple((name, *value) for name, value in zip(names, values, strict=True))
        header = ("column", *(str(index + 1) for index in range(len(rows[0]) - 1)))
        if hasattr(self.estimator_, IMPORTANCES):
            return (findings.Table("Feature importance (of the package)", header, rows),)
        return (findings.Table("Coefficients", header, rows, code="coefficients"),)


@dataclass(kw_only=True, eq=False)
class ImportedClassifier(Imported, Classifier):
    """Probabilities where it has them; else its class has all."""

    @property
    def gives_probabilities(self) -> bool:
        """Whether the estimator has them."""
        return hasattr(self.estimator_, "predict_proba")

    def fit(self, data: Any, rng: np.random.Generator) -> None:
        """Fit it to the codes of the classes."""
        self.estimator_ = self._fitted(data, (data.y,), rng)

    def predict_proba(self, table: Table) -> Array:
        """Classes that training rows did not have are impossible."""
        result = np.zeros((len(table), len(self.classes_)))
        known = np.asarray(self.estimator_.classes_, np.intp)
        if self.gives_probabilities:
            result[:, known] = self._answer_by("predict_proba", table)
        else:
            result[np.arange(len(table)), np.asarray(self._answer_by("predict", table), np.intp)] = 1.0
        return result


@dataclass(kw_only=True, eq=False)
class ImportedRegressor(Imported, Regressor):
    """A number for each row."""

    def fit(self, data: Any, rng: np.random.Generator) -> None:
        """Fit it to the values."""
        self.estimator_ = self._fitted(data, (data.y,), rng)

    def predict_values(self, table: Table) -> Array:
        """Its predictions."""
        return np.asarray(self._answer_by("predict", table), np.float64).reshape(len(table))


@dataclass(kw_only=True, eq=False)
class ImportedClusterer(Imported, Clusterer):
    """A cluster for each row, as its ``predict`` says."""

    cluster_count_: int = learned()

    def fit(self, data: Any, rng: np.random.Generator) -> None:
        """Fit it, and count its clusters."""
        self.estimator_ = self._fitted(data, (), rng)
        self.cluster_count_ = int(np.max(self._answer_by("predict", data.table))) + 1

    def cluster_of(self, table: Table) -> Codes:
        """Its clusters."""
        return np.asarray(self._answer_by("predict", table), np.int32)

    def cluster_count(self) -> int:
        """How many it has found."""
        return self.cluster_count_


@dataclass(kw_only=True, eq=False)
class ImportedDetector(Imported, Detector):
    """How unusual each row is, the sign of ``score_samples`` turned."""

    def fit(self, data: Any, rng: np.random.Generator) -> None:
        """Fit it."""
        self.estimator_ = self._fitted(data, (), rng)

    def score_rows(self, table: Table) -> Array:
        """The higher, the odder."""
        return -np.asarray(self._answer_by("score_samples", table), np.float64)

    def own_limit(self) -> tuple[float, str] | None:
        """Its own offset, where it has one."""
        offset = getattr(self.estimator_, "offset_", None)
        return None if offset is None else (-float(offset), "the offset of the estimator")


KINDS: tuple[tuple[str, type[Imported], str], ...] = (
    ("is_classifier", ImportedClassifier, "predict"),
    ("is_regressor", ImportedRegressor, "predict"),
    ("is_clusterer", ImportedClusterer, "predict"),
    ("is_outlier_detector", ImportedDetector, "score_samples"),
)
"""How scikit-learn tells what an estimator is, what it becomes, and what it must be able to do."""


def _kind_of(path: str) -> type[Imported]:
    import sklearn.base

    example = example_of(path)
    for question, kind, needed in KINDS:
        try:
            is_of_kind = getattr(sklearn.base, question)(example)
        except AttributeError:
            what = f"{path} has no tags, by which scikit-learn tells what an estimator is"
            raise UsageError(what, hint="derive it from sklearn.base.BaseEstimator") from None
        if is_of_kind:
            if not hasattr(example, needed):
                what = f"{path} has no {needed}, so that it says nothing of rows that it was not fitted on"
                raise UsageError(
                    what, hint="LocalOutlierFactor has it with novelty=True" if "Local" in path else ""
                )
            return kind
    what = f"{path} is no classifier, regressor, clusterer or detector"
    raise UsageError(what, hint="a transformer is a step: steps: [{use: " + path + "}]")
