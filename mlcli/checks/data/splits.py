"""How rows would be split: classes too small for it, groups cut, time ignored, too few rows to judge by."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from mlcli.checks.association import share_right
from mlcli.checks.context import FEWEST_ROWS, AuditContext
from mlcli.checks.data.columns import is_identifier
from mlcli.checks.repairs import by_hand, split_by, with_role
from mlcli.core.errors import DataError
from mlcli.core.issues import Issue, Repair
from mlcli.core.names import listed
from mlcli.core.rows import DATE
from mlcli.core.schema import Column
from mlcli.core.tables import Array
from mlcli.data.dataset import is_constant
from mlcli.data.roles import ID_NAME
from mlcli.experiment.spec.cells import ProtocolSpec
from mlcli.protocols._base import MoreBadRowsWarning, RareClassWarning, SmallPartWarning

FEW_FOLDS = 3
RARE_CLASS_SHARE = 0.2
"""A class is rare below this part of what it would have if all classes had the same number of rows."""
RARE_CLASS_ROWS = 10
OF_RARE_CLASSES = {"classification": "balanced-accuracy", "sequence-labelling": "f1-macro"}
"""By kind of task, where classes are predicted, a metric in which each counts alike."""
LARGEST_CLASS = 0.95
"""From here on accuracy says nearly nothing."""
ALL_LEARNED_FROM = (Repair("option", "--metric auc"), *split_by("stratified-k-fold"))
"""What the share of bad rows does not touch, and a protocol that learns from bad rows, too, and judges all."""
GROUP_NAME = re.compile(
    r"(?i:.*(patient|subject|person|individual|participant|customer|client|household|family|user|driver|speaker|"
    r"session|device|machine|sensor|site|clinic|hospital|school|animal|plot|batch)([-_ ]?(id|no|nr|number|code))?)"
)
ROWS_OF_A_GROUP = 2.0
TIME_NAME = re.compile(r"(?i:.*(date|time|timestamp|datetime|day|month|year|week|hour)|t)")
REMEMBERS = 0.1
"""From this share of the target on that neighbours in time tell of one another, time matters."""


def rare_classes(context: AuditContext) -> Iterator[Issue]:
    """Classes with few rows, or with none."""
    target = context.target
    if target is None or not target.coded:
        return
    codes = context.present(target).astype(np.intp)
    counts = np.bincount(codes, minlength=len(target.levels)).tolist()
    metric = OF_RARE_CLASSES.get(context.planned.kind.name if context.planned else "", "")
    few = max(RARE_CLASS_ROWS, RARE_CLASS_SHARE * len(codes) / len(target.levels) if metric else 0)
    option = f"--metric {metric} --protocol {_repeated_protocol(context)} --folds {FEW_FOLDS}"
    rare = [f"{level} ({count})" for level, count in zip(target.levels, counts, strict=True) if count < few]
    serious = any(0 < count < RARE_CLASS_ROWS / 2 for count in counts)
    if rare:
        yield Issue(
            "warning" if serious else "advice",
            f"classes with few rows: {listed(rare)}",
            f"{len(codes)} rows of {len(target.levels)} classes",
            (
                *([Repair("option", option)] if metric else ()),
                by_hand("join classes that may stand together, or collect more of them"),
            ),
            (target.name,),
        )


def one_class(context: AuditContext) -> Iterator[Issue]:
    """A target of one class only, so that any model is always right."""
    target = context.target
    if target is None or not target.coded or context.planned is None:
        return
    counts = np.bincount(context.present(target).astype(np.intp))
    if context.planned.kind.name in OF_RARE_CLASSES and np.count_nonzero(counts) == 1:
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
    if context.planned.kind.name == "regression" and len(values) and values.min() == values.max():
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
    if context.planned.kind.name == "classification" and LARGEST_CLASS <= share < 1:
        yield Issue(
            "warning",
            f"{share:.1%} of the rows are of class {target.levels[int(counts.argmax())]}: accuracy says little",
            f"who always answers it is right about {share:.1%}",
            (Repair("option", "--metric mcc --metric auc"), Repair("experiment", "metrics: [mcc, auc]")),
            (target.name,),
        )


def splitting(context: AuditContext) -> Iterator[Issue]:
    """What the protocol itself warns of: classes smaller than folds, test parts too small to tell."""
    if context.refused:
        used = context.protocol.use if context.protocol else ""
        yield Issue("grave", context.refused, repairs=split_by(used) if used else ())
        return
    _, warned = context.splits_with_warnings
    for sentence, category in warned.items():
        by_design = category is MoreBadRowsWarning
        yield Issue(
            "advice" if by_design else "warning",
            sentence,
            f"the rows of each split of {context.protocol.use}" if context.protocol else "",
            ALL_LEARNED_FROM if by_design else _repairs_of_parts(context, category),
        )


def _repeated_protocol(context: AuditContext) -> str:
    """The protocol that deals folds anew several times, if the kind of task has one."""
    legal = context.planned.kind.protocols if context.planned else ()
    return next((name for name in ("repeated-stratified-k-fold", "repeated-k-fold") if name in legal), "")


def _repairs_of_parts(context: AuditContext, category: type[Warning]) -> tuple[Repair, ...]:
    """Fewer folds, dealt anew several times, where these are without the warning; else only more rows help."""
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
    if not context.deals_rows or len(context.dataset) < FEWEST_ROWS:
        return
    fields = [
        field.column
        for field in context.schema
        if field.role in ("feature", "sensitive", "id", "ignore", "context")
    ]
    features = {column.name for column in context.features()}
    for column in fields:
        if not (GROUP_NAME.fullmatch(column.name) or ID_NAME.fullmatch(column.name)):
            continue
        if column.name in features and is_identifier(context, column):
            continue
        cells = context.present(column)
        distinct = len(np.unique(cells))
        if not 2 < distinct <= len(cells) / ROWS_OF_A_GROUP or distinct < np.sqrt(len(cells)) / 2:
            continue
        both = _share_of_cut_groups(context, column)
        if both:
            yield Issue(
                "grave",
                f"column '{column.name}' names groups of rows, and splits cut them",
                f"{distinct} groups of {len(cells) / distinct:.1f} rows; "
                f"of {both:.0%} of the judged rows a row of the same group was learned from",
                (with_role(context, "group", column.name),),
                (column.name,),
            )


def _share_of_cut_groups(context: AuditContext, column: Column) -> float:
    """The share of judged rows whose group is learned from."""
    cells = context.cells(column)
    shares = [np.isin(cells[split.test], cells[split.train]).mean() for split in context.some_splits]
    return float(np.mean(shares)) if shares else 0.0


def time_ignored(context: AuditContext) -> Iterator[Issue]:
    """Rows in the order of time, near ones alike, that a split would learn from the future of."""
    used = context.protocol.use if context.protocol else ""
    order = context.schema.the("order")
    if not context.deals_rows or context.schema.the("sequence") is not None or len(context.dataset) < FEWEST_ROWS:
        return
    candidates = [
        field.column
        for field in context.schema
        if field.column is order or _looks_like_time(context, field.column)
    ]
    for column in candidates:
        alike = _share_known_from_the_last(context, column)
        if alike > REMEMBERS or column is order:
            same = f"the row before tells {alike:.0%} of the target" if alike > 0 else "its role is order"
            repairs = split_by("forward-chaining")
            then = "--protocol forward-chaining"
            role = () if column is order else (with_role(context, "order", column.name, then=then),)
            yield Issue(
                "warning",
                f"rows are ordered in time by '{column.name}', and {used} learns from later rows than it judges",
                same,
                (*role, *repairs),
                (column.name,),
            )


def _looks_like_time(context: AuditContext, column: Column) -> bool:
    """Dates, or numbers named like a time that rise from row to row."""
    if column.coded:
        return len(column.levels) > 2 and all(map(DATE.fullmatch, column.levels[:20]))
    cells = context.present(column)
    return bool(TIME_NAME.fullmatch(column.name)) and len(cells) == len(context.dataset) and _rises(cells)


def _rises(cells: Array) -> bool:
    return bool((np.diff(cells) >= 0).all()) and len(np.unique(cells)) > np.sqrt(len(cells))


def _share_known_from_the_last(context: AuditContext, column: Column) -> float:
    """The share of what there is to know of the target that the row before tells."""
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
