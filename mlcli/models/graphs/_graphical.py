"""What models over a graph of columns share: variables, their codes, chances of classes, and names."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import AnswersQuestions
from mlcli.core.accepts import Accepts
from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.names import did_you_mean
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.graphs.factors import Factor
from mlcli.engines.graphs.inference import Inference, log_marginals
from mlcli.engines.graphs.questions import GraphicalModel, answer
from mlcli.engines.posteriors import logarithm, posterior
from mlcli.tasks.classification import Classifier, LabelledRows

MOST_DRAWN = 40
"""A graph of more columns is not drawn."""
MOST_SHOWN = 24
"""A longer table of conditional probabilities is not printed."""
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


def listed_names(columns: Sequence[Column], places: Iterable[int]) -> str:
    """Variables by name, with commas."""
    return ", ".join(columns[place].name for place in places)


def ends(text: str, sign: str) -> tuple[str, str] | None:
    """The two names that a text joins, or None."""
    one, found, other = (part.strip() for part in text.partition(sign))
    return (one, other) if found and one and other else None


def joined_by(texts: Sequence[str], sign: str, columns: Sequence[Column]) -> list[tuple[int, int]]:
    """The numbers of the two variables that each text joins."""
    pairs = [ends(text, sign) or (text, text) for text in texts]
    return [(place_of(one, columns, "edges"), place_of(other, columns, "edges")) for one, other in pairs]


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
    if not pairs or len(columns) > MOST_DRAWN:
        return ()
    line = {node: place for place, node in enumerate(order)}
    names = tuple(columns[node].name for node in order)
    return (findings.Graph("Graph", names, tuple((line[one], line[other]) for one, other in pairs), directed),)


def arrow_table(columns: Sequence[Column], pairs: Sequence[tuple[int, int]]) -> findings.Table:
    """From where arrows lead to where."""
    rows = tuple((columns[one].name, columns[other].name) for one, other in pairs)
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
            known = (columns[one].levels[code] for one, code in zip(parents, place, strict=True))
            lines.append((*known, *table[place].tolist()))
        header = (*(columns[one].name for one in parents), *columns[child].levels)
        if len(lines) <= MOST_SHOWN:
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
    return parents is None or (isinstance(parents, list | tuple) and all(isinstance(one, str) for one in parents))
