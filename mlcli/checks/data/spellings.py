"""Levels as they are written: in several spellings, formats or capitals, in an order that is not declared."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from mlcli.checks.context import AuditContext, by_hand, declared
from mlcli.core.findings import Issue
from mlcli.core.names import counted, listed
from mlcli.core.schema import Column

STAND_IN_WORDS = ("missing", "unknown", "nil", "none given", "not available", "not known", "tbd", "xxx")
"""Words that may be levels in their own right; others, such as "?", are reported while reading."""
ORDERS = (
    ("very low", "low", "medium", "high", "very high"),
    ("low", "moderate", "high"),
    ("lowest", "low", "middle", "high", "highest"),
    ("tiny", "small", "medium", "large", "huge"),
    ("xs", "s", "m", "l", "xl", "xxl"),
    ("never", "rarely", "sometimes", "often", "always"),
    ("very poor", "poor", "fair", "good", "very good", "excellent"),
    ("very bad", "bad", "average", "good", "very good"),
    ("none", "mild", "moderate", "severe"),
    ("none", "slight", "moderate", "strong"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
    ("very dissatisfied", "dissatisfied", "neutral", "satisfied", "very satisfied"),
    ("first", "second", "third", "fourth", "fifth"),
    ("primary", "secondary", "tertiary"),
    ("cold", "cool", "mild", "warm", "hot"),
    ("young", "middle", "old"),
    ("beginner", "intermediate", "advanced", "expert"),
    ("min", "few", "some", "many", "max"),
)
"""Words that have an order, each list from the lowest."""
RANGE = re.compile(r"(<=?|>=?|under |over )?\s*([0-9]+(?:\.[0-9]+)?)\s*(?:(-|to|–)\s*([0-9]+(?:\.[0-9]+)?)|\+)?")


def differ_in_case(context: AuditContext) -> Iterator[Issue]:
    """Levels that differ in capitals only, classes among them."""
    classes = [context.target] if context.target is not None and context.target.coded else []
    for column in (*context.coded(), *classes):
        for levels in _same_in_form(column, str.casefold):
            what = f"column '{column.name}': the levels {', '.join(levels)} differ in capitals only"
            yield _spelling_issue(context, column, levels, what)


def near_spellings(context: AuditContext) -> Iterator[Issue]:
    """Levels that may be one word in several spellings, such as Muenchen and Munchen."""
    for column in context.coded():
        if len(column.levels) > 300:  # too many pairs to compare
            continue
        same = _same_in_form(column, _plain_form)
        matches = [levels for levels in same if len({level.casefold() for level in levels}) > 1]
        matches += _misspelt_levels(context, column, {level for levels in matches for level in levels})
        for levels in matches:
            what = f"column '{column.name}': {' and '.join(levels)} may be one word in several spellings"
            yield _spelling_issue(context, column, levels, what)


def odd_formats(context: AuditContext) -> Iterator[Issue]:
    """A few cells in another format than nearly all others of their column."""
    for column in context.coded():
        counts = _level_counts(context, column)
        shapes: Counter[str] = Counter()
        for level, count in counts.items():
            shapes[_format_of(level)] += count
        (main, rows), total = (shapes.most_common(1) or [("", 0)])[0], sum(shapes.values())
        levels = [level for level in counts if _format_of(level) != main]
        if "9" in main and len(counts) >= 10 and 0.9 * total <= rows < total:
            usual = next(level for level in counts if _format_of(level) == main)
            yield Issue(
                "warning",
                f"column '{column.name}': not written like the rest: {listed(levels)}",
                f"{rows} of {total} cells are written like '{usual}'",
                (by_hand(f"write them like '{usual}'"),),
                columns=(column.name,),
            )


def words_among_numbers(context: AuditContext) -> Iterator[Issue]:
    """Columns of numbers that were read as levels, since some cells hold a word that means missing, such as NA."""
    for field in context.schema:
        column, words = field.column, context.missing_words_among_numbers.get(field.column.name)
        if words and field.role in ("feature", "ignore"):
            cells = context.present(column)
            count = int(np.isin(cells, [column.levels.index(word) for word in words]).sum())
            yield Issue(
                "warning",
                f"column '{column.name}' holds numbers but for {listed(words)}, and was read as levels",
                f"{listed(words)} in {counted(count, 'row')}, {count / len(context.dataset):.1%} of all",
                (declared(context, {column.name: {"missing": words}}),),
                columns=(column.name,),
            )


def stand_in_words(context: AuditContext) -> Iterator[Issue]:
    """Levels that often stand for a missing value."""
    for column in context.coded():
        for level, count in _level_counts(context, column).items():
            if level.casefold() in STAND_IN_WORDS:
                yield stand_in_issue(context, column, level, count)


def stand_in_issue(context: AuditContext, column: Column, written: str, count: int) -> Issue:
    """A cell that may stand for a missing value."""
    return Issue(
        "warning" if not column.coded else "advice",
        f"column '{column.name}': {written} in {counted(count, 'row')} may stand for a missing value",
        f"{count / len(context.dataset):.1%} of the rows",
        (declared(context, {column.name: {"missing": [written]}}),),
        columns=(column.name,),
    )


def ordered_levels(context: AuditContext) -> Iterator[Issue]:
    """Nominal columns whose levels have an order by their words or numbers."""
    for column in context.coded():
        order = _order_of(column.levels) if column.kind == "nominal" else None
        if order is not None:
            declaration = {"kind": "ordinal", "levels": order}
            yield Issue(
                "advice",
                f"column '{column.name}' is nominal, and its levels seem to have an order",
                f"lowest first: {', '.join(order)}",
                (declared(context, {column.name: declaration}),),
                columns=(column.name,),
            )


def _order_of(levels: Sequence[str]) -> list[str] | None:
    """The levels in their order, where words or ranges of numbers give them one."""
    if len(levels) < 3:
        return None
    plain = {" ".join(re.split(r"[\s_-]+", level.casefold())): level for level in levels}
    for words in ORDERS:
        if len(plain) == len(levels) and plain.keys() <= set(words):
            return [plain[word] for word in words if word in plain]
    ends = [_range_of(level) for level in levels]
    known = [end for end in ends if end is not None]
    if len(known) < len(levels) or len(set(known)) < len(levels):
        return None
    return [level for _, level in sorted(zip(known, levels, strict=True))]


def _range_of(level: str) -> tuple[float, float] | None:
    """The ends of a range of numbers, such as 40-49, <30 or 65+; nothing for a plain number."""
    match = RANGE.fullmatch(level.strip().casefold())
    if match is None or not (match[1] or match[3] or level.strip().endswith("+")):
        return None
    low, high = float(match[2]), float(match[4] or match[2])
    if match[1]:
        return (-np.inf, low) if match[1][0] in "<u" else (low, np.inf)
    return (low, high if match[3] else np.inf)


def _same_in_form(column: Column, plain: Callable[[str], str]) -> list[list[str]]:
    """The levels that are the same in a plainer form; levels of signs, of which nothing is left, differ."""
    same = defaultdict(list)
    for level in column.levels:
        same[plain(level)].append(level)
    return [levels for form, levels in same.items() if form and len(levels) > 1]


def _plain_form(level: str) -> str:
    """A word without accents, umlauts, signs and blanks; numbers keep their signs."""
    text = level.casefold().replace("æ", "a").replace("ø", "o")
    text = "".join(letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter))
    if any(letter.isdigit() for letter in text) or text.strip("+-") in ("inf", "infinity"):
        return text
    for pair, single in (("ae", "a"), ("oe", "o"), ("ue", "u")):
        text = text.replace(pair, single)
    return "".join(letter for letter in text if letter.isalnum())


def _misspelt_levels(context: AuditContext, column: Column, reported: set[str]) -> list[list[str]]:
    """Rare levels that are one letter away from a frequent one."""
    counts = {level: count for level, count in _level_counts(context, column).items() if level not in reported}
    # in levels of fewer than 5 letters, one letter more or less is another word
    words = sorted(level for level in counts if len(level) >= 4 and level.isalpha())
    return [
        [often, rare]
        for often in words
        for rare in words
        if len(often) >= 5 and counts[rare] <= 0.1 * counts[often]
        if _is_one_letter_away(often.casefold(), rare.casefold())
    ]


def _is_one_letter_away(first: str, second: str) -> bool:
    """Whether one letter is changed, added or left out, or two neighbours are swapped."""
    if abs(len(first) - len(second)) > 1 or first == second:
        return False
    start = next((i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), -1)
    if start < 0:
        return True
    a, b = first[start:], second[start:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[2:] == b[2:] and a[:2] == b[1::-1])


def _level_counts(context: AuditContext, column: Column) -> dict[str, int]:
    codes = context.present(column).astype(np.intp)
    counts = np.bincount(codes, minlength=len(column.levels)).tolist()
    return {level: count for level, count in zip(column.levels, counts, strict=True) if count}


def _format_of(level: str) -> str:
    """A cell with its digits and letters made alike: 2024-01-31 is 9-9-9."""
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"[0-9]+", "9", level))


def _spelling_issue(context: AuditContext, column: Column, levels: Sequence[str], what: str) -> Issue:
    counts = _level_counts(context, column)
    usual = max(levels, key=lambda level: counts.get(level, 0))
    return Issue(
        "warning",
        what,
        ", ".join(f"{level} in {counts.get(level, 0)} rows" for level in levels),
        (by_hand(f"write '{usual}' for all of them"),),
        columns=(column.name,),
    )
