"""Factors, inference and structures beside plain enumeration, closed forms of the Ising model, and SciPy."""

from __future__ import annotations

from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

from mlcli.core.errors import DataError
from mlcli.core.moments import mutual_information
from mlcli.core.tables import Array, Codes, Flags
from mlcli.engines.posteriors import log_sum
from mlcli.models.graphs._inference import (
    Factor,
    beliefs,
    largest,
    marginal,
    min_fill,
    most_probable,
    sampled_shares,
    shares,
)
from mlcli.models.graphs._inference import product as product_of
from mlcli.models.graphs._structures import (
    SCORES,
    best_tree,
    climb,
    counts,
    cycle_in,
    d_separated,
    in_order,
    separated,
)
from mlcli.models.graphs.mrf import PseudoLikelihood

LEVELS = (2, 3, 2, 4, 3)
TREE = ((0, 1), (1, 2), (1, 3), (3, 4))
LOOPY = (*TREE, (0, 4), (2, 3), (0, 2, 4))


def drawn(scopes: Any, seed: int = 1) -> list[Factor]:
    """Random factors over some variables."""
    rng = np.random.default_rng(seed)
    return [Factor.of(scope, rng.random([LEVELS[one] for one in scope]) + 0.05) for scope in scopes]


def enumerated(factors: list[Factor]) -> Array:
    """The logarithm of the product, entry by entry."""
    joint = np.zeros(LEVELS)
    for place in np.ndindex(LEVELS):
        joint[place] = sum(factor.logs[0][tuple(place[one] for one in factor.variables)] for factor in factors)
    return joint


def test_axes_of_a_factor_are_put_in_order() -> None:
    values = np.arange(1.0, 7.0).reshape(2, 3)
    turned = Factor.of((4, 1), values)
    assert turned.variables == (1, 4)
    assert np.exp(turned.logs[0]) == pytest.approx(values.T)


@pytest.mark.parametrize("scopes", [TREE, LOOPY])
@pytest.mark.parametrize("kept", [(), (2,), (0, 3), (1, 2, 4)])
def test_elimination_is_enumeration(scopes: Any, kept: tuple[int, ...]) -> None:
    factors = drawn(scopes)
    others = tuple(one for one in range(5) if one not in kept)
    assert marginal(factors, kept).logs[0] == pytest.approx(logsumexp(enumerated(factors), axis=others))


@pytest.mark.parametrize("seed", range(5))
def test_evidence_of_several_rows_and_the_most_probable_levels(seed: int) -> None:
    factors, rng = drawn(LOOPY, seed), np.random.default_rng(seed)
    codes = np.full((6, 5), -1, np.int32)
    codes[:, 1], codes[:, 4] = rng.integers(0, 3, 6), rng.integers(0, 3, 6)
    joint = enumerated(factors)
    given = [factor.given(codes, (1, 4)) for factor in factors]
    best = most_probable(given, (0, 2, 3), codes)
    of_some = most_probable(given, (0, 3), codes)
    for row, (_, one, _, _, four) in enumerate(codes):
        left = joint[:, one, :, :, four]
        assert marginal(given, (2,)).logs[row] == pytest.approx(logsumexp(left, axis=(0, 2)))
        assert tuple(best[row, [0, 2, 3]]) == np.unravel_index(left.argmax(), left.shape)
        summed = logsumexp(left, axis=1)
        assert tuple(of_some[row, [0, 3]]) == np.unravel_index(summed.argmax(), summed.shape)


def test_messages_are_exact_on_a_tree_and_near_with_cycles() -> None:
    factors = drawn(TREE)
    joint = enumerated(factors)
    for variable, logs in beliefs(factors).items():
        others = tuple(one for one in range(5) if one != variable)
        exact = np.exp(logsumexp(joint, axis=others) - logsumexp(joint))
        assert shares(logs)[0] == pytest.approx(exact, abs=1e-9)
        peaks = np.exp(beliefs(factors, largest)[variable][0])
        assert peaks / peaks.max() == pytest.approx(np.exp(joint.max(axis=others) - joint.max()), abs=1e-9)
    loopy = drawn(LOOPY)
    assert shares(beliefs(loopy)[3])[0] == pytest.approx(shares(marginal(loopy, (3,)).logs)[0], abs=0.05)


def test_gibbs_sampling_comes_near() -> None:
    factors, codes = drawn(LOOPY), np.full((2, 5), -1, np.int32)
    exact = shares(marginal(factors, (3,)).logs)[0]
    sampled = sampled_shares(factors, 3, codes, 4000, np.random.default_rng(1))
    assert sampled == pytest.approx(np.tile(exact, (2, 1)), abs=0.03)


@pytest.mark.parametrize("coupling", [-0.4, 0.3, 1.2])
def test_the_partition_of_the_ising_chain_and_ring(coupling: float) -> None:
    """Ising 1925: Z = 2 (2 cosh J)^(n−1) of a chain, (2 cosh J)^n + (2 sinh J)^n of a ring."""
    n, spins = 24, np.exp(coupling * np.array([[1.0, -1.0], [-1.0, 1.0]]))
    chain = [Factor.of((one, one + 1), spins) for one in range(n - 1)]
    ring = [*chain, Factor.of((0, n - 1), spins)]
    assert marginal(chain, ()).logs[0] == pytest.approx(np.log(2) + (n - 1) * np.log(2 * np.cosh(coupling)))
    of_ring = np.log((2 * np.cosh(coupling)) ** n + (2 * np.sinh(coupling)) ** n)
    assert marginal(ring, ()).logs[0] == pytest.approx(of_ring)


def test_what_is_impossible_stays_so() -> None:
    never = Factor.of((0, 1), np.array([[0.0, 0.0], [0.0, 1.0]]))
    assert np.exp(marginal([never], (0,)).logs[0]).tolist() == [0.0, 1.0]
    assert np.isneginf(log_sum(np.full((1, 3), -np.inf), 1)).all()


def test_too_wide_a_table_is_refused() -> None:
    wide = [Factor.of((0, one), np.ones((60, 60))) for one in range(1, 6)]
    with pytest.raises(DataError, match="exact inference needs a table"):
        product_of(wide)


def test_min_fill_takes_the_ends_of_a_star_before_its_centre() -> None:
    assert min_fill([(0, 1), (0, 2), (0, 3), (0, 4)], range(5)).index(0) >= 3


def graph_of(n: int, pairs: Any) -> Flags:
    arrows = np.zeros((n, n), bool)
    for one, other in pairs:
        arrows[one, other] = True
    return arrows


def test_cycles_are_found_and_orders_go_along_arrows() -> None:
    assert cycle_in(graph_of(4, [(0, 1), (1, 2), (0, 3)])) == []
    assert in_order(graph_of(4, [(3, 1), (1, 0), (0, 2)])) == [3, 1, 0, 2]
    cycle = cycle_in(graph_of(5, [(0, 1), (1, 2), (2, 3), (3, 1), (3, 4)]))
    assert cycle[0] == cycle[-1]
    assert set(cycle) == {1, 2, 3}
    assert all(graph_of(5, [(1, 2), (2, 3), (3, 1)])[one, other] for one, other in pairwise(cycle))


def open_path(arrows: Flags, one: int, other: int, given: set[int]) -> bool:
    """Pearl's definition: a path is open when colliders lead to what is given, and nothing else on it is given."""
    below = arrows.copy()
    for through in range(len(arrows)):
        below |= below[:, through, None] & below[through]

    def free(a: int, b: int, c: int) -> bool:
        if arrows[a, b] and arrows[c, b]:
            return b in given or any(below[b, end] for end in given)
        return b not in given

    def further(path: list[int]) -> bool:
        if path[-1] == other:
            return True
        near = np.flatnonzero(arrows[path[-1]] | arrows[:, path[-1]]).tolist()
        return any(
            further([*path, step])
            for step in near
            if step not in path and (len(path) < 2 or free(path[-2], path[-1], step))
        )

    return further([one])


@pytest.mark.parametrize("seed", range(15))
def test_d_separation_is_the_absence_of_open_paths(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arrows = np.triu(rng.random((6, 6)) < 0.35, 1)[np.ix_(*[rng.permutation(6)] * 2)]
    arrows = arrows if not cycle_in(arrows) else np.triu(arrows, 1)
    for one, other in combinations(range(6), 2):
        rest = [left for left in range(6) if left not in (one, other)]
        for size in range(3):
            for given in map(set, combinations(rest, size)):
                assert d_separated(arrows, {one}, {other}, given) != open_path(arrows, one, other, given)


def test_separation_without_arrows() -> None:
    edges = graph_of(4, [(0, 1), (1, 2), (2, 3)])
    edges |= edges.T
    assert separated(edges, {0}, {3}, {2})
    assert not separated(edges, {0}, {3}, set())


def test_the_best_tree_is_the_best_of_all_trees() -> None:
    worth = np.random.default_rng(3).random((5, 5))
    worth += worth.T
    found = sum(worth[pair] for pair in best_tree(worth))
    pairs = list(combinations(range(5), 2))
    trees = (some for some in combinations(pairs, 4) if _joins_all(some))
    assert found == pytest.approx(max(sum(worth[pair] for pair in tree) for tree in trees))


def _joins_all(edges: tuple[tuple[int, int], ...]) -> bool:
    graph = graph_of(5, edges)
    return not any(separated(graph | graph.T, {0}, {other}, set()) for other in range(1, 5))


@pytest.mark.parametrize("score", SCORES)
def test_climbing_ends_where_no_move_helps_and_finds_three_columns_as_trying_all_does(score: str) -> None:
    rng = np.random.default_rng(2)
    first = rng.integers(0, 2, 400)
    second = np.where(rng.random(400) < 0.9, first, rng.integers(0, 3, 400))
    third = np.where(rng.random(400) < 0.8, second, rng.integers(0, 3, 400))
    codes = np.column_stack([first, second, third]).astype(np.int32)
    levels = (2, 3, 3)

    def local(child: int, parents: tuple[int, ...]) -> float:
        return SCORES[score](counts(codes, levels, (*parents, child), np.ones(400)))

    def whole(arrows: Flags) -> float:
        return sum(local(child, tuple(np.flatnonzero(arrows[:, child]))) for child in range(3))

    off = [pair for pair in product(range(3), repeat=2) if pair[0] != pair[1]]
    graphs = (
        graph_of(3, [pair for pair, on in zip(off, bits, strict=True) if on]) for bits in product((0, 1), repeat=6)
    )
    best = max(whole(graph) for graph in graphs if not cycle_in(graph))
    assert whole(climb(3, local, 2)) == pytest.approx(best)


def test_bic_of_a_coin() -> None:
    by_hand = 6 * np.log(0.6) + 4 * np.log(0.4) - 0.5 * np.log(10)
    assert SCORES["bic"](np.array([6.0, 4.0])) == pytest.approx(by_hand)


def test_bdeu_of_a_coin_is_the_product_of_its_predictions() -> None:
    """Of two rows, both heads, with half a row on each side before: 1/2 · (1 + 1/2) / 2."""
    assert SCORES["bdeu"](np.array([2.0, 0.0])) == pytest.approx(np.log(0.5 * 0.75))


def test_mutual_information_of_a_copy_is_its_entropy() -> None:
    assert mutual_information(np.diag([1.0, 3.0])) == pytest.approx(-(0.25 * np.log(0.25) + 0.75 * np.log(0.75)))
    assert mutual_information(np.outer([1.0, 2.0], [3.0, 1.0])) == pytest.approx(0.0, abs=1e-12)


def plain_loss(free: Array, codes: Codes, levels: tuple[int, ...], pairs: list[Any], l2: float) -> float:
    """The negative pseudo-log-likelihood, cell by cell."""
    sizes = [*levels, *(levels[one] * levels[other] for one, other in pairs)]
    parts = np.split(free, np.cumsum(sizes)[:-1])
    alone, joint = parts[: len(levels)], dict(zip(pairs, parts[len(levels) :], strict=True))
    total = 0.5 * l2 * float(free @ free)
    for row in codes:
        for one in np.flatnonzero(row >= 0):
            scores = alone[one].copy()
            for (a, b), theta in joint.items():
                table = theta.reshape(levels[a], levels[b])
                if a == one and row[b] >= 0:
                    scores += table[:, row[b]]
                if b == one and row[a] >= 0:
                    scores += table[row[a]]
            total -= scores[row[one]] - logsumexp(scores)
    return total


def test_pseudo_likelihood_is_what_scipy_finds_least() -> None:
    rng = np.random.default_rng(4)
    levels, pairs = (2, 3, 2), [(0, 1), (1, 2)]
    codes = np.column_stack([rng.integers(0, count, 12) for count in levels]).astype(np.int32)
    codes[3, 1] = codes[7, 0] = -1
    edges = graph_of(3, pairs)
    objective = PseudoLikelihood.of(codes, levels, edges | edges.T, np.ones(12), 0.5)
    alone, joint = objective.minimise()
    found = np.concatenate([alone, joint[:2, 2:5].ravel(), joint[2:5, 5:].ravel()])
    least = minimize(plain_loss, np.zeros(19), (codes, levels, pairs, 0.5), tol=1e-10)
    assert plain_loss(found, codes, levels, pairs, 0.5) == pytest.approx(least.fun, abs=1e-9)
    assert found == pytest.approx(least.x, abs=1e-4)
