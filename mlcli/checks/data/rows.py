"""Rows: repeated, contradicting one another, without a target, or too few."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from mlcli.checks.audited import FEWEST_ROWS, Audited
from mlcli.checks.repairs import by_hand, step, with_role
from mlcli.core.issues import Issue, Repair
from mlcli.core.tables import Codes, Rows, Table
from mlcli.report.numbers import counted

ROWS_PER_FEATURE = 5
MANY_COPIES = 0.01
"""The share of rows from which copies move a score by as much as is worth speaking of."""
BEYOND_CHANCE = 10
"""How many times as many copies as columns that have nothing to do with one another would make by chance."""
NEARLY_ALL_TWICE = 0.45
FINE = 20
"""With fewer values in each column, different cases are often equal."""
MANY_CONTRADICTIONS = 0.05


def duplicates(audited: Audited) -> Iterator[Issue]:
    """Rows that repeat earlier ones, so that a split may put one in training and its twin in the test."""
    if audited.schema.the("count") is not None:  # these copies are cases of their own
        return
    if audited.splitter is not None and audited.splitter.asks_only_learned_rows():
        return
    same = numbered_by_content(audited, with_target=True)
    copies = len(same) - int(same.max(initial=-1)) - 1
    if not copies:
        return
    share, expected = copies / len(same), _copies_by_chance(audited, np.unique(same, return_index=True)[1])
    least = MANY_COPIES if _is_fine(audited) else NEARLY_ALL_TWICE
    many = share >= least and copies > BEYOND_CHANCE * expected
    sentence = "row repeats an earlier one" if copies == 1 else "rows repeat earlier ones"
    what = f"{copies} {sentence}; a split may put one in training and its twin in the test"
    group = "number equal rows alike in a column of their own, and give it the role group: no split parts twins"
    yield Issue(
        "warning" if many else "advice",
        what,
        f"{share:.1%} of the rows, such as {_an_example(same)}{_on_both_sides(audited, same)}; "
        f"were columns independent, chance would make about {expected:.2g}",
        (by_hand("keep one of each, if they are copies and not equal cases"), by_hand(group)),
    )


def _is_fine(audited: Audited) -> bool:
    """Whether some column is measured so finely that equal rows are the same case."""
    return any(len(np.unique(audited.present(column))) >= FINE for column in audited.numeric())


def _an_example(same: Codes) -> str:
    """Two rows that are the same, by their numbers in the file."""
    numbers, counts = np.unique(same, return_counts=True)
    rows = np.flatnonzero(same == numbers[counts > 1][0])
    return f"rows {rows[0] + 1} and {rows[1] + 1}"


def _on_both_sides(audited: Audited, same: Codes) -> str:
    """How many judged rows have a twin among those that are learned from."""
    splits = audited.some_splits
    if not splits or audited.planned is None or len(same) != audited.planned.strata.rows:
        return ""
    judged = sum(len(split.test) for split in splits)
    twins = sum(int(np.isin(same[split.test], same[split.train]).sum()) for split in splits)
    return f"; {twins} of {counted(judged, 'judged row')} have a twin in training"


def contradictions(audited: Audited) -> Iterator[Issue]:
    """Rows that are equal in every feature and differ in the target, which no model can tell apart."""
    target = audited.target
    if target is None or not audited.features():
        return
    if audited.schema.the("weight") or audited.schema.the("count"):  # rows are counted cases, and may well differ
        return
    same = numbered_by_content(audited, with_target=False)
    whole = numbered_by_content(audited, with_target=True)
    variants = np.bincount(np.unique(np.stack([same, whole]), axis=1)[0])
    wrong = int(np.isin(same, np.flatnonzero(variants > 1)).sum())
    if wrong and target.coded:
        best = len(same) - _fewest_wrong(same, whole)
        many = wrong >= MANY_CONTRADICTIONS * len(same)
        yield Issue(
            "advice",
            f"{counted(wrong, 'row')} equal others in every feature and have another {target.name}",
            f"no model can be right about more than {best / len(same):.1%} of these rows",
            (by_hand("look at the labels; a feature that tells these rows apart may be missing"),) if many else (),
        )


def _fewest_wrong(same: Codes, whole: Codes) -> int:
    """How many rows are wrong where every set of equal rows gets its most frequent target."""
    pairs, counts = np.unique(np.stack([same, whole]), axis=1, return_counts=True)
    most = np.zeros(int(same.max()) + 1)
    np.maximum.at(most, pairs[0], counts)
    return int(len(same) - most.sum())


def unlabelled(audited: Audited) -> Iterator[Issue]:
    """Rows without a target."""
    missing = audited.dataset.unlabelled
    if missing and audited.target is not None:
        yield Issue(
            "warning" if missing > len(audited.dataset) / 2 else "advice",
            f"{missing} of {len(audited.dataset)} rows have no target; they judge nothing, "
            "and few methods use them",
            repairs=(Repair("option", "-m self-training"), by_hand("leave them out, or find their targets")),
        )


def few_rows(audited: Audited) -> Iterator[Issue]:
    """Fewer rows than the features call for."""
    rows, features = len(audited.dataset), len(audited.features())
    if features and rows < ROWS_PER_FEATURE * features:
        keep = max(2, rows // 10)
        select = step(audited.example, f"{{use: mutual-information, keep: {min(keep, features)}}}")
        yield Issue(
            "warning",
            f"few rows for so many features: {rows} rows, {features} features",
            f"{rows / features:.1f} rows for each feature; {ROWS_PER_FEATURE} are few",
            (select, by_hand("collect more rows")),
        )
    elif rows < FEWEST_ROWS:
        what = f"only {counted(rows, 'row')}: no score of a model can be told from chance"
        yield Issue("warning", what, repairs=(by_hand("collect more rows"),))


def scattered(audited: Audited) -> Iterator[Issue]:
    """Sequences between whose rows others stand, where no column tells the order."""
    column = audited.schema.the("sequence")
    if column is None or audited.schema.the("order") is not None:
        return
    cells = audited.cells(column)
    if 1 + np.count_nonzero(cells[1:] != cells[:-1]) > len(np.unique(cells)):
        what = f"rows of one '{column.name}' stand apart and no column has the role order"
        repair = with_role(audited.dataset, "order", "COLUMN")
        yield Issue("warning", f"{what}: they are taken as they stand", repairs=(repair,), columns=(column.name,))


def numbered_by_content(audited: Audited, *, with_target: bool) -> Codes:
    """A number for each row, the same for equal rows: by features, target, and whom or what they are about."""
    roles = ["sequence", "order", "user", "item", "group", *(["target"] if with_target else [])]
    places = [audited.schema.the(role) for role in roles]
    names = {column.name for column in (*audited.features(), *places) if column}
    part = audited.dataset.table.select(names)
    if not names:
        return np.arange(len(part), dtype=np.int32)
    _, first, which = np.unique(_hashed(part), return_index=True, return_inverse=True)
    if not all(np.array_equal(cells, cells[first[which]], equal_nan=True) for _, cells in part.parts()):
        first, which = _by_bytes(part)  # two rows that differ have one hash
    return np.argsort(np.argsort(first)).astype(np.int32)[which]


def _hashed(table: Table) -> NDArray[np.uint64]:
    """A number of 64 bits for each row, column by column, so that a large table is not copied."""
    hashed = np.full(len(table), 14695981039346656037, np.uint64)
    for column, cells in table.parts():
        bits = cells.astype(np.int64) if column.coded else np.ascontiguousarray(cells).view(np.int64)
        hashed ^= bits.view(np.uint64)
        hashed *= np.uint64(0x9E3779B97F4A7C15)
        hashed ^= hashed >> np.uint64(29)
    return hashed


def _by_bytes(table: Table) -> tuple[Rows, Rows]:
    """The first row of each content, and which content each row has."""
    content = np.concatenate([table.numbers.view(np.uint8), table.codes.view(np.uint8)], axis=1)
    rows = np.ascontiguousarray(content).view(np.dtype((np.void, content.shape[1]))).ravel()
    _, first, which = np.unique(rows, return_index=True, return_inverse=True)
    return first, which


def _copies_by_chance(audited: Audited, different: Rows) -> float:
    """How many pairs of rows would be equal, were the columns independent; values occur as in rows that differ."""
    chance, columns = 1.0, [*audited.features(), *([audited.target] if audited.target else [])]
    for column in columns:
        _, counts = np.unique(audited.cells(column)[different], return_counts=True, equal_nan=True)
        chance *= float((counts * (counts - 1)).sum()) / max(len(different) * (len(different) - 1), 1)
    rows = len(audited.dataset)
    return rows * (rows - 1) / 2 * chance
