"""Clustering: rows that are put into groups; labels, where there are any, only judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.tables import Array, Codes, Table
from mlcli.tasks.grouping import Grouping, around_centres, silhouettes
from mlcli.tasks.unsupervised import UnlabelledRows


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusterAnswers(Answers):
    """Clustering: the group of each row, its label where it has one (-1 else), and how it lies in its group."""

    cluster: Codes
    truth: Codes
    classes: tuple[str, ...]
    clusters: int
    to_centre: Array
    """Squared distance to the centre of the group."""
    centre_to_all: Array
    """Squared distance of that centre to the centre of all rows."""
    silhouette: Array
    """Rousseeuw's silhouette; NaN where it was not computed."""


@dataclass(kw_only=True, eq=False)
class Clusterer(Grouping):
    """Puts rows into groups, numbered from 0."""

    transductive: ClassVar[bool] = False
    """Whether it can only place the rows that it was fitted on."""

    @staticmethod
    def ask(model: Any, data: Any) -> Answers:
        """The group of each row, with how it lies in it as the model sees the columns."""
        group, groups = np.asarray(model.cluster_of(data.table), np.int32), model.groups()
        X = model.space(data.table)
        own, between = around_centres(X, group, groups, data.weights)
        return ClusterAnswers(
            header=data.header(),
            cluster=group,
            truth=data.labels,
            classes=data.classes,
            clusters=groups,
            to_centre=own,
            centre_to_all=between,
            silhouette=silhouettes(X, group, groups, model.noise_group()),
        )

    def cluster_of(self, table: Table) -> Codes:
        """The group of each row."""
        raise TypeError(f"{type(self).__name__} does not say how it places rows")

    def groups(self) -> int:
        """How many groups there are, empty ones included."""
        raise TypeError(f"{type(self).__name__} does not say how many groups it makes")


class ClusteredRows(UnlabelledRows):
    """Rows to be put into groups."""

    kind = "clustering"
    base = Clusterer
