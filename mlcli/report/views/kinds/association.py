"""Rules as a table: what training said of them, and what the judged rows say."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from mlcli.core.findings import Points
from mlcli.metrics.scores.rules import judged_shares
from mlcli.report.document import Element, Heading, Sentence, grid_of_numbers, notes
from mlcli.report.numbers import UNIT_DECIMALS, fixed
from mlcli.scoring.model_results import Group, ModelResult
from mlcli.tasks.association import RuleAnswers, conviction

SHOWN = 10
NEVER_WRONG = "never wrong"
HEADER = ("if", "then", "support", "confidence", "lift", "conviction", "learned support", "learned lift")
READING = (
    "all of the judged rows, but what is called learned: that is of the training rows; "
    "conviction: how often the rule would be wrong by chance, for each time that it is"
)


def rules_in(title: str, answers: RuleAnswers) -> Iterator[Element]:
    """The first rules, with what is left of them on rows that did not make them."""
    yield Heading(title)
    if not answers.when:
        yield Sentence("no rule was found")
        return
    rows = [_rule_cells(answers, *shares) for shares in zip(range(SHOWN), *_judged_shares(answers), strict=False)]
    if max(answers.found, default=1) > 1:
        rows = [[*row, str(found)] for row, found in zip(rows, answers.found, strict=False)]
    yield grid_of_numbers((*HEADER, "found in")[: len(rows[0])], rows, keys=2)
    more = len(answers.when) - len(rows)
    yield notes(READING, *([f"{more} more rules"] if more else []))


def rules_in_plane(group: Group) -> Iterator[Element]:
    """A point for each rule of each model, by what the judged rows say of it."""
    points: list[tuple[str, tuple[tuple[float, float], ...]]] = []
    for one, name in group.items():
        if one.answers.when:
            rules = zip(*_judged_shares(one.answers), strict=True)
            points.append((name, tuple((support, support / when) for support, when, _ in rules if when > 0)))
    if points:
        yield Heading("Rules by support and confidence")
        yield Points("", "support in judged rows", "confidence in judged rows", tuple(points))


def as_json(scored: ModelResult) -> dict[str, Any]:
    """Every rule with what the judged rows say of it, and what training said."""
    answers = scored.answers
    shares = zip(range(len(answers.when)), *_judged_shares(answers), strict=True)
    return {"rules": [_rule_as_json(answers, *of_rule) for of_rule in shares]}


def _rule_as_json(answers: RuleAnswers, place: int, support: float, when: float, then: float) -> dict[str, Any]:
    held = support / when if when > 0 else None
    return {
        "if": answers.when[place],
        "then": answers.then[place],
        "support": support,
        "confidence": held,
        "lift": held / then if held is not None and then > 0 else None,
        "conviction": None if held is None else conviction(held, then),
        "learned": {name: getattr(answers, name)[place] for name in ("support", "confidence", "lift")},
        **({"found_in": answers.found[place]} if max(answers.found, default=1) > 1 else {}),
    }


def _judged_shares(answers: RuleAnswers) -> list[list[float]]:
    """Of each rule the shares of the judged rows that have all of it, its condition, and what it expects."""
    return [part[0].tolist() for part in judged_shares(answers, answers.weights[None, :])]


def _rule_cells(answers: RuleAnswers, place: int, support: float, when: float, then: float) -> list[str]:
    held = support / when if when > 0 else math.nan
    surprise = conviction(held, then)
    return [
        answers.when[place],
        answers.then[place],
        fixed(support, UNIT_DECIMALS),
        _measure_text(held),
        _measure_text(held / then if then > 0 else math.nan),
        NEVER_WRONG if surprise is None else _measure_text(surprise),
        fixed(answers.support[place], UNIT_DECIMALS),
        fixed(answers.lift[place], UNIT_DECIMALS),
    ]


def _measure_text(value: float) -> str:
    return "-" if math.isnan(value) else fixed(value, UNIT_DECIMALS)
