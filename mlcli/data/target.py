"""Which column is the target, guessed by names and cells where none is named, and whether it fits the task."""

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
from mlcli.data.number_text import as_numbers, decorated_among, is_number
from mlcli.data.records import Records
from mlcli.data.sidecar import Sidecar
from mlcli.tasks.table import Kind, kind_named, marked_by

CLASSES_AT_MOST = 10
ROWS_PER_CLASS = 2
MANY_CLASSES = 100
"""A target of more classes, or with few rows in each of fewer, is asked about."""
FEW_GAPS = 0.2
"""The share of cells up to which words for missing cells leave a target of numbers numeric."""


@dataclass(frozen=True, eq=False)
class ChosenTarget:
    """A target as its task needs it, with what was guessed on the way."""

    target: TypedColumn
    guessed: str = ""
    notes: tuple[str, ...] = ()
    doubt: str = ""
    """Why it may be another column that is meant."""


def marked_task(roles: Iterable[str], target: TypedColumn | None) -> str | None:
    """The task that the roles of columns leave no choice about, where the target, or its absence, can serve it."""
    kind = marked_by(roles)
    if kind is None:
        return None
    fits = kind.target == "none" if target is None else target.column.kind in kind.target_kinds
    return kind.name if fits else None


def wanted_task(target: str | None, asked: str | None, sidecar: Sidecar, records: Records) -> str | None:
    """The task that the user asks for, or that the sidecar states for this target."""
    if asked is None:
        own = target is not None and sidecar.target in (None, target)
        return sidecar.task if own or not needs_target(sidecar.task) else None
    if target is None and needs_target(asked):
        hint = "name a column with --target, or in the sidecar"
        raise DataError(f"{asked} needs a target, and the sidecar says: none", where=records.name, hint=hint)
    return asked


def needs_target(task: str | None) -> bool:
    """Whether a target is learned; it is where nothing is said of the task."""
    return task is None or kind_named(task).target == "needed"


def has_no_target(task: str | None) -> bool:
    """Whether what would be the target is a column like the others."""
    return task is not None and kind_named(task).target == "none"


def choose_target(target: TypedColumn, task: str | None, records: Records, sidecar: Sidecar) -> ChosenTarget:
    """The target in a kind that the task can learn; without a task, a few whole numbers are taken as classes."""
    target, notes = _with_gaps(target, records, sidecar)
    chosen = _in_its_kind(target, task, records, sidecar)
    by_anomaly = task is not None and kind_named(task).has_positive_class
    arranged = chosen.target
    if sidecar.positive is not None and not by_anomaly:
        arranged = _positive_last(arranged, sidecar.positive, records)
    doubt = "" if arranged.declared else _too_many_classes(arranged)
    doubts = (f"{doubt}: is it the one that you mean? To choose another, say --target COLUMN",) if doubt else ()
    return replace(chosen, target=arranged, notes=(*notes, *chosen.notes, *doubts), doubt=doubt)


def _in_its_kind(target: TypedColumn, task: str | None, records: Records, sidecar: Sidecar) -> ChosenTarget:
    if task is not None:
        return _for_kind(target, kind_named(task), records, sidecar)
    if not target.declared:
        _refuse_decorated(target, records)
        if cells := _cells_among_numbers(target, records, sidecar):
            what = f"the target '{target.column.name}' holds numbers but for the cells below"
            hint = "where they are classes, say --task classification"
            raise DataError(Problem(what, where=records.name, hint=hint), *cells)
    if not target.declared and _looks_like_classes(target, records):
        return _as_classes(target, records, sidecar)
    return ChosenTarget(target)


def _with_gaps(target: TypedColumn, records: Records, sidecar: Sidecar) -> tuple[TypedColumn, tuple[str, ...]]:
    """A target of numbers but for a few words that mean missing, as numbers with gaps, and what is to be said."""
    column = target.column
    words = [level for level in column.levels if not is_number(level)] if not target.declared else []
    if not words or len(words) == len(column.levels) or any(word.lower() not in SEEMS_MISSING for word in words):
        return target, ()
    empty = int(np.isin(target.cells, [column.levels.index(word) for word in words]).sum())
    if empty > FEW_GAPS * len(target.cells):
        return target, ()
    declaration = sidecar.of(column.name)
    declaration = replace(declaration, missing=(*declaration.missing, *words))
    changed, _ = retyped(records.column(column.name), declaration, "numeric", records)
    shown = " and ".join(f"'{word}'" for word in words)
    note = (
        f"{shown} in {counted(empty, 'cell')} of the target '{column.name}' is taken as missing, since all others "
        f"are numbers; where it is a class, say columns: {{{column.name}: nominal}} in the sidecar"
    )
    return replace(changed, why=f"every cell is a number but for {shown}"), (note,)


def _too_many_classes(target: TypedColumn) -> str:
    """That a target has so many classes that few people would predict them."""
    column, rows = target.column, len(target.cells)
    classes = len(column.levels)
    many = classes > MANY_CLASSES or (rows >= MANY_CLASSES and rows < ROWS_PER_CLASS * classes)
    return f"the target '{column.name}' has {classes:,} classes in {rows:,} rows" if column.coded and many else ""


def _positive_last(target: TypedColumn, positive: str, records: Records) -> TypedColumn:
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
    cells = np.where(target.cells < 0, target.cells, codes[target.cells]).astype(np.int32)
    return replace(target, column=replace(target.column, levels=order), cells=cells)


def _refuse_decorated(target: TypedColumn, records: Records) -> None:
    """Prices as classes, one for each row, are what nobody meant."""
    example = decorated_among(target.column.levels) if target.column.coded else None
    if example is not None:
        name = target.column.name
        what = f"the target '{name}' holds numbers that can only be read as text, such as '{example[:40]}'"
        hint = f"{WRITE_PLAINLY}; or choose another target with --target COLUMN, or say --task classification"
        raise DataError(what, where=records.name, hint=hint)


def _cells_among_numbers(target: TypedColumn, records: Records, sidecar: Sidecar) -> list[Problem]:
    """What is wrong with the few cells that make a target of numbers one of levels; nothing where it is none."""
    name = target.column.name
    text, declaration = records.column(name), sidecar.of(name)
    if target.declared or not target.column.coded:
        return []
    values = present(text, declaration)
    words = not_numbers(values, records.delimiter)
    counts = dict(zip(text.values, text.counts.tolist(), strict=True))
    few = len(words) <= SHOWN_VALUES and sum(counts[word] for word in words) <= FEW_GAPS * len(target.cells)
    if not few or len(values) - len(words) <= CLASSES_AT_MOST:
        return []
    return retyped(text, declaration, "numeric", records)[1]


def _for_kind(target: TypedColumn, kind: Kind, records: Records, sidecar: Sidecar) -> ChosenTarget:
    column = target.column
    if kind.has_positive_class:
        arranged, note = positive_class(target, records, sidecar)
        return ChosenTarget(arranged, notes=(note,) if note else ())
    if column.kind in kind.target_kinds or kind.target == "judges":
        return ChosenTarget(target)
    needed = kind.target_kinds[0]
    changed, problems = retyped(records.column(column.name), sidecar.of(column.name), needed, records)
    if cells := _cells_among_numbers(target, records, sidecar) if problems else []:
        raise DataError(*cells)
    if problems:
        what = (
            f"{kind.name} needs a {needed} target, and '{column.name}' is {column.kind}: {listed(column.levels)}"
        )
        hint = (
            f"leave out the task, or choose another target with --target {_numeric_column(records, column.name)}"
        )
        raise DataError(Problem(what, where=records.name, hint=hint), *problems[:1])
    changed = replace(changed, why=target.why)
    note = f"the target '{column.name}' is {column.kind}, and was taken as {needed} for {kind.name}"
    if changed.column.coded:
        note += f": {len(changed.column.levels)} classes"
    return ChosenTarget(changed, f"for {kind.name}", (note,))


def _numeric_column(records: Records, target: str) -> str:
    """A column that could be a target of numbers."""
    others = (
        column for column in records.columns if column.name != target and len(column.values) > CLASSES_AT_MOST
    )
    numeric = (other.name for other in others if as_numbers([text for text in other.values if text]) is not None)
    return next(numeric, "COLUMN")


def _looks_like_classes(target: TypedColumn, records: Records) -> bool:
    """A few distinct whole numbers, each spelt in one way and standing in several rows."""
    if target.column.coded:
        return False
    present = target.cells[~np.isnan(target.cells)]
    values, counts = np.unique(present, return_counts=True)
    few = 2 <= len(values) <= CLASSES_AT_MOST and bool((counts >= ROWS_PER_CLASS).all())
    if not few or (values != np.floor(values)).any():
        return False
    text = records.column(target.column.name)
    spellings = len(text.values) - int(np.isnan(target.cells[np.unique(text.which, return_index=True)[1]]).sum())
    return spellings == len(values)


def _as_classes(target: TypedColumn, records: Records, sidecar: Sidecar) -> ChosenTarget:
    name, changed = target.column.name, _as_levels(target, records, sidecar)
    classes = len(changed.column.levels)
    note = (
        f"the target '{name}' holds {classes} whole numbers only, so this was taken as classification; "
        f"to predict the number, say --task regression"
    )
    return ChosenTarget(changed, f"{classes} whole numbers only", (note,))


OTHERS = "any other"
"""What the good side is called where it has several levels."""
SAY_IT = "to choose another, say --positive LEVEL, or write 'anomaly: LEVEL' in the sidecar"


def positive_class(target: TypedColumn, records: Records, sidecar: Sidecar) -> tuple[TypedColumn, str]:
    """The target with the good level first and the anomaly last, and a note on how that was settled.

    A target that has more levels, none of them said to be the anomaly, stays as it is and judges nothing.
    """
    typed = target if target.column.coded else _as_levels(target, records, sidecar)
    requested, levels = sidecar.anomaly, typed.column.levels
    unknown = [level for level in requested if not _stands_for(level, levels)]
    if unknown and len(levels) > 1 and not sidecar.anomaly_may_be_absent:
        hint = did_you_mean(unknown[0], levels, "levels")
        what = f"'{unknown[0]}', the anomaly in the sidecar, is no level of '{target.column.name}'"
        raise DataError(what, where=str(sidecar.path or records.name), hint=hint)
    if requested:
        note = "" if len(unknown) < len(requested) else f"no row is an anomaly ({listed(requested)})"
        return _good_and_anomaly(typed, requested, only_anomalies=sidecar.anomaly_may_be_absent), note
    if len(typed.column.levels) != 2:
        return target, _why_not(typed)
    rarer = _rarer(typed)
    note = f"'{rarer}' is taken as the anomaly, being the rarer level; {SAY_IT}"
    return _good_and_anomaly(typed, (rarer,)), note


def _as_levels(target: TypedColumn, records: Records, sidecar: Sidecar) -> TypedColumn:
    """Numbers as levels: 0 and 1 are labels, too."""
    name = target.column.name
    changed, _ = retyped(records.column(name), sidecar.of(name), "nominal", records)
    return replace(changed, why=target.why)


def _rarer(typed: TypedColumn) -> str:
    """The level that fewer rows have; of equals the last."""
    counts = np.bincount(typed.cells[typed.cells >= 0], minlength=2)
    return typed.column.levels[0 if counts[0] < counts[1] else 1]


def _stands_for(level: str, others: Sequence[str]) -> bool:
    """Whether a level is one of the others, as text or as a number (1 and 1.0)."""
    same_number = (is_number(other) and float(other) == float(level) for other in others)
    return level in others or (is_number(level) and any(same_number))


def _good_and_anomaly(
    typed: TypedColumn, anomalies: tuple[str, ...], *, only_anomalies: bool = False
) -> TypedColumn:
    """The same cells with two levels; a file of ``only_anomalies`` is refused unless it may be one."""
    odd = np.array([_stands_for(level, anomalies) for level in typed.column.levels], bool)
    good = [level for level, is_odd in zip(typed.column.levels, odd, strict=True) if not is_odd]
    if not good and not only_anomalies:
        raise DataError(f"every level of '{typed.column.name}' is said to be an anomaly")
    names = (good[0] if len(good) == 1 else OTHERS, " or ".join(anomalies))
    cells = np.where(typed.cells < 0, typed.cells, odd[typed.cells]).astype(np.int32)
    return replace(typed, column=replace(typed.column, kind="nominal", levels=names), cells=cells)


def _why_not(typed: TypedColumn) -> str:
    levels = typed.column.levels
    return (
        f"the target '{typed.column.name}' has {len(levels)} levels ({listed(levels)}) and none is said to be the "
        "anomaly, so it judges nothing; --positive LEVEL, or 'anomaly: LEVEL' in the sidecar, says which is"
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CERTAIN = _words("class target label labels outcome response y output truth goal dependent groundtruth y_true")
"""What people call a target and nothing else."""
LIKELY = _words(
    """species diagnosis survived churn churned exited left attrition default defaulted fraud spam approved
    purchased clicked converted subscribed canceled cancelled readmitted died death mortality deceased quality mpg
    medv yield satisfaction house_value sentiment digit play choice decision risk hired released admit admitted
    progression potability winner result strength life_expectancy life_exp loan_status personal_loan"""
)
"""What is predicted in most tables that have it."""
AMOUNTS = _words(
    """income salary price cost charges expenses sales revenue profit demand rating consumption
    emissions tip deposit fare category"""
)
"""What is predicted in many tables, and known beforehand in others."""
POSSIBLE = _words(
    """type status score grade level value count cnt total amount rate variety kind mode stress disease stroke
    diabetes cancer"""
)
"""What is predicted in some tables that have it."""
NEVER = _words(
    """split fold partition set index row rownames date dates time datetime timestamp day month year hour week
    weekday quarter easting northing coordinate coordinates name firstname lastname surname url phone email
    address"""
)
"""What nobody predicts: parts, times, places and names of things."""
NEVER_AT_THE_END = _words(
    "id ids uuid guid date lat latitude lattitude lon lng long longitude longtitude zip zipcode postcode"
)
"""What nobody predicts, whatever stands before it: keys, days, coordinates."""
ROUND_A_NAME = _words("is has was did flag event")
"""What stands before or behind what is predicted: is_canceled, attrition_flag."""
NAMED = (
    (CERTAIN, (10.0, 5.0, 4.0)),
    (LIKELY, (8.0, 5.0, 3.0)),
    (frozenset({"price"}), (5.5, 5.5, 3.0)),
    (AMOUNTS, (5.5, 3.0, 3.0)),
    (POSSIBLE, (3.0, 2.0, 0.0)),
)
"""What a name is worth that is such a word, or ends or begins with one."""
LAST, TWO_CLASSES, FEW_CLASSES, ALONE, UNLIKE_KIND = 4.0, 2.0, 1.0, 2.0, -6.0
"""What it is worth to stand last, to hold two or a few classes, as no other does, to be of another kind."""
CLEAR, AHEAD = 5.0, 1.5
"""A guess is in no doubt from so much on, where it is so far ahead of the others."""
TWO = 2
CLASSES = range(TWO, 101)
MANY_ALIKE = 5
"""More columns than these, all of whole numbers or none, are of one sort; the one beside them is the target."""
SHOWN = 2
"""So many others are named where there is a doubt."""
BRACKETS = re.compile(r"\(.*?\)|\[.*?\]")
WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")


@dataclass(frozen=True)
class TargetGuess:
    """The column that is taken as the target, why, and which others may be meant."""

    name: str
    why: str
    others: tuple[str, ...] = ()
    """Empty where there is no doubt."""

    @property
    def note(self) -> str:
        """What the user is told."""
        taken = f"the target was guessed: '{self.name}', {self.why}"
        if not self.others:
            return f"{taken}; to choose another, say --target COLUMN"
        others = " or ".join(f"'{other}'" for other in self.others)
        return f"{taken}, which is in doubt: {others} may be meant; to choose, say --target COLUMN"


def guessed_target(
    columns: Mapping[str, TypedColumn], free: Sequence[str], kinds: Collection[str] = ()
) -> TargetGuess:
    """The likeliest of the columns that are ``free``; ``kinds`` can be learned, where that is known."""
    names = [name for name in free if not _is_never(name, columns)] or list(free) or list(columns)
    few = [name for name in names if _has_few_classes(columns[name])]
    alone = few[0] if len(few) == 1 and len(names) > SHOWN else ""
    by_name = {name: _worth_of_name(name, columns) for name in names}
    worth = {
        name: by_name[name]
        + LAST * (name == names[-1])
        + (TWO_CLASSES if len(columns[name].column.levels) == TWO else FEW_CLASSES) * (name in few)
        + _alone(name, alone, names, columns)
        + UNLIKE_KIND * bool(kinds and columns[name].column.kind not in kinds)
        for name in names
    }
    # Of two that are worth as much, names make the first likelier, and places the last.
    sides = {name: -index if by_name[name] else index for index, name in enumerate(names)}
    order = sorted(names, key=lambda name: (worth[name], sides[name]), reverse=True)
    best, others = order[0], order[1 : SHOWN + 1]
    rivals = max((by_name[name] for name in names if name != best), default=0.0) if by_name[best] else len(few) > 1
    clear = worth[best] >= CLEAR and by_name[best] >= rivals
    clear = clear and (not others or worth[best] - worth[others[0]] >= AHEAD)
    why = _why(best, by_name[best], best == alone, names, columns)
    return TargetGuess(best, why, () if clear else tuple(others))


def words_of(name: str) -> list[str]:
    """The words of a name in small letters, whatever stands between them; without what is in brackets."""
    return [word.lower() for word in WORDS.findall(BRACKETS.sub("", name))]


def _is_never(name: str, columns: Mapping[str, TypedColumn]) -> bool:
    words = words_of(name)
    return _is_coordinate(name, columns) or "_".join(words) in NEVER or bool(NEVER_AT_THE_END & set(words[-1:]))


def _is_coordinate(name: str, columns: Mapping[str, TypedColumn]) -> bool:
    """Whether a column is x or y (or z) of a place, in numbers, of which further columns say something."""
    if name.lower() not in ("x", "y", "z"):
        return False
    known = [other.lower() for other in columns]
    levels = {other.lower() for other, typed in columns.items() if typed.column.coded}
    if levels & {name.lower(), "x", "y"}:
        return False
    if not any(pair == ("x", "y") for pair in pairwise(known)):
        return False
    is_last = known[-1] == name.lower()
    return len(known) > 3 if is_last else len(known) > 2


def _worth_of_name(name: str, columns: Mapping[str, TypedColumn]) -> float:
    words = words_of(name)
    words = [word for word in words if word not in ROUND_A_NAME] or words
    if not words:
        return 0.0
    whole = "_".join(words)
    counted = re.fullmatch(r"(y|target|label|class)_?[0-9]+", name.lower()) is not None
    for known, (as_whole, as_last, as_first) in NAMED:
        if whole in known or "".join(words) in known or "_".join(words[-2:]) in known:
            return as_whole
        if counted or words[-1] in known:
            return as_last
        if words[0] in known and as_first:
            return as_first
    return 0.0


def _has_few_classes(typed: TypedColumn) -> bool:
    """Whether a column holds levels, each of which stands in several rows."""
    if not typed.column.coded or len(typed.column.levels) not in CLASSES:
        return False
    counts = np.bincount(typed.cells[typed.cells >= 0], minlength=len(typed.column.levels))
    return bool((counts >= ROWS_PER_CLASS).all())


def _alone(name: str, alone: str, names: Sequence[str], columns: Mapping[str, TypedColumn]) -> float:
    """What the only column of classes is worth at an end, where the last is a number like the others."""
    if name != alone:
        return 0.0
    rest = {_whole(columns[other]) for other in names if other != name}
    return LAST + ALONE if name == next(iter(columns)) and len(rest) == 1 and len(names) > MANY_ALIKE else 0.0


def _whole(typed: TypedColumn) -> bool:
    cells = typed.cells[~np.isnan(typed.cells)] if not typed.column.coded else typed.cells
    return bool((cells == np.floor(cells)).all())


def _why(name: str, by_name: float, alone: bool, names: Sequence[str], columns: Mapping[str, TypedColumn]) -> str:
    if by_name >= LAST:
        return "by its name"
    if name == list(columns)[-1]:
        return "the last column"
    if name == names[-1]:
        return "the last column that may be one"
    return "the only column of a few classes" if alone else "by its name and place"
