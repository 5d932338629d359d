"""Columns that teach nothing, or the wrong thing: constant, empty, of too many levels, naming the row."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.checks.context import (
    FEWEST_ROWS,
    AuditContext,
    by_hand,
    cell_text,
    is_free,
    share_explained,
    share_right,
    step_before,
    with_role,
)
from mlcli.checks.data.rows import numbered_by_content
from mlcli.core.findings import Gravity, Issue, Repair
from mlcli.core.names import listed
from mlcli.core.rows import has_levels_of_parts, looks_like_parts
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes
from mlcli.data.dataset import (
    ID_NAME,
    MUCH_MISSING,
    NOTHING_TO_LEARN_FROM,
    has_many_levels,
    is_constant,
    share_missing,
    shows_nothing,
)
from mlcli.data.sidecar import yaml_list


def nothing_to_learn_from(context: AuditContext) -> Iterator[Issue]:
    """No feature at all."""
    if shows_nothing(context.dataset):
        unused = [field.column.name for field in context.schema.with_role("ignore")]
        repairs = [with_role(context, "feature", *unused)] if unused else []
        more = by_hand("add columns that tell something of what is to be predicted")
        yield Issue("grave", NOTHING_TO_LEARN_FROM, repairs=(*repairs, more))


def constant(context: AuditContext) -> Iterator[Issue]:
    """Features that are the same in every row."""
    matches = [column.name for column in context.features if is_constant(context.dataset, column)]
    if matches:
        yield Issue(
            "advice",
            f"the same in every row, so nothing can be learned from it: {listed(matches)}",
            repairs=(with_role(context, "ignore", *matches),),
            columns=tuple(matches),
        )


def nearly_constant(context: AuditContext) -> Iterator[Issue]:
    """Features with one value in nearly all rows."""
    matches = {}
    for column in context.features:
        cells = context.present(column)
        if len(cells) and not is_constant(context.dataset, column):
            values, counts = np.unique(cells, return_counts=True)
            if counts.max() >= 0.99 * len(context.dataset):
                value = cell_text(float(values[counts.argmax()]), column)
                matches[column.name] = f"{column.name} ({value} in {counts.max()} of {len(cells)})"
    if matches:
        sentence = f"nearly constant: {listed(list(matches.values()))}"
        repair = with_role(context, "ignore", *matches)
        yield Issue("advice", sentence, repairs=(repair,), columns=tuple(matches))


def much_missing(context: AuditContext) -> Iterator[Issue]:
    """Features so empty that what fills them decides."""
    shares = {column.name: share_missing(context.dataset, column) for column in context.features}
    if len(context.dataset) < FEWEST_ROWS:
        return
    limits: tuple[tuple[Gravity, float, float], ...] = ("warning", 0.6, 1.0), ("advice", MUCH_MISSING, 0.6)
    for gravity, limit, most in limits:
        columns = {name: share for name, share in shares.items() if limit < share <= most}
        if columns:
            own = f"columns: {yaml_list(columns)}, numbers: own-value, levels: own-value"
            repairs = (step_before(context, "impute", own), with_role(context, "ignore", *columns))
            yield Issue(
                gravity,
                f"more than {100 * limit:.0f} % of the cells are missing: "
                f"{listed([f'{name} ({share:.0%})' for name, share in columns.items()])}",
                "what fills the gaps is most of such a column; that a cell is empty may say more than its filling",
                repairs if gravity == "warning" else repairs[:1],
                columns=tuple(columns),
            )


def many_levels(context: AuditContext) -> Iterator[Issue]:
    """Coded features with so many levels that each is rare."""
    rows = len(context.dataset)
    columns = [
        column
        for column in context.coded()
        if has_many_levels(column, rows) and not is_identifier(context, column)
    ]
    if columns:
        texts = [f"{column.name} ({len(column.levels)})" for column in columns]
        names = tuple(column.name for column in columns)
        roles = ("ignore", "group") if len(names) == 1 and is_free(context, "group") else ("ignore",)
        yield Issue(
            "advice",
            f"very many levels for {rows} rows: {listed(texts)}",
            "one-hot makes a column of each; trees find splits on them that hold by chance",
            tuple(with_role(context, role, *names) for role in roles),
            columns=names,
        )


def identifiers(context: AuditContext) -> Iterator[Issue]:
    """Features that name the row or what it is about: a model that learns them by heart knows nothing."""
    rows = len(context.dataset)
    for column in context.features if rows >= FEWEST_ROWS else ():
        if not is_identifier(context, column):
            continue
        distinct = len(np.unique(context.present(column)))
        again = distinct < rows
        roles = ["group", "id"] if again and is_free(context, "group") else ["id"]
        repairs = [with_role(context, role, column.name) for role in roles]
        why = "; a value that stands in several rows may name one patient, customer or device" if again else ""
        yield Issue(
            "grave",
            f"column '{column.name}' looks like an identifier, and is a feature",
            f"{distinct} distinct values in {rows} rows{why}",
            tuple(repairs),
            columns=(column.name,),
        )


def given_parts(context: AuditContext) -> Iterator[Issue]:
    """A column that says which part or fold a row is in, and is used as a feature, or not at all."""
    cells = context.dataset.table.cells
    for column in context.features:
        if not (has_levels_of_parts(column) or looks_like_parts(column, cells(column.name))):
            continue
        repairs = [with_role(context, "ignore", column.name)]
        if is_free(context, "part"):
            repairs.insert(0, with_role(context, "part", column.name, then="--protocol given"))
        yield Issue(
            "warning",
            f"column '{column.name}' seems to say which part each row is in, and is a feature",
            f"its values are {listed(column.levels)}" if column.coded else "it numbers folds",
            tuple(repairs),
            columns=(column.name,),
        )
    part = context.schema.the("part")
    if part is not None and context.protocol is not None and context.protocol.use != "given":
        yield Issue(
            "advice",
            f"column '{part.name}' says which part each row is in, and {context.protocol.use} does not look at it",
            repairs=(Repair("option", "--protocol given"), Repair("experiment", "protocol: given")),
            columns=(part.name,),
        )


def is_identifier(context: AuditContext, column: Column) -> bool:
    """Whether a column has the name and the distinct values of an identifier, or numbers the rows in order."""
    cells = context.present(column)
    if len(cells) < FEWEST_ROWS or (not column.coded and (cells != np.floor(cells)).any()):
        return False
    distinct = len(np.unique(cells))
    if ID_NAME.fullmatch(column.name):
        return distinct >= len(cells) / 2
    return not column.coded and distinct == len(context.dataset) and bool((np.abs(np.diff(cells)) == 1).all())


def leaks(context: AuditContext) -> Iterator[Issue]:
    """A column that predicts the target alone, be it by its values or by being empty."""
    target = context.target
    if target is None or context.planned is None or context.planned.kind.target != "needed":
        return
    labelled = context.sample[~np.isnan(context.cells(target)[context.sample])]
    if len(labelled) < FEWEST_ROWS:
        return
    # equal rows count once, since any column tells the target of a row by its copy; all, if few rows differ
    once = np.unique(numbered_by_content(context, with_target=True)[labelled], return_index=True)[1]
    rows = labelled if len(once) < FEWEST_ROWS else labelled[np.sort(once)]
    truth = context.cells(target)[rows]
    for column in context.features:
        strength = _strength_text(context.cells(column)[rows], truth, target)
        if strength is not None:
            yield Issue(
                "grave",
                f"column '{column.name}' predicts {target.name} by itself",
                f"{strength}; a column that is known only when {target.name} is, or is made from it, would do so",
                (with_role(context, "ignore", column.name),),
                (column.name,),
            )


def _strength_text(cells: Array, truth: Array, target: Column) -> str | None:
    """How well a column predicts the target, in words, if that is too good to be true.

    It is for R² above 0.995, or errors in less than 1 % of the rows and a tenth of the errors of the baseline.
    """
    if not target.coded:
        explained = share_explained(cells, truth)
        known = ~np.isnan(cells)
        if known.sum() >= FEWEST_ROWS and np.ptp(cells[known]) > 0 and np.ptp(truth[known]) > 0:
            # few rows show a straight line better than nearest values do; missing cells explain nothing
            line = float(known.mean() * np.corrcoef(cells[known], truth[known])[0, 1] ** 2)
            explained = max(explained, line)
        return f"alone it explains {explained:.2%} of the variance" if explained > 0.995 else None
    classes = truth.astype(np.int32)
    right = 1.0 if _thresholds_separate(cells, classes) else share_right(cells, classes, len(target.levels))
    most = np.bincount(classes).max() / len(classes)
    if most == 1 or 1 - right > min(0.01, (1 - most) / 10):
        return None
    return f"alone it is right about {right:.1%} of the rows (the most frequent class has {most:.1%})"


def _thresholds_separate(cells: Array, classes: Codes) -> bool:
    """Whether thresholds separate the classes wholly, each of at least 5 rows.

    Smaller classes stand at one end of a column by chance. ``share_right`` does not see it: the nearest values of
    the rows beside a threshold are of both classes.
    """
    order = np.lexsort((classes, cells))
    ascending, values = classes[order], cells[order]
    changes = ascending[1:] != ascending[:-1]
    sizes = np.bincount(classes)
    sizes = sizes[sizes > 0]
    separate = bool((values[1:] != values[:-1])[changes].all())
    return separate and int(changes.sum()) == len(sizes) - 1 and int(sizes.min()) >= 5
