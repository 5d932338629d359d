"""The largest class: what models are compared with where splits make a baseline look worse than it is.

What is left out makes its own class rarer: left out one by one, Zero-R is wrong about all of 50 + 50 rows, and
about most of few groups. Who knows the shares of the classes, and nothing else, is right about the largest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from mlcli.experiment.spec.cells import CellResult
from mlcli.metrics.pooling import by_others, distinct, joined
from mlcli.report.scoring.scored import Scored, coordinate_name, judged_answers, training_sizes
from mlcli.tasks.classification import LabelAnswers

LARGEST_CLASS = "the largest class"
BEYOND_CHANCE = 2
"""Below the share of the largest class by so many standard errors, how rows are split is the reason."""
_OF_BASELINE: WeakKeyDictionary[CellResult, LabelAnswers | None] = WeakKeyDictionary()


def is_largest_class_standard(baseline: Scored) -> bool:
    """Whether a baseline is right far more rarely than the share of the largest class, for how rows are split."""
    return _largest_class_answers(baseline) is not None


def share_of_largest(baseline: Scored) -> float:
    """The share of the largest class among the judged rows."""
    answers = _largest_class_answers(baseline)
    assert answers is not None
    assert answers.probabilities is not None
    return float(answers.probabilities[0].max())


def compared_answers(one: Scored) -> Sequence[Any]:
    """The answers of a model by split; of such a baseline those of the largest class."""
    splits, instead = judged_answers(one.compared), _largest_class_answers(one)
    if instead is None:
        return splits
    ends = accumulate(map(len, splits), initial=0)
    return list(instead.parted(slice(*pair) for pair in pairwise(ends)))


def _largest_class_answers(one: Scored) -> LabelAnswers | None:
    if one.result not in _OF_BASELINE:
        one_to_beat = one.done and one.is_baseline and one.cell.model.asked
        _OF_BASELINE[one.result] = _if_largest_class(one) if one_to_beat else None
    return _OF_BASELINE[one.result]


def _if_largest_class(baseline: Scored) -> LabelAnswers | None:
    splits = judged_answers(baseline.result)
    if len(splits) == 1 or type(splits[0]) is not LabelAnswers or coordinate_name(baseline.result):
        return None
    answers: LabelAnswers = joined(splits)
    counts = np.bincount(answers.truth, answers.weights, len(answers.classes))
    shares, right = counts / counts.sum(), answers.weights[answers.predicted == answers.truth].sum() / counts.sum()
    chance = BEYOND_CHANCE * np.sqrt(shares.max() * (1 - shares.max()) / len(distinct(answers)))
    if right >= shares.max() - chance or not by_others(splits, training_sizes(baseline.result)):
        return None
    everywhere = np.full(len(answers), shares.argmax(), np.int32)
    return replace(answers, predicted=everywhere, probabilities=np.tile(shares, (len(answers), 1)))
