"""The kinds of task as a table: whatever differs from kind to kind is a column of it.

This module imports nothing heavy: what belongs to a kind is named as "module:name" and imported on use.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast

from mlcli.core.errors import UsageError
from mlcli.core.names import did_you_mean, module_of
from mlcli.core.schema import Schema

if TYPE_CHECKING:
    from mlcli.core.answers import Answers
    from mlcli.core.model import AnyTask, Model

ROLES = (
    *("target", "feature", "id", "group", "sensitive", "weight", "count", "context", "ignore"),
    *("order", "part", "domain", "sequence", "user", "item"),
)
"""The roles of columns; the second line matters to some kinds of task or protocols only."""
SINGLE_ROLES = ("target", "group", "weight", "count", "sequence", "order", "part", "domain", "user", "item")
"""The roles that at most one column has."""


def named(location: str) -> Any:
    """Import the object named "module:name"."""
    module, _, name = location.partition(":")
    return getattr(importlib.import_module(module), name)


def location_of(cls: type) -> str:
    """Where a class is, as "module:name"."""
    return f"{cls.__module__}:{cls.__qualname__}"


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of task. Fields that end in ``_at`` are "module:name", which is imported on use."""

    name: str
    summary: str
    recognised_by_target: bool = False
    """Whether a target makes a dataset look like this kind; else the user, a sidecar or a model names it."""
    target: Literal["needed", "judges", "none"]
    """Whether models learn the target, it is only used to score answers, or there is none."""
    target_kinds: tuple[str, ...]
    """The column kinds that a target may have; ``--task`` turns a column into the first of them."""
    classes: tuple[str, str, str]
    """In the file of the kind: the classes of its rows, of the base of its models, and of its answers."""
    protocols: tuple[str, ...]
    """Legal protocols, beside those made for this kind alone; the first is the default."""
    scores: tuple[str, ...]
    """The files of ``mlcli/metrics/scores`` with metrics of its answers."""
    metrics: tuple[str, ...]
    """Default metrics; models are ranked by the first."""
    parts: tuple[str, ...] = ("test",)
    """The parts of a split that are scored."""
    metrics_with_labels: tuple[str, ...] = ()
    """Further default metrics if there are labels to score with."""
    protocol_without_labels: str = ""
    """The default protocol without labels, if it is another one."""
    has_positive_class: bool = False
    """Whether one level of the target, the last of two, is the class of interest."""
    marked_by: tuple[str, ...] = ()
    """Roles of columns that only this kind uses; rows that have all of them look like this kind."""
    long_form: tuple[str, ...] = ()
    """The roles of the unit and of the item, if a file may have one row for each item of a unit."""
    absent_means_no: bool = False
    """Whether a feature that is missing in new rows means that the item is absent."""
    optional_roles: tuple[str, ...] = ()
    """The roles of columns that new rows may lack; their answers are of another form then."""
    counts: tuple[str, ...] = ()
    """The roles whose levels tell how large a dataset is; by default its features do."""
    roles: tuple[str, ...] = ()
    """The roles of columns that models do not see, but predictions need."""
    baselines: tuple[str, ...]
    """Models that every table of scores includes; the first is the one to beat."""
    reference_models: tuple[str, ...] = ()
    """Further baselines that join the models that a user names, if they are quick."""
    panel: tuple[str, ...]
    """The methods that ``mlcli eval`` runs if no model is named, beside the baseline."""
    columns_at: str
    """Turns predictions into columns of text: from a fitted model and a ``Request`` to the columns."""
    module: str = ""
    """The file of ``mlcli/tasks`` with its classes, where it has not the name of the kind."""
    picture_at: str = ""
    """Draws answers below the table: from a title and the answers of all splits to blocks."""
    picture_of_table_at: str = ""
    """Draws all results of a table together: from the results and their names to blocks."""
    picture_of_curve_at: str = ""
    """Adds to a validation curve: from its results and their names to blocks."""
    picture_of_report_at: str = ""
    """Adds to a whole report: from the results of a table and their names to blocks."""
    described_at: str = ""
    """Shows the training rows of a kept model: from a trained model to findings."""
    fields_at: str = ""
    """What a model of this kind adds to its record: from its result to fields of the record."""

    def _at(self, name: str) -> str:
        """Where a class of its file is."""
        return f"mlcli.tasks.{self.module or module_of(self.name)}:{name}"

    @cached_property
    def rows(self) -> type[Any]:
        """The class of the rows, whose fields differ from kind to kind."""
        return cast("type[Any]", named(self._at(self.classes[0])))

    @cached_property
    def base(self) -> type[Model]:
        """The model base."""
        return cast("type[Model]", named(self.base_at))

    @cached_property
    def answers(self) -> type[Answers]:
        """The class of the answers."""
        return cast("type[Answers]", named(self.answers_at))

    @property
    def task(self) -> AnyTask:
        """How models of this kind learn and answer."""
        return cast("AnyTask", self.rows.task)

    @property
    def base_name(self) -> str:
        """The name of the base class that methods of this kind inherit."""
        return self.classes[1]

    @property
    def base_at(self) -> str:
        """Where the model base is."""
        return self._at(self.base_name)

    @property
    def answers_at(self) -> str:
        """Where the class of the answers is."""
        return self._at(self.classes[2])

    @property
    def baseline(self) -> str:
        """The baseline to beat."""
        return self.baselines[0]

    @property
    def uses_target(self) -> bool:
        """Whether the target has a part in it: it is learned, or gives scores of its own."""
        return self.target == "needed" or bool(self.metrics_with_labels)

    @property
    def protocol_for_few_rows(self) -> str:
        """The protocol that the fewest rows can serve."""
        return next(use for use in ("whole", "leave-one-out", *self.protocols) if use in self.protocols)


LEVELS = ("nominal", "boolean", "ordinal")
"""The column kinds of classes and labels."""
FOLDS = ("k-fold", "repeated-k-fold", "holdout", "repeated-holdout")
"""The protocols that test every row, or a share of rows, with models that have not seen them."""


KINDS = (
    Kind(
        name="classification",
        summary="predict which class a row belongs to",
        recognised_by_target=True,
        target="needed",
        target_kinds=LEVELS,
        classes=("LabelledRows", "Classifier", "LabelAnswers"),
        module="supervised",
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
        scores=("labels", "probabilities", "fairness"),
        metrics=("accuracy", "balanced-accuracy", "f1-macro", "mcc", "log-loss", "auc"),
        baselines=("zero-r",),
        reference_models=("one-r",),
        panel=(
            *("one-r", "naive-bayes", "knn", "decision-tree", "logistic-regression"),
            *("svm", "random-forest", "newton-boosting"),
        ),
        columns_at="mlcli.report.columns:label_columns",
        described_at="mlcli.scoring.trained_rows:predictions_described",
    ),
    Kind(
        name="regression",
        summary="predict a number",
        recognised_by_target=True,
        target="needed",
        target_kinds=("numeric",),
        classes=("ValuedRows", "Regressor", "ValueAnswers"),
        module="supervised",
        protocols=(*FOLDS, "leave-one-out"),
        scores=("values",),
        metrics=("rmse", "mae", "bias", "r2"),
        baselines=("zero-r",),
        panel=("linear-regression", "ridge", "knn", "decision-tree", "random-forest", "newton-boosting"),
        columns_at="mlcli.report.columns:value_columns",
        picture_of_table_at="mlcli.report.views.supervised:predicted_against_true",
        picture_of_report_at="mlcli.report.views.supervised:residuals_of",
        described_at="mlcli.scoring.trained_rows:predictions_described",
    ),
    Kind(
        name="clustering",
        summary="put rows into clusters; labels, if any, are only used for scores",
        target="judges",
        target_kinds=LEVELS,
        classes=("ClusteredRows", "Clusterer", "ClusterAnswers"),
        protocols=("whole", *FOLDS),
        scores=("unsupervised",),
        metrics=("silhouette", "calinski-harabasz", "wcss", "bcss"),
        metrics_with_labels=("adjusted-rand", "v-measure", "homogeneity", "completeness"),
        baselines=("one-cluster", "random-clusters"),
        panel=("k-means", "agglomerative"),
        columns_at="mlcli.report.columns:cluster_columns",
        picture_of_table_at="mlcli.report.views.unsupervised:clustering_elements",
        picture_of_curve_at="mlcli.report.views.unsupervised:inertia_curves",
        described_at="mlcli.scoring.clusters:cluster_portraits",
    ),
    Kind(
        name="sequence-labelling",
        summary="predict the tag of every row of a sequence",
        recognised_by_target=True,
        target="needed",
        target_kinds=LEVELS,
        classes=("TaggedRows", "Tagger", "TagAnswers"),
        protocols=(*FOLDS, "leave-one-out"),
        scores=("labels", "probabilities", "sequences"),
        metrics=("accuracy", "sequence-accuracy", "f1-macro"),
        roles=("sequence", "order"),
        baselines=("most-frequent-tag",),
        panel=("hmm",),
        columns_at="mlcli.report.columns:tag_columns",
        picture_at="mlcli.report.views.supervised:worst_tags_of",
    ),
    Kind(
        name="ranking",
        summary="put the rows of a group in order of their relevance",
        target="needed",
        target_kinds=("numeric", "ordinal", "boolean", "nominal"),
        classes=("GroupedRows", "Ranker", "RankAnswers"),
        protocols=(*FOLDS, "leave-one-out"),
        scores=("rankings",),
        metrics=("pairwise-accuracy", "ndcg", "kendall-tau"),
        roles=("group",),
        baselines=("single-best-column", "random-order"),
        panel=("ranking-svm",),
        columns_at="mlcli.report.columns:place_columns",
        picture_at="mlcli.report.views.supervised:orders_of",
        picture_of_report_at="mlcli.report.views.supervised:best_among_the_first",
    ),
    Kind(
        name="anomaly",
        summary="score how odd each row is; labels, if any, are only used for scores",
        target="judges",
        target_kinds=LEVELS,
        classes=("ScreenedRows", "Detector", "ScoreAnswers"),
        parts=("validation", "test"),
        protocols=(
            *("good-only", "whole", "stratified-k-fold", "repeated-stratified-k-fold"),
            *("stratified-holdout", "repeated-stratified-holdout"),
        ),
        protocol_without_labels="whole",
        has_positive_class=True,
        roles=("sequence", "order"),
        scores=("anomalies",),
        metrics=("auc",),
        metrics_with_labels=("average-precision", "f1", "precision", "recall", "precision-at-n"),
        baselines=("random-scores",),
        panel=("z-score", "gaussian-anomaly", "mahalanobis", "knn-distance", "lof", "isolation-forest"),
        columns_at="mlcli.report.columns:score_columns",
        picture_of_table_at="mlcli.report.views.anomaly:detectors_of",
        fields_at="mlcli.scoring.kinds:anomaly_fields",
    ),
    Kind(
        name="density",
        summary="describe the distribution that rows were drawn from",
        target="judges",
        target_kinds=LEVELS,
        classes=("DensityRows", "DensityEstimator", "DensityAnswers"),
        protocols=(*FOLDS, "whole"),
        scores=("unsupervised",),
        metrics=("log-likelihood", "bic", "aic"),
        baselines=("gaussian",),
        panel=("gmm",),
        columns_at="mlcli.report.columns:density_columns",
        picture_of_table_at="mlcli.report.views.unsupervised:profiles_of_best",
        described_at="mlcli.scoring.trained_rows:density_findings",
    ),
    Kind(
        name="projection",
        summary="show rows in fewer columns and lose little",
        target="judges",
        target_kinds=LEVELS,
        classes=("ProjectedRows", "Projector", "ProjectionAnswers"),
        protocols=(*FOLDS, "whole"),
        scores=("unsupervised",),
        metrics=("reconstruction-error", "explained-variance"),
        baselines=("mean-row",),
        panel=("pca",),
        columns_at="mlcli.report.columns:component_columns",
        picture_of_table_at="mlcli.report.views.unsupervised:axes_of",
        picture_of_report_at="mlcli.report.views.unsupervised:errors_of",
        described_at="mlcli.scoring.trained_rows:rows_in_components",
    ),
    Kind(
        name="recommendation",
        summary="predict what users would give to items that they have not rated",
        target="needed",
        target_kinds=("numeric",),
        classes=("Ratings", "Recommender", "RatingAnswers"),
        protocols=FOLDS,
        scores=("values", "rankings"),
        metrics=("rmse", "mae", "precision-at-10", "recall-at-10"),
        marked_by=("user", "item"),
        counts=("user", "item"),
        optional_roles=("item",),
        baselines=("global-mean",),
        panel=("user-item-bias", "matrix-factorisation"),
        columns_at="mlcli.report.columns:rating_columns",
        picture_at="mlcli.report.views.supervised:lists_in",
        picture_of_report_at="mlcli.report.views.supervised:predicted_by_rating",
    ),
    Kind(
        name="association",
        summary="find rules between things that stand together in rows",
        target="none",
        target_kinds=(),
        classes=("Transactions", "Associator", "RuleAnswers"),
        protocols=("holdout", "repeated-holdout", "k-fold", "repeated-k-fold", "whole"),
        scores=("unsupervised",),
        metrics=("lift", "confidence", "conviction", "support", "support-error", "rules"),
        marked_by=("group", "item"),
        long_form=("group", "item"),
        absent_means_no=True,
        baselines=("single-items",),
        panel=("fp-growth",),
        columns_at="mlcli.report.columns:rule_columns",
        picture_at="mlcli.report.views.unsupervised:rules_in",
        picture_of_report_at="mlcli.report.views.unsupervised:rules_in_plane",
        fields_at="mlcli.scoring.kinds:association_fields",
    ),
)
BY_NAME = {kind.name: kind for kind in KINDS}


def kind_named(name: str) -> Kind:
    """The kind of a name."""
    if name not in BY_NAME:
        raise UsageError(f"there is no kind of task '{name}'", hint=did_you_mean(name, BY_NAME, "kinds"))
    return BY_NAME[name]


def implied_by(models: Iterable[type]) -> Kind | None:
    """The kind that the models named leave no choice about: one that no target tells, which all of them can do.

    Of several, the one whose base stands first in the class line of the first model.
    """
    classes = list(models)
    common = common_to(classes)
    if not common or any(kind.recognised_by_target for kind in common):
        return None
    return min(common, key=lambda kind: classes[0].__mro__.index(kind.base))


def common_to(models: Iterable[type]) -> set[Kind]:
    """The kinds that all of the models can do; none where there are no models."""
    kinds = [set(kinds_of(model)) for model in models]
    return set.intersection(*kinds) if kinds else set()


def kind_of(schema: Schema) -> Kind | None:
    """The kind that a schema looks like, if any."""
    target = schema.the("target")
    if target is None:
        return kind_named("clustering")
    if target.kind == "numeric":
        return kind_named("regression")
    if target.kind in LEVELS:
        return kind_named("classification" if schema.the("sequence") is None else "sequence-labelling")
    return None


def marked_by(roles: Iterable[str]) -> Kind | None:
    """The kind that the roles of columns leave no choice about, if there is one."""
    given = set(roles)
    return next((kind for kind in KINDS if kind.marked_by and given.issuperset(kind.marked_by)), None)


def kinds_of(model: type) -> tuple[Kind, ...]:
    """The kinds of task that a model class can do; the bases of the others are not imported."""
    locations = {location_of(base) for base in model.__mro__}
    return tuple(kind for kind in KINDS if kind.base_at in locations)


def kinds_from_bases(bases: tuple[str, ...]) -> tuple[Kind, ...]:
    """The kinds that the class line of a method names; nothing is imported."""
    return tuple(kind for kind in KINDS if kind.base_name in bases)
