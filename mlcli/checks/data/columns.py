"""Columns that teach nothing, or the wrong thing: constant, empty, of too many levels, naming the row."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mlcli.checks.audited import FEWEST_ROWS, Audited, cell_text
from mlcli.checks.repairs import by_hand, is_free, step_before, with_role
from mlcli.core.issues import Gravity, Issue, Repair
from mlcli.core.names import listed
from mlcli.core.rows import has_levels_of_parts, looks_like_parts
from mlcli.core.schema import Column
from mlcli.data.dataset import (
    MUCH_MISSING,
    NOTHING_TO_LEARN_FROM,
    has_many_levels,
    is_constant,
    share_missing,
    shows_nothing,
)
from mlcli.data.roles import ID_NAME
from mlcli.data.write_sidecar import flow

NEARLY_ALL = 0.99
NEARLY_ALL_MISSING = 0.6
MOSTLY_DISTINCT = 0.5
"""A column that is named like an identifier is one from this share of distinct values on."""


def nothing_to_learn_from(audited: Audited) -> Iterator[Issue]:
    """No feature at all."""
    if shows_nothing(audited.dataset):
        unused = [field.column.name for field in audited.schema.with_role("ignore")]
        repairs = [with_role(audited, "feature", *unused)] if unused else []
        more = by_hand("add columns that tell something of what is to be predicted")
        yield Issue("grave", NOTHING_TO_LEARN_FROM, repairs=(*repairs, more))


def constant(audited: Audited) -> Iterator[Issue]:
    """Features that are the same in every row."""
    found = [column.name for column in audited.features() if is_constant(audited.dataset, column)]
    if found:
        yield Issue(
            "advice",
            f"the same in every row, so nothing can be learned from it: {listed(found)}",
            repairs=(with_role(audited, "ignore", *found),),
            columns=tuple(found),
        )


def nearly_constant(audited: Audited) -> Iterator[Issue]:
    """Features with one value in nearly all rows."""
    found = {}
    for column in audited.features():
        cells = audited.present(column)
        if len(cells) and not is_constant(audited.dataset, column):
            values, counts = np.unique(cells, return_counts=True)
            if counts.max() >= NEARLY_ALL * len(audited.dataset):
                value = cell_text(float(values[counts.argmax()]), column)
                found[column.name] = f"{column.name} ({value} in {counts.max()} of {len(cells)})"
    if found:
        sentence = f"nearly constant: {listed(list(found.values()))}"
        repair = with_role(audited, "ignore", *found)
        yield Issue("advice", sentence, repairs=(repair,), columns=tuple(found))


def much_missing(audited: Audited) -> Iterator[Issue]:
    """Features so empty that what fills them decides."""
    shares = {column.name: share_missing(audited.dataset, column) for column in audited.features()}
    found = {name: share for name, share in shares.items() if share > MUCH_MISSING}
    if len(audited.dataset) < FEWEST_ROWS or not found:
        return
    most = {name: share for name, share in found.items() if share > NEARLY_ALL_MISSING}
    some = {name: share for name, share in found.items() if name not in most}
    gravities: dict[Gravity, tuple[dict[str, float], float]] = {
        "warning": (most, NEARLY_ALL_MISSING),
        "advice": (some, MUCH_MISSING),
    }
    for gravity, (columns, limit) in gravities.items():
        own = f"columns: {flow(columns)}, numbers: own-value, levels: own-value"
        repairs = (step_before(audited, "impute", own), with_role(audited, "ignore", *columns))
        if columns:
            yield Issue(
                gravity,
                f"more than {100 * limit:.0f} % of the cells are missing: "
                f"{listed([f'{name} ({share:.0%})' for name, share in columns.items()])}",
                "what fills the gaps is most of such a column; that a cell is empty may say more than its filling",
                repairs if gravity == "warning" else repairs[:1],
                columns=tuple(columns),
            )


def many_levels(audited: Audited) -> Iterator[Issue]:
    """Coded features with so many levels that each is rare."""
    rows = len(audited.dataset)
    found = [
        column
        for column in audited.coded()
        if has_many_levels(column, rows) and not is_identifier(audited, column)
    ]
    if found:
        texts = [f"{column.name} ({len(column.levels)})" for column in found]
        names = tuple(column.name for column in found)
        roles = ("ignore", "group") if len(names) == 1 and is_free(audited, "group") else ("ignore",)
        yield Issue(
            "advice",
            f"very many levels for {rows} rows: {listed(texts)}",
            "one-hot makes a column of each; trees find splits on them that hold by chance",
            tuple(with_role(audited, role, *names) for role in roles),
            columns=names,
        )


def identifiers(audited: Audited) -> Iterator[Issue]:
    """Features that name the row or what it is about: a model that learns them by heart knows nothing."""
    rows = len(audited.dataset)
    for column in audited.features() if rows >= FEWEST_ROWS else ():
        if not is_identifier(audited, column):
            continue
        distinct = len(np.unique(audited.present(column)))
        again = distinct < rows
        roles = ["group", "id"] if again and is_free(audited, "group") else ["id"]
        repairs = [with_role(audited, role, column.name) for role in roles]
        why = "; a value that stands in several rows may name one patient, customer or device" if again else ""
        yield Issue(
            "grave",
            f"column '{column.name}' looks like an identifier, and is a feature",
            f"{distinct} distinct values in {rows} rows{why}",
            tuple(repairs),
            columns=(column.name,),
        )


def given_parts(audited: Audited) -> Iterator[Issue]:
    """A column that says which part or fold a row is in, and is used as a feature, or not at all."""
    cells = audited.dataset.table.cells
    for column in audited.features():
        if not (has_levels_of_parts(column) or looks_like_parts(column, cells(column.name))):
            continue
        yield Issue(
            "warning",
            f"column '{column.name}' seems to say which part each row is in, and is a feature",
            f"its values are {listed(column.levels)}" if column.coded else "it numbers folds",
            (
                *(
                    [with_role(audited, "part", column.name, then="--protocol given")]
                    if is_free(audited, "part")
                    else []
                ),
                with_role(audited, "ignore", column.name),
            ),
            columns=(column.name,),
        )
    part = audited.schema.the("part")
    if part is not None and audited.protocol is not None and audited.protocol.use != "given":
        yield Issue(
            "advice",
            f"column '{part.name}' says which part each row is in, and {audited.protocol.use} does not look at it",
            repairs=(Repair("option", "--protocol given"), Repair("experiment", "protocol: given")),
            columns=(part.name,),
        )


def is_identifier(audited: Audited, column: Column) -> bool:
    """By its name and mostly distinct whole numbers or levels; by numbering the rows one after another."""
    cells = audited.present(column)
    if len(cells) < FEWEST_ROWS or (not column.coded and (cells != np.floor(cells)).any()):
        return False
    distinct = len(np.unique(cells))
    if ID_NAME.fullmatch(column.name):
        return distinct >= MOSTLY_DISTINCT * len(cells)
    return not column.coded and distinct == len(audited.dataset) and bool((np.abs(np.diff(cells)) == 1).all())
