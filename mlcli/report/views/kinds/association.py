"""Association rules as a table: their measures on the scored rows, and on the training rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from mlcli.core.findings import Points
from mlcli.report.document import Element, Heading, Sentence, grid_of_numbers, notes
from mlcli.report.numbers import UNIT_DECIMALS, fixed
from mlcli.scoring.kinds import AssociationRule, rules_of
from mlcli.scoring.model_results import Group
from mlcli.tasks.association import RuleAnswers

SHOWN = 10
HEADER = ("if", "then", "support", "confidence", "lift", "conviction", "training support", "training lift")
LEGEND = (
    "measured on the scored rows, except for the training columns; conviction: how often the rule would be wrong "
    "by chance, divided by how often it is wrong"
)


def rules_in(title: str, answers: RuleAnswers) -> Iterator[Element]:
    """The first rules, with their measures on rows that did not make them."""
    yield Heading(title)
    if not answers.when:
        yield Sentence("no rule was found")
        return
    rows = [_rule_cells(rule) for rule in islice(rules_of(answers), SHOWN)]
    yield grid_of_numbers((*HEADER, "found in")[: len(rows[0])], rows, keys=2)
    more = len(answers.when) - len(rows)
    yield notes(LEGEND, *([f"{more} more rules"] if more else []))


def rules_in_plane(group: Group) -> Iterator[Element]:
    """A point for each rule of each model, by its measures on the scored rows."""
    points: list[tuple[str, tuple[tuple[float, float], ...]]] = []
    for result, name in group.items():
        rules = [rule for rule in rules_of(result.answers) if rule.confidence is not None]
        if result.answers.when:
            points.append((name, tuple((rule.support, rule.confidence or 0.0) for rule in rules)))
    if points:
        yield Heading("Rules by support and confidence")
        yield Points("", "support in scored rows", "confidence in scored rows", tuple(points))


def _rule_cells(rule: AssociationRule) -> list[str]:
    never_wrong = rule.confidence is not None and rule.conviction is None
    cells = [
        rule.when,
        rule.then,
        fixed(rule.support, UNIT_DECIMALS),
        _measure_text(rule.confidence),
        _measure_text(rule.lift),
        "never wrong" if never_wrong else _measure_text(rule.conviction),
        fixed(rule.learned.support, UNIT_DECIMALS),
        fixed(rule.learned.lift, UNIT_DECIMALS),
    ]
    return cells if rule.found_in is None else [*cells, str(rule.found_in)]


def _measure_text(value: float | None) -> str:
    return "-" if value is None else fixed(value, UNIT_DECIMALS)
