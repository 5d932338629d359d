"""Bias and variance of models as a table: how far their typical answer is off, and how much answers differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from mlcli.core.errors import UsageError
from mlcli.metrics.base import Undefined
from mlcli.metrics.bias_variance import Decomposition, bias_variance
from mlcli.report.as_json import plain
from mlcli.report.document import Element, Field, Heading, grid, notes
from mlcli.report.numbers import lined_up
from mlcli.report.scored import Scored, judged

READING = {
    "squared": (
        "error: the mean squared error; bias²: of the mean answer of all models to a row, with the noise that "
        "nobody could know; variance: of the models' answers about it; error = bias² + variance"
    ),
    "0-1": (
        "Domingos: bias: rows that most models answer wrongly; unbiased variance: how often others differ where "
        "most are right; biased variance: how often they are right where most are wrong; error = bias + unbiased "
        "− biased. Kohavi & Wolpert: error = bias² + variance, by squared shares of the answers"
    ),
}


@dataclass(frozen=True)
class Decomposed:
    """A model by its name, with its decomposition."""

    name: str
    found: Decomposition


def decomposed(one: Scored, name: str) -> Decomposed:
    """The decomposition of what a cell has answered."""
    found = bias_variance(judged(one.result))
    if isinstance(found, Undefined):
        raise UsageError(found.why, hint=found.hint)
    return Decomposed(name, found)


def decomposition_elements(models: Sequence[Decomposed]) -> Iterator[Element]:
    """A line for each model."""
    first = models[0].found
    titles = [(paper, term) for paper, terms in first.terms.items() for term in terms]
    several = len(first.terms) > 1
    columns = [[one.found.error for one in models]]
    columns += [[one.found.terms[paper][term] for one in models] for paper, term in titles]
    header = ["model", "error", *(f"{paper}: {term}" if several else term for paper, term in titles)]
    names = [Field(one.name, "strong") for one in models]
    yield Heading(f"Bias and variance, {first.loss} loss")
    yield grid(header, zip(names, *map(lined_up, columns), strict=True), right=range(1, len(header)))
    asked = f"over {first.rows} rows, each answered by {first.models} models or more that had not seen it"
    yield notes(READING[first.loss], asked)


def decomposition_as_json(one: Decomposed) -> dict[str, Any]:
    """The same as plain values."""
    described: dict[str, Any] = plain(asdict(one.found))
    return {"model": one.name, **described}
