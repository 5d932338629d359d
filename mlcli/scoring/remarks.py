"""What a reader must know about the results of a model: codes with their fields.

``report/views/sentences.py`` puts remarks into words, and says once what holds for several models.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from mlcli.core.serialise import shown
from mlcli.experiment.results import each
from mlcli.metrics.interval_rules import TRUST, beyond_rows, fold_stability
from mlcli.metrics.pooling import distinct
from mlcli.scoring.differences import is_largest_class_standard, share_of_largest
from mlcli.scoring.model_results import ModelResult, coordinate_name, judged_answers

RemarkCode = Literal[
    "note", "closed-form", "undefined-score", "marked-score", "infinite-score", "splits-vary", "largest-class",
    "fit-warning",
]  # fmt: skip
FEWEST_FOLDS = 3
"""With fewer folds, nothing can be said about whether one of them is an outlier."""


@dataclass(frozen=True)
class Remark:
    """One remark on the results of a model; the code tells which fields are filled."""

    code: RemarkCode
    metric: str = field(default="", metadata=shown(optional=True))
    why: str = field(default="", metadata=shown(optional=True))
    """The reason, the note, the warning, or the closed form."""
    splits: int | None = field(default=None, metadata=shown(optional=True))
    """In how many splits."""
    of_splits: int | None = field(default=None, metadata=shown(optional=True))
    beyond_rows: bool = field(default=False, metadata=shown(optional=True))
    """Whether the splits vary more than their rows explain."""
    share: float | None = field(default=None, metadata=shown(optional=True))
    """The share of the largest class."""


def remarks_of(result: ModelResult) -> tuple[Remark, ...]:
    """All remarks on a model, in the order in which they are shown."""
    return tuple(_remarks(result))


def _remarks(result: ModelResult) -> Iterator[Remark]:
    count = len(result.splits)
    for note in result.cell_result.notes:
        yield Remark("note", why=note)
    if result.done:
        for route, splits in result.cell_result.routes().items():
            yield Remark("closed-form", why=route, splits=splits, of_splits=count)
    for metric in result.metrics:
        summary = result.summaries.get(metric.name)
        if summary is None:
            continue
        if summary.mean is None:
            yield Remark("undefined-score", metric.name, summary.why)
        elif math.isinf(summary.mean):
            yield Remark("infinite-score", metric.name, metric.when_infinite or summary.why)
        else:
            for mark in summary.marks:
                yield Remark("marked-score", metric.name, mark)
    yield from _disagreement_of_splits(result)
    if is_largest_class_standard(result):
        yield Remark("largest-class", share=share_of_largest(result))
    warnings = each(result.splits, "warnings") if result.done else []
    for text in dict.fromkeys(text for of_split in warnings for text in of_split):
        yield Remark(
            "fit-warning", why=text, splits=sum(text in of_split for of_split in warnings), of_splits=count
        )


def _disagreement_of_splits(result: ModelResult) -> Iterator[Remark]:
    """Whether the accuracies of the splits disagree, or one of them is an outlier."""
    if result.pooled or coordinate_name(result.cell_result) or "accuracy" not in result.summaries:
        return
    values = [value for value in result.summaries["accuracy"].splits if value is not None]
    splits = judged_answers(result.cell_result)
    if len(values) < max(FEWEST_FOLDS, len(splits)):
        return
    stability = fold_stability(values, [len(answers) for answers in splits])
    if stability.verdict != "consistent":
        rows = len(distinct(result.answers))
        share = float(np.mean(values))
        variance = share * (1 - share) / (TRUST * rows)
        yield Remark(
            "splits-vary",
            "accuracy",
            stability.why,
            beyond_rows=beyond_rows(np.array(values), splits, variance, rows - 1),
        )
