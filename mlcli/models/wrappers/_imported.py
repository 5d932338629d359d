"""A classifier, regressor, clusterer or detector of another package as a method: ``use: sklearn.svm.SVC``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mlcli.core import findings
from mlcli.core.errors import UsageError
from mlcli.core.model import Model
from mlcli.core.params import learned
from mlcli.core.registry import Entry, ImportedEntry
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.imported import (
    LARGEST_SEED,
    ForeignEstimator,
    as_a_guest,
    build_estimator,
    class_for,
    example_of,
    summary_of,
    takes_gaps,
    takes_weights,
    version_of,
)
from mlcli.tasks.anomaly import Detector
from mlcli.tasks.clustering import Clusterer
from mlcli.tasks.supervised import Classifier, LabelledRows, Regressor, ValuedRows
from mlcli.tasks.unsupervised import UnlabelledRows

Labelled = LabelledRows | ValuedRows


def entry_of(path: str) -> Entry:
    """The registry entry of the estimator at an import path."""
    base = _base_for(path)
    bases = (base.__bases__[-1].__name__,)
    return ImportedEntry(
        path, summary_of(path), version_of(path), "model", bases, lambda: class_for(path, _base_for(path))
    )


@dataclass(kw_only=True, eq=False)
class Imported(ForeignEstimator, Model):
    """What all kinds share: the estimator is made anew for each fit."""

    ours: ClassVar[str] = "decide"

    estimator_: Any = learned()

    @property
    def accepts(self) -> Accepts:
        """Numbers; missing cells if its tags say so; weights if its fit takes them."""
        return Accepts(missing=takes_gaps(self.path), weights=takes_weights(self.path))

    def fit(self, data: Labelled | UnlabelledRows, rng: np.random.Generator) -> None:
        """Fit the estimator; to the class codes or the values of labelled rows."""
        self.estimator_ = build_estimator(self.path, self.given(), int(rng.integers(LARGEST_SEED)))
        target = (data.y,) if isinstance(data, Labelled) else ()
        weights = {} if data.weight is None else {"sample_weight": data.weight}
        with as_a_guest(self.path):
            self.estimator_.fit(data.table.numbers, *target, **weights)

    def call(self, method: str, table: Table, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """The result of a method of the fitted estimator, called with rows."""
        with as_a_guest(self.path):
            return np.asarray(getattr(self.estimator_, method)(table.numbers), dtype)

    def explain(self) -> findings.Explanation:
        """Importances or coefficients of the columns, if it has them."""
        importances = getattr(self.estimator_, "feature_importances_", None)
        values = getattr(self.estimator_, "coef_", None) if importances is None else importances
        names = [column.name for column in self.columns_]
        if values is None or np.asarray(values).shape[-1] != len(names):
            return ()
        lines = np.atleast_2d(values).T.tolist()
        rows = tuple((name, *line) for name, line in zip(names, lines, strict=True))
        header = ("column", *(str(index + 1) for index in range(len(rows[0]) - 1)))
        if importances is not None:
            return (findings.Table("Feature importance (of the package)", header, rows),)
        return (findings.Table("Coefficients", header, rows, code="coefficients"),)


@dataclass(kw_only=True, eq=False)
class ImportedClassifier(Imported, Classifier):
    """The estimator's probabilities; without them, its class has probability 1."""

    @property
    def gives_probabilities(self) -> bool:
        """Whether the estimator has them."""
        return hasattr(self.estimator_, "predict_proba")

    def predict_proba(self, table: Table) -> Array:
        """Classes without training rows have probability 0."""
        result = np.zeros((len(table), len(self.classes_)))
        if self.gives_probabilities:
            result[:, np.asarray(self.estimator_.classes_, np.intp)] = self.call("predict_proba", table)
        else:
            result[np.arange(len(table)), self.call("predict", table, np.intp)] = 1.0
        return result


@dataclass(kw_only=True, eq=False)
class ImportedRegressor(Imported, Regressor):
    """A number for each row."""

    def predict_values(self, table: Table) -> Array:
        """The estimator's predictions."""
        return self.call("predict", table).reshape(len(table))


@dataclass(kw_only=True, eq=False)
class ImportedClusterer(Imported, Clusterer):
    """A cluster for each row, as ``predict`` of the estimator says."""

    cluster_count_: int = learned()

    def fit(self, data: Labelled | UnlabelledRows, rng: np.random.Generator) -> None:
        """Fit the estimator, and count its clusters."""
        super().fit(data, rng)
        self.cluster_count_ = int(self.cluster_of(data.table).max()) + 1

    def cluster_of(self, table: Table) -> Codes:
        """The estimator's clusters."""
        return self.call("predict", table, np.int32)

    def cluster_count(self) -> int:
        """How many the training rows have."""
        return self.cluster_count_


@dataclass(kw_only=True, eq=False)
class ImportedDetector(Imported, Detector):
    """Anomaly scores: ``score_samples`` of the estimator with the opposite sign."""

    def score_rows(self, table: Table) -> Array:
        """Higher for odder rows."""
        return -self.call("score_samples", table)

    def own_limit(self) -> tuple[float, str] | None:
        """The estimator's offset, if it has one."""
        offset = getattr(self.estimator_, "offset_", None)
        return None if offset is None else (-float(offset), "the offset of the estimator")


def _base_for(path: str) -> type[Imported]:
    """What an estimator becomes, by its scikit-learn tags; one of no kind, or that cannot predict, is refused."""
    import sklearn.base

    kinds: tuple[tuple[str, type[Imported], str], ...] = (
        ("is_classifier", ImportedClassifier, "predict"),
        ("is_regressor", ImportedRegressor, "predict"),
        ("is_clusterer", ImportedClusterer, "predict"),
        ("is_outlier_detector", ImportedDetector, "score_samples"),
    )
    example = example_of(path)
    for question, base, method in kinds:
        try:
            is_of_kind = getattr(sklearn.base, question)(example)
        except AttributeError:
            problem = f"{path} has no tags, by which scikit-learn tells what an estimator is"
            raise UsageError(problem, hint="derive it from sklearn.base.BaseEstimator") from None
        if is_of_kind:
            if not hasattr(example, method):
                problem = f"{path} has no {method}, so that it says nothing of rows that it was not fitted on"
                hint = "LocalOutlierFactor has it with novelty=True" if "Local" in path else ""
                raise UsageError(problem, hint=hint)
            return base
    problem = f"{path} is no classifier, regressor, clusterer or detector"
    raise UsageError(problem, hint="a transformer is a step: steps: [{use: " + path + "}]")
