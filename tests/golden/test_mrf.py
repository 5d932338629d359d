"""Markov random fields beside enumeration: equation 115 of the notes, factors of A with B, C and D."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from mlcli.core.errors import FitError
from mlcli.core.tables import Table
from mlcli.models.graphs.mrf import MarkovRandomField
from tests.golden.asking import fitted
from tests.golden.test_bayes_net import chance
from tests.golden.weather import weather
from tests.support.rows import labelled, table_of

POTENTIALS: dict[str, Any] = {
    "a": [1, 2],
    "b - a": [[5, 1], [1, 5]],
    "c - a": [[3, 1], [1, 2]],
    "class - a": [[1, 4], [2, 1], [1, 1]],
}
CELLS = {name: ["n", "y", "y", "n"] for name in "abc"}


def given(**params: Any) -> MarkovRandomField:
    """A field with potentials that are given: b, c and the class each depend on a."""
    rows = labelled(table_of(CELLS), ["red", "blue", "green", "red"])
    model: MarkovRandomField = fitted(MarkovRandomField(potentials=POTENTIALS, **params), rows)
    return model


def joint() -> dict[tuple[int, ...], float]:
    """f(a) f(a, b) f(a, c) f(a, class) / Z, of a, b, c and the class."""
    of_a, of_b, of_c, of_class = (np.array(values, float) for values in POTENTIALS.values())
    found = {
        (a, b, c, k): float(of_a[a] * of_b[b, a] * of_c[c, a] * of_class[k, a])
        for a, b, c, k in product(range(2), range(2), range(2), range(3))
    }
    return {key: value / sum(found.values()) for key, value in found.items()}


def test_answers_are_those_of_the_whole_table() -> None:
    model, whole = given(), joint()
    assert chance(model, "P(b=y)") == pytest.approx(sum(p for (_, b, _, _), p in whole.items() if b == 1))
    both = sum(p for (_, b, c, _), p in whole.items() if b == 1 and c == 0)
    known = sum(p for (_, _, c, _), p in whole.items() if c == 0)
    assert chance(model, "P(b=y | c=n)") == pytest.approx(both / known)
    best: Any = model.answer_to("argmax")[0]
    codes = max(whole, key=lambda key: whole[key])
    assert [level for _, level in best.rows] == ["ny"[code] for code in codes[:3]] + [model.classes_[codes[3]]]


def test_b_c_and_the_class_are_independent_once_a_is_known() -> None:
    model: Any = given()
    assert model.answer_to("b _||_ c, class | a")[0].lines[0].startswith("yes")
    assert model.answer_to("b _||_ c")[0].lines[0].startswith("no")


@pytest.mark.parametrize(("inference", "near"), [("exact", 1e-9), ("sum-product", 1e-9), ("gibbs", 0.05)])
def test_empty_cells_are_summed_out(inference: str, near: float) -> None:
    model, whole = given(inference=inference, sweeps=2000), joint()
    codes = np.array([[-1, 1, 0], [-1, -1, 1], [-1, -1, -1], [0, 1, 1]], np.int32)
    table = Table(model.columns_, np.empty((4, 0)), codes)
    sums = np.zeros((4, 3))
    for row, cells in enumerate(codes):
        for (*known, k), p in whole.items():
            sums[row, k] += p * all(cell in (-1, code) for cell, code in zip(cells, known, strict=True))
    assert model.predict_proba(table) == pytest.approx(sums / sums.sum(axis=1, keepdims=True), abs=near)
    assert model.log_evidence(table) == pytest.approx(np.log(sums.sum(axis=1)), abs=1e-9)


def test_max_product_puts_the_most_probable_levels_in_empty_cells() -> None:
    model, whole = given(inference="max-product"), joint()
    table = Table(model.columns_, np.empty((1, 0)), np.array([[-1, 1, -1]], np.int32))
    peaks = np.array([max(p for (_, b, _, k), p in whole.items() if (b, k) == (1, one)) for one in range(3)])
    assert model.predict_proba(table)[0] == pytest.approx(peaks / peaks.sum(), abs=1e-9)


def test_edges_take_the_place_of_a_structure() -> None:
    model: Any = fitted(MarkovRandomField(edges=("outlook - class", "windy - class")), weather())
    assert sorted(map(sorted, np.argwhere(np.triu(model.edges_)).tolist())) == [[0, 4], [3, 4]]
    assert model.answer_to("outlook _||_ windy | class")[0].lines[0].startswith("yes")


def test_a_picture_joins_cells_with_their_neighbours_and_the_target() -> None:
    rows = labelled(table_of({name: ["n", "y"] for name in "abcdef"}), ["dark", "light"])
    model: Any = fitted(MarkovRandomField(structure="grid", width=3), rows)
    beside = {(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)}
    edges = set(map(tuple, np.argwhere(np.triu(model.edges_)).tolist()))
    assert edges == beside | {(cell, 6) for cell in range(6)}


def test_rows_that_are_drawn_are_as_the_field_is() -> None:
    model, whole = given(), joint()
    drawn = model.sample_rows(20_000, np.random.default_rng(1))
    expected = sum(p for (a, _, _, k), p in whole.items() if (a, k) == (1, 0))
    met = (drawn.cells("a") == 1) & (drawn.cells("class") == 0)
    assert met.mean() == pytest.approx(expected, abs=0.015)


def test_a_strong_penalty_leaves_nothing_and_a_weak_one_learns_the_table() -> None:
    data = weather()
    nothing = fitted(MarkovRandomField(l2=1e9), data).predict_proba(data.table)
    assert nothing == pytest.approx(np.full((14, 2), 0.5), abs=1e-6)
    sharp = fitted(MarkovRandomField(l2=0.01), data).predict_proba(data.table)
    assert (sharp.argmax(axis=1) == data.y).all()


@pytest.mark.parametrize(
    ("potentials", "said"),
    [
        ({"a - d": [[1, 1], [1, 1]]}, "no column 'd'"),
        ({"a - b": [1, 2]}, "takes 2 × 2 numbers"),
        ({"a": [1, -2]}, "at least 0"),
        ({"a - b - c": [1]}, "no pair of columns"),
        ({"a": "much"}, "takes 2 numbers"),
    ],
)
def test_potentials_that_do_not_fit_are_refused(potentials: dict[str, Any], said: str) -> None:
    rows = labelled(table_of(CELLS), ["red", "blue", "green", "red"])
    with pytest.raises(FitError, match=said):
        fitted(MarkovRandomField(potentials=potentials), rows)
