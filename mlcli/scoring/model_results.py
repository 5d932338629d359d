"""A result with its scores: every metric summed up, and the confusion matrix where there are labels."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from mlcli.core.abilities import Unstable
from mlcli.core.errors import UsageError
from mlcli.core.findings import Choices
from mlcli.experiment.results import TRAINING, RoundResult, SplitResult, each
from mlcli.experiment.spec.cells import Cell, CellResult, ProtocolSpec, distinct_labels
from mlcli.metrics import base
from mlcli.metrics.base import Metric, Rounds, Summary, distinct, joined
from mlcli.metrics.confusion import Confusion, confusion
from mlcli.metrics.registry import defined_values, metric_named
from mlcli.metrics.scores.labels import ClassRates, one_against_rest
from mlcli.metrics.summary import corrected_for_optimism, summarise
from mlcli.protocols.training_size import SWEPT_OVER as TRAINING_ROWS
from mlcli.tasks.classification import LabelAnswers
from mlcli.tasks.table import kind_named

_SCORED: WeakKeyDictionary[CellResult, list[Any]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class ModelResult:
    """The result of a cell with its scores."""

    cell_result: CellResult
    metrics: tuple[Metric, ...] = ()
    summaries: Mapping[str, Summary] = field(default_factory=dict)
    confusion: Confusion | None = None
    classes: tuple[ClassRates, ...] = ()
    """The rates of each class, where there are classes."""
    training: Mapping[str, float] = field(default_factory=dict)
    """Each metric on the training rows, where these were predicted, too."""

    @property
    def cell(self) -> Cell:
        """The cell."""
        return self.cell_result.cell

    @property
    def status(self) -> str:
        """How it ended: done, failed, over-budget, died or skipped."""
        return self.cell_result.status

    @property
    def why(self) -> str:
        """Why it has no scores, or nothing."""
        return self.cell_result.why or self.cell.skipped

    @property
    def splits(self) -> Sequence[SplitResult]:
        """The splits that were predicted."""
        return self.cell_result.splits

    @property
    def pooled(self) -> bool:
        """Whether metrics are taken over all predictions at once."""
        return self.cell_result.pooled

    @property
    def done(self) -> bool:
        """Whether every split was predicted."""
        return self.status == "done"

    @cached_property
    def compared(self) -> CellResult:
        """The splits that scores and tests are of: of a sweep over training sizes those of the largest.

        A mean over sizes says what no model scores: one that leads at every size may not lead in it.
        """
        if not self.done or coordinate_name(self.cell_result) != TRAINING_ROWS:
            return self.cell_result
        sizes = [at.value for at in each(self.splits, "coordinate")]
        largest = (split for split, size in zip(self.splits, sizes, strict=True) if size == max(sizes))
        return replace(self.cell_result, splits=tuple(largest))

    @property
    def answers(self) -> Any:
        """The scored predictions of all splits together."""
        return joined(judged_answers(self.compared))

    @property
    def first_split(self) -> str:
        """Which of several splits the first is, such as "fold 1 of 10"; empty where there is one."""
        return f"{self.splits[0].label} of {len(self.splits)}" if len(self.splits) > 1 else ""

    @property
    def is_baseline(self) -> bool:
        """Whether every other model must beat it, or it is a reference model that nobody requested."""
        model = self.cell.model
        return not model.requested or (model.saved is None and model.use == kind_named(self.cell.kind).baseline)

    @property
    def repeated(self) -> bool:
        """Whether rows were scored more than once."""
        return len(distinct(self.answers)) < len(self.answers)

    @property
    def unstable(self) -> bool:
        """Whether the method declares that a few other training rows change it a lot."""
        model = self.cell.model
        if model.saved is not None or not model.is_installed or kind_named(self.cell.kind).target != "needed":
            return False
        built = model.built()
        return isinstance(built, Unstable) and built.unstable

    @property
    def contaminated(self) -> bool:
        """Whether a saved model has learned from so many of the scored rows that it is not compared with others.

        Below a twentieth of the rows, they may well be equal by chance.
        """
        cell = self.cell
        return cell.learned_rows > 0 and cell.learned_rows >= 0.05 * cell.labelled_rows


Group = Mapping[ModelResult, str]
"""The results of one table, with the name of each there."""


def score_result(cell_result: CellResult, names: Sequence[str] = ()) -> ModelResult:
    """The scores of a result by the metrics of these names, or by the defaults of its kind of task."""
    result = ModelResult(cell_result, metrics_for(cell_result, names))
    if not result.done:
        return result
    compared, metrics = result.compared, result.metrics
    answers, rounds = judged_answers(compared), rounds_of(compared)
    sizes, unstable = training_sizes(compared), result.unstable
    summaries = {
        metric.name: summarise(metric, answers, sizes, result.pooled, rounds, unstable) for metric in metrics
    }
    if estimate := result.cell.protocol.params.get("estimate"):
        of_training = [split.answers[TRAINING] for split in compared.splits]
        summaries = {
            metric.name: corrected_for_optimism(summaries[metric.name], metric, answers, of_training, estimate)
            for metric in metrics
        }
    training_values = {metric.name: defined_values(metric, training_answers(compared)) for metric in metrics}
    training = {name: float(values.mean()) for name, values in training_values.items() if len(values)}
    scored = replace(result, summaries=summaries, training=training)
    if isinstance(answers[0], LabelAnswers):
        together = joined(answers)
        scored = replace(scored, confusion=confusion(together), classes=one_against_rest(together))
    return scored


def metrics_for(result: CellResult, names: Sequence[str]) -> tuple[Metric, ...]:
    """The metrics of these names that fit the kind of task; its defaults where none does."""
    kind = kind_named(result.cell.kind)
    target = result.cell.dataset.schema.the("target")
    classes = target.levels if target else ()
    fitting: list[Metric] = []
    for name in names:
        try:
            fitting.append(metric_named(name, kind.answers, classes))
        except UsageError:  # a metric of another kind of task; the plan has refused what fits no dataset
            continue
    if fitting:
        return tuple(fitting)
    defaults = kind.metrics + (kind.metrics_with_labels if classes else ())
    if kind.has_positive_class:
        answers = judged_answers(result)
        if answers and all(bool((of_split.truth == 0).all()) for of_split in answers):
            defaults = ("specificity",)  # no row is an anomaly, which would be class 1
    return tuple(metric_named(name, kind.answers, classes) for name in defaults)


def judged_answers(result: CellResult) -> list[Any]:
    """The predictions of each split that are scored; made once, since leave-one-out has many."""
    if result not in _SCORED:
        part = kind_named(result.cell.kind).parts[-1]
        _SCORED[result] = [split.answers[part] for split in result.splits]
    return _SCORED[result]


def training_answers(result: CellResult) -> list[Any]:
    """The predictions of the training rows of each split, where these were predicted."""
    if isinstance(result.splits, RoundResult):
        return []
    return [split.answers[TRAINING] for split in result.splits if TRAINING in split.answers]


def coordinate_name(result: CellResult) -> str:
    """What the splits of the protocol sweep over, if they do."""
    at = result.splits[0].coordinate if result.splits else None
    return "" if at is None else at.name


def rounds_of(result: CellResult) -> Rounds | None:
    """For each split, which of those it is that score the same rows; None where nothing is swept over."""
    return base.rounds_of(each(result.splits, "coordinate"), judged_answers(result))


def training_sizes(result: CellResult) -> Sequence[int]:
    """How many training rows each split has; those whose class a sweep hid count, too: by them splits overlap."""
    if not coordinate_name(result):
        return each(result.splits, "train_rows")
    return [result.cell.labelled_rows - len(answers) for answers in judged_answers(result)]


def groups_of(results: Sequence[ModelResult]) -> list[Group]:
    """The results by the tables that they stand in."""
    groups: dict[tuple[object, ...], list[ModelResult]] = {}
    first: dict[tuple[object, ...], ProtocolSpec] = {}
    for result in results:
        key, protocol = table_key(result.cell), result.cell.protocol
        if result.cell.model.saved is None:
            first.setdefault(key, protocol)
        else:  # a saved model stands beside those that learn in splits
            protocol = first.get(key, protocol)
        groups.setdefault((*key, protocol.use, str(protocol.params)), []).append(result)
    return list(map(group_of, groups.values()))


def table_key(cell: Cell) -> tuple[object, ...]:
    """What cells must share to stand in one table."""
    return cell.dataset.name, cell.dataset.content, cell.kind, cell.seed


def group_of(results: Sequence[ModelResult]) -> Group:
    """Each result by its label, with what tells it from others of the same label."""
    return dict(zip(results, distinct_labels([result.cell.model for result in results]), strict=True))


def subgroup(group: Group, results: Collection[ModelResult]) -> Group:
    """Some of the results, with the names that they have among all."""
    return {result: name for result, name in group.items() if result in results}


def first_cell(group: Group) -> Cell:
    """The first cell, for what all have in common: the dataset, the kind of task."""
    return next(iter(group)).cell


def metrics_in(group: Group) -> list[Metric]:
    """All metrics of the results that have scores, if one has; the first decides."""
    results = [result for result in group if result.done] or group
    return list({metric.name: metric for result in results for metric in result.metrics}.values())


def badness(metric: Metric, mean: float) -> float:
    """A number that is smaller for a better mean."""
    return {"high": -mean, "low": mean, "zero": abs(mean)}[metric.better]


def choices_of(result: ModelResult) -> list[tuple[SplitResult, Choices]]:
    """The splits with what inner splits chose there; none of a model that chooses nothing."""
    if not result.splits or not any(isinstance(finding, Choices) for finding in result.splits[0].explanation[:1]):
        return []
    firsts = [(split, finding) for split in result.splits for finding in split.explanation[:1]]
    return [(split, finding) for split, finding in firsts if isinstance(finding, Choices)]
