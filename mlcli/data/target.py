"""Which column is the target, guessed by names and cells if none is named, and whether it fits the task."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from mlcli.core.errors import DataError, Problem
from mlcli.core.names import counted, did_you_mean, listed
from mlcli.data.columns import (
    SEEMS_MISSING,
    SHOWN_VALUES,
    WRITE_PLAINLY,
    TypedColumn,
    not_numbers,
    present,
    retyped,
)
from mlcli.data.records import Records
from mlcli.data.sidecar import Sidecar
from mlcli.data.source import as_numbers, decorated_among, is_number
from mlcli.tasks.table import Kind, kind_named, marked_by

CLASSES_AT_MOST = 10
"""Up to this many distinct whole numbers may be classes."""
ROWS_PER_CLASS = 2
FEW_GAPS = 0.2
"""A target of numbers stays numeric if at most this share of its cells are words."""


@dataclass(frozen=True, eq=False)
class ChosenTarget:
    """The target in the kind that its task needs, and what was guessed."""

    target: TypedColumn
    guessed: str = ""
    notes: tuple[str, ...] = ()
    doubt: str = ""
    """Why another column may be meant."""


def marked_task(roles: Iterable[str], target: TypedColumn | None) -> str | None:
    """The task that the roles of columns imply, if the target, or its absence, fits it."""
    kind = marked_by(roles)
    if kind is None:
        return None
    fits = kind.target == "none" if target is None else target.column.kind in kind.target_kinds
    return kind.name if fits else None


def requested_or_stated_task(
    target: str | None, requested: str | None, sidecar: Sidecar, records: Records
) -> str | None:
    """The requested task, or the one that the sidecar states for this target."""
    if requested is None:
        is_stated_target = target is not None and sidecar.target in (None, target)
        return sidecar.task if is_stated_target or not needs_target(sidecar.task) else None
    if target is None and needs_target(requested):
        hint = "name a column with --target, or in the sidecar"
        raise DataError(f"{requested} needs a target, and the sidecar says: none", where=records.name, hint=hint)
    return requested


def needs_target(task: str | None) -> bool:
    """Whether a task needs a target; an unknown task does."""
    return task is None or kind_named(task).target == "needed"


def has_no_target(task: str | None) -> bool:
    """Whether a task has no use for a target."""
    return task is not None and kind_named(task).target == "none"


def choose_target(target: TypedColumn, task: str | None, records: Records, sidecar: Sidecar) -> ChosenTarget:
    """The target in a kind that the task can learn; without a task, a few whole numbers are taken as classes."""
    target, notes = _with_gaps(target, records, sidecar)
    if task is not None:
        chosen = _for_kind(target, kind_named(task), records, sidecar)
    elif not target.declared:
        _refuse_odd_numbers(target, records, sidecar)
        chosen = ChosenTarget(target)
        if _are_classes(target, records):
            changed = _as_levels(target, records, sidecar)
            guessed = f"{len(changed.column.levels)} whole numbers only"
            note = (
                f"the target '{target.column.name}' holds {guessed}, so this was taken as "
                "classification; to predict the number, say --task regression"
            )
            chosen = ChosenTarget(changed, guessed, (note,))
    else:
        chosen = ChosenTarget(target)
    arranged, doubt = chosen.target, ""
    if sidecar.positive is not None and not (task is not None and kind_named(task).has_positive_class):
        arranged = _with_positive_last(arranged, sidecar.positive, records)
    column, rows, classes = arranged.column, len(arranged.cells), len(arranged.column.levels)
    is_crowded = classes > 100 or (rows >= 100 and rows < ROWS_PER_CLASS * classes)
    notes += chosen.notes
    if column.coded and is_crowded and not arranged.declared:
        doubt = f"the target '{column.name}' has {classes:,} classes in {rows:,} rows"
        notes += (f"{doubt}: is it the one that you mean? To choose another, say --target COLUMN",)
    return replace(chosen, target=arranged, notes=notes, doubt=doubt)


def _with_gaps(target: TypedColumn, records: Records, sidecar: Sidecar) -> tuple[TypedColumn, tuple[str, ...]]:
    """A target of numbers but for a few words that mean missing as numbers with gaps, and a note on it."""
    column = target.column
    words = [level for level in column.levels if not is_number(level)] if not target.declared else []
    if not words or len(words) == len(column.levels) or any(word.lower() not in SEEMS_MISSING for word in words):
        return target, ()
    gaps = int(np.isin(target.cells, [column.levels.index(word) for word in words]).sum())
    if gaps > FEW_GAPS * len(target.cells):
        return target, ()
    declaration = sidecar.of(column.name)
    declaration = replace(declaration, missing=(*declaration.missing, *words))
    changed, _ = retyped(records.column(column.name), declaration, "numeric", records)
    shown = " and ".join(f"'{word}'" for word in words)
    note = (
        f"{shown} in {counted(gaps, 'cell')} of the target '{column.name}' is taken as missing, since all others "
        f"are numbers; where it is a class, say columns: {{{column.name}: nominal}} in the sidecar"
    )
    return replace(changed, why=f"every cell is a number but for {shown}"), (note,)


def _with_positive_last(target: TypedColumn, positive: str, records: Records) -> TypedColumn:
    """The target with the positive class last, where threshold curves, decisions and fairness look for it."""
    levels = target.column.levels
    if not target.column.coded:
        what = f"'{target.column.name}' is a number, and has no positive class"
        hint = "leave out the positive class, or say --task classification"
        raise DataError(what, where=records.name, hint=hint)
    if positive not in levels:
        what = f"'{positive}', the positive class, is no level of '{target.column.name}'"
        raise DataError(what, where=records.name, hint=did_you_mean(positive, levels, "levels"))
    order = (*(level for level in levels if level != positive), positive)
    codes = np.array([order.index(level) for level in levels], np.int32)
    cells = np.where(target.cells < 0, target.cells, codes[target.cells.astype(np.int32)]).astype(np.int32)
    return replace(target, column=replace(target.column, levels=order), cells=cells)


def _refuse_odd_numbers(target: TypedColumn, records: Records, sidecar: Sidecar) -> None:
    """Refuse text that was meant as numbers, such as prices: they make no sense as classes."""
    name = target.column.name
    if target.column.coded and (example := decorated_among(target.column.levels)) is not None:
        what = f"the target '{name}' holds numbers that can only be read as text, such as '{example[:40]}'"
        hint = f"{WRITE_PLAINLY}; or choose another target with --target COLUMN, or say --task classification"
        raise DataError(what, where=records.name, hint=hint)
    if cells := _odd_cells(target, records, sidecar):
        what = f"the target '{name}' holds numbers but for the cells below"
        hint = "where they are classes, say --task classification"
        raise DataError(Problem(what, where=records.name, hint=hint), *cells)


def _odd_cells(target: TypedColumn, records: Records, sidecar: Sidecar) -> list[Problem]:
    """The few cells that keep a nominal target from being numeric, if that is so."""
    if target.declared or not target.column.coded:
        return []
    text, declaration = records.column(target.column.name), sidecar.of(target.column.name)
    values = present(text, declaration)
    words = not_numbers(values, records.delimiter)
    counts = text.count_of
    few = len(words) <= SHOWN_VALUES and sum(counts[word] for word in words) <= FEW_GAPS * len(target.cells)
    if not few or len(values) - len(words) <= CLASSES_AT_MOST:
        return []
    return retyped(text, declaration, "numeric", records)[1]


def _for_kind(target: TypedColumn, kind: Kind, records: Records, sidecar: Sidecar) -> ChosenTarget:
    """The target in the kind of column that a kind of task needs."""
    column = target.column
    if kind.has_positive_class:
        return _with_anomaly_last(target, records, sidecar)
    if column.kind in kind.target_kinds or kind.target == "judges":
        return ChosenTarget(target)
    needed = kind.target_kinds[0]
    changed, problems = retyped(records.column(column.name), sidecar.of(column.name), needed, records)
    if problems:
        if cells := _odd_cells(target, records, sidecar):
            raise DataError(*cells)
        what = (
            f"{kind.name} needs a {needed} target, and '{column.name}' is {column.kind}: {listed(column.levels)}"
        )
        numeric = (
            other.name
            for other in records.columns
            if other.name != column.name
            and len(other.values) > CLASSES_AT_MOST
            and as_numbers([text for text in other.values if text]) is not None
        )
        hint = f"leave out the task, or choose another target with --target {next(numeric, 'COLUMN')}"
        raise DataError(Problem(what, where=records.name, hint=hint), *problems[:1])
    changed = replace(changed, why=target.why)
    note = f"the target '{column.name}' is {column.kind}, and was taken as {needed} for {kind.name}"
    if changed.column.coded:
        note += f": {len(changed.column.levels)} classes"
    return ChosenTarget(changed, f"for {kind.name}", (note,))


def _are_classes(target: TypedColumn, records: Records) -> bool:
    """Whether a numeric target holds a few distinct whole numbers, each spelt in one way and in several rows."""
    if target.column.coded:
        return False
    values, counts = np.unique(target.cells[~np.isnan(target.cells)], return_counts=True)
    few = 2 <= len(values) <= CLASSES_AT_MOST and bool((counts >= ROWS_PER_CLASS).all())
    if not few or (values != np.floor(values)).any():
        return False
    text = records.column(target.column.name)
    first_rows = np.unique(text.which, return_index=True)[1]
    spellings = len(text.values) - int(np.isnan(target.cells[first_rows]).sum())
    return spellings == len(values)


def _as_levels(target: TypedColumn, records: Records, sidecar: Sidecar) -> TypedColumn:
    """A target of numbers as levels."""
    name = target.column.name
    changed, _ = retyped(records.column(name), sidecar.of(name), "nominal", records)
    return replace(changed, why=target.why)


def _with_anomaly_last(target: TypedColumn, records: Records, sidecar: Sidecar) -> ChosenTarget:
    """The target with two levels, normal and anomaly, and a note on which level was taken as the anomaly.

    If it has more levels and none is declared to be the anomaly, it stays as it is and is not scored.
    """
    typed = target if target.column.coded else _as_levels(target, records, sidecar)
    name, levels, anomalies = target.column.name, typed.column.levels, sidecar.anomaly
    may_be_absent = sidecar.anomaly_may_be_absent
    unknown = [level for level in anomalies if not _is_among(level, levels)]
    if unknown and len(levels) > 1 and not may_be_absent:
        hint = did_you_mean(unknown[0], levels, "levels")
        what = f"'{unknown[0]}', the anomaly in the sidecar, is no level of '{name}'"
        raise DataError(what, where=str(sidecar.path or records.name), hint=hint)
    notes: tuple[str, ...] = ()
    if anomalies and len(unknown) == len(anomalies):
        notes = (f"no row is an anomaly ({listed(anomalies)})",)
    elif not anomalies and len(levels) != 2:
        note = (
            f"the target '{name}' has {len(levels)} levels ({listed(levels)}) and none is said to be the "
            "anomaly, so no score uses it; --positive LEVEL, or 'anomaly: LEVEL' in the sidecar, says which is"
        )
        return ChosenTarget(target, notes=(note,))
    elif not anomalies:
        counts = np.bincount(typed.cells[typed.cells >= 0].astype(np.int32), minlength=2)
        anomalies, may_be_absent = (levels[0 if counts[0] < counts[1] else 1],), False
        choose = "to choose another, say --positive LEVEL, or write 'anomaly: LEVEL' in the sidecar"
        notes = (f"'{anomalies[0]}' is taken as the anomaly, being the rarer level; {choose}",)
    odd = np.array([_is_among(level, anomalies) for level in levels], bool)
    normal = [level for level, is_odd in zip(levels, odd, strict=True) if not is_odd]
    if not normal and not may_be_absent:
        raise DataError(f"every level of '{name}' is said to be an anomaly")
    names = (normal[0] if len(normal) == 1 else "any other", " or ".join(anomalies))
    cells = np.where(typed.cells < 0, typed.cells, odd[typed.cells.astype(np.int32)]).astype(np.int32)
    arranged = replace(typed, column=replace(typed.column, kind="nominal", levels=names), cells=cells)
    return ChosenTarget(arranged, notes=notes)


def _is_among(level: str, others: Sequence[str]) -> bool:
    """Whether a level is one of the others, as text or as a number (1 and 1.0)."""
    if level in others:
        return True
    return is_number(level) and any(is_number(other) and float(other) == float(level) for other in others)


CERTAIN = "class target label labels outcome response y output truth goal dependent groundtruth y_true"
"""What people call a target and nothing else."""
LIKELY = """species diagnosis survived churn churned exited left attrition default defaulted fraud spam approved
    purchased clicked converted subscribed canceled cancelled readmitted died death mortality deceased quality mpg
    medv yield satisfaction house_value sentiment digit play choice decision risk hired released admit admitted
    progression potability winner result strength life_expectancy life_exp loan_status personal_loan"""
"""What is predicted in most tables that have it."""
AMOUNTS = """income salary price cost charges expenses sales revenue profit demand rating consumption
    emissions tip deposit fare category"""
"""What is predicted in many tables, and known beforehand in others."""
POSSIBLE = """type status score grade level value count cnt total amount rate variety kind mode stress disease
    stroke diabetes cancer"""
"""What is predicted in some tables that have it."""
NAMES = tuple(
    (frozenset(words.split()), scores)
    for words, scores in (
        (CERTAIN, (10.0, 5.0, 4.0)),
        (LIKELY, (8.0, 5.0, 3.0)),
        ("price", (5.5, 5.5, 3.0)),
        (AMOUNTS, (5.5, 3.0, 3.0)),
        (POSSIBLE, (3.0, 2.0, 0.0)),
    )
)
"""The score of a name that is such a word, or that ends or begins with one."""
NEVER = """split fold partition set index row rownames date dates time datetime timestamp day month year hour week
    weekday quarter easting northing coordinate coordinates name firstname lastname surname url phone email
    address"""
"""Roles that are never targets: parts, times, places and names of things."""
NEVER_AT_THE_END = """id ids uuid guid date lat latitude lattitude lon lng long longitude longtitude zip zipcode
    postcode"""
"""Last words of names of columns that are hardly targets: keys, days, coordinates."""
LAST = 4.0
"""The score of the last column."""
SHOWN = 2
"""The number of other columns that are named if there is a doubt."""


@dataclass(frozen=True)
class TargetGuess:
    """The column that is taken as the target, why, and which others may be meant."""

    name: str
    why: str
    others: tuple[str, ...] = ()
    """Empty if there is no doubt."""

    @property
    def note(self) -> str:
        """The note for the user."""
        guess = f"the target was guessed: '{self.name}', {self.why}"
        if not self.others:
            return f"{guess}; to choose another, say --target COLUMN"
        others = " or ".join(f"'{other}'" for other in self.others)
        return f"{guess}, which is in doubt: {others} may be meant; to choose, say --target COLUMN"


def guessed_target(
    columns: Mapping[str, TypedColumn], free: Sequence[str], kinds: Collection[str] = ()
) -> TargetGuess:
    """The likeliest of the ``free`` columns; ``kinds`` are the kinds of column that the task learns, if known."""
    names = [name for name in free if not _is_never(name, columns)] or list(free) or list(columns)
    few = [name for name in names if _has_few_classes(columns[name])]
    only = few[0] if len(few) == 1 and len(names) > SHOWN else ""
    name_scores = {name: _score_of_name(name) for name in names}
    scores = {}
    for name in names:
        scores[name] = name_scores[name]
        if name == names[-1]:
            scores[name] += LAST
        if name in few:
            scores[name] += 2.0 if len(columns[name].column.levels) == 2 else 1.0
        if name == only and _stands_apart(name, names, columns):
            scores[name] += LAST + 2.0
        if kinds and columns[name].column.kind not in kinds:
            scores[name] -= 6.0
    # Ties: of columns with a likely name the first wins, else the last.
    tie_order = {name: -index if name_scores[name] else index for index, name in enumerate(names)}
    best, *others = sorted(names, key=lambda name: (scores[name], tie_order[name]), reverse=True)[: SHOWN + 1]
    if name_scores[best]:
        rival = max((name_scores[name] for name in names if name != best), default=0.0)
    else:
        rival = float(len(few) > 1)
    is_clear = scores[best] >= 5.0 and name_scores[best] >= rival
    is_clear = is_clear and (not others or scores[best] - scores[others[0]] >= 1.5)
    if name_scores[best] >= LAST:
        why = "by its name"
    elif best == list(columns)[-1]:
        why = "the last column"
    elif best == names[-1]:
        why = "the last column that may be one"
    else:
        why = "the only column of a few classes" if best == only else "by its name and place"
    return TargetGuess(best, why, () if is_clear else tuple(others))


def words_of(name: str) -> list[str]:
    """The words of a name in lower case, by any separators; text in brackets is dropped."""
    bare = re.sub(r"\(.*?\)|\[.*?\]", "", name)
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+", bare)]


def _is_never(name: str, columns: Mapping[str, TypedColumn]) -> bool:
    """Whether a column is never a target: by its name, or as the x, y or z of a place with further columns."""
    words = words_of(name)
    if "_".join(words) in NEVER.split() or (words and words[-1] in NEVER_AT_THE_END.split()):
        return True
    axis = name.lower()
    if axis not in ("x", "y", "z"):
        return False
    names = [other.lower() for other in columns]
    coded = {other.lower() for other, typed in columns.items() if typed.column.coded}
    if coded & {axis, "x", "y"} or ("x", "y") not in pairwise(names):
        return False
    return len(names) > 3 if names[-1] == axis else len(names) > 2


def _score_of_name(name: str) -> float:
    words = words_of(name)
    # these words come before or after the name of what is predicted: is_canceled, attrition_flag
    words = [word for word in words if word not in ("is", "has", "was", "did", "flag", "event")] or words
    if not words:
        return 0.0
    spellings = {"_".join(words), "".join(words), "_".join(words[-2:])}
    is_numbered = re.fullmatch(r"(y|target|label|class)_?[0-9]+", name.lower()) is not None
    for targets, (as_name, as_last, as_first) in NAMES:
        if spellings & targets:
            return as_name
        if is_numbered or words[-1] in targets:
            return as_last
        if words[0] in targets and as_first:
            return as_first
    return 0.0


def _has_few_classes(typed: TypedColumn) -> bool:
    """Whether a column holds 2 to 100 levels, each in several rows."""
    if not typed.column.coded or not 2 <= len(typed.column.levels) <= 100:
        return False
    codes = typed.cells[typed.cells >= 0].astype(np.int32)
    return bool((np.bincount(codes, minlength=len(typed.column.levels)) >= ROWS_PER_CLASS).all())


def _stands_apart(name: str, names: Sequence[str], columns: Mapping[str, TypedColumn]) -> bool:
    """Whether a column is the first of many, and the others are alike: all of whole numbers, or none."""
    if name != next(iter(columns)) or len(names) <= 5:
        return False
    are_whole = set()
    for other in names:
        if other != name:
            cells = columns[other].cells
            are_whole.add(bool((cells == np.floor(cells))[~np.isnan(cells)].all()))
    return len(are_whole) == 1
