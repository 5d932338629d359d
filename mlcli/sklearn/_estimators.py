"""What scikit-learn asks of estimators, said once for each kind of task; ``_making`` makes classes from it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClusterMixin,
    OutlierMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from mlcli.core.abilities import HasImportances
from mlcli.core.accepts import Accepts
from mlcli.core.configuration import with_steps
from mlcli.core.effective import without_effect
from mlcli.core.errors import MlcliWarning
from mlcli.core.params import build, by_name
from mlcli.core.pipeline import learn, set_threshold
from mlcli.core.plugins import allow_imports, import_paths_in
from mlcli.core.registry import Catalogue
from mlcli.core.required_steps import missing_steps
from mlcli.core.tables import Array, Table
from mlcli.sklearn._rows import (
    as_numbers,
    known_table,
    labelled_rows,
    learned_table,
    method_at_work,
    rows_for_step,
    unlabelled_rows,
    valued_rows,
    weights_of,
)

LARGEST_SEED = 2**31 - 1
POOR = ("zero-r", "random", "one-r")
"""What is there to be beaten, and what looks at one column only."""
ANYTHING = Accepts(nominal=True, missing=True, weights=True, sensitive=True)
"""What stands behind a step that is asked alone."""
SCALE = "scale"
"""Whether numbers are standardised before a method that prefers it."""
CALLED = {"score": "scoring"}
"""Parameters that would hide a method."""


class Estimator(BaseEstimator):
    """A method or step of mlcli with its declared parameters."""

    _method: ClassVar[str]
    _catalogue: ClassVar[Catalogue]
    _kind: ClassVar[str]

    def __sklearn_tags__(self) -> Any:
        """Gaps are filled by the steps before the method."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def fit_with_weights(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learn from training rows, which may count more or less than one."""
        self._fit(X, y, sample_weight)
        return self

    def fit_without_weights(self, X: Any, y: Any = None) -> Any:
        """Learn from training rows."""
        self._fit(X, y, None)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        raise TypeError(f"{type(self).__name__} does not say how it learns")

    def as_written(self) -> dict[str, Any]:
        """The method with its parameters, as experiments have it; what stands for a default is left out."""
        known, given = by_name(self._catalogue.load(self._method)), self.get_params(deep=False)
        values = {name: _plain_value(given[keyword(name)]) for name in known}
        stated = {name: value for name, value in values.items() if value is not None or known[name].optional}
        plain = {"use": self._method, "params": stated}
        prefers_scaled = SCALE in given and self._configured_with(stated).accepts.prefers_scaled
        return plain | {"steps": ["standardise"] if given[SCALE] else []} if prefers_scaled else plain

    def _configured(self) -> Any:
        return self._configured_with(self.as_written()["params"])

    def _configured_with(self, params: Mapping[str, Any]) -> Any:
        allow_imports(import_paths_in(params))
        return build(self._catalogue.load(self._method), params)

    def _rng(self) -> np.random.Generator:
        if isinstance(self.random_state, int | np.integer):
            return np.random.default_rng(int(self.random_state))
        return np.random.default_rng(check_random_state(self.random_state).randint(LARGEST_SEED))

    def _learn_from(self, rows: Any) -> None:
        """Let the method learn from rows, behind the steps that it needs."""
        with method_at_work(rows.table):
            configured = self._configured()
            for sentence in without_effect(configured, rows.task.noun):
                warnings.warn(f"{configured.id}: {sentence}", MlcliWarning, stacklevel=4)
            steps = None if self.get_params(deep=False)[SCALE] else ()
            self.pipeline_ = with_steps(configured, rows.table.columns, steps)
            learn(self.pipeline_, rows, self._rng())

    def _prepared(self, X: Any) -> Table:
        """New rows as the method sees them."""
        check_is_fitted(self)
        table = known_table(self, X)
        with method_at_work():
            return self.pipeline_.prepared(table)

    def _answers(self, X: Any, question: str) -> Any:
        """What the method answers about new rows."""
        table = self._prepared(X)
        with method_at_work():
            return np.asarray(getattr(self._final, question)(table))

    @property
    def _final(self) -> Any:
        return self.pipeline_.final


class BaseSupervised(Estimator):
    """Answers what training rows show."""

    def __sklearn_tags__(self) -> Any:
        """Some are there to be beaten."""
        tags = super().__sklearn_tags__()
        (tags.classifier_tags or tags.regressor_tags).poor_score = self._method in POOR
        return tags


class BaseClassifier(BaseSupervised, ClassifierMixin, Estimator):
    """Answers classes."""

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        table, y = learned_table(self, X, y)
        rows, self.classes_ = labelled_rows(table, y, weights_of(sample_weight, table))
        self._learn_from(rows)

    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, in the order of ``classes_``."""
        return self._answers(X, "predict_proba")

    def predict(self, X: Any) -> Any:
        """The class of each row."""
        shares = self.predict_proba(X)
        return self.classes_[self._final.decide(shares)]


class BaseRegressor(BaseSupervised, RegressorMixin, Estimator):
    """Answers numbers."""

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        table, y = learned_table(self, X, y, y_numeric=True)
        self._learn_from(valued_rows(table, y, weights_of(sample_weight, table)))

    def predict(self, X: Any) -> Any:
        """The value of each row."""
        return self._answers(X, "predict_values")


class BaseTransductiveClusterer(ClusterMixin, Estimator):
    """Puts the rows that it learns from into clusters; ``labels_`` says into which, -1 being noise."""

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        table, _ = learned_table(self, X)
        self._learn_from(unlabelled_rows(table, "clustering"))
        self.labels_ = self._clusters(self.pipeline_.prepared(table))

    def _clusters(self, table: Table) -> Any:
        noise = self._final.noise_cluster()
        with method_at_work():
            clusters = np.asarray(self._final.cluster_of(table), np.int64)
        return clusters if noise is None else np.where(clusters == noise, -1, clusters - (clusters > noise))


class BaseClusterer(BaseTransductiveClusterer):
    """Puts new rows into clusters, too."""

    def predict(self, X: Any) -> Any:
        """The cluster of each row."""
        return self._clusters(self._prepared(X))


class BaseDetector(OutlierMixin, Estimator):
    """Scores how odd rows are; scikit-learn's scores are higher for usual ones."""

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        table, _ = learned_table(self, X)
        rows = unlabelled_rows(table, "anomaly")
        self._learn_from(rows)
        with method_at_work(table):
            set_threshold(self.pipeline_, rows, rows)
        # mlcli flags a row that scores its threshold, scikit-learn one below the offset.
        self.offset_ = np.nextafter(-self._final.threshold_, np.inf)

    def score_samples(self, X: Any) -> Any:
        """How usual each row is."""
        return -self._answers(X, "score_rows")

    def decision_function(self, X: Any) -> Any:
        """How usual each row is, below 0 where it is flagged."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Any:
        """-1 for rows that are flagged, 1 for others."""
        return np.where(self.decision_function(X) >= 0, 1, -1)


class BaseColumnMaker(TransformerMixin, Estimator):
    """Makes other columns, whose names it knows."""

    _names: tuple[str, ...]

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the columns that rows have then."""
        check_is_fitted(self)
        _check_feature_names_in(self, input_features)
        return np.array(self._names, dtype=object)


class BaseProjector(BaseColumnMaker):
    """Shows rows in fewer columns."""

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        table, _ = learned_table(self, X)
        self._learn_from(unlabelled_rows(table, "projection"))
        with method_at_work():
            width = self._final.project(self.pipeline_.prepared(table)).shape[1]
        self._names = tuple(f"{self._method}{index}" for index in range(width))

    def transform(self, X: Any) -> Any:
        """The rows in the new columns."""
        return self._answers(X, "project")


class BaseStep(BaseColumnMaker):
    """A step: columns become others. Levels are given as their codes, missing ones as NaN."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = bool(self._catalogue.load(self._method).kinds)  # type: ignore[attr-defined]
        return tags

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        kinds = self._catalogue.load(self._method).kinds  # type: ignore[attr-defined]
        table, y = learned_table(self, X, y) if kinds else learned_table(self, X)
        rows = rows_for_step(table, y, kinds)
        rng = self._rng()
        with method_at_work(table):
            step = self._configured()
            self.steps_ = tuple(missing_steps(ANYTHING, table.columns, [step]))
            for one in self.steps_:
                one.learn(rows, rng)
                rows = rows.transformed(one.apply)
        self._names = tuple(column.name for column in rows.table.columns)

    def transform(self, X: Any) -> Any:
        """The rows with what becomes of their columns."""
        check_is_fitted(self)
        table = known_table(self, X)
        with method_at_work():
            for step in self.steps_:
                table = step.apply(table)
        cells = [as_numbers(cells, coded=column.coded) for column, cells in table.parts()]
        return np.column_stack(cells) if cells else np.empty((len(table), 0))


def coef(estimator: Any) -> Array:
    """The coefficient of each column (of each class) that the method sees."""
    check_is_fitted(estimator)
    coefficients, _ = _linear_function(estimator)
    return coefficients


def intercept(estimator: Any) -> Any:
    """The value, or the score of each class, where every column is 0."""
    check_is_fitted(estimator)
    _, at_origin = _linear_function(estimator)
    return at_origin


def _linear_function(estimator: Any) -> tuple[Array, Any]:
    """Coefficients and intercepts; of two classes with a score each, those of the second against the first."""
    method = estimator._final
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


def feature_importances(estimator: Any) -> Array:
    """The share of all gains in training that each column brings; of weighted members their weighted mean."""
    check_is_fitted(estimator)
    method = estimator._final
    if isinstance(method, HasImportances):
        return method.importances()
    members = [model.final for model in method.models_]
    importances = [member.importances() for member in members if isinstance(member, HasImportances)]
    if len(importances) < len(members):
        raise AttributeError("feature_importances_ is there where the base has it, such as a decision tree")
    return np.average(importances, axis=0, weights=method.alphas_)


def cluster_centers(estimator: Any) -> Array:
    """The centre of each cluster, or its medoid."""
    check_is_fitted(estimator)
    method = estimator._final
    if not hasattr(method, "medoids_"):
        return np.asarray(method.centres_ + method.origin_)
    if method.distances is not None:
        raise AttributeError("cluster_centers_ is there where distances are not given")
    return np.asarray(method.medoids_)


def keyword(parameter: str) -> str:
    """What a parameter is called here: no name of a method of estimators."""
    return CALLED.get(parameter, parameter)


def _plain_value(value: Any) -> Any:
    """A parameter as it is written: nested estimators as their methods."""
    if isinstance(value, Estimator):
        return value.as_written()
    if isinstance(value, Mapping):
        return {key: _plain_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_value(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value
