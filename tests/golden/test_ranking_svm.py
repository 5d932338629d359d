"""Ranking SVM beside scikit-learn's LinearSVC on the differences of pairs, and by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.moments import share_in_order
from mlcli.core.schema import Column
from mlcli.core.tables import Table
from mlcli.data.load import load
from mlcli.models.ranking import ranking_svm
from mlcli.models.ranking.ranking_svm import RankingSVM
from mlcli.tasks.table import kind_named
from tests.golden.asking import answered, asked, fitted
from tests.golden.shipped import with_numbers
from tests.support.memory import peak_of
from tests.support.rankings import drawn, grouped

LOSSES = ("hinge", "squared-hinge")


def travel() -> Any:
    """The trips of travelmode, in standardised numbers; each mode is a column of zeros and ones."""
    dataset = load("travelmode")
    data = kind_named("ranking").rows.from_table(dataset.table, dataset.schema)
    X = np.column_stack([data.table.numbers, np.eye(4)[data.table.codes[:, 0]]])
    return with_numbers(data, (X - X.mean(axis=0)) / X.std(axis=0))


def differences(data: Any) -> Any:
    """The pairs of each group by two loops: better minus worse, and the product of their weights."""
    X, relevance, group = data.table.numbers, data.relevance, data.groups
    n = len(data)
    pairs = [(i, j) for i in range(n) for j in range(n) if group[i] == group[j] and relevance[i] > relevance[j]]
    rows = np.array([X[i] - X[j] for i, j in pairs])
    return rows, np.array([data.weights[i] * data.weights[j] for i, j in pairs])


def objective(w: Any, rows: Any, cost: Any, loss: str) -> float:
    lacking = np.maximum(0, 1 - rows @ w)
    return float(w @ w / 2 + cost @ (lacking if loss == "hinge" else lacking**2))


def oracle(rows: Any, weight: Any, c: float, loss: str) -> Any:
    """Every other pair turned round, so that there are two classes; no intercept."""
    sign = np.where(np.arange(len(rows)) % 2, 1, -1)
    machine = LinearSVC(
        C=c, loss=loss.replace("-", "_"), fit_intercept=False, dual=loss == "hinge", tol=1e-10, max_iter=1_000_000
    )
    return machine.fit(rows * sign[:, None], sign, sample_weight=weight).coef_[0]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("c", [0.01, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_are_those_of_linear_svc_on_differences(loss: str, c: float, weighted: bool) -> None:
    data = travel()
    if weighted:
        data = replace(data, weight=np.random.default_rng(1).integers(0, 4, len(data)).astype(float))
    rows, weight = differences(data)
    model = fitted(RankingSVM(C=c, loss=loss), data)
    assert model.weights_ == pytest.approx(oracle(rows, weight, c, loss), abs=1e-6)
    assert model.objective_ == pytest.approx(objective(model.weights_, rows, c * weight, loss), rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("c", [1e-3, 100.0, 1e4])
def test_no_nearby_weights_have_a_smaller_objective(loss: str, c: float) -> None:
    data = travel()
    rows, weight = differences(data)
    model = fitted(RankingSVM(C=c, loss=loss), data)
    rng = np.random.default_rng(2)
    for size in (1e-1, 1e-3, 1e-5):
        beside = model.weights_ + size * rng.normal(size=len(model.weights_))
        assert objective(beside, rows, c * weight, loss) >= model.objective_ * (1 - 1e-12)
    assert 0 <= model.gap_ <= 1e-12 * model.objective_


def test_two_rows_have_the_weight_that_makes_the_margin_1() -> None:
    # ½w² + c·max(0, 1 − 2w): the margin is reached at w = ½ where c allows it, else w = 2c.
    data = grouped([[3.0], [1.0]], [1, 0], [0, 0])
    assert fitted(RankingSVM(C=1.0), data).weights_ == pytest.approx([0.5], abs=1e-9)
    assert fitted(RankingSVM(C=0.1), data).weights_ == pytest.approx([0.2], abs=1e-9)
    # ½w² + c·(1 − 2w)²: w = 4c / (1 + 8c).
    assert fitted(RankingSVM(C=1.0, loss="squared-hinge"), data).weights_ == pytest.approx([4 / 9], abs=1e-12)


def test_the_order_of_four_is_six_pairs_and_is_found() -> None:
    # SOURCES.md, section 8 (S0 5.5.6): a > b > c > d gives 6 pairs.
    data = grouped([[4.0, 1], [3, 0], [2, 0], [1, 1]], [4, 3, 2, 1], [0] * 4)
    model = fitted(RankingSVM(), data)
    assert model.pairs_ == 6
    assert (np.diff(asked(model, data).score) < 0).all()


def test_a_column_that_is_constant_in_every_group_has_no_weight() -> None:
    rng = np.random.default_rng(1)
    group = np.repeat(np.arange(10), 4)
    X = np.column_stack([rng.normal(size=40), rng.normal(size=10)[group]])
    model = fitted(RankingSVM(), grouped(X, rng.integers(0, 3, 40).tolist(), group.tolist()))
    assert model.weights_[0] != 0
    assert model.weights_[1] == pytest.approx(0.0, abs=1e-12)


def test_a_common_offset_changes_nothing() -> None:
    data = travel()
    near = with_numbers(data, np.round(data.table.numbers * 256) / 256)
    moved = with_numbers(data, near.table.numbers + 1e6)
    assert fitted(RankingSVM(), moved).weights_ == pytest.approx(fitted(RankingSVM(), near).weights_, abs=1e-9)


def test_too_few_steps_are_said() -> None:
    with pytest.warns(MlcliWarning, match="stopped after 2 steps with a gap of .* above the tolerance"):
        fitted(RankingSVM(max_iterations=2), travel())


def test_rows_without_an_order_are_refused() -> None:
    data = grouped([[3.0], [1.0], [2.0]], [1, 1, 0], [0, 0, 1])
    with pytest.raises(FitError, match="no two training rows of one group differ in relevance"):
        fitted(RankingSVM(), data)


def test_it_orders_the_trips_better_than_any_single_column() -> None:
    said = answered(RankingSVM(), travel())
    assert share_in_order(said.relevance, said.group, said.score, said.weights) > 0.80


@pytest.mark.parametrize("c", [0.01, 1.0, 100.0])
def test_a_window_of_pairs_finds_what_all_pairs_find(c: float, monkeypatch: pytest.MonkeyPatch) -> None:
    data = drawn(RankingSVM().accepts, groups=60, noise=2.0)
    known = fitted(RankingSVM(C=c), data)
    monkeypatch.setattr(ranking_svm, "WINDOW", 80)
    found = fitted(RankingSVM(C=c), data)
    assert found.weights_ == pytest.approx(known.weights_, abs=1e-6)
    assert found.objective_ == pytest.approx(known.objective_, rel=1e-11)
    assert found.gap_ <= 1e-12 * found.objective_


@pytest.mark.parametrize("loss", LOSSES)
def test_memory_does_not_grow_with_the_pairs(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # 2,000 rows of one group are 1.5 million pairs, of which two positions and a weight take 36 MB.
    monkeypatch.setattr(ranking_svm, "WINDOW", 1 << 15)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 2))
    relevance = np.digitize(X @ [2.0, -1.0] + rng.normal(size=2000), [-2, -1, 1, 2])
    data = grouped(X, relevance.tolist(), [0] * 2000)
    model = RankingSVM(loss=loss, C=1e-4)
    assert peak_of(lambda: fitted(model, data)) < 15e6
    assert model.pairs_ > 1_400_000


def with_modes() -> Any:
    """The same trips with the columns named, as one-hot leaves them."""
    data = travel()
    kept, modes = data.table.numbers[:, :-4], (data.table.numbers[:, -4:] > 0).astype(float)
    names = [*(f"x{j}" for j in range(kept.shape[1])), *(f"mode={k}" for k in range(4))]
    cells = [*kept.T, *modes.T]
    table = Table.of([(Column(name), values) for name, values in zip(names, cells, strict=True)], len(data))
    return replace(data, table=table)


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_of_each_option_are_those_of_linear_svc_on_crossed_columns(loss: str) -> None:
    data = with_modes()
    kept, modes = data.table.numbers[:, :-4], data.table.numbers[:, -4:]
    crossed = np.hstack([modes, (kept[:, :, None] * modes[:, None, :]).reshape(len(data), -1)])
    rows, weight = differences(with_numbers(data, crossed))
    model = fitted(RankingSVM(C=0.1, loss=loss, option="mode"), data)
    assert model.weights_ == pytest.approx(oracle(rows, weight, 0.1, loss), abs=1e-5)
    assert model.in_order_ > fitted(RankingSVM(C=0.1, loss=loss), data).in_order_
    (table, _) = model.explain()
    assert table.header == ("column", "mode=0", "mode=1", "mode=2", "mode=3")
    assert len(table.rows) == 1 + kept.shape[1]


def test_two_options_are_told_apart_by_one_column() -> None:
    rng = np.random.default_rng(3)
    who, option = np.repeat(rng.normal(size=20), 2), np.tile([0.0, 1.0], 20)
    relevance = (who > 0) == (option == 1)
    table = Table.of([(Column("who"), who), (Column("mode=bus"), option)], 40)
    data = replace(
        grouped(np.zeros((40, 2)), relevance.astype(int).tolist(), np.repeat(range(20), 2).tolist()), table=table
    )
    assert fitted(RankingSVM(option="mode", C=100.0), data).in_order_ == 1.0
    assert fitted(RankingSVM(C=100.0), data).in_order_ < 0.8


def test_an_option_that_is_no_column_is_refused() -> None:
    with pytest.raises(FitError, match="there is no nominal column 'way' of options"):
        fitted(RankingSVM(option="way"), travel())
