"""Which column is the target, where nobody says it: by its name, then by what it holds and where it stands."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mlcli.data.columns import TypedColumn


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
ROWS_PER_CLASS = 2
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
    sides = {name: -place if by_name[name] else place for place, name in enumerate(names)}
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
