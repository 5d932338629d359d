"""Questions to a graph in the notation of textbooks: P(rain | wet=yes), argmax rain | wet=yes, a _||_ b | c."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core import findings
from mlcli.core.errors import DataError, UsageError
from mlcli.core.names import did_you_mean
from mlcli.core.schema import Column
from mlcli.core.tables import Codes
from mlcli.engines.graphs.factors import Factor
from mlcli.engines.graphs.inference import marginal, most_probable
from mlcli.engines.posteriors import log_sum

SEPARATE = re.compile(r"_\|\|_|⊥")
FORMS = "ask 'P(a | b=x, c=y)', 'P(a=x, b | c=y)', 'argmax a, b | c=y', 'argmax | c=y', or 'a _||_ b | c'"
MOST_ROWS = 200
"""A joint distribution of more combinations is not written down."""
Separation = Callable[[Collection[int], Collection[int], Collection[int]], bool]


@dataclass(frozen=True, eq=False)
class GraphicalModel:
    """Variables, the factors whose product is their distribution, and what is separated from what by what."""

    columns: tuple[Column, ...]
    factors: tuple[Factor, ...]
    separated: Separation

    def place(self, name: str) -> int:
        """The number of a variable."""
        names = [column.name for column in self.columns]
        if name not in names:
            hint = did_you_mean(name, names, "columns")
            raise UsageError(f"--ask: there is no column '{name}' in the graph", hint=hint)
        return names.index(name)

    def levels(self, codes: dict[int, int]) -> list[str]:
        """What codes of variables are called."""
        return [self.columns[place].levels[code] for place, code in codes.items()]


def answer(graph: GraphicalModel, question: str) -> findings.Explanation:
    """What the graph says."""
    text = question.strip()
    if SEPARATE.search(text):
        return (_separation(graph, text),)
    if match := re.fullmatch(r"P\s*\((.*)\)", text, re.DOTALL):
        return (_probability(graph, text, *_sides(graph, match[1])),)
    if match := re.fullmatch(r"(?:arg)?max\b(.*)", text, re.DOTALL):
        return (_most_probable(graph, text, *_sides(graph, match[1])),)
    raise UsageError(f"--ask: '{question}' is no question", hint=FORMS)


Terms = dict[int, int | None]
"""Variables, and their levels where these are named."""


def _sides(graph: GraphicalModel, text: str) -> tuple[Terms, dict[int, int]]:
    """What is asked for, and what is known."""
    asked, _, known = text.partition("|")
    evidence = {place: code for place, code in _terms(graph, known).items() if code is not None}
    if len(evidence) < len(_terms(graph, known)):
        raise UsageError(f"--ask: behind the | in '{text.strip()}' stand columns with a level each", hint=FORMS)
    wanted = _terms(graph, asked)
    if both := [graph.columns[place].name for place in wanted if place in evidence]:
        raise UsageError(f"--ask: '{both[0]}' is both asked for and known in '{text.strip()}'", hint=FORMS)
    return wanted, evidence


def _terms(graph: GraphicalModel, text: str) -> Terms:
    """Columns, some with a level, divided by commas."""
    found: Terms = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, equals, level = (piece.strip() for piece in part.partition("="))
        place = graph.place(name)
        known = graph.columns[place].levels
        if equals and level not in known:
            hint = did_you_mean(level, known, f"levels of {name}")
            raise UsageError(f"--ask: the column '{name}' has no level '{level}'", hint=hint)
        found[place] = known.index(level) if equals else None
    return found


def _given(graph: GraphicalModel, evidence: dict[int, int]) -> tuple[list[Factor], Codes]:
    """The factors with the evidence in them, and one row of codes with it; impossible evidence is refused."""
    codes = np.full((1, len(graph.columns)), -1, np.int32)
    codes[0, list(evidence)] = list(evidence.values())
    factors = [factor.given(codes, evidence) for factor in graph.factors]
    if np.isneginf(marginal(factors, ()).logs).all():
        what = "--ask: undefined, since what is given has probability 0"
        raise DataError(what, hint="a smoothing above 0 makes nothing impossible")
    return factors, codes


def _probability(graph: GraphicalModel, text: str, wanted: Terms, evidence: dict[int, int]) -> findings.Table:
    if not wanted:
        raise UsageError(f"--ask: '{text}' does not say of what", hint=FORMS)
    _refuse_many(graph, text, wanted)
    factors, _ = _given(graph, evidence)
    joint = marginal(factors, tuple(wanted))
    chances = np.exp(joint.logs[0] - log_sum(joint.logs, tuple(range(1, joint.logs.ndim)))[0])
    rows: list[tuple[findings.Entry, ...]] = []
    for codes in np.ndindex(*(len(graph.columns[place].levels) for place in wanted)):
        combination = dict(zip(wanted, codes, strict=True))
        if all(level in (None, combination[place]) for place, level in wanted.items()):
            chance = float(chances[tuple(combination[place] for place in joint.variables)])
            rows.append((*graph.levels(combination), chance))
    header = (*(graph.columns[place].name for place in wanted), "probability")
    return findings.Table(text, header, tuple(rows))


def _refuse_many(graph: GraphicalModel, text: str, wanted: Terms) -> None:
    sizes = [len(graph.columns[place].levels) for place, level in wanted.items() if level is None]
    if np.prod(np.array(sizes, float)) > MOST_ROWS:
        raise UsageError(
            f"--ask: '{text}' has more than {MOST_ROWS} answers", hint="ask for fewer columns at once"
        )


def _most_probable(graph: GraphicalModel, text: str, wanted: Terms, evidence: dict[int, int]) -> findings.Table:
    """The levels that are most probable together; of all variables where none is named."""
    if named := [place for place, level in wanted.items() if level is not None]:
        what = f"--ask: '{text}' names a level of '{graph.columns[named[0]].name}', which is what it asks for"
        raise UsageError(what, hint=FORMS)
    factors, codes = _given(graph, evidence)
    places = list(wanted) or [place for place in range(len(graph.columns)) if place not in evidence]
    found = most_probable(factors, places, codes)
    best = {place: int(found[0, place]) for place in places}
    total, there = marginal(factors, ()).logs[0], [factor.given(found, places) for factor in factors]
    chance = float(np.exp(marginal(there, ()).logs[0] - total))
    rows = tuple((graph.columns[place].name, level) for place, level in zip(best, graph.levels(best), strict=True))
    note = f"the most probable together: probability {chance:.4g}, given what is known"
    return findings.Table(text, ("column", "level"), rows, note=note)


def _separation(graph: GraphicalModel, text: str) -> findings.Lines:
    one, other = SEPARATE.split(text, maxsplit=1)
    other, _, given = other.partition("|")
    sets: Sequence[Terms] = [_terms(graph, part) for part in (one, other, given)]
    if not sets[0] or not sets[1] or any(level is not None for terms in sets for level in terms.values()):
        raise UsageError(f"--ask: '{text}' names columns without levels on both sides of _||_", hint=FORMS)
    if len(set().union(*sets)) < sum(map(len, sets)):
        raise UsageError(f"--ask: a column stands twice in '{text}'", hint=FORMS)
    yes = "yes: the graph separates them, so that they are independent whatever the numbers are"
    no = "no: a path of the graph joins them, so that they may depend on each other"
    return findings.Lines(text, (yes if graph.separated(*sets) else no,))
