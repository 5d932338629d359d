"""What models over a graph of columns share: class probabilities, and answers to questions about them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import AnswersQuestions
from mlcli.core.errors import DataError, FitError, MlcliWarning, UsageError
from mlcli.core.names import did_you_mean
from mlcli.core.schema import Accepts, Column
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.posteriors import log_sum, logarithm, posterior
from mlcli.models.graphs._inference import Factor, log_marginals, marginal, most_probable
from mlcli.tasks.supervised import Classifier, LabelledRows

ACCEPTS = Accepts(numbers=False, nominal=True, missing=True, weights=True, levels_only=True)
"""Levels and empty cells; numbers are cut into bins."""


class OverGraph(Classifier, AnswersQuestions):
    """The joint distribution of columns and target, as a product of factors."""

    inference: str
    sweeps: int
    seed_: int

    def factors(self) -> tuple[Factor, ...]:
        """The factors whose product is the distribution."""
        raise NotImplementedError

    def separated(self, first: Collection[int], second: Collection[int], given: Collection[int]) -> bool:
        """Whether the graph says that two sets of variables are independent, given a third."""
        raise NotImplementedError

    def variables(self) -> tuple[Column, ...]:
        """The columns, then the target."""
        return (*self.columns_, Column(self.target_, "nominal", self.classes_))

    def level_counts(self) -> tuple[int, ...]:
        """How many levels each variable has; a column without any has one that is never met."""
        return tuple(max(1, len(column.levels)) for column in self.variables())

    def log_joint(self, table: Table, exact: bool = False) -> Array:
        """Log P(class, known cells); without a constant of the row unless inference is exact."""
        codes = np.hstack([table.codes, np.full((len(table), 1), -1, np.int32)])
        method = "exact" if exact else self.inference
        target, classes = len(self.columns_), len(self.classes_)
        return log_marginals(self.factors(), codes, target, classes, method, self.sweeps, self.seed_)

    def predict_proba(self, table: Table) -> Array:
        """P(class | known cells); 0 for a class never met; an impossible row has the class shares of training."""
        logs = np.where(self.class_totals_ > 0, self.log_joint(table), -np.inf)
        impossible = np.isneginf(logs).all(axis=1)
        if impossible.any():
            message = f"{impossible.sum()} rows are impossible by what was learned"
            warnings.warn(f"{message}: they have the class shares of training", MlcliWarning, stacklevel=2)
            logs[impossible] = logarithm(self.class_totals_)
        return posterior(logs)

    def answer_to(self, question: str) -> findings.Explanation:
        """Probabilities, the most probable levels, or separation."""
        text = question.strip()
        if SEPARATES.search(text):
            return (_separation(self, text),)
        if match := re.fullmatch(r"P\s*\((.*)\)", text, re.DOTALL):
            return (_probability(self, text, *_sides(self.variables(), match[1])),)
        if match := re.fullmatch(r"(?:arg)?max\b(.*)", text, re.DOTALL):
            return (_most_probable(self, text, *_sides(self.variables(), match[1])),)
        raise UsageError(f"--ask: '{question}' is no question", hint=FORMS)


def labelled_codes(data: LabelledRows) -> Codes:
    """The codes of columns, followed by those of the target."""
    return np.hstack([data.table.codes, data.y[:, None].astype(np.int32)])


# Parameters and explanations.


def index_of(name: object, columns: Sequence[Column], where: str) -> int:
    """The index of a variable that a parameter names."""
    names = [column.name for column in columns]
    if name not in names:
        raise FitError(f"{where}: there is no column '{name}'", hint=did_you_mean(str(name), names, "columns"))
    return names.index(str(name))


def names_of(columns: Sequence[Column], indices: Iterable[int]) -> str:
    """Variables by name, separated by commas."""
    return ", ".join(columns[index].name for index in indices)


def split_edge(text: str, sign: str) -> tuple[str, str] | None:
    """The two names that a sign joins; None if the text is no edge."""
    first, separator, second = (part.strip() for part in text.partition(sign))
    return (first, second) if separator and first and second else None


def read_edges(texts: Sequence[str], sign: str, columns: Sequence[Column]) -> list[tuple[int, int]]:
    """The indices of the two variables that each text joins."""
    pairs = [split_edge(text, sign) or (text, text) for text in texts]
    return [(index_of(first, columns, "edges"), index_of(second, columns, "edges")) for first, second in pairs]


def graph_picture(
    columns: Sequence[Column], order: Sequence[int], pairs: Sequence[tuple[int, int]], *, directed: bool
) -> tuple[findings.Graph, ...]:
    """The graph with its nodes in an order; nothing if it has no edges, or more than 40 nodes."""
    if not pairs or len(columns) > 40:
        return ()
    rank = {node: index for index, node in enumerate(order)}
    names = tuple(columns[node].name for node in order)
    edges = tuple((rank[first], rank[second]) for first, second in pairs)
    return (findings.Graph("Graph", names, edges, directed),)


# Questions in the notation of textbooks: P(rain | wet=yes), argmax rain | wet=yes, a _||_ b | c.

SEPARATES = re.compile(r"_\|\|_|⊥")
FORMS = "ask 'P(a | b=x, c=y)', 'P(a=x, b | c=y)', 'argmax a, b | c=y', 'argmax | c=y', or 'a _||_ b | c'"
Terms = dict[int, int | None]
"""The variables of a question, and the levels of those that have one."""


def _sides(columns: Sequence[Column], text: str) -> tuple[Terms, dict[int, int]]:
    """What stands before the |, and the evidence behind it."""
    before, _, behind = text.partition("|")
    given, requested = _terms(columns, behind), _terms(columns, before)
    evidence = {index: code for index, code in given.items() if code is not None}
    if len(evidence) < len(given):
        raise UsageError(f"--ask: behind the | in '{text.strip()}' stand columns with a level each", hint=FORMS)
    if both := [columns[index].name for index in requested if index in evidence]:
        raise UsageError(f"--ask: '{both[0]}' is both asked for and known in '{text.strip()}'", hint=FORMS)
    return requested, evidence


def _terms(columns: Sequence[Column], text: str) -> Terms:
    """Columns separated by commas, some with a level."""
    result: Terms = {}
    names = [column.name for column in columns]
    for part in filter(None, map(str.strip, text.split(","))):
        name, equals, level = (piece.strip() for piece in part.partition("="))
        if name not in names:
            hint = did_you_mean(name, names, "columns")
            raise UsageError(f"--ask: there is no column '{name}' in the graph", hint=hint)
        index = names.index(name)
        levels = columns[index].levels
        if equals and level not in levels:
            hint = did_you_mean(level, levels, f"levels of {name}")
            raise UsageError(f"--ask: the column '{name}' has no level '{level}'", hint=hint)
        result[index] = levels.index(level) if equals else None
    return result


def _with_evidence(model: OverGraph, evidence: dict[int, int]) -> tuple[list[Factor], Codes]:
    """The factors given the evidence, and one row of codes with it; impossible evidence is refused."""
    codes = np.full((1, len(model.variables())), -1, np.int32)
    codes[0, list(evidence)] = list(evidence.values())
    factors = [factor.given(codes, evidence) for factor in model.factors()]
    if np.isneginf(marginal(factors, ()).logs).all():
        message = "--ask: undefined, since what is given has probability 0"
        raise DataError(message, hint="a smoothing above 0 makes nothing impossible")
    return factors, codes


def _probability(model: OverGraph, text: str, terms: Terms, evidence: dict[int, int]) -> findings.Table:
    """The joint distribution of some variables, or the part of it in which some have a level."""
    if not terms:
        raise UsageError(f"--ask: '{text}' does not say of what", hint=FORMS)
    columns, most_rows = [model.variables()[index] for index in terms], 200
    free = [len(column.levels) for column, level in zip(columns, terms.values(), strict=True) if level is None]
    if np.prod(np.array(free, float)) > most_rows:
        message = f"--ask: '{text}' has more than {most_rows} answers"
        raise UsageError(message, hint="ask for fewer columns at once")
    factors, _ = _with_evidence(model, evidence)
    joint = marginal(factors, tuple(terms))
    shares = np.exp(joint.logs[0] - log_sum(joint.logs, tuple(range(1, joint.logs.ndim)))[0])
    rows: list[tuple[findings.Entry, ...]] = []
    for codes in np.ndindex(*(len(column.levels) for column in columns)):
        code_of = dict(zip(terms, codes, strict=True))
        if all(level in (None, code_of[index]) for index, level in terms.items()):
            levels = [column.levels[code] for column, code in zip(columns, codes, strict=True)]
            rows.append((*levels, float(shares[tuple(code_of[variable] for variable in joint.variables)])))
    return findings.Table(text, (*(column.name for column in columns), "probability"), tuple(rows))


def _most_probable(model: OverGraph, text: str, terms: Terms, evidence: dict[int, int]) -> findings.Table:
    """The levels that are most probable together; of all variables if none is named."""
    columns = model.variables()
    if named := [index for index, level in terms.items() if level is not None]:
        message = f"--ask: '{text}' names a level of '{columns[named[0]].name}', which is what it asks for"
        raise UsageError(message, hint=FORMS)
    factors, codes = _with_evidence(model, evidence)
    indices = list(terms) or [index for index in range(len(columns)) if index not in evidence]
    best = most_probable(factors, indices, codes)
    with_best = [factor.given(best, indices) for factor in factors]
    share = float(np.exp(marginal(with_best, ()).logs[0] - marginal(factors, ()).logs[0]))
    rows = tuple((columns[index].name, columns[index].levels[best[0, index]]) for index in indices)
    note = f"the most probable together: probability {share:.4g}, given what is known"
    return findings.Table(text, ("column", "level"), rows, note=note)


def _separation(model: OverGraph, text: str) -> findings.Lines:
    """Whether the graph separates two sets of columns."""
    first, second = SEPARATES.split(text, maxsplit=1)
    second, _, given = second.partition("|")
    sets = [_terms(model.variables(), part) for part in (first, second, given)]
    if not sets[0] or not sets[1] or any(level is not None for terms in sets for level in terms.values()):
        raise UsageError(f"--ask: '{text}' names columns without levels on both sides of _||_", hint=FORMS)
    if len(set().union(*sets)) < sum(map(len, sets)):
        raise UsageError(f"--ask: a column stands twice in '{text}'", hint=FORMS)
    yes = "yes: the graph separates them, so that they are independent whatever the numbers are"
    no = "no: a path of the graph joins them, so that they may depend on each other"
    return findings.Lines(text, (yes if model.separated(*sets) else no,))
