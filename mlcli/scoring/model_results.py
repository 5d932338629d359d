"""A result with its scores: every metric summed up, and the confusion matrix where there are labels."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakKeyDictionary

from mlcli.core.abilities import Unstable
from mlcli.core.answers import Answers
from mlcli.core.errors import UsageError
from mlcli.core.findings import Choices
from mlcli.experiment.results import TRAINING, RoundResult, SplitResult, each
from mlcli.experiment.spec.cells import Cell, CellResult, ProtocolSpec
from mlcli.experiment.spec.labels import distinct_labels
from mlcli.metrics import pooling
from mlcli.metrics.base import Metric, Summary
from mlcli.metrics.confusion import Confusion, confusion
from mlcli.metrics.declaring import defined_values
from mlcli.metrics.pooling import Rounds, distinct, joined
from mlcli.metrics.registry import metric_named
from mlcli.metrics.scores.labels import ClassRates, one_against_rest
from mlcli.metrics.summary import corrected_for_optimism, summarise
from mlcli.protocols.training_size import SWEPT_OVER as TRAINING_ROWS
from mlcli.tasks.classification import LabelAnswers
from mlcli.tasks.table import kind_named

DONE = "done"
CONTAMINATED_FROM = 0.05
"""A saved model that has learned from this share of the rows that judge it is not compared with others. Below it,
rows may well be equal by chance."""


_JUDGED: WeakKeyDictionary[CellResult, list[Any]] = WeakKeyDictionary()
_COMPARED: WeakKeyDictionary[CellResult, CellResult] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class ModelResult:
    """A cell that was run, with all that tables are made from."""

    cell_result: CellResult
    metrics: tuple[Metric, ...] = ()
    summaries: Mapping[str, Summary] = field(default_factory=dict)
    confusion: Confusion | None = None
    classes: tuple[ClassRates, ...] = ()
    """The rates of each class, where there are classes."""
    training: Mapping[str, float] = field(default_factory=dict)
    """Each metric of the rows that were learned from, where models were asked about these, too."""

    @property
    def cell(self) -> Cell:
        """What was run."""
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
        """The splits that were answered."""
        return self.cell_result.splits

    @property
    def pooled(self) -> bool:
        """Whether metrics are taken over all answers at once."""
        return self.cell_result.pooled

    @property
    def done(self) -> bool:
        """Whether every split was answered."""
        return self.status == DONE

    @property
    def answers(self) -> Any:
        """The judged answers of all splits together."""
        return joined(judged_answers(self.compared))

    @property
    def compared(self) -> CellResult:
        """The splits that scores and tests are of: of a sweep over training sizes those of the largest."""
        return at_largest_size(self.cell_result)

    @property
    def first_split(self) -> str:
        """Which of several splits the first is, such as "fold 1 of 10"; empty where there is one."""
        splits = self.cell_result.splits
        return f"{splits[0].label} of {len(splits)}" if len(splits) > 1 else ""

    @property
    def is_baseline(self) -> bool:
        """Whether this is the cell that every other must beat, or a reference model that nobody asked for."""
        cell = self.cell
        the_one = cell.model.saved is None and cell.model.use == kind_named(cell.kind).baseline
        return the_one or not cell.model.requested

    @property
    def repeated(self) -> bool:
        """Whether rows were judged more than once."""
        answers = self.answers
        return len(distinct(answers)) < len(answers)

    @property
    def unstable(self) -> bool:
        """Whether the method says that a few other training rows change it a lot."""
        return _is_unstable(self.cell)

    @property
    def contaminated(self) -> bool:
        """Whether a saved model knew so many of the judged rows that its scores say nothing of other rows."""
        cell = self.cell
        return cell.learned_rows > 0 and cell.learned_rows >= CONTAMINATED_FROM * cell.labelled_rows


Group = Mapping[ModelResult, str]
"""The cells of one table, with what each is called there."""


def score_result(result: CellResult, names: Sequence[str] = ()) -> ModelResult:
    """The scores of a result; ``asked`` are names of metrics, none of them for the defaults of the kind."""
    metrics = metrics_for(result, names)
    if result.status != DONE:
        return ModelResult(result, metrics)
    result_of_scores = at_largest_size(result)
    answers = judged_answers(result_of_scores)
    train_rows, sweep = training_sizes(result_of_scores), rounds_of(result_of_scores)
    unstable = _is_unstable(result.cell)
    summaries = {
        metric.name: summarise(metric, answers, train_rows, result.pooled, sweep, unstable) for metric in metrics
    }
    if estimate := result.cell.protocol.params.get("estimate"):
        learned = [split.answers[TRAINING] for split in result_of_scores.splits]
        for one in metrics:
            summaries[one.name] = corrected_for_optimism(summaries[one.name], one, answers, learned, estimate)
    of_training = training_answers(result_of_scores)
    values = {metric.name: defined_values(metric, of_training) for metric in metrics}
    training = {name: float(value.mean()) for name, value in values.items() if len(value)}
    known = ModelResult(result, metrics, summaries, training=training)
    if not isinstance(answers[0], LabelAnswers):
        return known
    together = joined(answers)
    return replace(known, confusion=confusion(together), classes=one_against_rest(together))


def at_largest_size(result: CellResult) -> CellResult:
    """A result whose protocol sweeps over training sizes, at the largest of them; any other as it is.

    A mean over sizes says what no model scores: one that leads at every size may not lead in it.
    """
    if result.status != DONE or coordinate_name(result) != TRAINING_ROWS:
        return result
    if result not in _COMPARED:
        sizes = [at.value for at in each(result.splits, "coordinate")]
        splits = [split for split, size in zip(result.splits, sizes, strict=True) if size == max(sizes)]
        _COMPARED[result] = replace(result, splits=tuple(splits))
    return _COMPARED[result]


def _is_unstable(cell: Cell) -> bool:
    model = cell.model
    if model.saved is not None or not model.is_installed or kind_named(cell.kind).target != "needed":
        return False
    built = model.built()
    return isinstance(built, Unstable) and built.unstable


def training_answers(result: CellResult) -> list[Any]:
    """The answers of each split to the rows that it has learned from, where models were asked about them."""
    if isinstance(result.splits, RoundResult):
        return []
    return [split.answers[TRAINING] for split in result.splits if TRAINING in split.answers]


def judged_answers(result: CellResult) -> list[Any]:
    """The answers of each split to the rows by which the kind judges; made once, since leave-one-out has many."""
    if result not in _JUDGED:
        part = kind_named(result.cell.kind).parts[-1]
        _JUDGED[result] = [split.answers[part] for split in result.splits]
    return _JUDGED[result]


def coordinate_name(result: CellResult) -> str:
    """What the splits of the protocol sweep over, if they do."""
    at = result.splits[0].coordinate if result.splits else None
    return "" if at is None else at.name


def rounds_of(result: CellResult) -> Rounds | None:
    """For each split, which of those it is that judge the same rows; None where nothing is swept over."""
    return pooling.rounds_of(each(result.splits, "coordinate"), judged_answers(result))


def training_sizes(result: CellResult) -> Sequence[int]:
    """How many rows each split learned from; those whose class a sweep hid count, too: by them splits overlap."""
    if not coordinate_name(result):
        return each(result.splits, "train_rows")
    return [result.cell.labelled_rows - len(answers) for answers in judged_answers(result)]


def metrics_for(result: CellResult, names: Sequence[str]) -> tuple[Metric, ...]:
    """The metrics asked for that fit the kind of task; its defaults where none does."""
    kind = kind_named(result.cell.kind)
    target = result.cell.dataset.schema.the("target")
    classes = target.levels if target else ()
    fitting = [metric for name in names if (metric := _fitting_metric(name, kind.answers, classes))]
    usual = kind.metrics + (kind.metrics_with_labels if classes else ())
    if _all_rows_are_good(result):
        usual = ("specificity",)
    return tuple(fitting or [metric_named(name, kind.answers, classes) for name in usual])


def _all_rows_are_good(result: CellResult) -> bool:
    """Whether anomalies were looked for among rows whose labels say that none is one."""
    if not kind_named(result.cell.kind).has_positive_class:
        return False
    answers = judged_answers(result)
    return bool(answers) and all(bool((answer.truth == 0).all()) for answer in answers)  # class 1: anomalies


def _fitting_metric(name: str, answers: type[Answers], classes: Sequence[str]) -> Metric | None:
    """A metric, unless it is one of another kind of task; the plan has refused what fits no dataset."""
    try:
        return metric_named(name, answers, classes)
    except UsageError:
        return None


def groups_of(scored: Sequence[ModelResult]) -> list[Group]:
    """The cells by the tables that they stand in."""
    groups: dict[tuple[object, ...], list[ModelResult]] = {}
    first: dict[tuple[object, ...], ProtocolSpec] = {}
    for result in scored:
        cell, key = result.cell, table_key(result.cell)
        if cell.model.saved is None:
            first.setdefault(key, cell.protocol)
        protocol = cell.protocol if cell.model.saved is None else first.get(key, cell.protocol)
        groups.setdefault((*key, protocol.use, str(protocol.params)), []).append(result)
    return list(map(group_of, groups.values()))


def table_key(cell: Cell) -> tuple[object, ...]:
    """What cells must share to stand in one table; a saved model stands beside those that learn in splits."""
    return cell.dataset.name, cell.dataset.content, cell.kind, cell.seed


def group_of(cells: Sequence[ModelResult]) -> Group:
    """Each cell by its label, with what tells it from others of the same label."""
    return dict(zip(cells, distinct_labels([cell.cell.model for cell in cells]), strict=True))


def first_cell(group: Group) -> Cell:
    """The first of them, for what all have in common: the dataset, the kind of task."""
    return next(iter(group)).cell


def metrics_in(group: Group) -> list[Metric]:
    """All metrics of the cells that ran, if one did; the first decides."""
    cells = [result for result in group if result.cell_result.status == DONE] or group
    return list({metric.name: metric for cell in cells for metric in cell.metrics}.values())


def subgroup(group: Group, cells: Collection[ModelResult]) -> Group:
    """Some of the cells, called as they are among all."""
    return {result: name for result, name in group.items() if result in cells}


def badness(metric: Metric, mean: float) -> float:
    """A number that is smaller for a better mean."""
    return {"high": -mean, "low": mean, "zero": abs(mean)}[metric.better]


def choices_of(result: ModelResult) -> list[tuple[SplitResult, Choices]]:
    """The splits with what inner splits chose there; none of a model that chooses nothing."""
    first = result.splits[0].explanation[:1] if result.splits else ()
    if not any(isinstance(finding, Choices) for finding in first):
        return []
    generator = ((split, finding) for split in result.splits for finding in split.explanation[:1])
    return [(split, finding) for split, finding in generator if isinstance(finding, Choices)]
