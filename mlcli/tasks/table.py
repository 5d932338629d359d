"""The kinds of task as a table; whatever differs from kind to kind is a column of it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from mlcli.core.errors import UsageError
from mlcli.core.names import did_you_mean
from mlcli.core.schema import Schema


@dataclass(frozen=True)
class Kind:
    """One kind of task. What ends in ``_at`` is named "module:name" and imported on use: listing stays instant."""

    name: str
    summary: str
    recognise: Callable[[Schema], bool]
    target: Literal["needed", "judges", "none"]
    """Whether a model learns the target, the target only judges what was learned without it, or there is none:
    what would be the target is a column like the others."""
    target_kinds: tuple[str, ...]
    """The column kinds a target of this kind may have; the first is what ``--task`` turns a column into."""
    container_at: str
    base_at: str
    answers_at: str
    parts: tuple[str, ...]
    """The parts of a split that are judged."""
    protocols: tuple[str, ...]
    """Legal protocols, beside those that were made for this kind and say so; the first is the default."""
    scores: tuple[str, ...]
    """The files of ``mlcli/metrics/scores`` that judge its answers."""
    metrics: tuple[str, ...]
    """Default metrics; the first decides what is best."""
    metrics_with_labels: tuple[str, ...] = field(default=(), kw_only=True)
    """Default metrics that join where the target judges and there is one."""
    protocol_without_labels: str = field(default="", kw_only=True)
    """The default protocol where labels judge and there are none, if it is another one."""
    has_positive_class: bool = field(default=False, kw_only=True)
    """Whether one level of the target, the last of two, is what is looked for."""
    marked_by: tuple[str, ...] = field(default=(), kw_only=True)
    """Roles of columns that only this kind has a use for: rows that have all of them look like it."""
    long_form: tuple[str, ...] = field(default=(), kw_only=True)
    """The roles of the unit and of the thing in it, where a file may hold a row for each thing of a unit."""
    absent_means_no: bool = field(default=False, kw_only=True)
    """Whether a feature that new rows lack says that the thing is not there."""
    optional_roles: tuple[str, ...] = field(default=(), kw_only=True)
    """The roles of columns that rows whose truth is not known may lack: the answers are others then."""
    counts: tuple[str, ...] = field(default=(), kw_only=True)
    """The roles whose levels say how large a dataset is; where there are none, its features do."""
    roles: tuple[str, ...] = field(default=(), kw_only=True)
    """The roles of columns that no model sees, but that its rows need to be asked about."""
    baselines: tuple[str, ...]
    """What every table shows beside the models; the first is the one to beat."""
    panel: tuple[str, ...]
    """The methods that a bare ``mlcli eval`` runs, beside the baseline."""
    columns_at: str = field(kw_only=True)
    """What turns predictions into columns of text: from a fitted model and an ``Asked`` to the columns."""
    picture_at: str = field(default="", kw_only=True)
    """What draws answers below the table: from a title and the answers of all splits to blocks."""
    picture_of_table_at: str = field(default="", kw_only=True)
    """What draws all cells of a table together: from the cells and their names to blocks."""
    json_at: str = field(default="", kw_only=True)
    """What a cell adds to its entry in the JSON document: from the cell to keys and plain values."""

    @cached_property
    def container(self) -> Any:
        """The class of the rows that a model learns from."""
        return named(self.container_at)

    @cached_property
    def base(self) -> Any:
        """The model base that learns and is asked."""
        return named(self.base_at)

    @cached_property
    def answers(self) -> Any:
        """The class of the answers."""
        return named(self.answers_at)

    @property
    def baseline(self) -> str:
        """The baseline to beat."""
        return self.baselines[0]

    @property
    def recognised_by_target(self) -> bool:
        """Whether a target makes a dataset look like this kind; else it is stated, or implied by the models."""
        return self.target == "needed" and self.recognise is not _never

    @property
    def uses_target(self) -> bool:
        """Whether the target has a part in it: it is learned, or judges by metrics of its own."""
        return self.target == "needed" or bool(self.metrics_with_labels)

    @property
    def protocol_for_few_rows(self) -> str:
        """The protocol that the fewest rows can serve."""
        return next(use for use in ("whole", "leave-one-out", *self.protocols) if use in self.protocols)

    @property
    def base_name(self) -> str:
        """The name of the model base, as it stands in the class line of a method."""
        return self.base_at.partition(":")[2]


def _target_is(*kinds: str) -> Callable[[Schema], bool]:
    def recognise(schema: Schema) -> bool:
        target = schema.the("target")
        return target is not None and target.kind in kinds

    return recognise


def _target_in_sequences(schema: Schema) -> bool:
    return schema.the("sequence") is not None and _target_is("nominal", "boolean", "ordinal")(schema)


def _classes_of_single_rows(schema: Schema) -> bool:
    return _target_is("nominal", "boolean", "ordinal")(schema) and not _target_in_sequences(schema)


def _never(schema: Schema) -> bool:
    return False


def _without_target(schema: Schema) -> bool:
    return schema.the("target") is None


KINDS = (
    Kind(
        name="classification",
        summary="predict which class a row belongs to",
        recognise=_classes_of_single_rows,
        target="needed",
        target_kinds=("nominal", "boolean", "ordinal"),
        container_at="mlcli.tasks.classification:LabelledRows",
        base_at="mlcli.tasks.classification:Classifier",
        answers_at="mlcli.tasks.classification:LabelAnswers",
        parts=("test",),
        protocols=(
            "stratified-k-fold",
            "k-fold",
            "repeated-stratified-k-fold",
            "repeated-k-fold",
            "stratified-holdout",
            "holdout",
            "repeated-stratified-holdout",
            "repeated-holdout",
            "leave-one-out",
        ),
        scores=("labels", "probabilities"),
        metrics=("accuracy", "balanced-accuracy", "f1-macro", "mcc", "log-loss", "auc"),
        baselines=("zero-r",),
        panel=("one-r", "naive-bayes", "knn", "decision-tree", "logistic-regression"),
        columns_at="mlcli.report.predictions:label_columns",
    ),
    Kind(
        name="regression",
        summary="predict a number",
        recognise=_target_is("numeric"),
        target="needed",
        target_kinds=("numeric",),
        container_at="mlcli.tasks.regression:ValuedRows",
        base_at="mlcli.tasks.regression:Regressor",
        answers_at="mlcli.tasks.regression:ValueAnswers",
        parts=("test",),
        protocols=("k-fold", "repeated-k-fold", "holdout", "repeated-holdout", "leave-one-out"),
        scores=("values",),
        metrics=("rmse", "mae", "bias", "r2"),
        baselines=("zero-r",),
        panel=("linear-regression", "ridge", "knn", "decision-tree"),
        columns_at="mlcli.report.predictions:value_columns",
        picture_of_table_at="mlcli.report.values:predicted_against_true",
    ),
    Kind(
        name="clustering",
        summary="put rows into groups; labels, where there are any, only judge",
        recognise=_without_target,
        target="judges",
        target_kinds=("nominal", "boolean", "ordinal"),
        container_at="mlcli.tasks.clustering:ClusteredRows",
        base_at="mlcli.tasks.clustering:Clusterer",
        answers_at="mlcli.tasks.clustering:ClusterAnswers",
        parts=("test",),
        protocols=("whole", "k-fold", "repeated-k-fold", "holdout", "repeated-holdout"),
        scores=("clusters",),
        metrics=("silhouette", "calinski-harabasz", "wcss", "bcss"),
        metrics_with_labels=("adjusted-rand", "v-measure", "homogeneity", "completeness"),
        baselines=("one-cluster", "random-clusters"),
        panel=("k-means", "agglomerative"),
        columns_at="mlcli.report.predictions:group_columns",
        picture_of_table_at="mlcli.report.clusters:pictures_of",
    ),
    Kind(
        name="sequence-labelling",
        summary="predict the tag of every row of a sequence",
        recognise=_target_in_sequences,
        target="needed",
        target_kinds=("nominal", "boolean", "ordinal"),
        container_at="mlcli.tasks.sequence_labelling:TaggedRows",
        base_at="mlcli.tasks.sequence_labelling:Tagger",
        answers_at="mlcli.tasks.sequence_labelling:TagAnswers",
        parts=("test",),
        protocols=("k-fold", "repeated-k-fold", "holdout", "repeated-holdout", "leave-one-out"),
        scores=("labels", "probabilities", "sequences"),
        metrics=("accuracy", "sequence-accuracy", "f1-macro"),
        roles=("sequence", "order"),
        baselines=("most-frequent-tag",),
        panel=("hmm",),
        columns_at="mlcli.report.predictions:tag_columns",
        picture_at="mlcli.report.tags:worst_tags_of",
    ),
    Kind(
        name="ranking",
        summary="put the rows of a group in order of their relevance",
        recognise=_never,
        target="needed",
        target_kinds=("numeric", "ordinal", "boolean", "nominal"),
        container_at="mlcli.tasks.ranking:GroupedRows",
        base_at="mlcli.tasks.ranking:Ranker",
        answers_at="mlcli.tasks.ranking:RankAnswers",
        parts=("test",),
        protocols=("k-fold", "repeated-k-fold", "holdout", "repeated-holdout", "leave-one-out"),
        scores=("rankings",),
        metrics=("pairwise-accuracy", "ndcg", "kendall-tau"),
        roles=("group",),
        baselines=("single-best-column", "random-order"),
        panel=("ranking-svm",),
        columns_at="mlcli.report.predictions:place_columns",
        picture_at="mlcli.report.rankings:orders_of",
    ),
    Kind(
        name="anomaly",
        summary="score how odd each row is; labels, where there are any, only judge",
        recognise=_never,
        target="judges",
        target_kinds=("nominal", "boolean", "ordinal"),
        container_at="mlcli.tasks.anomaly:ScreenedRows",
        base_at="mlcli.tasks.anomaly:Detector",
        answers_at="mlcli.tasks.anomaly:ScoreAnswers",
        parts=("validation", "test"),
        protocols=("good-only", "whole"),
        protocol_without_labels="whole",
        has_positive_class=True,
        scores=("anomalies",),
        metrics=("auc",),
        metrics_with_labels=("average-precision", "f1", "precision", "recall", "precision-at-n"),
        baselines=("random-scores",),
        panel=("z-score", "gaussian-anomaly", "mahalanobis", "knn-distance", "lof"),
        columns_at="mlcli.report.predictions:score_columns",
        picture_of_table_at="mlcli.report.anomalies:detectors_of",
        json_at="mlcli.report.anomalies:as_json",
    ),
    Kind(
        name="density",
        summary="describe the distribution that rows were drawn from",
        recognise=_never,
        target="judges",
        target_kinds=("nominal", "boolean", "ordinal"),
        container_at="mlcli.tasks.density:DensityRows",
        base_at="mlcli.tasks.density:DensityEstimator",
        answers_at="mlcli.tasks.density:DensityAnswers",
        parts=("test",),
        protocols=("k-fold", "repeated-k-fold", "holdout", "repeated-holdout", "whole"),
        scores=("densities",),
        metrics=("log-likelihood", "bic", "aic"),
        baselines=("gaussian",),
        panel=("gmm",),
        columns_at="mlcli.report.predictions:density_columns",
        picture_of_table_at="mlcli.report.clusters:groups_of_best",
    ),
    Kind(
        name="projection",
        summary="show rows in fewer columns and lose little",
        recognise=_never,
        target="judges",
        target_kinds=("nominal", "boolean", "ordinal"),
        container_at="mlcli.tasks.projection:ProjectedRows",
        base_at="mlcli.tasks.projection:Projector",
        answers_at="mlcli.tasks.projection:ProjectionAnswers",
        parts=("test",),
        protocols=("k-fold", "repeated-k-fold", "holdout", "repeated-holdout", "whole"),
        scores=("projections",),
        metrics=("reconstruction-error", "explained-variance"),
        baselines=("mean-row",),
        panel=("pca",),
        columns_at="mlcli.report.predictions:component_columns",
        picture_of_table_at="mlcli.report.projections:axes_of",
    ),
    Kind(
        name="recommendation",
        summary="predict what users would give to items that they have not rated",
        recognise=_never,
        target="needed",
        target_kinds=("numeric",),
        container_at="mlcli.tasks.recommendation:Ratings",
        base_at="mlcli.tasks.recommendation:Recommender",
        answers_at="mlcli.tasks.recommendation:RatingAnswers",
        parts=("test",),
        protocols=("k-fold", "repeated-k-fold", "holdout", "repeated-holdout"),
        scores=("values", "ratings"),
        metrics=("rmse", "mae", "precision-at-10", "recall-at-10"),
        marked_by=("user", "item"),
        counts=("user", "item"),
        optional_roles=("item",),
        baselines=("global-mean",),
        panel=("user-item-bias", "matrix-factorisation"),
        columns_at="mlcli.report.predictions:rating_columns",
        picture_at="mlcli.report.ratings:lists_in",
    ),
    Kind(
        name="association",
        summary="find rules between things that stand together in rows",
        recognise=_never,
        target="none",
        target_kinds=(),
        container_at="mlcli.tasks.association:Transactions",
        base_at="mlcli.tasks.association:Associator",
        answers_at="mlcli.tasks.association:RuleAnswers",
        parts=("test",),
        protocols=("holdout", "repeated-holdout", "k-fold", "repeated-k-fold", "whole"),
        scores=("rules",),
        metrics=("lift", "confidence", "conviction", "support", "support-error", "rules"),
        marked_by=("group", "item"),
        long_form=("group", "item"),
        absent_means_no=True,
        baselines=("single-items",),
        panel=("fp-growth",),
        columns_at="mlcli.report.predictions:rule_columns",
        picture_at="mlcli.report.rules:rules_in",
    ),
)
BY_NAME = {kind.name: kind for kind in KINDS}
NAMES = (
    "classification",
    "regression",
    "clustering",
    "density",
    "anomaly",
    "sequence-labelling",
    "ranking",
    "projection",
    "recommendation",
    "association",
)
"""The names of all kinds, those that have no row in the table yet included: scripts depend on them."""


def kind_named(name: str) -> Kind:
    """The kind of a name."""
    if name in NAMES and name not in BY_NAME:
        raise UsageError(f"mlcli cannot do {name} yet", hint=f"kinds that it can do: {', '.join(BY_NAME)}")
    if name not in BY_NAME:
        raise UsageError(f"there is no kind of task '{name}'", hint=did_you_mean(name, BY_NAME, "kinds"))
    return BY_NAME[name]


def implied_by(models: Iterable[type]) -> Kind | None:
    """The kind that the models named leave no choice about: one that no target tells, which all of them can do.

    Of several, the one whose base stands first in the class line of the first model.
    """
    named = list(models)
    common = common_to(named)
    if not common or any(kind.recognised_by_target for kind in common):
        return None
    return min(common, key=lambda kind: named[0].__mro__.index(kind.base))


def common_to(models: Iterable[type]) -> set[Kind]:
    """The kinds that all of the models can do; none where there are no models."""
    able = [set(kinds_of(model)) for model in models]
    return set.intersection(*able) if able else set()


def kind_of(schema: Schema) -> Kind | None:
    """The kind that a schema looks like, if any."""
    return next((kind for kind in KINDS if kind.recognise(schema)), None)


def marked_by(roles: Iterable[str]) -> Kind | None:
    """The kind that the roles of columns leave no choice about, if there is one."""
    given = set(roles)
    return next((kind for kind in KINDS if kind.marked_by and given.issuperset(kind.marked_by)), None)


def kinds_of(model: type) -> tuple[Kind, ...]:
    """The kinds of task that a model class can do; the bases of the others are not imported."""
    places = {f"{base.__module__}:{base.__qualname__}" for base in model.__mro__}
    return tuple(kind for kind in KINDS if kind.base_at in places)


def kinds_from_bases(bases: tuple[str, ...]) -> tuple[Kind, ...]:
    """The kinds that the class line of a method names; nothing is imported."""
    return tuple(kind for kind in KINDS if kind.base_name in bases)


def named(place: str) -> Any:
    """What is called "module:name", imported now."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)
