"""k-nearest neighbours beside SOURCES.md (sections 3 and 6), scikit-learn and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.spatial.distance
import sklearn.neighbors

from mlcli.core.errors import FitError, MlcliWarning, UsageError
from mlcli.core.params import build
from mlcli.core.pipeline import learn
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table
from mlcli.engines.neighbours.distances import DISTANCES, ranges_of
from mlcli.engines.neighbours.search import Pairs
from mlcli.models.neighbours.knn import VOTES, NearestNeighbours, vote_weights
from tests.golden.asking import asked, fitted
from tests.golden.shipped import numeric, standardised
from tests.support.rows import labelled, table_of, valued

VOTES_OF_SKLEARN: dict[str, Any] = {
    "uniform": "uniform",
    "inverse": lambda distance: 1 / (distance + 1e-10),
    "inverse-linear": lambda distance: (distance[:, -1:] - distance) / (distance[:, -1:] - distance[:, :1]),
    "gaussian": lambda distance: np.exp(-0.5 * distance**2),
    "laplacian": lambda distance: np.exp(-0.5 * distance),
}


def between(name: str, one: Table, other: Table, trained_on: Table | None = None) -> Array:
    """The distances of two tables, row by row."""
    spans = ranges_of(trained_on or one)
    distance = DISTANCES[name]
    return distance.between(distance.points(one, spans), distance.points(other, spans))


@pytest.mark.parametrize(
    ("name", "apart"),
    [
        ("jaccard", 0.5),
        ("hamming", 1),
        ("simple-matching", 1 / 3),
        ("manhattan", 1),
        ("euclidean", 1),
        ("cosine", 0.292893),
    ],
)
def test_distances_of_the_first_two_rows_of_red_blue_gold(name: str, apart: float) -> None:
    # SOURCES.md, section 3: rows (1, 1, 0) and (0, 1, 0).
    one, other = numeric(np.array([[1.0, 1, 0]])), numeric(np.array([[0.0, 1, 0]]))
    assert between(name, one, other) == pytest.approx([apart], abs=5e-7)


def test_jaccard_counts_booleans_that_are_true() -> None:
    columns = [Column(name, "boolean", ("no", "yes")) for name in "abc"]
    cells = {"a": ["yes", "no"], "b": ["yes", "yes"], "c": ["no", "no"]}
    table = table_of(cells, columns)
    assert between("jaccard", table.take(np.array([0])), table.take(np.array([1]))) == pytest.approx([0.5])
    assert between("jaccard", table, table).tolist() == [0, 0]


@pytest.mark.parametrize(("name", "apart"), [("hamming", 2), ("simple-matching", 2 / 3), ("jaccard", 4 / 5)])
def test_apple_and_orange(name: str, apart: float) -> None:
    # SOURCES.md, section 6; as sets the two have one thing of five in common.
    fruit = table_of({"colour": ["red", "orange"], "shape": ["round", "round"], "weight": ["medium", "low"]})
    assert between(name, fruit.take(np.array([0])), fruit.take(np.array([1]))) == pytest.approx([apart])


def test_mixed_places_three_ordinal_levels_at_0_half_and_1() -> None:
    # SOURCES.md, section 6 ("ranks of three ordinal levels").
    size = Column("size", "ordinal", ("low", "medium", "high"))
    table = table_of({"size": ["low", "medium", "high"]}, [size])
    assert between("mixed", table.take(np.zeros(3, int)), table).tolist() == [0, 0.5, 1]


def test_mixed_is_the_mean_over_the_columns_that_both_rows_know() -> None:
    # Gower 1971: numbers by their range (10), levels by equality, what is missing left out.
    table = table_of({"age": [0.0, 10.0, 4.0, None], "sex": ["f", "m", None, None]})
    first = table.take(np.zeros(4, int))
    assert between("mixed", first, table, table).tolist() == [0, 1, 0.4, 1]


def test_a_row_of_zeros_is_at_cosine_distance_1() -> None:
    # docs/notes.md, 30.
    rows = numeric(np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0], [-3.0, -4.0]]))
    assert between("cosine", rows.take(np.ones(4, int)), rows).tolist() == [1, 0, 0, 2]


@pytest.mark.parametrize(
    ("weights", "votes"),
    [("uniform", [1, 1, 1]), ("inverse", [1, 0.5, 0.25]), ("inverse-linear", [1, 2 / 3, 0])],
)
def test_votes_at_distances_1_2_4(weights: str, votes: list[float]) -> None:
    # SOURCES.md, section 6 ("What if neighbors disagree").
    pairs = Pairs(np.zeros(3, np.intp), np.arange(3), np.array([1.0, 2.0, 4.0]))
    assert vote_weights(pairs, weights, 0.5) == pytest.approx(votes)


def test_inverse_linear_votes_are_all_1_when_all_are_equally_far() -> None:
    # docs/notes.md, 31: D_k = D_1, for k = 1 too.
    pairs = Pairs(np.array([0, 0, 1]), np.arange(3), np.array([2.0, 2.0, 5.0]))
    assert vote_weights(pairs, "inverse-linear", 0.5).tolist() == [1, 1, 1]


@pytest.mark.parametrize("k", [1, 7, 14])
def test_effective_parameters_are_rows_over_k(k: int) -> None:
    # SOURCES.md, section 6 (S1 "KNN: Intuition"): 14, 2, 1.
    data = valued(table_of({"x": list(range(14))}), list(range(14)))
    (section,) = fitted(NearestNeighbours(k=k), data).explain()
    assert ("effective parameters, rows / k", 14 / k) in section.rows


@pytest.mark.parametrize("dataset", ["iris", "wdbc", "wine"])
@pytest.mark.parametrize("weights", VOTES)
@pytest.mark.parametrize(
    ("distance", "metric"), [("euclidean", "euclidean"), ("manhattan", "manhattan"), ("cosine", "cosine")]
)
def test_class_shares_are_those_of_scikit_learn(dataset: str, weights: str, distance: str, metric: str) -> None:
    train, test = split(standardised(dataset))
    X, k = train.table.numbers, 5
    oracle = sklearn.neighbors.KNeighborsClassifier(k, weights=VOTES_OF_SKLEARN[weights], metric=metric)
    said = asked(fitted(NearestNeighbours(k=k, weights=weights, distance=distance), train), test).probabilities
    clear = without_ties(X, test.table.numbers, metric, k)
    assert clear.mean() > 0.7
    expected = oracle.fit(X, train.y).predict_proba(test.table.numbers)
    assert said[clear] == pytest.approx(expected[clear], abs=1e-9)


@pytest.mark.parametrize("dataset", ["concrete", "diabetes_progression"])
@pytest.mark.parametrize("weights", VOTES)
def test_values_are_those_of_scikit_learn(dataset: str, weights: str) -> None:
    train, test = split(standardised(dataset))
    X, k = train.table.numbers, 7
    oracle = sklearn.neighbors.KNeighborsRegressor(k, weights=VOTES_OF_SKLEARN[weights]).fit(X, train.y)
    said = asked(fitted(NearestNeighbours(k=k, weights=weights), train), test).predicted
    clear = without_ties(X, test.table.numbers, "euclidean", k)
    assert clear.mean() > 0.7
    assert said[clear] == pytest.approx(oracle.predict(test.table.numbers)[clear], abs=1e-9)


def split(data: Any) -> tuple[Any, Any]:
    """Two thirds to learn from, the rest to be asked."""
    order = np.random.default_rng(0).permutation(len(data))
    return data.take(order[len(order) // 3 :]), data.take(order[: len(order) // 3])


def without_ties(stored: Array, asked_rows: Array, metric: str, k: int) -> Any:
    """The asked rows whose k nearest are not a matter of choice."""
    metric = {"manhattan": "cityblock"}.get(metric, metric)
    apart = np.sort(scipy.spatial.distance.cdist(asked_rows, stored, metric), axis=1)
    return (apart[:, k] - apart[:, k - 1] > 1e-9) & (apart[:, k - 1] - apart[:, 0] > 1e-9)


NEAR = valued(table_of({"x": [0.0, 1.0, -1.0, 1.0, 9.0]}), [0.0, 10.0, 20.0, 10.0, 90.0])


@pytest.mark.parametrize(
    ("tied", "mean"),
    [
        ("share", (0 + (10 + 20 + 10) / 3) / 2),
        ("all", (0 + 10 + 20 + 10) / 4),
        ("first", (0 + 10) / 2),
        ("majority", (0 + 10) / 2),
    ],
)
def test_rows_as_near_as_the_kth(tied: str, mean: float) -> None:
    # S2 "Breaking Tie": asked at 0 with k = 2, three rows are tied for the second seat.
    model = fitted(NearestNeighbours(k=2, tied_distance=tied), NEAR)
    assert model.predict_values(numeric(np.zeros((1, 1)))) == pytest.approx([mean])


def test_majority_seats_the_tied_rows_of_the_most_common_class() -> None:
    data = labelled(table_of({"x": [0.0, 1.0, -1.0, 1.0, -1.0]}), ["b", "a", "c", "c", "b"])
    model = fitted(NearestNeighbours(k=3, tied_distance="majority"), data)
    assert model.predict_proba(numeric(np.zeros((1, 1)))) == pytest.approx(np.array([[0, 1 / 3, 2 / 3]]))


def test_random_ties_depend_on_the_seed_alone() -> None:
    asked_row = numeric(np.zeros((1, 1)))
    said = [fitted(NearestNeighbours(k=2, tied_distance="random"), NEAR, seed) for seed in range(20)]
    values = [float(model.predict_values(asked_row)[0]) for model in said]
    assert set(values) == {5.0, 10.0}
    again = fitted(NearestNeighbours(k=2, tied_distance="random"), NEAR, 3)
    assert again.predict_values(asked_row)[0] == values[3]


def test_distances_that_rounding_tells_apart_are_tied() -> None:
    # 0.3 − 0.2 and 0.2 − 0.1 differ in the last digit, and so do 5.1 − 4.9 and 4.9 − 4.7.
    assert 0.3 - 0.2 != 0.2 - 0.1
    data = valued(table_of({"x": [0.3, 0.1, 4.0]}), [1.0, 3.0, 9.0])
    assert fitted(NearestNeighbours(k=1), data).predict_values(numeric(np.array([[0.2]]))) == pytest.approx([2.0])


@pytest.mark.parametrize(
    ("tied_vote", "wins"), [("larger-class", "b"), ("class-order", "a"), ("nearest", "c")], ids=str
)
def test_equal_votes(tied_vote: str, wins: str) -> None:
    # S2 "Breaking Tie": a, b and c have one vote each; c is nearest, b has most training rows.
    data = labelled(table_of({"x": [3.0, -2.0, 1.0, 50.0, 60.0]}), ["a", "b", "c", "b", "b"])
    model = fitted(NearestNeighbours(k=3, tied_vote=tied_vote), data)
    probabilities = model.predict_proba(numeric(np.zeros((1, 1))))
    assert probabilities == pytest.approx(np.full((1, 3), 1 / 3), abs=1e-9)
    assert data.classes[model.decide(probabilities)[0]] == wins


def test_equal_votes_go_to_the_class_of_priority() -> None:
    data = labelled(table_of({"x": [3.0, -2.0, 1.0, 50.0, 60.0]}), ["a", "b", "c", "b", "b"])
    asked_row = numeric(np.zeros((1, 1)))
    for priority, wins in ((("c", "a"), "c"), (("a",), "a"), (("b", "c", "a"), "b")):
        model = fitted(NearestNeighbours(k=3, tied_vote="priority", priority=priority), data)
        assert data.classes[model.decide(model.predict_proba(asked_row))[0]] == wins
    with pytest.raises(FitError, match="there is no class 'd'"):
        fitted(NearestNeighbours(tied_vote="priority", priority=("d",)), data)


def test_equal_votes_at_random_go_to_each_class_as_often_and_to_no_smaller_one() -> None:
    data = labelled(table_of({"x": [1.0, 1.0, -1.0, -1.0, 1.5]}), ["a", "a", "b", "b", "c"])
    won = []
    for seed in range(300):
        model = NearestNeighbours(k=5, tied_vote="random")
        learn(model, data, np.random.default_rng(seed))
        won.append(int(model.decide(model.predict_proba(numeric(np.zeros((1, 1)))))[0]))
    assert set(won) == {0, 1}
    assert 110 < won.count(0) < 190


def test_a_gaussian_kernel_over_landmarks() -> None:
    # SOURCES.md, section 6: landmarks (0,0), (2,0), (0,2) with y = 1, 1, 0 and σ = 1.
    landmarks = numeric(np.array([[0.0, 0], [2, 0], [0, 2]]))
    model = fitted(NearestNeighbours(k=3, weights="gaussian", gamma=0.5), valued(landmarks, [1.0, 1, 0]))
    said = model.predict_values(numeric(np.array([[0.0, 0], [1, 0], [0, 2]])))
    assert said == pytest.approx([0.893493, 0.936621, 0.133187], abs=5e-7)
    # Far out every closeness is too small for a number, but not their ratios.
    assert model.predict_values(numeric(np.array([[1e3, 0.0]]))) == pytest.approx([1.0])


@pytest.mark.parametrize("search", ["brute", "k-d-tree"])
def test_every_search_gives_the_same_answers(search: str) -> None:
    rng = np.random.default_rng(4)
    data = valued(numeric(rng.integers(0, 9, (400, 2)) / 4), rng.normal(size=400).tolist())
    asked_rows = numeric(rng.normal(size=(50, 2)))
    said = [
        fitted(NearestNeighbours(k=7, search=one), data).predict_values(asked_rows) for one in ("auto", search)
    ]
    assert (said[0] == said[1]).all()
    with pytest.raises(UsageError, match="a k-d tree does not measure cosine"):
        build(NearestNeighbours, {"distance": "cosine", "search": "k-d-tree"})


def test_an_odd_k_is_advised_where_two_classes_may_tie() -> None:
    data = labelled(table_of({"x": [1.0, 2.0, 3.0, 4.0]}), list("aabb"))
    notes = [fitted(NearestNeighbours(k=k), data).explain()[0].note for k in (2, 3)]
    assert ["odd" in note for note in notes] == [True, False]


def test_a_row_of_weight_2_takes_two_seats() -> None:
    data = valued(table_of({"x": [1.0, 2.0, 3.0]}), [1.0, 10.0, 100.0], weight=[2.0, 1.0, 0.0])
    asked_row = numeric(np.zeros((1, 1)))
    assert fitted(NearestNeighbours(k=2), data).predict_values(asked_row) == pytest.approx([1.0])
    assert fitted(NearestNeighbours(k=3), data).predict_values(asked_row) == pytest.approx([4.0])


def test_more_neighbours_than_rows_are_all_rows_and_said_so() -> None:
    data = valued(table_of({"x": [1.0, 2.0, 3.0]}), [3.0, 6.0, 9.0])
    with pytest.warns(MlcliWarning, match="k = 50 but there are only 3"):
        model = fitted(NearestNeighbours(k=50), data)
    assert model.predict_values(data.table) == pytest.approx([6.0, 6.0, 6.0])


def test_what_is_needed_depends_on_the_distance() -> None:
    for name in ("euclidean", "manhattan", "cosine"):
        accepts = NearestNeighbours(distance=name).accepts
        assert (accepts.nominal, accepts.missing, accepts.prefers_scaled) == (False, False, True)
    for name in ("hamming", "simple-matching", "jaccard", "mixed"):
        accepts = NearestNeighbours(distance=name).accepts
        assert (accepts.nominal, accepts.missing, accepts.prefers_scaled) == (True, True, False)
