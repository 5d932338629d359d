"""What scikit-learn asks of estimators, said once for each kind of task; ``_catalogue`` makes classes from it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClusterMixin,
    OutlierMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from mlcli.core.abilities import HasImportances
from mlcli.core.configuration import missing_steps, with_steps
from mlcli.core.errors import MlcliWarning
from mlcli.core.model import Model, Step
from mlcli.core.nested import without_effect
from mlcli.core.params import build, by_name
from mlcli.core.pipeline import learn, set_threshold
from mlcli.core.registry import Catalogue, allow_imports, import_paths_in
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.sklearn._catalogue import SCALE, keyword
from mlcli.sklearn._rows import (
    AnyArray,
    known_table,
    labelled_rows,
    learned_table,
    method_at_work,
    rows_for_step,
    unlabelled_rows,
    valued_rows,
    weights_of,
)
from mlcli.tasks.anomaly import Detector
from mlcli.tasks.clustering import ClusterModel
from mlcli.tasks.projection import Projector
from mlcli.tasks.supervised import Classifier, Regressor

if TYPE_CHECKING:
    from mlcli.sklearn._rows import MatrixLike

M = TypeVar("M", bound=Model)


class Estimator(BaseEstimator):
    """A method or step of mlcli with its declared parameters."""

    _method: ClassVar[str]
    _catalogue: ClassVar[Catalogue]
    _kind: ClassVar[str]

    def __sklearn_tags__(self) -> Tags:
        """Gaps are filled by the steps before the method."""
        tags: Tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit_with_weights(
        self, X: MatrixLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from training rows, which may have weights."""
        self._fit(X, y, sample_weight)
        return self

    def fit_without_weights(self, X: MatrixLike, y: ArrayLike | None = None) -> Self:
        """Learn from training rows."""
        self._fit(X, y, None)
        return self

    def _fit(self, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None) -> None:
        raise TypeError(f"{type(self).__name__} does not say how it learns")

    def as_written(self) -> dict[str, object]:
        """The method with its parameters, as experiments have it; what stands for a default is left out."""
        parameters = self._parameters()
        written: dict[str, object] = {"use": self._method, "params": parameters}
        given = self.get_params(deep=False)
        if SCALE in given and self._configured(parameters).accepts.prefers_scaled:
            written["steps"] = ["standardise"] if given[SCALE] else []
        return written

    def _parameters(self) -> dict[str, object]:
        """The parameters of the method that do not stand for a default."""
        declared, given = by_name(self._catalogue.load(self._method)), self.get_params(deep=False)
        values = {name: _plain_value(given[keyword(name)]) for name in declared}
        return {name: value for name, value in values.items() if value is not None or declared[name].optional}

    def _configured(self, parameters: Mapping[str, object]) -> Any:
        """The method or the step with these parameters."""
        allow_imports(import_paths_in(parameters))
        return build(self._catalogue.load(self._method), parameters)

    def _rng(self) -> np.random.Generator:
        if isinstance(self.random_state, int | np.integer):
            return np.random.default_rng(int(self.random_state))
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))

    def _learn_from(self, rows: RowsOfTable) -> None:
        """Let the method learn from rows, behind the steps that it needs."""
        with method_at_work(rows.table):
            configured: Model = self._configured(self._parameters())
            for sentence in without_effect(configured, rows.task.noun):
                warnings.warn(f"{configured.id}: {sentence}", MlcliWarning, stacklevel=4)
            steps = None if self.get_params(deep=False)[SCALE] else ()
            self.pipeline_ = with_steps(configured, rows.table.columns, steps)
            learn(self.pipeline_, rows, self._rng())

    def _prepared(self, X: MatrixLike) -> Table:
        """New rows as the method sees them."""
        check_is_fitted(self)
        table = known_table(self, X)
        with method_at_work():
            return self.pipeline_.prepared(table)

    def _final(self, base: type[M]) -> M:
        """The fitted method behind the steps."""
        final = self.pipeline_.final
        assert isinstance(final, base)
        return final


class BaseSupervised(Estimator):
    """Predicts a target."""

    def __sklearn_tags__(self) -> Tags:
        """Baselines, and what looks at one column only, score poorly."""
        tags: Tags = super().__sklearn_tags__()
        (tags.classifier_tags or tags.regressor_tags).poor_score = self._method in ("zero-r", "random", "one-r")
        return tags


class BaseClassifier(BaseSupervised, ClassifierMixin, Estimator):
    """Predicts classes."""

    def _fit(self, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None) -> None:
        table, y = learned_table(self, X, y=y)
        rows, self.classes_ = labelled_rows(table, y, weights_of(sample_weight, table))
        self._learn_from(rows)

    def predict_proba(self, X: MatrixLike) -> Array:
        """The probability of each class, in the order of ``classes_``."""
        table = self._prepared(X)
        with method_at_work():
            return np.asarray(self._final(Classifier).predict_proba(table))

    def predict(self, X: MatrixLike) -> AnyArray:
        """The class of each row."""
        probabilities = self.predict_proba(X)
        classes: AnyArray = self.classes_[self._final(Classifier).decide(probabilities)]
        return classes


class BaseRegressor(BaseSupervised, RegressorMixin, Estimator):
    """Predicts numbers."""

    def _fit(self, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None) -> None:
        table, y = learned_table(self, X, y=y, y_numeric=True)
        self._learn_from(valued_rows(table, y, weights_of(sample_weight, table)))

    def predict(self, X: MatrixLike) -> Array:
        """The value of each row."""
        table = self._prepared(X)
        with method_at_work():
            return np.asarray(self._final(Regressor).predict_values(table))


class BaseTransductiveClusterer(ClusterMixin, Estimator):
    """Puts the rows that it learns from into clusters; ``labels_`` says into which, -1 being noise."""

    def _fit(self, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None) -> None:
        table, _ = learned_table(self, X)
        self._learn_from(unlabelled_rows(table, "clustering"))
        self.labels_ = self._clusters(self.pipeline_.prepared(table))

    def _clusters(self, table: Table) -> NDArray[np.int64]:
        method = self._final(ClusterModel)
        noise = method.noise_cluster()
        with method_at_work():
            clusters = np.asarray(method.cluster_of(table), np.int64)
        return clusters if noise is None else np.where(clusters == noise, -1, clusters - (clusters > noise))


class BaseClusterer(BaseTransductiveClusterer):
    """Puts new rows into clusters, too."""

    def predict(self, X: MatrixLike) -> NDArray[np.int64]:
        """The cluster of each row."""
        return self._clusters(self._prepared(X))


class BaseDetector(OutlierMixin, Estimator):
    """Scores how odd rows are; scikit-learn's scores are higher for usual ones."""

    def _fit(self, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None) -> None:
        table, _ = learned_table(self, X)
        rows = unlabelled_rows(table, "anomaly")
        self._learn_from(rows)
        with method_at_work(table):
            set_threshold(self.pipeline_, rows, rows)
        # mlcli flags a row that scores its threshold, scikit-learn one below the offset.
        self.offset_ = np.nextafter(-np.float64(self._final(Detector).threshold_), np.inf)

    def score_samples(self, X: MatrixLike) -> Array:
        """How usual each row is."""
        table = self._prepared(X)
        with method_at_work():
            return -np.asarray(self._final(Detector).score_rows(table))

    def decision_function(self, X: MatrixLike) -> Array:
        """How usual each row is, below 0 where it is flagged."""
        return np.asarray(self.score_samples(X) - self.offset_)

    def predict(self, X: MatrixLike) -> NDArray[np.int64]:
        """-1 for rows that are flagged, 1 for others."""
        return np.where(self.decision_function(X) >= 0, 1, -1)


class BaseColumnMaker(TransformerMixin, Estimator):
    """Makes other columns, whose names it knows."""

    _names: tuple[str, ...]

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> AnyArray:
        """The names of the columns that rows have then."""
        check_is_fitted(self)
        _check_feature_names_in(self, input_features)
        return np.array(self._names, dtype=object)


class BaseProjector(BaseColumnMaker):
    """Shows rows in fewer columns."""

    def _fit(self, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None) -> None:
        table, _ = learned_table(self, X)
        self._learn_from(unlabelled_rows(table, "projection"))
        with method_at_work():
            width = self._final(Projector).project(self.pipeline_.prepared(table)).shape[1]
        self._names = tuple(f"{self._method}{index}" for index in range(width))

    def transform(self, X: MatrixLike) -> Array:
        """The rows in the new columns."""
        table = self._prepared(X)
        with method_at_work():
            return np.asarray(self._final(Projector).project(table))


class BaseStep(BaseColumnMaker):
    """A step: columns become others. Levels are given as their codes, missing ones as NaN."""

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        tags.target_tags.required = bool(self._kinds)
        return tags

    @property
    def _kinds(self) -> tuple[str, ...]:
        """The kinds of task whose rows the step learns from; empty: any."""
        step = self._catalogue.load(self._method)
        assert issubclass(step, Step)
        return step.kinds

    def _fit(self, X: MatrixLike, y: ArrayLike | None, sample_weight: ArrayLike | None) -> None:
        table, target = learned_table(self, X, y=y) if self._kinds else learned_table(self, X)
        rows = rows_for_step(table, target, self._kinds)
        rng = self._rng()
        with method_at_work(table):
            accepts = Accepts(nominal=True, missing=True, weights=True, sensitive=True)
            self.steps_ = tuple(missing_steps(accepts, table.columns, [self._configured(self._parameters())]))
            for step in self.steps_:
                step.learn(rows, rng)
                rows = rows.transformed(step.apply)
        self._names = tuple(column.name for column in rows.table.columns)

    def transform(self, X: MatrixLike) -> Array:
        """The rows with the changed columns."""
        check_is_fitted(self)
        table = known_table(self, X)
        with method_at_work():
            for step in self.steps_:
                table = step.apply(table)
        columns: list[Array] = []
        for column, cells in table.parts():
            numbers = cells.astype(np.float64)
            columns.append(np.where(numbers < 0, np.nan, numbers) if column.coded else numbers)
        return np.column_stack(columns) if columns else np.empty((len(table), 0))


def coef(estimator: Estimator) -> Array:
    """The coefficient of each column (of each class) that the method sees."""
    check_is_fitted(estimator)
    coefficients, _ = _linear_function(estimator)
    return coefficients


def intercept(estimator: Estimator) -> Array:
    """The value, or the score of each class, where every column is 0."""
    check_is_fitted(estimator)
    _, at_origin = _linear_function(estimator)
    return at_origin


def _linear_function(estimator: Estimator) -> tuple[Array, Array]:
    """Coefficients and intercepts; of two classes with a score each, those of the second against the first."""
    method: Any = estimator.pipeline_.final
    if hasattr(method, "points_"):
        return _linear_function_of_points(method)
    level = method.level_ if hasattr(method, "level_") else method.levels_
    coefficients, at_origin = method.coefficients_, level - method.coefficients_ @ method.centre_
    if isinstance(estimator, ClassifierMixin) and len(estimator.classes_) == len(coefficients) == 2:
        return np.diff(coefficients, axis=0), np.diff(at_origin)
    return coefficients, at_origin


def _linear_function_of_points(method: Any) -> tuple[Array, Array]:
    """The sums over support vectors, of a pair of several classes towards the first, as scikit-learn has them."""
    if method.kernel != "linear":
        raise AttributeError("coef_ and intercept_ are there where the kernel is linear")
    coefficients = np.atleast_2d(method.coefficients_.T @ method.points_)
    at_origin = np.atleast_1d(method.offsets_ if hasattr(method, "offsets_") else method.level_)
    of_pairs = len(coefficients) > 1 and bool((method.sides_ >= 0).all())
    return (-coefficients, -at_origin) if of_pairs else (coefficients, at_origin)


def feature_importances(estimator: Estimator) -> Array:
    """The share of all gains in training that each column brings; of weighted members their weighted mean."""
    check_is_fitted(estimator)
    method: Any = estimator.pipeline_.final
    if isinstance(method, HasImportances):
        return method.importances()
    members = [model.final for model in method.models_]
    importances = [member.importances() for member in members if isinstance(member, HasImportances)]
    if len(importances) < len(members):
        raise AttributeError("feature_importances_ is there where the base has it, such as a decision tree")
    return np.average(importances, axis=0, weights=method.alphas_)


def cluster_centers(estimator: Estimator) -> Array:
    """The centre of each cluster, or its medoid."""
    check_is_fitted(estimator)
    method: Any = estimator.pipeline_.final
    if not hasattr(method, "medoids_"):
        return np.asarray(method.centres_ + method.origin_)
    if method.distances is not None:
        raise AttributeError("cluster_centers_ is there where distances are not given")
    return np.asarray(method.medoids_)


def _plain_value(value: object) -> object:
    """A parameter as it is written: nested estimators as their methods."""
    if isinstance(value, Estimator):
        return value.as_written()
    if isinstance(value, Mapping):
        return {key: _plain_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_value(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value
