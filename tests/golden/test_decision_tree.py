"""Decision trees beside SOURCES.md (1.3, 2), the notes' rules, and scikit-learn's splits and answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sklearn.tree

from mlcli.core.nested import without_effect
from mlcli.core.schema import Column
from mlcli.engines.trees.findings import importances
from mlcli.engines.trees.structure import Trees
from mlcli.models.trees.decision_tree import DecisionTree
from mlcli.report.characters import drawn
from mlcli.report.document import Preformatted
from tests.golden.asking import answered, asked, fitted
from tests.golden.growing import cuts_at_root, gains_at_root, root_impurity
from tests.golden.shipped import in_numbers, numeric
from tests.golden.weather import weather
from tests.support.rows import labelled, table_of, valued


def lines_of(model: Any) -> tuple[str, ...]:
    """The rules as text."""
    drawing = drawn(model.explain()[0], None)
    assert isinstance(drawing, Preformatted)
    return drawing.lines


# SOURCES.md, 1.3: columns outlook, temperature, humidity, windy.


@pytest.mark.parametrize(
    ("criterion", "value"), [("entropy", 0.940286), ("gini", 0.459184), ("misclassification", 0.357143)]
)
def test_impurity_of_the_root(criterion: str, value: float) -> None:
    assert root_impurity(weather(), criterion) == pytest.approx(value, abs=5e-7)


@pytest.mark.parametrize(
    ("criterion", "gains"),
    [
        ("entropy", [0.246750, 0.029223, 0.151836, 0.048127]),
        ("gini", [0.116327, 0.018707, 0.091837, 0.030612]),
        ("misclassification", [0.071429, 0, 0.071429, 0]),
    ],
)
def test_gains_of_a_branch_for_every_level(criterion: str, gains: list[float]) -> None:
    assert gains_at_root(weather(), "id3", criterion) == pytest.approx(gains, abs=5e-7)


def test_split_information_gain_ratio_and_mean_gain() -> None:
    gain, information = cuts_at_root(weather(), "c45", "entropy")
    assert information == pytest.approx([1.577406, 1.556657, 1.0, 0.985228], abs=5e-7)
    assert gain / information == pytest.approx([0.156428, 0.018773, 0.151836, 0.048849], abs=5e-7)
    assert gain.mean() == pytest.approx(0.118984, abs=5e-7)


def test_decreases_of_one_level_against_the_rest() -> None:
    assert gains_at_root(weather(), "cart", "gini") == pytest.approx(
        [0.102041, 0.016327, 0.091837, 0.030612], abs=5e-7
    )


@pytest.mark.parametrize(
    ("level", "decrease"),
    [
        ("overcast", 0.102041),
        ("sunny", 0.065533),
        ("rainy", 0.002041),
        ("hot", 0.016327),
        ("cold", 0.009184),
        ("mild", 0.000850),
    ],
)
def test_decrease_of_each_level(level: str, decrease: float) -> None:
    data = weather()
    column = next(column for column in data.table.columns if level in column.levels)
    cells = data.table.cells(column.name) == column.levels.index(level)
    alone = labelled(
        table_of({"is": ["yes" if cell else "no" for cell in cells]}), [data.classes[y] for y in data.y]
    )
    assert gains_at_root(alone, "cart", "gini") == pytest.approx([decrease], abs=5e-7)


FIVE_LEAVES = (
    "outlook = overcast: yes (4)",
    "outlook = rainy",
    "|   windy = false: yes (3)",
    "|   windy = true: no (2)",
    "outlook = sunny",
    "|   humidity = high: no (3)",
    "|   humidity = normal: yes (2)",
)


@pytest.mark.parametrize("algorithm", ["id3", "c45"])
def test_id3_and_c45_grow_the_tree_of_five_leaves(algorithm: str) -> None:
    model = fitted(DecisionTree(algorithm=algorithm), weather())
    assert lines_of(model) == FIVE_LEAVES
    answers = asked(model, weather())
    assert (answers.predicted == answers.truth).all()


def test_the_class_yes_is_the_expression_printed_in_the_notes() -> None:
    # S0 5.1: (sunny ∧ normal) ∨ overcast ∨ (rainy ∧ not windy).
    _, classes, _ = fitted(DecisionTree(algorithm="id3"), weather()).explain()
    assert classes.lines[:3] == (
        "yes = (outlook = overcast)",
        "  OR (outlook = rainy AND windy = false)",
        "  OR (outlook = sunny AND humidity = normal)",
    )


@pytest.mark.parametrize(
    ("outlook", "gains"), [("sunny", [0.570951, 0.970951, 0.019973]), ("rainy", [0.019973, 0.019973, 0.970951])]
)
def test_gains_below_the_root(outlook: str, gains: list[float]) -> None:
    data = weather()
    column = data.table.columns[0]
    below = data.take(np.flatnonzero(data.table.cells("outlook") == column.levels.index(outlook)))
    found = gains_at_root(below, "id3", "entropy")
    assert found[0] == -np.inf
    assert found[1:] == pytest.approx(gains, abs=5e-7)


def test_cart_grows_seven_leaves() -> None:
    # At the last question outlook and temperature tie; the first column wins.
    model = fitted(DecisionTree(), weather())
    assert lines_of(model) == (
        "outlook = overcast: yes (4)",
        "outlook ≠ overcast",
        "|   humidity = high",
        "|   |   outlook = rainy",
        "|   |   |   windy = false: yes (1)",
        "|   |   |   windy = true: no (1)",
        "|   |   outlook ≠ rainy: no (3)",
        "|   humidity = normal",
        "|   |   windy = false: yes (3)",
        "|   |   windy = true",
        "|   |   |   outlook = rainy: no (1)",
        "|   |   |   outlook ≠ rainy: yes (1)",
    )
    decrease = {"root": 0.102041, "humidity": 0.18, "rainy": 0.12, "windy below rainy": 0.5}
    inner, tree = ~model.tree_.leaves, model.tree_
    below = np.bincount(tree.parent[1:], weights=(tree.weight * tree.impurity)[1:], minlength=len(inner))
    gains = (tree.impurity - below / tree.weight)[inner]
    assert sorted(gains) == pytest.approx(sorted([*decrease.values(), 0.12, 0.5]), abs=5e-7)


def candidates_of(**params: Any) -> dict[tuple[str, str], tuple[Any, ...]]:
    """What every split of the weather would gain at the first nodes, by node and split."""
    found = fitted(DecisionTree(detail="full", **params), weather()).explain()[-1]
    return {(node, split): tuple(figures) for node, _, split, *figures in found.rows}


def test_the_impurity_of_each_node_stands_before_its_gains() -> None:
    """H(9/14, 5/14) of all days, and H(2/5, 3/5) of those with sun."""
    (*_, found) = fitted(DecisionTree(detail="full", algorithm="id3"), weather()).explain()
    assert found.header[1] == "entropy"
    assert {line[0]: line[1] for line in found.rows} == {
        "all rows": pytest.approx(0.940286, abs=5e-7),
        "outlook = sunny": pytest.approx(0.970951, abs=5e-7),
        "outlook = rainy": pytest.approx(0.970951, abs=5e-7),
    }


def test_the_impurity_is_of_the_rows_whose_gains_are_shown_though_some_were_held_out() -> None:
    model = DecisionTree(detail="full", criterion="entropy", prune="reduced-error")
    (*_, found) = fitted(model, weather()).explain()
    assert [line[1] for line in found.rows if line[0] == "all rows"] == pytest.approx([0.940286] * 8, abs=5e-7)


def test_a_tree_of_one_leaf_has_one_leaf() -> None:
    tree, *_ = fitted(DecisionTree(min_split=100), weather()).explain()
    assert tree.note.startswith("1 leaf, depth 0;")


def test_every_column_is_listed_with_its_gain_and_gain_ratio() -> None:
    found = candidates_of(algorithm="id3")
    root = [found["all rows", f"{name}: each level"] for name in ("outlook", "temperature", "humidity", "windy")]
    assert [taken for taken, *_ in root] == ["taken", "", "", ""]
    assert [figures for _, *figures in root] == [
        pytest.approx(figures, abs=5e-7)
        for figures in (
            [0.246750, 1.577406, 0.156428],
            [0.029223, 1.556657, 0.018773],
            [0.151836, 1.000000, 0.151836],
            [0.048127, 0.985228, 0.048849],
        )
    ]
    assert found["outlook = sunny", "temperature: each level"][1] == pytest.approx(0.570951, abs=5e-7)
    assert found["outlook = rainy", "windy: each level"][:2] == ("taken", pytest.approx(0.970951, abs=5e-7))
    assert not any(node == "outlook = overcast" for node, _ in found)  # it is pure


def test_every_level_is_listed_with_its_decrease() -> None:
    found = candidates_of()
    levels = {split: figures[1] for (node, split), figures in found.items() if node == "all rows"}
    assert levels["outlook = overcast"] == pytest.approx(0.102041, abs=5e-7)
    assert levels["outlook = sunny"] == pytest.approx(0.065533, abs=5e-7)
    assert levels["temperature = mild"] == pytest.approx(0.000850, abs=5e-7)
    assert levels["humidity = high"] == pytest.approx(0.091837, abs=5e-7)
    assert found["outlook ≠ overcast", "humidity = high"] == ("taken", pytest.approx(0.18))


# SOURCES.md, section 2.


@pytest.mark.parametrize(
    ("counts", "misclassification", "gini", "entropy"),
    [
        ((16, 0), 0, 0, 0),
        ((15, 1), 0.0625, 0.1171875, 0.337290),
        ((8, 8), 0.5, 0.5, 1),
        ((3, 6, 1), 0.4, 0.54, 1.295462),
    ],
)
def test_impurity_of_a_node(
    counts: tuple[int, ...], misclassification: float, gini: float, entropy: float
) -> None:
    labels = [str(label) for label, count in enumerate(counts) for _ in range(count)]
    data = labelled(table_of({"x": [0.0] * len(labels)}), labels)
    found = [
        root_impurity(data, criterion) for criterion in ("misclassification", "gini", "entropy", "squared-error")
    ]
    assert found == pytest.approx([misclassification, gini, entropy, gini], abs=5e-7)


@pytest.mark.parametrize("classes", [2, 3, 4, 10])
def test_largest_impurities(classes: int) -> None:
    data = labelled(table_of({"x": [0.0] * classes}), [f"{label:02}" for label in range(classes)])
    assert root_impurity(data, "misclassification") == pytest.approx(1 - 1 / classes)
    assert root_impurity(data, "gini") == pytest.approx(1 - 1 / classes)
    assert root_impurity(data, "entropy") == pytest.approx(np.log2(classes))


@pytest.mark.parametrize("criterion", ["gini", "entropy", "misclassification"])
def test_no_column_of_xor_gains_anything_so_the_tree_stops(criterion: str) -> None:
    data = labelled(table_of({"a": [0, 0, 1, 1], "b": [0, 1, 0, 1]}), ["n", "y", "y", "n"])
    assert gains_at_root(data, "cart", criterion) == pytest.approx([0, 0])
    assert lines_of(fitted(DecisionTree(criterion=criterion), data)) == ("n 50% (4)",)


# scikit-learn.

TABLES = ["iris", "wine", "wdbc", "concrete", "cpu", "diabetes_progression"]
LIMITS: list[dict[str, Any]] = [{}, {"max_depth": 4}, {"min_leaf": 7}]
OF_SKLEARN = {"max_depth": "max_depth", "min_leaf": "min_samples_leaf"}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_every_question_gains_what_the_best_of_scikit_learn_gains(name: str, limits: dict[str, Any]) -> None:
    # Node by node, so that ties between splits, which scikit-learn draws lots about, cannot matter.
    data = single_precision(in_numbers(name))
    model = fitted(DecisionTree(**limits), data)
    tree = model.tree_
    for node, rows in enumerate(rows_of_nodes(tree, data.table.numbers)[:60]):
        oracle = stump(data, min_samples_leaf=limits.get("min_leaf", 1)).fit(
            data.table.numbers[rows], data.y[rows]
        )
        best = decrease(oracle.tree_.impurity, oracle.tree_.n_node_samples, oracle.tree_.children_left[0])
        stopped = limits.get("max_depth") == tree.depths()[node]
        found = 0.0 if tree.leaves[node] else decrease(tree.impurity, tree.weight, tree.left[node], node)
        assert found == pytest.approx(0.0 if stopped else best, rel=1e-6, abs=1e-9)


def single_precision(data: Any) -> Any:
    """The same rows as scikit-learn's trees see them."""
    return data.with_table(numeric(data.table.numbers.astype(np.float32)))


def stump(data: Any, **limits: int) -> Any:
    """scikit-learn's tree of one question for the kind of these rows."""
    kinds = {
        "classification": sklearn.tree.DecisionTreeClassifier,
        "regression": sklearn.tree.DecisionTreeRegressor,
    }
    return kinds[data.kind](max_depth=1, random_state=0, **limits)


def decrease(impurity: Any, weight: Any, left: int, node: int = 0) -> float:
    """What a question with two branches takes away."""
    if left < 0:
        return 0.0
    both = slice(left, left + 2)
    return float(impurity[node] - (impurity[both] * weight[both]).sum() / weight[node])


def rows_of_nodes(tree: Trees, X: Any) -> list[Any]:
    """The rows that come through each node, found by asking one row at a time."""
    found: list[list[int]] = [[] for _ in tree.feature]
    for row in range(len(X)):
        node = 0
        found[node].append(row)
        while not tree.leaves[node]:
            node = int(tree.left[node]) + int(X[row, tree.feature[node]] > tree.threshold[node])
            found[node].append(row)
    return [np.array(rows) for rows in found]


@pytest.mark.parametrize(
    ("name", "limits"),
    [
        ("iris", {}),
        ("iris", {"min_leaf": 5}),
        ("wine", {"max_depth": 3}),
        ("wdbc", {"max_depth": 3}),
        ("segment", {"max_depth": 3}),
        ("concrete", {"max_depth": 5}),
        ("concrete", {"max_depth": 6, "min_leaf": 10}),
        ("cpu", {"min_leaf": 5}),
        ("diabetes_progression", {"max_depth": 4}),
    ],
    ids=str,
)
def test_rows_not_seen_are_answered_as_by_scikit_learn(name: str, limits: dict[str, Any]) -> None:
    data = single_precision(in_numbers(name))
    order = np.random.default_rng(0).permutation(len(data))
    train, test = data.take(order[len(order) // 3 :]), data.take(order[: len(order) // 3])
    theirs = np.array([answers_of_sklearn(train, test, limits, seed) for seed in range(10)])
    agreed = np.isclose(theirs, theirs[0], rtol=1e-9).all(axis=0)
    assert agreed.mean() > 0.85
    ours = asked(fitted(DecisionTree(**limits), train), test).predicted
    assert ours[agreed] == pytest.approx(theirs[0][agreed], rel=1e-9)


def answers_of_sklearn(train: Any, test: Any, limits: dict[str, Any], seed: int) -> Any:
    """What scikit-learn's tree says; another seed decides ties in another way."""
    theirs = {"max_depth": None} | {OF_SKLEARN[name]: value for name, value in limits.items()}
    model = stump(train).set_params(random_state=seed, **theirs)
    return model.fit(train.table.numbers, train.y).predict(test.table.numbers)


def test_class_shares_and_importances_are_those_of_scikit_learn() -> None:
    data = single_precision(in_numbers("iris"))
    model = fitted(DecisionTree(max_depth=2), data)
    oracle = sklearn.tree.DecisionTreeClassifier(max_depth=2, random_state=1).fit(data.table.numbers, data.y)
    assert model.predict_proba(data.table) == pytest.approx(oracle.predict_proba(data.table.numbers), abs=1e-12)
    ours = importances(model.tree_, 4)
    # petal length and petal width tie at the root; together they hold everything.
    assert ours.sum() == pytest.approx(1.0)
    assert ours[2:].sum() == pytest.approx(oracle.feature_importances_[2:].sum(), abs=1e-12)


# The rules of the notes.


def test_a_value_equal_to_the_threshold_goes_left_and_the_threshold_lies_midway() -> None:
    # docs/notes.md, 37.
    model = fitted(DecisionTree(), labelled(table_of({"x": [1.0, 2.0, 4.0, 5.0]}), ["a", "a", "b", "b"]))
    assert lines_of(model) == ("x ≤ 3: a (2)", "x > 3: b (2)")
    assert model.predict_proba(numeric(np.array([[3.0], [3.0000001]])))[:, 0].tolist() == [1, 0]


def test_neighbouring_floats_are_told_apart() -> None:
    low = 1.0
    high = float(np.nextafter(low, 2))
    model = fitted(DecisionTree(), labelled(table_of({"x": [low, high]}), ["a", "b"]))
    assert model.predict_proba(numeric(np.array([[low], [high]])))[:, 0].tolist() == [1, 0]


def test_a_key_column_wins_by_gain_but_not_by_gain_ratio() -> None:
    # S2 "Shortcoming of Information Gain": a column with a level for every row.
    data = weather()
    key = (Column("day", "nominal", tuple(f"d{i:02}" for i in range(14))), np.arange(14))
    table = type(data.table).of([key, *data.table.parts()], 14)
    by_name = [column.name for column in table.columns]
    chosen = {
        algorithm: by_name[fitted(DecisionTree(algorithm=algorithm), data.with_table(table)).tree_.feature[0]]
        for algorithm in ("id3", "c45")
    }
    assert chosen["id3"] == "day"
    gain, information = cuts_at_root(data.with_table(table), "c45", "entropy")
    assert gain[0] / information[0] == pytest.approx(0.940286 / np.log2(14), abs=5e-7)


ONE_QUESTION = ("outlook = overcast: yes (4)", "outlook = rainy: yes 60% (5)", "outlook = sunny: no 60% (5)")
BY_HUMIDITY = ("humidity = high: no 57% (7)", "humidity = normal: yes 86% (7)")
LIMITED: list[tuple[dict[str, Any], tuple[str, ...]]] = [
    ({"max_depth": 1}, ONE_QUESTION),
    ({"min_leaf": 6}, BY_HUMIDITY),
    ({"min_split": 15}, ("yes 64% (14)",)),
    ({"min_gain": 0.25}, ("yes 64% (14)",)),
    ({"min_gain": 0.24, "max_depth": 1}, ONE_QUESTION),
    ({"purity": 0.6, "max_depth": 3}, ("yes 64% (14)",)),
    ({"purity": 0.65, "min_leaf": 5}, BY_HUMIDITY),
]


@pytest.mark.parametrize(("limits", "lines"), LIMITED, ids=str)
def test_limits(limits: dict[str, Any], lines: tuple[str, ...]) -> None:
    # S2 "Stopping Criteria": a gain above the threshold; purity above gamma; depth; S1: rows in a leaf.
    assert lines_of(fitted(DecisionTree(algorithm="id3", **limits), weather())) == lines


def test_the_first_of_equal_columns_wins() -> None:
    copies = {name: [1.0, 1.0, 2.0, 2.0] for name in ("a", "b", "c")}
    data = labelled(table_of({"z": [1.0, 2.0, 1.0, 2.0]} | copies), ["n", "n", "y", "y"])
    assert lines_of(fitted(DecisionTree(), data)) == ("a ≤ 1.5: n (2)", "a > 1.5: y (2)")


def test_ordinal_levels_are_split_like_numbers() -> None:
    size = Column("size", "ordinal", ("small", "medium", "large"))
    data = valued(table_of({"size": ["large", "small", "medium", "large"]}, [size]), [9.0, 1.0, 1.0, 9.0])
    assert lines_of(fitted(DecisionTree(algorithm="id3"), data)) == (
        "size ≤ medium: 1 (2)",
        "size > medium: 9 (2)",
    )


# Missing cells.


def test_a_missing_level_is_a_level_of_its_own() -> None:
    data = labelled(table_of({"colour": ["red", "blue", None, None]}), ["n", "n", "y", "y"])
    assert lines_of(fitted(DecisionTree(), data)) == ("colour = missing: y (2)", "colour ≠ missing: n (2)")
    assert lines_of(fitted(DecisionTree(algorithm="id3"), data)) == (
        "colour = blue: n (1)",
        "colour = red: n (1)",
        "colour = missing: y (2)",
    )


@pytest.mark.parametrize(
    ("labels", "lines"),
    [
        ("aabbb", ("x ≤ 2.5: a (2)", "x > 2.5 or missing: b (3)")),
        ("aabba", ("x ≤ 2.5 or missing: a (3)", "x > 2.5: b (2)")),
        ("aaaab", ("x is known: a (4)", "x is missing: b (1)")),
    ],
)
def test_missing_numbers_go_where_they_gain_most(labels: str, lines: tuple[str, ...]) -> None:
    data = labelled(table_of({"x": [1.0, 2.0, 3.0, 4.0, None]}), list(labels))
    model = fitted(DecisionTree(), data)
    assert lines_of(model) == lines
    assert (asked(model, data).predicted == data.y).all()


def test_missing_cells_take_the_most_frequent_value() -> None:
    # S1 "Handling of missing values"; of equally frequent numbers the middle one.
    table = table_of({"x": [1.0, 2.0, 7.0, None], "c": ["u", "v", "v", None], "all": [None, None, None, None]})
    model = fitted(DecisionTree(missing="most-frequent"), labelled(table, ["n", "y", "y", "y"]))
    assert model.fills_[:2].tolist() == [2.0, 1.0]
    assert lines_of(model) == ("x ≤ 1.5: n (1)", "x > 1.5: y (3)")


def test_a_row_that_no_branch_fits_is_answered_by_the_node() -> None:
    table = table_of({"colour": ["red", "blue", "blue", "red"], "x": [1.0, 2.0, 3.0, 4.0]})
    unseen = replace(table, codes=np.full((4, 1), -1, np.int32), numbers=np.full((4, 1), np.nan))
    colours = labelled(table.select(["colour"]), ["n", "y", "y", "n"])
    numbers = labelled(table.select(["x"]), ["n", "n", "n", "y"])
    by_level = fitted(DecisionTree(algorithm="id3"), colours)
    assert by_level.predict_proba(unseen.select(["colour"]))[0].tolist() == [0.5, 0.5]
    by_rest = fitted(DecisionTree(), colours)
    assert by_rest.predict_proba(unseen.select(["colour"]))[0].tolist() == [1, 0]
    by_value = fitted(DecisionTree(), numbers)
    assert by_value.predict_proba(unseen.select(["x"]))[0].tolist() == [0.75, 0.25]


# Weights, numbers, and what a tree says of itself.


@pytest.mark.parametrize("limits", [{}, {"min_leaf": 7}, {"min_split": 20}, {"purity": 0.9}], ids=str)
def test_a_weight_counts_as_that_many_rows_under_every_limit(limits: dict[str, Any]) -> None:
    data = in_numbers("iris")
    times = np.random.default_rng(1).integers(0, 4, len(data))
    many = fitted(DecisionTree(**limits), data.take(np.repeat(np.arange(len(data)), times)))
    weighted = fitted(DecisionTree(**limits), replace(data, weight=times.astype(float)))
    assert lines_of(weighted) == lines_of(many)


def test_a_number_has_no_shares_of_classes_and_that_is_said() -> None:
    data = valued(table_of({"x": [1.0, 2.0, 3.0]}), [1.0, 1.0, 5.0])
    tree = DecisionTree(criterion="entropy")
    assert list(without_effect(tree, "regressor")) == ["criterion has no effect: it matters for a classifier"]
    model = fitted(tree, data)
    assert lines_of(model) == ("x ≤ 2.5: 1 (2)", "x > 2.5: 5 (1)")


def test_squared_error_of_classes_is_gini() -> None:
    data = in_numbers("wine")
    assert lines_of(fitted(DecisionTree(criterion="squared-error"), data)) == lines_of(
        fitted(DecisionTree(), data)
    )


def test_what_columns_are_worth() -> None:
    model = fitted(DecisionTree(algorithm="id3"), weather())
    worth = model.explain()[2]
    assert [row[0] for row in worth.rows] == ["humidity", "windy", "outlook"]
    assert [row[2] for row in worth.rows] == pytest.approx([5 / 14, 5 / 14, 1.0])
    assert [row[3] for row in worth.rows] == [1, 1, 0]
    taken = 5 * 0.970951, 5 * 0.970951, 14 * 0.246750
    assert [row[1] for row in worth.rows] == pytest.approx([part / sum(taken) for part in taken], abs=1e-6)
    assert worth.note == "not split on: temperature"


def test_a_huge_tree_says_how_many_lines_are_left_out() -> None:
    model = fitted(DecisionTree(), valued(table_of({"x": list(range(100))}), list(range(100))))
    assert len(lines_of(model)) == 61
    assert lines_of(model)[-1] == "… and 138 more lines"
    assert answered(DecisionTree(), valued(table_of({"x": [1.0]}), [3.0])).predicted.tolist() == [3.0]


def test_equal_values_are_a_leaf_though_their_mean_is_rounded_and_small_ones_are_told_apart() -> None:
    # The mean of six times 0.1 is not 0.1; e^0 to e^40 lie closer together than rounding of the largest.
    assert sum([0.1] * 6) / 6 != 0.1
    same = fitted(DecisionTree(), valued(table_of({"x": list(range(6))}), [0.1] * 6))
    assert len(lines_of(same)) == 1
    growing = valued(table_of({"x": list(range(41))}), list(np.exp(np.arange(41.0))))
    assert answered(DecisionTree(), growing).predicted == pytest.approx(growing.y)


def test_or_missing_stands_in_brackets_between_ands() -> None:
    """Read by the usual precedence, A AND B or missing AND C would be two ways."""
    table = table_of({"x": [1.0, 2.0, 3.0, 4.0, None, None], "z": [0.0, 0.0, 0.0, 0.0, 0.0, 9.0]})
    _, classes, _ = fitted(DecisionTree(), labelled(table, list("aabbbc"))).explain()
    assert classes.lines[:2] == ("a = (x ≤ 2.5)", "b = ((x > 2.5 or missing) AND z ≤ 4.5)")
