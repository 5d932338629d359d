"""The bases of models that learn without labels: how each kind learns, and how it is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.bases import Model, refuse_not_finite
from mlcli.core.group_profile import profile_of
from mlcli.core.grouping import around_centres, silhouettes
from mlcli.core.limits import refuse_unlearnable
from mlcli.core.params import learned
from mlcli.core.tables import Array, Codes, Table
from mlcli.core.unsupervised_answers import ClusterAnswers, DensityAnswers, ProjectionAnswers


@dataclass(kw_only=True, eq=False)
class Unsupervised(Model):
    """Learns from rows whose labels it never sees."""

    @staticmethod
    def learn(model: Any, data: Any, rng: np.random.Generator) -> None:
        """Let a model learn from the rows without their labels."""
        refuse_unlearnable(data)
        hidden = data.unlabelled()
        model.columns_, model.target_ = hidden.table.columns, hidden.target
        model.fit(hidden, rng)


@dataclass(kw_only=True, eq=False)
class Clusterer(Unsupervised):
    """Puts rows into groups, numbered from 0."""

    transductive: ClassVar[bool] = False
    """Whether it can only place the rows that it was fitted on."""

    profile_: dict[str, Any] | None = learned()

    @staticmethod
    def learn(model: Any, data: Any, rng: np.random.Generator) -> None:
        """Let a model learn, and describe its groups."""
        Unsupervised.learn(model, data, rng)
        model.profile_ = profile_of(data.table, _groups_of(model, data), model.groups(), data.weights)

    @staticmethod
    def ask(model: Any, data: Any) -> Answers:
        """The group of each row, with how it lies in it as the model sees the columns."""
        group, groups = _groups_of(model, data), model.groups()
        X = model.space(data.table)
        own, between = around_centres(X, group, groups, data.weights)
        return ClusterAnswers(
            rows=data.rows,
            weight=data.weight,
            cluster=group,
            truth=data.labels,
            classes=data.classes,
            clusters=groups,
            to_centre=own,
            centre_to_all=between,
            silhouette=silhouettes(X, group, groups),
        )

    def cluster_of(self, table: Table) -> Codes:
        """The group of each row."""
        raise TypeError(f"{type(self).__name__} does not say how it places rows")

    def groups(self) -> int:
        """How many groups there are, empty ones included."""
        raise TypeError(f"{type(self).__name__} does not say how many groups it makes")


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
            rows=data.rows,
            weight=data.weight,
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


@dataclass(kw_only=True, eq=False)
class Projector(Unsupervised):
    """Shows rows in fewer columns, and says what rows look like from there."""

    @staticmethod
    def ask(model: Any, data: Any) -> Answers:
        """How far each row is from what is left of it, and from the mean of the training rows."""
        X = model.space(data.table)
        back = model.reconstruct(data.table)
        refuse_not_finite(model, back)
        return ProjectionAnswers(
            rows=data.rows,
            weight=data.weight,
            error=((X - back) ** 2).sum(axis=1),
            spread=((X - model.middle()) ** 2).sum(axis=1),
        )

    def project(self, table: Table) -> Array:
        """The rows in the new columns."""
        raise TypeError(f"{type(self).__name__} does not say how it projects")

    def reconstruct(self, table: Table) -> Array:
        """The rows as their projection shows them, in the old columns."""
        raise TypeError(f"{type(self).__name__} does not say how it reconstructs")

    def middle(self) -> Array:
        """The mean row of the training rows, in the old columns."""
        raise TypeError(f"{type(self).__name__} does not say where its middle is")


def _groups_of(model: Any, data: Any) -> Codes:
    return np.asarray(model.cluster_of(data.table), dtype=np.int32)
