"""Bayesian networks of textbooks, and structures beside scikit-learn and SciPy.

Numbers: Murphy 1998, A brief introduction to graphical models and Bayesian networks (wet grass); Russell & Norvig,
Artificial Intelligence, section 14.4 (burglary); Lauritzen & Spiegelhalter 1988 (Asia). The books are not at hand:
the tables of Asia are those of the Bayesian network repository as pgmpy 1.1.2 ships them, and pgmpy answers all
questions as printed here. The repository gives a burglary 0.01 and an earthquake 0.02, Russell & Norvig a tenth.
"""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse.csgraph import minimum_spanning_tree
from sklearn.metrics import mutual_info_score
from sklearn.naive_bayes import CategoricalNB

from mlcli.core.errors import DataError, FitError, MlcliError, UsageError
from mlcli.core.params import build
from mlcli.core.pipeline import learn
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.models.graphs.bayes_net import BayesNet
from mlcli.tasks.supervised import LabelledRows
from tests.golden.asking import answered, fitted
from tests.golden.shipped import as_they_are
from tests.golden.weather import weather

Tables = dict[str, tuple[tuple[str, ...], dict[str, float]]]
"""Of each variable its parents, and the chance of yes by the answers of these ("y", "n")."""
WET: Tables = {
    "cloudy": ((), {"": 0.5}),
    "sprinkler": (("cloudy",), {"n": 0.5, "y": 0.1}),
    "rain": (("cloudy",), {"n": 0.2, "y": 0.8}),
    "wet": (("sprinkler", "rain"), {"nn": 0.0, "yn": 0.9, "ny": 0.9, "yy": 0.99}),
}
BURGLARY: Tables = {
    "burglary": ((), {"": 0.001}),
    "earthquake": ((), {"": 0.002}),
    "alarm": (("burglary", "earthquake"), {"yy": 0.95, "yn": 0.94, "ny": 0.29, "nn": 0.001}),
    "john": (("alarm",), {"y": 0.90, "n": 0.05}),
    "mary": (("alarm",), {"y": 0.70, "n": 0.01}),
}
ASIA: Tables = {
    "asia": ((), {"": 0.01}),
    "smoke": ((), {"": 0.5}),
    "tuberculosis": (("asia",), {"y": 0.05, "n": 0.01}),
    "lung": (("smoke",), {"y": 0.1, "n": 0.01}),
    "bronchitis": (("smoke",), {"y": 0.6, "n": 0.3}),
    "either": (("tuberculosis", "lung"), {"yy": 1.0, "yn": 1.0, "ny": 1.0, "nn": 0.0}),
    "xray": (("either",), {"y": 0.98, "n": 0.05}),
    "dyspnoea": (("either", "bronchitis"), {"yy": 0.9, "yn": 0.7, "ny": 0.8, "nn": 0.1}),
}


def network(tables: Tables) -> tuple[BayesNet, LabelledRows]:
    """The network with these chances: learned from every combination, as heavy as it is probable."""
    names, rows, weights = list(tables), list[tuple[str, ...]](), list[float]()
    for row in product("yn", repeat=len(tables)):
        cells = dict(zip(names, row, strict=True))
        chances = [by["".join(cells[one] for one in parents)] for parents, by in tables.values()]
        weight = float(np.prod([p if cell == "y" else 1 - p for p, cell in zip(chances, row, strict=True)]))
        if weight > 0:
            rows.append(row)
            weights.append(weight)
    codes = np.array([["yn".index(cell) for cell in row] for row in rows], np.int32)
    columns = tuple(Column(name, "nominal", ("y", "n")) for name in names[:-1])
    data = LabelledRows(
        table=Table(columns, np.empty((len(rows), 0)), np.ascontiguousarray(codes[:, :-1])),
        rows=np.arange(len(rows)),
        target=names[-1],
        y=codes[:, -1],
        classes=("y", "n"),
        weight=np.array(weights),
    )
    model = BayesNet(structure={name: list(parents) for name, (parents, _) in tables.items()}, alpha=0.0)
    learn(model, data, np.random.default_rng(1))
    return model, data


def chance(model: Any, question: str) -> float:
    """The probability that one question asks for."""
    (table,) = model.answer_to(question)
    assert len(table.rows) == 1
    return float(table.rows[0][-1])


@pytest.mark.parametrize(
    ("tables", "question", "printed", "digits"),
    [
        (WET, "P(wet=y)", 0.6471, 4),
        (WET, "P(sprinkler=y | wet=y)", 0.4298, 4),
        (WET, "P(rain=y | wet=y)", 0.7079, 4),
        (WET, "P(sprinkler=y | wet=y, rain=y)", 0.1945, 4),
        (BURGLARY, "P(burglary=y | john=y, mary=y)", 0.284, 3),
        (ASIA, "P(tuberculosis=y)", 0.0104, 4),
        (ASIA, "P(lung=y)", 0.055, 3),
        (ASIA, "P(bronchitis=y)", 0.45, 2),
        (ASIA, "P(either=y)", 0.0648, 4),
        (ASIA, "P(xray=y)", 0.1103, 4),
        (ASIA, "P(dyspnoea=y)", 0.4360, 4),
    ],
)
def test_printed_probabilities(tables: Tables, question: str, printed: float, digits: int) -> None:
    """The printed numbers, and all digits of the sum over every combination."""
    model, data = network(tables)
    assert round(chance(model, question), digits) == printed
    wanted, *known = re.findall(r"(\w+)=y", question)
    features = {name: data.table.cells(name) == 0 for name in tables if name != data.target}
    cells = features | {data.target: data.y == 0}
    given = data.weights * np.all([cells[name] for name in known], axis=0)
    assert chance(model, question) == pytest.approx(given[cells[wanted]].sum() / given.sum(), rel=1e-9)


@pytest.mark.parametrize(
    ("tables", "question", "answer"),
    [
        (WET, "sprinkler _||_ rain | cloudy", True),
        (WET, "sprinkler _||_ rain | cloudy, wet", False),
        (BURGLARY, "burglary _||_ earthquake", True),
        (BURGLARY, "burglary _||_ earthquake | john", False),
        (ASIA, "asia ⊥ smoke, lung, bronchitis", True),
        (ASIA, "asia _||_ smoke | xray", False),
        (ASIA, "xray _||_ bronchitis, smoke | either", True),
    ],
)
def test_what_arrows_separate(tables: Tables, question: str, answer: bool) -> None:
    lines: Any = network(tables)[0].answer_to(question)[0]
    assert lines.lines[0].startswith("yes" if answer else "no")


def test_the_most_probable_levels_are_those_of_the_heaviest_row() -> None:
    model, data = network(ASIA)
    table: Any = model.answer_to("argmax | dyspnoea=y, xray=y")[0]
    seen = data.take(np.flatnonzero((data.y == 0) & (data.table.cells("xray") == 0)))
    heaviest = seen.table.codes[np.argmax(seen.weights)]
    expected = {column.name: "yn"[code] for column, code in zip(seen.table.columns, heaviest, strict=True)}
    assert dict(table.rows) == {name: level for name, level in expected.items() if name != "xray"}


def test_empty_cells_are_summed_out_as_in_the_whole_table() -> None:
    model, data = network(ASIA)
    rng = np.random.default_rng(2)
    codes = np.where(rng.random(data.table.codes.shape) < 0.4, -1, data.table.codes).astype(np.int32)
    asked = Table(data.table.columns, data.table.numbers, codes)
    joint = np.array(
        [
            [
                data.weights[(data.y == k) & ((data.table.codes == row) | (row < 0)).all(axis=1)].sum()
                for k in (0, 1)
            ]
            for row in codes
        ]
    )
    assert model.predict_proba(asked) == pytest.approx(joint / joint.sum(axis=1, keepdims=True), abs=1e-9)
    assert model.log_evidence(asked) == pytest.approx(np.log(joint.sum(axis=1)), abs=1e-9)


def test_rows_that_are_drawn_are_as_the_network_is() -> None:
    model, _ = network(WET)
    drawn = model.sample_rows(20_000, np.random.default_rng(1))
    wet, rain = drawn.cells("wet") == 0, drawn.cells("rain") == 0
    assert wet.mean() == pytest.approx(0.6471, abs=0.015)
    assert rain[wet].mean() == pytest.approx(0.7079, abs=0.015)


def gaps() -> LabelledRows:
    """Three columns of which a leads to b and to the class, a third of all cells unknown."""
    rng = np.random.default_rng(5)
    a = rng.integers(0, 2, 150)
    b, y = (np.where(rng.random(150) < 0.85, a, 1 - a) for _ in range(2))
    codes = np.where(rng.random((150, 2)) < 0.35, -1, np.column_stack([a, b])).astype(np.int32)
    columns = tuple(Column(name, "nominal", ("n", "y"), missing=True) for name in "ab")
    table = Table(columns, np.empty((150, 0)), codes)
    return LabelledRows(table=table, rows=np.arange(150), target="c", y=y.astype(np.int32), classes=("n", "y"))


def test_em_climbs_to_the_largest_likelihood_of_what_is_known() -> None:
    """The same maximum by SciPy, over five free chances."""
    data = gaps()

    def joint(free: Any) -> Any:
        p, b0, b1, c0, c1 = 1 / (1 + np.exp(-np.asarray(free)))
        of_b, of_c = np.array([[1 - b0, b0], [1 - b1, b1]]), np.array([[1 - c0, c0], [1 - c1, c1]])
        return np.einsum("a,ab,ac->abc", np.array([1 - p, p]), of_b, of_c)

    def unlikely(free: Any) -> float:
        p = joint(free)
        cells = [tuple(slice(None) if cell < 0 else int(cell) for cell in row) for row in data.table.codes]
        return -sum(float(np.log(p[(*cell, k)].sum())) for cell, k in zip(cells, data.y, strict=True))

    best = minimize(unlikely, [0.1, -1.0, 1.0, -1.0, 1.0])
    edges = ("a -> b", "a -> c")
    model = fitted(BayesNet(edges=edges, gaps="em", alpha=0.0), data)
    assert model.path_[-1] == pytest.approx(-best.fun, abs=1e-3)
    assert (np.diff(model.path_) > -1e-9).all()
    assert model.log_evidence(data.table) == pytest.approx(
        [
            np.log(joint(best.x)[tuple(slice(None) if cell < 0 else int(cell) for cell in row)].sum())
            for row in data.table.codes
        ],
        abs=0.02,
    )


def test_a_cause_that_is_nowhere_known_is_found_again() -> None:
    """Two drawn crowds that agree on four columns: the hidden cause tells them apart."""
    rng = np.random.default_rng(3)
    crowd = np.repeat([0, 1], 100)
    seen = np.where(rng.random((200, 4)) < 0.9, crowd[:, None], 1 - crowd[:, None])
    columns = tuple(Column(name, "nominal", ("n", "y"), missing=name == "hidden") for name in ("hidden", *"abc"))
    codes = np.column_stack([np.full(200, -1), seen[:, :3]]).astype(np.int32)
    table = Table(columns, np.empty((200, 0)), codes)
    data = LabelledRows(
        table=table, rows=np.arange(200), target="d", y=seen[:, 3].astype(np.int32), classes=("n", "y")
    )
    model = fitted(BayesNet(edges=tuple(f"hidden -> {name}" for name in "abcd"), gaps="em"), data)
    counted: Any = model.chances_[1]
    assert abs(counted[0, 0] - counted[1, 0]) > 0.6
    assert (model.predict_proba(table).argmax(axis=1) == crowd).mean() > 0.85


def test_rows_without_a_class_say_something_to_em() -> None:
    data = gaps()
    known, others = data.take(slice(0, 40)), data.take(slice(40, None))
    some = known.beside(others.with_hidden_target())
    alone, taught = (fitted(BayesNet(edges=("c -> a", "a -> b"), gaps="em"), one) for one in (known, some))
    assert len(taught.path_) > 2
    assert taught.chances_[2] != pytest.approx(alone.chances_[2], abs=1e-3)


def test_naive_arrows_are_categorical_naive_bayes() -> None:
    data = weather()
    codes = data.table.codes
    peer = CategoricalNB(alpha=1.0, class_prior=[6 / 16, 10 / 16]).fit(codes, data.y)
    said = answered(BayesNet(structure="naive"), data).probabilities
    assert said == pytest.approx(peer.predict_proba(codes), abs=1e-9)


def test_the_tree_is_the_one_of_conditional_mutual_information() -> None:
    data = as_they_are("zoo")
    model = fitted(
        BayesNet(), data.with_table(data.table.select([column.name for column in data.table.code_columns]))
    )
    codes, count = data.table.codes, len(model.columns_)
    worth = np.zeros((count, count))
    for i in range(count):
        for j in range(i):
            parts = [data.y == k for k in range(len(data.classes))]
            worth[j, i] = sum(part.mean() * mutual_info_score(codes[part, i], codes[part, j]) for part in parts)
    best = -minimum_spanning_tree(-(worth + 1e-9 * (worth == 0))).sum()
    arrows = np.argwhere(model.arrows_[:count, :count])
    assert len(arrows) == count - 1
    assert sum(worth[min(pair), max(pair)] for pair in arrows.tolist()) == pytest.approx(best, abs=1e-6)


def test_arrows_in_a_circle_are_refused_by_name() -> None:
    circle = {"humidity": ["windy"], "windy": ["outlook"], "outlook": ["humidity"]}
    with pytest.raises(FitError, match=r"circle: .*windy -> humidity"):
        fitted(BayesNet(structure=circle), weather())


def test_edges_say_the_same_as_parents() -> None:
    by_edges = fitted(BayesNet(edges=("class -> windy", "windy->outlook")), weather())
    by_parents = fitted(BayesNet(structure={"windy": ["class"], "outlook": ["windy"]}), weather())
    assert (by_edges.arrows_ == by_parents.arrows_).all()
    with pytest.raises(FitError, match="edges: arrows go in a circle"):
        fitted(BayesNet(edges=("class -> windy", "windy -> class")), weather())
    with pytest.raises(UsageError, match="'windy - play' is no arrow such as rain -> wet"):
        build(BayesNet, {"edges": ["windy - play"]})


@pytest.mark.parametrize(
    ("structure", "said"),
    [({"rain": []}, "no column 'rain'"), ({"windy": ["outlok"]}, "did you mean 'outlook'")],
)
def test_unknown_columns_are_refused(structure: dict[str, Any], said: str) -> None:
    with pytest.raises(FitError, match=said):
        fitted(BayesNet(structure=structure), weather())


def test_parents_are_a_list() -> None:
    with pytest.raises(UsageError, match="parents of 'windy' are a list"):
        build(BayesNet, {"structure": {"windy": "outlook"}})


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("P(rain | wet=maybe)", "no level 'maybe'"),
        ("P(rian)", "did you mean 'rain'"),
        ("P(rain | wet)", "with a level each"),
        ("P(rain | rain=y)", "both asked for and known"),
        ("P()", "does not say of what"),
        ("rain?", "is no question"),
        ("rain _||_ wet=y", "without levels"),
        ("rain _||_ rain", "stands twice"),
        ("argmax rain=y", "names a level"),
    ],
)
def test_questions_that_are_none(question: str, said: str) -> None:
    with pytest.raises(MlcliError, match=said):
        network(WET)[0].answer_to(question)


def test_what_is_impossible_answers_nothing() -> None:
    with pytest.raises(DataError, match="probability 0"):
        network(WET)[0].answer_to("P(cloudy | wet=y, sprinkler=n, rain=n)")
