"""A result with its scores: every metric summed up, and the confusion matrix where there are labels.

A series is a result by the values of something that was swept, or by the stages of its fits.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

from mlcli.core.abilities import Unstable
from mlcli.core.answers import Answers
from mlcli.core.errors import UsageError
from mlcli.core.findings import Choices
from mlcli.experiment.results import TRAINING, RoundResult, SplitResult, StagedAnswers, each
from mlcli.experiment.spec.cells import Cell, CellResult, ProtocolSpec, distinct_labels
from mlcli.metrics import base
from mlcli.metrics.base import Metric, Rounds, Summary, Undefined, distinct, joined
from mlcli.metrics.confusion import Confusion, confusion
from mlcli.metrics.difference import compare
from mlcli.metrics.registry import defined_values, metric_named
from mlcli.metrics.scores.labels import ClassRates, one_against_rest
from mlcli.metrics.summary import corrected_for_optimism, summarise
from mlcli.protocols._base import TRAINING_ROWS
from mlcli.tasks.supervised import LabelAnswers
from mlcli.tasks.table import kind_named

if TYPE_CHECKING:
    from mlcli.metrics.bias_variance import Decomposition

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
        """Whether every other model must beat it, or it is a reference model that was added, not requested."""
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


@dataclass(frozen=True, eq=False)
class Series:
    """A result by the values of something: which splits belong to each, and their predictions."""

    scored: ModelResult
    over: str
    splits: Mapping[float, Sequence[int]]
    answers: Mapping[float, Sequence[Answers]]
    kind: Literal["series", "stages"]
    training: Mapping[float, Sequence[Answers]] = field(default_factory=dict)
    """The same for training rows, where these were predicted, too."""
    line: str = ""
    """Which of several curves of the result it is."""

    def named(self, name: str) -> str:
        """The name of the series, if the result has this name."""
        return f"{name}, {self.line}" if self.line else name

    def summary(self, metric: Metric, value: float) -> Summary:
        """A metric at a value."""
        return summarise(metric, self.answers[value], self._training_sizes(value), self.scored.pooled)

    def is_like(self, other: Series, metric: Metric, value: float) -> bool:
        """Whether two models do not differ significantly at a value."""
        difference = compare(
            metric,
            self.answers[value],
            other.answers[value],
            self._training_sizes(value),
            self.scored.pooled,
            unstable=self.scored.unstable or other.scored.unstable,
        )
        return not difference.distinguishable

    def train_rows_at(self, value: float) -> list[int]:
        """How many rows each split has learned from."""
        return [self.scored.splits[index].train_rows for index in self.splits.get(value, ())]

    def _training_sizes(self, value: float) -> list[int]:
        sizes = training_sizes(self.scored.cell_result)
        return [sizes[index] for index in self.splits[value]]


def series_of(result: ModelResult) -> list[Series]:
    """What a protocol has swept over, and the stages of the fits, where there are such."""
    if not result.done:
        return []
    coordinates = each(result.splits, "coordinate")
    lines = dict.fromkeys(at.line for at in coordinates if at is not None and at.line)
    if lines:
        every = [_series_of_stages(result, line) for line in lines]
        return [series for series in every if series is not None]
    series: list[Series] = []
    if over := coordinate_name(result.cell_result):
        splits: dict[float, list[int]] = {}
        for index, at in enumerate(coordinates):
            splits.setdefault(at.value, []).append(index)
        answers, training = judged_answers(result.cell_result), training_answers(result.cell_result)
        at_values = {value: [answers[index] for index in indices] for value, indices in splits.items()}
        of_training = {
            value: [training[index] for index in indices] for value, indices in splits.items() if training
        }
        series.append(Series(result, over, splits, at_values, "series", of_training))
    if stages := _series_of_stages(result):
        series.append(stages)
    return series


def _series_of_stages(result: ModelResult, line: str = "") -> Series | None:
    """The stages that every split has; a fit that ended before a stage has its last predictions there.

    With a line only the splits that lie on it.
    """
    coordinates = each(result.splits, "coordinate")
    indices = [index for index, at in enumerate(coordinates) if not line or (at is not None and at.line == line)]
    every_stage, every_answer = each(result.splits, "stages"), judged_answers(result.cell_result)
    stages = [every_stage[index] for index in indices]
    name = next((at.name for of_split in stages for at, _ in of_split), "")
    if not name:
        return None
    answers = _answers_by_stage(stages, [every_answer[index] for index in indices])
    training: dict[float, list[Answers]] = {}
    if not line:
        training = _answers_by_stage(each(result.splits, "training_stages"), training_answers(result.cell_result))
    return Series(result, name, dict.fromkeys(answers, indices), answers, "stages", training, line)


def _answers_by_stage(stages: Sequence[StagedAnswers], last: Sequence[Answers]) -> dict[float, list[Answers]]:
    """The predictions of all splits at each stage that all of them have."""
    by_split = [{at.value: answers for at, answers in of_split} for of_split in stages]
    by_stage: dict[float, list[Answers]] = {}
    for value in sorted({value for of_split in by_split for value in of_split}):
        answers = [
            of_split.get(value, last[index] if value > max(of_split, default=0.0) else None)
            for index, of_split in enumerate(by_split)
        ]
        known = [of_split for of_split in answers if of_split is not None]
        if len(known) == len(answers):
            by_stage[value] = known
    return by_stage


def summaries_of(series: Series) -> dict[float, dict[str, Summary]]:
    """Each metric, by name, at each value."""
    metrics = series.scored.metrics
    return {value: {metric.name: series.summary(metric, value) for metric in metrics} for value in series.answers}


def band(mean: float | None, spread: float | None) -> tuple[float, float] | None:
    """From one standard deviation below a mean to one above it, where both are known."""
    return None if mean is None or spread is None else (mean - spread, mean + spread)


def requested_decomposition(result: ModelResult) -> Decomposition | Undefined | None:
    """Bias and variance of a result whose protocol asks for them; None where it does not."""
    cell = result.cell
    if not result.done or cell.model.saved is not None or not cell.protocol.params.get("bias_variance"):
        return None
    from mlcli.metrics.bias_variance import bias_variance

    return bias_variance(judged_answers(result.cell_result))


def terms_by_name(decomposition: Decomposition) -> dict[str, float]:
    """The error, and the terms that each paper has for its parts."""
    several = len(decomposition.terms) > 1
    return {f"{decomposition.loss} loss": decomposition.error} | {
        f"{paper}: {term}" if several else term: value
        for paper, terms in decomposition.terms.items()
        for term, value in terms.items()
    }
