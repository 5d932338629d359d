"""Bias and variance of a method, from the predictions of models of several training sets for the same rows.

Squared loss (Geman et al. 1992), with ȳ the mean prediction of the m models for a row: variance = s² =
Σ (ŷ − ȳ)² / (m − 1), and bias² = (ȳ − y)² − s²/m (noise included), whose sum is the mean of (ŷ − y)². Without
− s²/m the bias² of a few models would include variance; the estimate may fall below 0.

0-1 loss (Domingos 2000), with m the class that most models predict: the bias of a row is [m ≠ y]. A model that
differs from m does harm if m is right (unbiased variance), and good if m is wrong and the model is right (biased
variance): error = bias + unbiased variance − biased variance.

0-1 loss (Kohavi & Wolpert 1996), with P(c) the share of models that predict c: half the squared loss of the
indicators of classes, bias² = ½ Σ_c (([y = c] − P(c))² − P(c) (1 − P(c)) / (m − 1)), whose sum with the variance
is the error as well. Domingos' terms use the majority class, so that their estimates depend on the number of
models.

Rows with predictions of fewer than two models are left out. Each row counts by its weight, whatever the number of
models that predicted it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mlcli.core.answers import Answers
from mlcli.core.tables import Array, Flags, Rows
from mlcli.metrics.base import Undefined, joined
from mlcli.tasks.supervised import LabelAnswers, ValueAnswers

LEAST_MODELS = 2
NOT_REPEATED = Undefined(
    "no row was predicted by two models",
    "a protocol that repeats would help, such as bootstrap or repeated-k-fold",
)


@dataclass(frozen=True)
class Decomposition:
    """The terms of an expected loss, by their names; the signed sum of those of a method is the error."""

    loss: str
    error: float
    terms: Mapping[str, Mapping[str, float]]
    """By the paper that defines them."""
    rows: int
    models: int
    """How many models, at least, predicted each row."""


def bias_variance(splits: Sequence[Answers]) -> Decomposition | Undefined:
    """The decomposition of the predictions of several splits."""
    answers = joined(splits)
    row, counts = np.unique(answers.rows, return_inverse=True, return_counts=True)[1:]
    kept = counts >= LEAST_MODELS
    if not kept.any():
        return NOT_REPEATED
    if isinstance(answers, LabelAnswers):
        return _of_labels(answers, row, counts, kept)
    if isinstance(answers, ValueAnswers):
        return _of_values(answers, row, counts, kept)
    return Undefined("bias and variance are those of classes or numbers")


def _of_values(answers: ValueAnswers, row: Rows, counts: Rows, kept: Flags) -> Decomposition:
    def mean(values: Array) -> Array:
        return np.asarray(np.bincount(row, values) / counts)

    typical, truth = mean(answers.predicted), mean(answers.truth)
    bias, variance = (typical - truth) ** 2, mean((answers.predicted - typical[row]) ** 2)
    geman = _unbiased(bias, variance, counts)
    terms = {name: _over_rows(values, answers, row, kept) for name, values in geman.items()}
    error = _over_rows(mean((answers.predicted - answers.truth) ** 2), answers, row, kept)
    return Decomposition("squared", error, {"Geman": terms}, int(kept.sum()), int(counts[kept].min()))


def _of_labels(answers: LabelAnswers, row: Rows, counts: Rows, kept: Flags) -> Decomposition:
    classes = len(answers.classes)
    votes = np.bincount(row * classes + answers.predicted, minlength=len(counts) * classes)
    shares = votes.reshape(len(counts), classes) / counts[:, None]
    truth = np.zeros(len(counts), np.intp)
    truth[row] = answers.truth
    typical, each = shares.argmax(axis=1), np.arange(len(counts))
    right, true_share = typical == truth, shares[each, truth]
    indicators = np.eye(classes)[truth]
    domingos = {
        "bias": 1.0 - right,
        "unbiased variance": np.where(right, 1.0 - true_share, 0.0),
        "biased variance": np.where(right, 0.0, true_share),
    }
    bias, variance = ((indicators - shares) ** 2).sum(axis=1) / 2, (1.0 - (shares**2).sum(axis=1)) / 2
    kohavi = _unbiased(bias, variance, counts)
    terms = {
        paper: {name: _over_rows(values, answers, row, kept) for name, values in paper_terms.items()}
        for paper, paper_terms in (("Domingos", domingos), ("Kohavi & Wolpert", kohavi))
    }
    error = _over_rows(1.0 - true_share, answers, row, kept)
    return Decomposition("0-1", error, terms, int(kept.sum()), int(counts[kept].min()))


def _unbiased(bias: Array, variance: Array, models: Rows) -> dict[str, Array]:
    """Unbiased terms of each row: corrected for the mean being that of few models."""
    correction = variance / np.maximum(models - 1, 1)
    return {"bias²": bias - correction, "variance": variance + correction}


def _over_rows(values: Array, answers: Answers, row: Rows, kept: Flags) -> float:
    """The mean over rows by their weight."""
    weight = np.zeros(len(values))
    weight[row] = answers.weights
    return float(np.average(values[kept], weights=weight[kept]))
