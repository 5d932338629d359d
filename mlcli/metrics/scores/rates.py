"""Rates of one class against the rest, from the counts of right and wrong answers; averaged over classes."""

from __future__ import annotations

from mlcli.core.tables import Array
from mlcli.metrics.averages import class_rate
from mlcli.metrics.confusion import Tallies

STRATIFIED = "stratified splits, or fewer, would help"
LARGER = "larger splits would help"


@class_rate("precision", better="high", empty="{} is never predicted", hint=LARGER)
def precision(tallies: Tallies) -> tuple[Array, Array]:
    """Of the rows answered with a class, the share that belongs to it."""
    return tallies.true_positives, tallies.predicted


@class_rate("recall", better="high", empty="no judged row is {}", hint=STRATIFIED)
def recall(tallies: Tallies) -> tuple[Array, Array]:
    """Of the rows of a class, the share that is answered with it."""
    return tallies.true_positives, tallies.support


@class_rate("f1", better="high", empty="{} is neither among the truth nor the answers", hint=STRATIFIED)
def f1(tallies: Tallies) -> tuple[Array, Array]:
    """The harmonic mean of precision and recall of a class."""
    return 2 * tallies.true_positives, tallies.predicted + tallies.support


@class_rate("specificity", better="high", empty="every judged row is {}", hint=STRATIFIED)
def specificity(tallies: Tallies) -> tuple[Array, Array]:
    """Of the rows of other classes, the share that is not answered with this one."""
    return tallies.true_negatives, tallies.negatives


@class_rate("fpr", better="low", empty="every judged row is {}", hint=STRATIFIED)
def fpr(tallies: Tallies) -> tuple[Array, Array]:
    """False positive rate: of the rows of other classes, the share that is answered with this one."""
    return tallies.false_positives, tallies.negatives


@class_rate("fnr", better="low", empty="no judged row is {}", hint=STRATIFIED)
def fnr(tallies: Tallies) -> tuple[Array, Array]:
    """False negative rate: of the rows of a class, the share that is answered with another one."""
    return tallies.false_negatives, tallies.support
