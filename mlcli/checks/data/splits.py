"""How rows would be split: classes too small for it, groups cut, time ignored, too few test rows."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from mlcli.checks.context import FEWEST_ROWS, AuditContext, by_hand, share_right, split_by, with_role
from mlcli.checks.data.columns import is_identifier
from mlcli.core.errors import DataError
from mlcli.core.findings import Issue, Repair
from mlcli.core.names import listed
from mlcli.core.rows import DATE
from mlcli.core.schema import Column
from mlcli.data.dataset import ID_NAME, is_constant
from mlcli.experiment.spec.cells import ProtocolSpec
from mlcli.protocols._base import MoreBadRowsWarning, RareClassWarning, SmallPartWarning

FEW_FOLDS = 3
OF_RARE_CLASSES = {"classification": "balanced-accuracy", "sequence-labelling": "f1-macro"}
"""By kind of task that predicts classes, a metric in which each class counts alike."""
GROUP_NAME = re.compile(
    r"(?i:.*(patient|subject|person|individual|participant|customer|client|household|family|user|driver|speaker|"
    r"session|device|machine|sensor|site|clinic|hospital|school|animal|plot|batch)([-_ ]?(id|no|nr|number|code))?)"
)
TIME_NAME = re.compile(r"(?i:.*(date|time|timestamp|datetime|day|month|year|week|hour)|t)")


def rare_classes(context: AuditContext) -> Iterator[Issue]:
    """Classes with few rows, or with none."""
    target = context.target
    if target is None or not target.coded:
        return
    codes = context.present(target).astype(np.intp)
    counts = np.bincount(codes, minlength=len(target.levels)).tolist()
    metric = OF_RARE_CLASSES.get(context.kind, "")
    # a class is rare with fewer than 10 rows, or a fifth of its share if all classes were of the same size
    few = max(10, 0.2 * len(codes) / len(target.levels) if metric else 0)
    rare = [f"{level} ({count})" for level, count in zip(target.levels, counts, strict=True) if count < few]
    if rare:
        option = f"--metric {metric} --protocol {_repeated_protocol(context)} --folds {FEW_FOLDS}"
        join = by_hand("join classes that may stand together, or collect more of them")
        yield Issue(
            "warning" if any(0 < count < 5 for count in counts) else "advice",
            f"classes with few rows: {listed(rare)}",
            f"{len(codes)} rows of {len(target.levels)} classes",
            (Repair("option", option), join) if metric else (join,),
            (target.name,),
        )


def one_class(context: AuditContext) -> Iterator[Issue]:
    """A target of one class only, so that any model is always right."""
    target = context.target
    if target is None or not target.coded or context.planned is None:
        return
    counts = np.bincount(context.present(target).astype(np.intp))
    if context.kind in OF_RARE_CLASSES and np.count_nonzero(counts) == 1:
        yield Issue(
            "grave",
            f"every row is of class {target.levels[int(counts.argmax())]}: there is nothing to tell apart",
            f"{counts.sum()} rows with a class",
            (*_other_target(context, coded=True), by_hand("add rows of other classes")),
            (target.name,),
        )


def one_value(context: AuditContext) -> Iterator[Issue]:
    """A target of one number in all rows, so that any model is always right."""
    target = context.target
    if target is None or target.coded or context.planned is None:
        return
    values = context.present(target)
    if context.kind == "regression" and len(values) and values.min() == values.max():
        yield Issue(
            "grave",
            f"the target '{target.name}' is {values[0]:g} in every row: there is nothing to predict",
            f"{len(values)} rows with a value",
            (*_other_target(context, coded=False), by_hand("add rows with other values")),
            (target.name,),
        )


def _other_target(context: AuditContext, *, coded: bool) -> tuple[Repair, ...]:
    """Another column to predict: the last feature that is a class, or a number, and varies."""
    columns = context.coded() if coded else context.numeric()
    names = [
        column.name
        for column in columns
        if not is_constant(context.dataset, column) and not is_identifier(context, column)
    ]
    return (Repair("option", f"--target {shlex.quote(names[-1])}"),) if names else ()


def imbalance(context: AuditContext) -> Iterator[Issue]:
    """One class that has nearly all rows, so that accuracy says nothing."""
    target = context.target
    if target is None or not target.coded or context.planned is None:
        return
    counts = np.bincount(context.present(target).astype(np.intp))
    share = counts.max(initial=0) / max(counts.sum(), 1)
    if context.kind == "classification" and 0.95 <= share < 1:
        yield Issue(
            "warning",
            f"{share:.1%} of the rows are of class {target.levels[int(counts.argmax())]}: accuracy says little",
            f"always predicting it is right about {share:.1%}",
            (Repair("option", "--metric mcc --metric auc"), Repair("experiment", "metrics: [mcc, auc]")),
            (target.name,),
        )


def splitting(context: AuditContext) -> Iterator[Issue]:
    """What the protocol itself warns of: classes smaller than folds, test parts too small to tell."""
    if context.refused:
        used = context.protocol.use if context.protocol else ""
        yield Issue("grave", context.refused, repairs=split_by(used) if used else ())
        return
    evidence = f"the rows of each split of {context.protocol.use}" if context.protocol else ""
    for sentence, category in context.splits_with_warnings[1].items():
        if category is MoreBadRowsWarning:  # by design; auc does not depend on the share of bad rows
            repairs = Repair("option", "--metric auc"), *split_by("stratified-k-fold")
            yield Issue("advice", sentence, evidence, repairs)
        else:
            yield Issue("warning", sentence, evidence, _repairs_of_parts(context, category))


def _repeated_protocol(context: AuditContext) -> str:
    """The protocol that repeats k-fold, if the kind of task has one."""
    legal = context.planned.kind.protocols if context.planned else ()
    return next((name for name in ("repeated-stratified-k-fold", "repeated-k-fold") if name in legal), "")


def _repairs_of_parts(context: AuditContext, category: type[Warning]) -> tuple[Repair, ...]:
    """Repeated k-fold with fewer folds, if that is without the warning; else only more rows help."""
    more = by_hand("collect more rows, above all of rare classes")
    use = _repeated_protocol(context)
    if not use or context.planned is None or not issubclass(category, RareClassWarning | SmallPartWarning):
        return (more,)
    offered = replace(context, protocol=ProtocolSpec(use, {"folds": FEW_FOLDS}))
    try:
        _, still_warned = offered.splits_with_warnings
    except DataError:
        return (more,)
    resolved = category not in still_warned.values()
    return (*split_by(f"{{use: {use}, folds: {FEW_FOLDS}}}"), more) if resolved else (more,)


def groups_cut(context: AuditContext) -> Iterator[Issue]:
    """Rows of one patient or customer that a split would put on both sides."""
    if not context.splits_at_random or len(context.dataset) < FEWEST_ROWS:
        return
    fields = [
        field.column
        for field in context.schema
        if field.role in ("feature", "sensitive", "id", "ignore", "context")
    ]
    features = {column.name for column in context.features}
    for column in fields:
        if not (GROUP_NAME.fullmatch(column.name) or ID_NAME.fullmatch(column.name)):
            continue
        if column.name in features and is_identifier(context, column):
            continue
        cells = context.present(column)
        distinct = len(np.unique(cells))
        if not 2 < distinct <= len(cells) / 2 or distinct < np.sqrt(len(cells)) / 2:
            continue
        groups = context.cells(column)
        shares = [np.isin(groups[split.test], groups[split.train]).mean() for split in context.some_splits]
        if any(shares):
            yield Issue(
                "grave",
                f"column '{column.name}' names groups of rows, and splits cut them",
                f"{distinct} groups of {len(cells) / distinct:.1f} rows; "
                f"of {np.mean(shares):.0%} of the test rows, the training rows hold rows of the same group",
                (with_role(context, "group", column.name),),
                (column.name,),
            )


def time_ignored(context: AuditContext) -> Iterator[Issue]:
    """Rows in the order of time, near ones alike, that a split would learn from the future of."""
    used = context.protocol.use if context.protocol else ""
    order = context.schema.the("order")
    if (
        not context.splits_at_random
        or context.schema.the("sequence") is not None
        or len(context.dataset) < FEWEST_ROWS
    ):
        return
    for column in (field.column for field in context.schema):
        if column is not order and not _looks_like_time(context, column):
            continue
        explained = _share_explained_by_row_before(context, column)
        if explained > 0.1 or column is order:
            repairs = split_by("forward-chaining")
            if column is not order:
                then = "--protocol forward-chaining"
                repairs = with_role(context, "order", column.name, then=then), *repairs
            yield Issue(
                "warning",
                f"rows are ordered in time by '{column.name}', and {used} learns from later rows than it predicts",
                f"the row before tells {explained:.0%} of the target" if explained > 0 else "its role is order",
                repairs,
                (column.name,),
            )


def _looks_like_time(context: AuditContext, column: Column) -> bool:
    """Dates, or numbers named like a time that rise from row to row."""
    if column.coded:
        return len(column.levels) > 2 and all(map(DATE.fullmatch, column.levels[:20]))
    cells = context.present(column)
    if not TIME_NAME.fullmatch(column.name) or len(cells) < len(context.dataset):
        return False
    return bool((np.diff(cells) >= 0).all()) and len(np.unique(cells)) > np.sqrt(len(cells))


def _share_explained_by_row_before(context: AuditContext, column: Column) -> float:
    """The share of the target, beyond the baseline, that the row before in time explains."""
    target = context.target
    if target is None:
        return 0.0
    order = np.argsort(context.cells(column), kind="stable")
    values = context.cells(target)[order]
    values = values[~np.isnan(values)]
    before, now = values[:-1], values[1:]
    if not target.coded:
        return max(0.0, float(np.corrcoef(before, now)[0, 1])) ** 2 if np.ptp(values) > 0 else 0.0
    classes = now.astype(np.int32)
    most = np.bincount(classes).max() / len(classes)
    right = share_right(before, classes, len(target.levels))
    return (right - most) / (1 - most) if most < 1 else 0.0
