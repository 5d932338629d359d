"""Bias and variance of the answers of each model: a table, plain values, and rows of scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from mlcli.metrics.base import Undefined
from mlcli.metrics.bias_variance import Decomposition, bias_variance
from mlcli.report.document import Element, Heading, grid_of_numbers, notes
from mlcli.report.numbers import lined_up
from mlcli.report.scoring.scored import Group, Scored, judged_answers

REQUESTED = "bias_variance"
"""The parameter of a protocol that asks for it."""
ROUNDING = 1e-9
"""So small a share of the largest error is not below 0."""
BELOW_ZERO = "a bias² below 0 is the estimate of one that is about 0; more repeats would tell"
READING = {
    "squared": (
        "error: the mean squared error; bias²: of the mean answer to a row, with the noise that nobody could know "
        "in it; variance: of the models' answers about it; both as of ever more models; error = bias² + variance"
    ),
    "0-1": (
        "Domingos: bias: rows that most models answer wrongly; unbiased variance: how often others differ where "
        "most are right; biased variance: how often they are right where most are wrong; error = bias + unbiased "
        "− biased; these depend on how many models there are. Kohavi & Wolpert: error = bias² + variance, by "
        "squared shares of the answers, as of ever more models"
    ),
}


def requested_decomposition(one: Scored) -> Decomposition | Undefined | None:
    """Bias and variance of a cell whose protocol asks for them; None where it does not."""
    wanted = one.done and one.cell.model.saved is None and one.cell.protocol.params.get(REQUESTED)
    return bias_variance(judged_answers(one.result)) if wanted else None


def requested_elements(group: Group) -> Iterator[Element]:
    """The table of all models whose protocol asks for it, or why there is none."""
    results = {name: found for one, name in group.items() if (found := requested_decomposition(one)) is not None}
    models = {name: found for name, found in results.items() if isinstance(found, Decomposition)}
    if models:
        yield from decomposition_elements(models)
    reasons = dict.fromkeys(found.why for found in results.values() if isinstance(found, Undefined))
    if reasons:
        yield notes(*(f"no bias and variance: {why}" for why in reasons))


def requested_as_json(one: Scored) -> dict[str, Any]:
    """The decomposition of a cell under a key of its own, if its protocol asks for it."""
    found = requested_decomposition(one)
    return {REQUESTED: asdict(found)} if isinstance(found, Decomposition) else {}


def decomposition_elements(models: Mapping[str, Decomposition]) -> Iterator[Element]:
    """The error of each model and its terms, and how to read them."""
    first = next(iter(models.values()))
    titles = [(paper, term) for paper, terms in first.terms.items() for term in terms]
    columns = [[one.error for one in models.values()]]
    columns += [[one.terms[paper][term] for one in models.values()] for paper, term in titles]
    several = len(first.terms) > 1
    header = ["model", "error", *(f"{paper}: {term}" if several else term for paper, term in titles)]
    yield Heading(f"Bias and variance, {first.loss} loss")
    yield grid_of_numbers(header, zip(models, *map(lined_up, columns), strict=True))
    asked = f"over {first.rows} rows, each answered by {first.models} models or more that had not seen it"
    rounding = ROUNDING * max(one.error for one in models.values())
    terms = [terms for one in models.values() for terms in one.terms.values()]
    below = any(one.get("bias²", 0.0) < -rounding for one in terms)
    yield notes(READING[first.loss], *[BELOW_ZERO] * below, asked)


def terms_by_name(decomposition: Decomposition) -> dict[str, float]:
    """The error, and the terms that each paper has for its parts."""
    several = len(decomposition.terms) > 1
    return {f"{decomposition.loss} loss": decomposition.error} | {
        f"{paper}: {term}" if several else term: value
        for paper, terms in decomposition.terms.items()
        for term, value in terms.items()
    }
