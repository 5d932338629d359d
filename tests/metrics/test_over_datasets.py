"""Tests over datasets against Demšar's example, SciPy, scikit-posthocs and numbers that baycomp printed."""

from __future__ import annotations

import numpy as np
import pytest
import scikit_posthocs
from scipy import stats
from statsmodels.stats.multitest import multipletests

from mlcli.metrics.over_datasets import (
    compare_over_datasets,
    critical_difference,
    friedman,
    groups_alike,
    posterior,
    ranked,
    score_table,
    wilcoxon,
    wins_ties_losses,
)
from tests.metrics.demsar import SCORES

DATASETS, MODELS = SCORES.shape


def test_mean_ranks_and_critical_difference_are_those_of_the_paper() -> None:
    np.testing.assert_allclose(ranked(SCORES).mean(axis=0), [3.143, 2.000, 2.893, 1.964], atol=5e-4)
    assert critical_difference(MODELS, DATASETS) == pytest.approx(1.25, abs=5e-3)
    # Table 5 of the paper.
    table = {2: 1.960, 3: 2.343, 4: 2.569, 5: 2.728, 6: 2.850, 7: 2.949, 8: 3.031, 9: 3.102, 10: 3.164}
    for models, printed in table.items():
        assert critical_difference(models, 1) == pytest.approx(
            printed * (models * (models + 1) / 6) ** 0.5, abs=1.1e-3 * models
        )


def test_without_ties_the_test_is_that_of_the_paper() -> None:
    untied = np.delete(SCORES, [5, 7, 9, 10], axis=0)
    ranks = ranked(untied).mean(axis=0)
    datasets = len(untied)
    plain = 12 * datasets / (MODELS * (MODELS + 1)) * ((ranks**2).sum() - MODELS * (MODELS + 1) ** 2 / 4)
    found = friedman(untied)
    assert found is not None
    assert found.chi_square == pytest.approx(plain)
    assert found.f == pytest.approx((datasets - 1) * plain / (datasets * (MODELS - 1) - plain))
    assert found.freedom == (3, 27)
    assert found.p == pytest.approx(stats.f.sf(found.f, 3, 27))


@pytest.mark.parametrize("seed", range(5))
def test_friedman_equals_scipy_ties_included(seed: int) -> None:
    scores = np.random.default_rng(seed).integers(0, 6, size=(12, 3 + seed)).astype(float)
    theirs, ours = stats.friedmanchisquare(*scores.T), friedman(scores)
    assert ours is not None
    assert ours.chi_square == pytest.approx(theirs.statistic, abs=1e-10)
    assert ours.chi_square_p == pytest.approx(theirs.pvalue, rel=1e-10)


def test_equal_scores_everywhere_are_no_test() -> None:
    assert friedman(np.ones((6, 3))) is None
    assert wilcoxon(np.zeros(6)) == 1.0


def test_a_model_that_always_wins_has_no_chance_left() -> None:
    found = friedman(np.arange(3.0)[None, :] + np.arange(7.0)[:, None])
    assert found is not None
    assert (found.f, found.p) == (np.inf, 0.0)


def test_pairs_beyond_the_critical_difference_are_those_of_scikit_posthocs() -> None:
    theirs, ranks = scikit_posthocs.posthoc_nemenyi_friedman(SCORES).to_numpy(), ranked(SCORES).mean(axis=0)
    apart = np.abs(ranks[:, None] - ranks)
    assert ((apart > critical_difference(len(ranks), DATASETS)) == (theirs < 0.05)).all()


def test_models_within_the_difference_stand_together_and_no_group_is_inside_another() -> None:
    assert groups_alike(np.array([1.0, 2.0, 3.0, 4.0]), 1.0) == [(0, 1), (1, 2), (2, 3)]
    assert groups_alike(np.array([3.0, 1.0, 2.5]), 3.0) == [(1, 2, 0)]
    assert groups_alike(np.array([1.0, 3.0]), 1.0) == []


@pytest.mark.parametrize("size", [5, 8, 13, 30, 50])
def test_wilcoxon_is_exact_where_scipy_is(size: int) -> None:
    differences = np.random.default_rng(size).normal(0.3, 1.0, size)
    theirs = stats.wilcoxon(differences, method="exact").pvalue
    assert wilcoxon(differences) == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_wilcoxon_is_exact_with_ties_and_zeros_too(seed: int) -> None:
    differences = np.random.default_rng(seed).integers(-2, 4, size=10) / 100
    every = stats.PermutationMethod(n_resamples=np.inf)
    theirs = stats.wilcoxon(differences, zero_method="pratt", method=every).pvalue
    assert wilcoxon(differences) == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize("unit", [1.0, 1e-15, 1e9])
def test_equal_differences_of_rounded_scores_share_their_rank(unit: float) -> None:
    """0.76 − 0.71 and 0.58 − 0.63 are both 0.05, and are told apart in no unit; SciPy has what hundredths give."""
    ours = np.array([71, 76, 65, 83, 63, 64, 47, 58]), np.array([69, 71, 74, 79, 57, 70, 68, 63])
    two = {name: scores / 100 * unit for name, scores in zip("ab", ours, strict=True)}
    theirs = stats.wilcoxon(ours[0] - ours[1], method=stats.PermutationMethod(n_resamples=np.inf)).pvalue
    rows_of = [(f"data {place}", name, float(scores[place])) for place in range(8) for name, scores in two.items()]
    table = score_table(rows_of, "score", "high")
    (pair,) = compare_over_datasets(table).pairs
    assert pair.difference.p == pytest.approx(theirs, rel=1e-9)
    assert {pair.wins, pair.losses} == {4}


# What baycomp 1.0.3 prints: SignedRankTest.probs(first, second, rope=..., random_state=1), of 50,000 draws.
BAYCOMP = [
    (0, 1, 0.01, (0.0, 0.33084, 0.66916)),
    (0, 3, 0.01, (0.00032, 0.03254, 0.96714)),
    (1, 3, 0.01, (0.00288, 0.72736, 0.26976)),
    (0, 1, 0.0, (0.00088, 0.0, 0.99912)),
]


@pytest.mark.parametrize(("first", "second", "rope", "printed"), BAYCOMP)
def test_the_bayesian_test_equals_baycomp_but_for_the_draws(
    first: int, second: int, rope: float, printed: tuple[float, float, float]
) -> None:
    found = posterior(SCORES[:, second] - SCORES[:, first], rope)
    np.testing.assert_allclose((found.worse, found.alike, found.better), printed, atol=0.01)
    turned = posterior(SCORES[:, first] - SCORES[:, second], rope)
    assert (turned.better, turned.alike, turned.worse) == (found.worse, found.alike, found.better)


def test_wins_and_losses_do_not_count_rounding() -> None:
    assert wins_ties_losses(np.array([0.1, 1e-17, 0.0, -0.2, 0.1])) == (2, 2, 1)


def rows(scores: np.ndarray) -> list[tuple[str, str, float]]:
    return [
        (f"d{place}", name, float(score))
        for place, of_dataset in enumerate(scores)
        for name, score in zip("abc", of_dataset, strict=True)
    ]


def test_the_unit_of_an_error_does_not_count() -> None:
    errors = np.random.default_rng(3).uniform(1, 2, (9, 3))
    units = np.random.default_rng(4).uniform(1e-3, 1e3, (9, 1))
    plain = compare_over_datasets(score_table(rows(errors), "rmse", "low", by_factors=True), rope=0.01)
    scaled = compare_over_datasets(score_table(rows(errors * units), "rmse", "low", by_factors=True), rope=0.01)
    assert scaled.ranks == plain.ranks
    assert [pair.difference.p for pair in scaled.pairs] == [pair.difference.p for pair in plain.pairs]
    assert [pair.belief for pair in scaled.pairs] == [pair.belief for pair in plain.pairs]
    assert plain.ranks == tuple(ranked(-errors).mean(axis=0))


def test_pairs_are_corrected_together_and_the_better_one_stands_first() -> None:
    table = score_table(rows(np.random.default_rng(5).normal([0.0, 1.0, 3.0], 1.0, (8, 3))), "score", "high")
    over = compare_over_datasets(table)
    assert [(pair.first, pair.second) for pair in over.pairs] == [("c", "b"), ("c", "a"), ("b", "a")]
    p = [pair.difference.p or 0.0 for pair in over.pairs]
    corrected = multipletests(p, method="holm")[1]
    assert [pair.difference.corrected for pair in over.pairs] == pytest.approx(corrected.tolist())
    assert [pair.belief for pair in over.pairs] == [None] * 3


def test_what_lacks_scores_is_left_out_by_name() -> None:
    given = [one for one in rows(np.ones((6, 3))) if one[:2] != ("d2", "b") and (one[1] != "c" or one[0] == "d0")]
    table = score_table(given, "score", "high")
    assert (table.models, len(table.datasets)) == (("a", "b"), 5)
    assert table.left_out == (
        "c is left out: it has no score on most datasets",
        "d2 is left out: it has no score of b",
    )
    assert compare_over_datasets(table).why == "all models have the same score on every dataset"


def test_scores_of_several_seeds_are_averaged() -> None:
    table = score_table([("d", "a", 0.25), ("d", "a", 0.75), ("d", "b", 1.0)], "score", "high")
    np.testing.assert_array_equal(table.scores, [[0.5, 1.0]])


def test_infinite_scores_have_ranks() -> None:
    scores = np.array([[0.1, np.inf, 0.3], [-np.inf, 0.2, -np.inf]])
    np.testing.assert_array_equal(ranked(scores), [[3, 1, 2], [2.5, 1, 2.5]])
