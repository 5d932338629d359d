"""Models over a graph of columns: their variables and levels, class probabilities, and questions to them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import AnswersQuestions
from mlcli.core.accepts import Accepts
from mlcli.core.errors import DataError, FitError, MlcliWarning, UsageError
from mlcli.core.names import did_you_mean
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.posteriors import log_sum, logarithm, posterior
from mlcli.models.graphs._inference import Factor, Inference, log_marginals, marginal, most_probable
from mlcli.tasks.classification import Classifier, LabelledRows

# Questions in the notation of textbooks: P(rain | wet=yes), argmax rain | wet=yes, a _||_ b | c.

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
        return [self.columns[index].levels[code] for index, code in codes.items()]


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
    evidence = {index: code for index, code in _terms(graph, known).items() if code is not None}
    if len(evidence) < len(_terms(graph, known)):
        raise UsageError(f"--ask: behind the | in '{text.strip()}' stand columns with a level each", hint=FORMS)
    wanted = _terms(graph, asked)
    if both := [graph.columns[index].name for index in wanted if index in evidence]:
        raise UsageError(f"--ask: '{both[0]}' is both asked for and known in '{text.strip()}'", hint=FORMS)
    return wanted, evidence


def _terms(graph: GraphicalModel, text: str) -> Terms:
    """Columns, some with a level, divided by commas."""
    result: Terms = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, equals, level = (piece.strip() for piece in part.partition("="))
        index = graph.place(name)
        known = graph.columns[index].levels
        if equals and level not in known:
            hint = did_you_mean(level, known, f"levels of {name}")
            raise UsageError(f"--ask: the column '{name}' has no level '{level}'", hint=hint)
        result[index] = known.index(level) if equals else None
    return result


def _given(graph: GraphicalModel, evidence: dict[int, int]) -> tuple[list[Factor], Codes]:
    """The factors with the evidence in them, and one row of codes with it; impossible evidence is refused."""
    codes = np.full((1, len(graph.columns)), -1, np.int32)
    codes[0, list(evidence)] = list(evidence.values())
    factors = [factor.given(codes, evidence) for factor in graph.factors]
    if np.isneginf(marginal(factors, ()).logs).all():
        what = "--ask: undefined, since what is given has probability 0"
        raise DataError(what, hint="a smoothing above 0 makes nothing impossible")
    return factors, codes


def _probability(graph: GraphicalModel, text: str, terms: Terms, evidence: dict[int, int]) -> findings.Table:
    if not terms:
        raise UsageError(f"--ask: '{text}' does not say of what", hint=FORMS)
    sizes = [len(graph.columns[index].levels) for index, level in terms.items() if level is None]
    if np.prod(np.array(sizes, float)) > MOST_ROWS:
        raise UsageError(
            f"--ask: '{text}' has more than {MOST_ROWS} answers", hint="ask for fewer columns at once"
        )
    factors, _ = _given(graph, evidence)
    joint = marginal(factors, tuple(terms))
    chances = np.exp(joint.logs[0] - log_sum(joint.logs, tuple(range(1, joint.logs.ndim)))[0])
    rows: list[tuple[findings.Entry, ...]] = []
    for codes in np.ndindex(*(len(graph.columns[index].levels) for index in terms)):
        combination = dict(zip(terms, codes, strict=True))
        if all(level in (None, combination[index]) for index, level in terms.items()):
            chance = float(chances[tuple(combination[variable] for variable in joint.variables)])
            rows.append((*graph.levels(combination), chance))
    header = (*(graph.columns[index].name for index in terms), "probability")
    return findings.Table(text, header, tuple(rows))


def _most_probable(graph: GraphicalModel, text: str, terms: Terms, evidence: dict[int, int]) -> findings.Table:
    """The levels that are most probable together; of all variables where none is named."""
    if named := [index for index, level in terms.items() if level is not None]:
        what = f"--ask: '{text}' names a level of '{graph.columns[named[0]].name}', which is what it asks for"
        raise UsageError(what, hint=FORMS)
    factors, codes = _given(graph, evidence)
    indices = list(terms) or [index for index in range(len(graph.columns)) if index not in evidence]
    result = most_probable(factors, indices, codes)
    best = {index: int(result[0, index]) for index in indices}
    total, there = marginal(factors, ()).logs[0], [factor.given(result, indices) for factor in factors]
    chance = float(np.exp(marginal(there, ()).logs[0] - total))
    rows = tuple((graph.columns[index].name, level) for index, level in zip(best, graph.levels(best), strict=True))
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


ACCEPTS = Accepts(numbers=False, nominal=True, missing=True, weights=True, levels_only=True)
"""Levels and gaps; numbers are cut into bins."""


class OverGraph(Classifier, AnswersQuestions):
    """The distribution of columns and target together, as a product of factors."""

    inference: str
    sweeps: int
    seed_: int

    def factors(self) -> tuple[Factor, ...]:
        """Those whose product is the distribution."""
        raise TypeError(f"{type(self).__name__} does not say what factors it has")

    def separated(self, one: Collection[int], other: Collection[int], given: Collection[int]) -> bool:
        """Whether the graph says that two sets of variables are independent, given a third."""
        raise TypeError(f"{type(self).__name__} does not say what its graph separates")

    def variables(self) -> tuple[Column, ...]:
        """The columns, then the target."""
        return (*self.columns_, Column(self.target_, "nominal", self.classes_))

    def level_counts(self) -> tuple[int, ...]:
        """How many levels each variable has; a column without any has one that is never met."""
        return tuple(max(1, len(column.levels)) for column in self.variables())

    def log_joint(self, table: Table, how: Inference | None = None) -> Array:
        """The logarithm of P(class, known cells); but for a constant of the row where inference is not exact."""
        how = how or Inference(self.inference, self.sweeps, self.seed_)
        codes = np.hstack([table.codes, np.full((len(table), 1), -1, np.int32)])
        return log_marginals(self.factors(), codes, len(self.columns_), len(self.classes_), how)

    def predict_proba(self, table: Table) -> Array:
        """P(class | known cells); a class never met has none, and an impossible row has the shares of training."""
        logs = np.where(self.class_totals_ > 0, self.log_joint(table), -np.inf)
        impossible = np.isneginf(logs).all(axis=1)
        if impossible.any():
            text = f"{impossible.sum()} rows are impossible by what was learned"
            warnings.warn(f"{text}: they have the class shares of training", MlcliWarning, stacklevel=2)
            logs[impossible] = logarithm(self.class_totals_)
        return posterior(logs)

    def answer_to(self, question: str) -> findings.Explanation:
        """Probabilities, the most probable levels, or separation."""
        return answer(GraphicalModel(self.variables(), self.factors(), self.separated), question)


def labelled_codes(data: LabelledRows) -> Codes:
    """The codes of columns, with the target behind them."""
    return np.hstack([data.table.codes, data.y[:, None].astype(np.int32)])


def place_of(name: object, columns: Sequence[Column], where: str) -> int:
    """The number of a variable that a parameter names."""
    names = [column.name for column in columns]
    if name not in names:
        raise FitError(f"{where}: there is no column '{name}'", hint=did_you_mean(str(name), names, "columns"))
    return names.index(str(name))


def listed_names(columns: Sequence[Column], iterable: Iterable[int]) -> str:
    """Variables by name, with commas."""
    return ", ".join(columns[index].name for index in iterable)


def ends(text: str, sign: str) -> tuple[str, str] | None:
    """The two names that a text joins, or None."""
    name, word, other = (part.strip() for part in text.partition(sign))
    return (name, other) if word and name and other else None


def joined_by(texts: Sequence[str], sign: str, columns: Sequence[Column]) -> list[tuple[int, int]]:
    """The numbers of the two variables that each text joins."""
    pairs = [ends(text, sign) or (text, text) for text in texts]
    return [(place_of(name, columns, "edges"), place_of(other, columns, "edges")) for name, other in pairs]


def factorisation(columns: Sequence[Column], families: Sequence[tuple[int, ...]]) -> findings.Lines:
    """P of all columns as a product, each behind its parents."""
    whole = f"P({listed_names(columns, [family[-1] for family in families])}) ="
    return findings.Lines("Factorisation", (whole, *(f"    {_title(columns, family)}" for family in families)))


def _title(columns: Sequence[Column], family: tuple[int, ...]) -> str:
    *parents, child = family
    return f"P({columns[child].name}{' | ' if parents else ''}{listed_names(columns, parents)})"


def drawn_graph(
    columns: Sequence[Column], order: Sequence[int], pairs: Sequence[tuple[int, int]], *, directed: bool
) -> tuple[findings.Graph, ...]:
    """The graph, its nodes in an order; not drawn where it has no edges or too many nodes."""
    # A graph of more columns is not drawn
    if not pairs or len(columns) > 40:
        return ()
    line = {node: index for index, node in enumerate(order)}
    names = tuple(columns[node].name for node in order)
    return (findings.Graph("Graph", names, tuple((line[index], line[other]) for index, other in pairs), directed),)


def arrow_table(columns: Sequence[Column], pairs: Sequence[tuple[int, int]]) -> findings.Table:
    """From where arrows lead to where."""
    rows = tuple((columns[index].name, columns[other].name) for index, other in pairs)
    note = "" if pairs else "no arrows: all columns are independent"
    return findings.Table("Arrows", ("from", "to"), rows, note=note)


def chance_tables(
    columns: Sequence[Column], families: Sequence[tuple[int, ...]], chances: Sequence[Array], note: str
) -> Iterator[findings.Table]:
    """The conditional probabilities of each variable, where they are not too many; the first with a note."""
    for *parents, child in families:
        table = chances[child]
        lines: list[tuple[findings.Entry, ...]] = []
        for place in np.ndindex(table.shape[:-1]):
            known = (columns[parent].levels[code] for parent, code in zip(parents, place, strict=True))
            lines.append((*known, *table[place].tolist()))
        header = (*(columns[parent].name for parent in parents), *columns[child].levels)
        # A longer table of conditional probabilities is not printed
        if len(lines) <= 24:
            yield findings.Table(_title(columns, (*parents, child)), header, tuple(lines), note=note)
            note = ""


def edge_table(columns: Sequence[Column], potentials: Sequence[tuple[tuple[int, int], Array]]) -> findings.Table:
    """How strongly edges join, the strongest first: by the logarithms of their potentials."""
    pairs = [(_strength(logs), listed_names(columns, pair)) for pair, logs in potentials]
    strongest = sorted(pairs, key=lambda pair: (-pair[0], pair[1]))
    note = "strength: the standard deviation of what a pair of levels adds to log P beyond what each adds alone"
    rows = tuple((names, value) for value, names in strongest)
    return findings.Table("Edges", ("between", "strength"), rows, note=note)


def _strength(logs: Array) -> float:
    if np.isneginf(logs).any():
        return float("inf")
    centred = logs - logs.mean(axis=0) - logs.mean(axis=1, keepdims=True) + logs.mean()
    return float(centred.std())


def logs_of(name: str, given: Any, shape: tuple[int, ...]) -> Array:
    """The logarithms of given potentials, which are not negative and have a place for each level."""
    wanted = " × ".join(map(str, shape))
    try:
        values = np.array(given, np.float64)
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.shape != shape or not (np.isfinite(values) & (values >= 0)).all():
        raise FitError(f"potentials: '{name}' takes {wanted} numbers of at least 0, was given {given}")
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(values))


def are_names(parents: Any) -> bool:
    """Whether parents are given as a list of names, or as nothing."""
    return parents is None or (
        isinstance(parents, list | tuple) and all(isinstance(parent, str) for parent in parents)
    )
