"""log p(x) and drawn rows of generative models, beside SciPy's distributions and the moments of what they draw."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from mlcli.core.model import Model
from mlcli.core.pipeline import Pipeline, learn, sample_rows
from mlcli.core.registry import MODELS, STEPS
from mlcli.core.tables import Table
from mlcli.data.load import load
from mlcli.tasks.table import kind_named

DRAWN = 20_000


def learned(
    dataset: str, model: str, kind: str = "classification", steps: tuple[str, ...] = (), **params: Any
) -> Any:
    """A pipeline that has learned all rows of a shipped dataset, and these rows."""
    given = load(dataset)
    rows = kind_named(kind).rows.from_table(given.table, given.schema)
    made: Model = MODELS.load(model)(**params)
    pipeline = Pipeline(steps=tuple(STEPS.load(step)() for step in steps), model=made)
    learn(pipeline, rows, np.random.default_rng(0))
    return pipeline, rows


def class_normals(rows: Any, ddof: int) -> tuple[Any, list[Any], list[Any]]:
    """Shares, means and covariances by class, of NumPy."""
    parts = [rows.table.numbers[rows.y == k] for k in range(len(rows.classes))]
    shares = np.array([len(part) for part in parts]) / len(rows)
    return shares, [part.mean(axis=0) for part in parts], [np.cov(part.T, ddof=ddof) for part in parts]


def mixture(X: Any, shares: Any, means: Any, covariances: Any) -> Any:
    parts = zip(shares, means, covariances, strict=True)
    return np.log(sum(share * multivariate_normal(mean, cov).pdf(X) for share, mean, cov in parts))


def test_lda_is_a_mixture_of_normals_of_one_covariance() -> None:
    pipeline, rows = learned("iris", "lda")
    _, means, own = class_normals(rows, 1)
    shared = [sum(own) / 3] * 3  # classes of equal size
    found = pipeline.final.log_evidence(rows.table)
    assert found == pytest.approx(mixture(rows.table.numbers, [1 / 3] * 3, means, shared), abs=1e-9)


def test_qda_is_a_mixture_of_normals() -> None:
    pipeline, rows = learned("iris", "qda")
    found = pipeline.final.log_evidence(rows.table)
    assert found == pytest.approx(mixture(rows.table.numbers, *class_normals(rows, 1)), abs=1e-9)


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_gaussian_bayes_is_a_mixture_of_normals(covariance: str) -> None:
    pipeline, rows = learned("iris", "gaussian-bayes", covariance=covariance)
    shares, means, own = class_normals(rows, 0)
    kept = own if covariance == "full" else [np.diag(np.diag(one)) for one in own]
    found = pipeline.final.log_evidence(rows.table)
    assert found == pytest.approx(mixture(rows.table.numbers, shares, means, kept), abs=1e-9)


def test_naive_bayes_multiplies_columns_within_classes() -> None:
    pipeline, rows = learned("iris", "naive-bayes")
    X = rows.table.numbers
    parts = [X[rows.y == k] for k in range(3)]
    densities = [norm(part.mean(axis=0), part.std(axis=0)).pdf(X).prod(axis=1) for part in parts]
    assert pipeline.final.log_evidence(rows.table) == pytest.approx(np.log(sum(densities) / 3), abs=1e-9)


def test_the_weather_of_naive_bayes_is_a_product_of_shares() -> None:
    pipeline, rows = learned("weather_nominal", "naive-bayes", smoothing="none")
    chances = np.exp(pipeline.final.log_evidence(rows.table))
    # Witten, Frank & Hall: sunny, cool, high, true; 2/9 3/9 3/9 3/9 9/14 of yes and 3/5 1/5 4/5 3/5 5/14 of no.
    levels = {column.name: column.levels for column in rows.table.columns}
    day = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "windy": "TRUE"}
    codes = np.array([[levels[name].index(day[name]) for name in levels]], np.int32)
    asked = Table(rows.table.columns, np.empty((1, 0)), codes)
    yes, no = 2 / 9 * 3 / 9 * 3 / 9 * 3 / 9 * 9 / 14, 3 / 5 * 1 / 5 * 4 / 5 * 3 / 5 * 5 / 14
    assert np.exp(pipeline.final.log_evidence(asked)) == pytest.approx(yes + no, rel=1e-12)
    assert ((chances > 0) & (chances < 1)).all()


@pytest.mark.parametrize("model", ["naive-bayes", "lda", "qda", "gaussian-bayes"])
def test_drawn_classes_have_the_means_and_deviations_of_the_rows(model: str) -> None:
    pipeline, rows = learned("iris", model, steps=("standardise",))
    drawn = sample_rows(pipeline, DRAWN, np.random.default_rng(1))
    assert [column.name for column in drawn.columns] == [*(c.name for c in rows.table.columns), rows.target]
    classes = drawn.cells(rows.target)
    for k in range(3):
        mine, own = drawn.numbers[classes == k], rows.table.numbers[rows.y == k]
        assert len(mine) == pytest.approx(DRAWN / 3, rel=0.05)
        error = own.std(axis=0) / np.sqrt(len(mine))
        assert (np.abs(mine.mean(axis=0) - own.mean(axis=0)) < 5 * error).all()


@pytest.mark.parametrize("model", ["gaussian", "gmm"])
def test_drawn_rows_of_a_density_have_the_moments_of_the_rows(model: str) -> None:
    pipeline, rows = learned("faithful", model, "density")
    drawn = sample_rows(pipeline, DRAWN, np.random.default_rng(1)).numbers
    X = rows.table.numbers
    assert drawn.mean(axis=0) == pytest.approx(X.mean(axis=0), rel=0.02)
    assert np.cov(drawn.T) == pytest.approx(np.cov(X.T), rel=0.06)


def test_levels_and_gaps_come_back_through_the_steps() -> None:
    pipeline, rows = learned("penguins", "lda", steps=("impute", "standardise", "one-hot"))
    drawn = sample_rows(pipeline, DRAWN, np.random.default_rng(2))
    islands, of_drawn = rows.table.cells("island"), drawn.cells("island")
    shares = [np.bincount(cells, minlength=3) / len(cells) for cells in (islands, of_drawn)]
    assert shares[1] == pytest.approx(shares[0], abs=0.1)
    assert drawn.codes.min() >= 0


def test_shares_of_levels_are_those_of_naive_bayes() -> None:
    pipeline, rows = learned("weather_nominal", "naive-bayes", smoothing="none")
    drawn = sample_rows(pipeline, DRAWN, np.random.default_rng(3))
    yes = drawn.cells(rows.target) == rows.classes.index("yes")
    outlook = drawn.cells("outlook")[yes]
    column = next(one for one in drawn.columns if one.name == "outlook")
    shares = {level: float((outlook == code).mean()) for code, level in enumerate(column.levels)}
    assert yes.mean() == pytest.approx(9 / 14, abs=0.015)
    assert shares == pytest.approx({"sunny": 2 / 9, "overcast": 4 / 9, "rainy": 3 / 9}, abs=0.015)


def test_the_likelihoods_of_all_observations_of_a_hidden_markov_model_add_up_to_one() -> None:
    pipeline, rows = learned(
        "cmudict_stress", "hmm", "sequence-labelling", alpha=0.0, unknown="alpha", order="trigram"
    )
    model = pipeline.final
    levels = len(model.levels_)
    pairs = np.array(np.meshgrid(range(levels), range(levels))).reshape(2, -1).T
    column = next(one for one in rows.table.columns if one.name in model.observed_)
    parts = [
        (one, pairs.ravel().astype(np.int32) if one is column else np.zeros(pairs.size, np.int32))
        for one in rows.table.columns
    ]
    asked = Table.of(parts, pairs.size)
    sequence = np.repeat(np.arange(len(pairs)), 2).astype(np.int32)
    found = model.log_evidence_of(asked, sequence, np.full(len(sequence), -1))
    assert np.exp(found[::2]).sum() == pytest.approx(1.0, abs=1e-9)


def test_drawn_sequences_have_the_tags_of_training() -> None:
    pipeline, rows = learned("cmudict_stress", "hmm", "sequence-labelling", stop=True)
    drawn = sample_rows(pipeline, 1_000, np.random.default_rng(4))
    shares = [np.bincount(cells, minlength=4) / len(cells) for cells in (rows.y, drawn.cells(rows.target))]
    assert shares[1] == pytest.approx(shares[0], abs=0.03)
    sequences = drawn.cells("sequence")
    assert len(np.unique(sequences)) == 1_000
    assert len(drawn) / 1_000 == pytest.approx(len(rows) / len(np.unique(rows.sequence)), rel=0.2)
