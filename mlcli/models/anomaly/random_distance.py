"""Random distance: a network represents rows such that suspects lie far from rows drawn at random.

Formula:
    f(x, S) = min_{x' ∈ S} ‖Φ(x) − Φ(x')‖ with S a few rows that are not suspected, drawn at random.
    Minimise the mean over draws of max(0, m + f(good, S) − f(suspect, S)); s(x) = the mean of f(x, S) over many S.
    Φ(x) = relu(W x). Suspects are the rows that another detector scores highest.

Assumes:
    That detector ranks more right than wrong: its errors are learned.

Cost:
    A fit of the detector; for each step the representation of ``batch`` × (sample + 2) rows. A predicted row is
    compared with ``subsets`` × ``sample`` rows.

Choices:
    The hinge wants suspects farther away, m + f(good) − f(suspect), and is a mean over pairs; the notes have the
    signs swapped. Suspects score more than √3 deviations above the mean (Cantelli: at most a quarter of rows do),
    at least one row. The margin counts in units of the mean distance f of the random start. What a column adds is
    the fall of the score when its cell is replaced by the mean of the rows drawn.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from mlcli.core import findings
from mlcli.core.configuration import with_steps
from mlcli.core.errors import FitError
from mlcli.core.model import Model
from mlcli.core.nested import model_param
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Flags, Table
from mlcli.engines.content_seeds import as_repeats
from mlcli.engines.ensemble import fitted
from mlcli.engines.network.network import RELU, Adam, Network, check_layers, layers_of
from mlcli.tasks.anomaly import Detector, ScreenedRows, occlusion


@register("random-distance", reference="Pang, Cao, Chen & Liu 2018, Representations for distances to random rows")
class RandomDistance(Detector):
    """Learns the representation in which distances to random rows tell suspects from others."""

    base: Model = model_param("knn-distance", "the detector that says which rows are suspects", of=(Detector,))
    features: int = param(50, "how many numbers represent a row", ge=1, tune=(5, 100))
    sample: int = param(8, "how many rows are drawn, the nearest of which counts", ge=1, tune=(1, 64))
    margin: float = param(0.3, "how much farther suspects are to be than others", gt=0)
    steps: int = param(
        100, "how many steps are made; with many, suspects are learned by heart", ge=1, tune=(20, 500)
    )
    batch: int = param(64, "how many pairs of a suspect and another row a step is made from", ge=1)
    learning_rate: float = param(0.003, "the learning rate of Adam", gt=0, tune=(1e-4, 1e-1))
    subsets: int = param(50, "how many samples a score is the mean of", ge=1, tune=(10, 200))

    weights_: tuple[Array, ...] = learned()
    biases_: tuple[Array, ...] = learned()
    drawn_: Array = learned()
    """The rows of the samples, one after another."""
    suspects_: int = learned()
    loss_: Array = learned()

    accepts = Accepts(prefers_scaled=True)

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Ask the base for suspects, then push them away from samples of the others."""
        data = as_repeats(data)
        X = data.table.numbers
        if len(X) < 2 or not X.shape[1]:
            raise FitError("random-distance needs two rows and a column")
        base = fitted(with_steps(self.base, self.columns_), data, rng.spawn(1)[0])
        suspected = suspected_rows(cast(Detector, base.final).score_rows(base.prepared(data.table)))
        if suspected.all():
            raise FitError("random-distance finds no suspects: to its base all rows are equally odd")
        suspects, others = X[suspected], X[~suspected]
        network = Network((X.shape[1], self.features), [RELU])
        network.draw(rng)
        optimiser, losses = Adam(len(network.parameters), self.learning_rate), np.empty(self.steps)
        # The margin counts in units of the mean distance between represented rows at the start.
        first, second = (network.answers(others[rng.integers(0, len(others), 200)]) for _ in range(2))
        unit = float(np.linalg.norm(first - second, axis=1).mean()) or 1.0
        for step in range(self.steps):
            odd, good = (rows[rng.integers(0, len(rows), self.batch)] for rows in (suspects, others))
            samples = others[rng.integers(0, len(others), (self.batch, self.sample))]
            losses[step] = self.slopes(network, odd, good, samples, self.margin * unit)
            optimiser.step(network.parameters, network.slopes)
        self.weights_, self.biases_ = network.learned()
        self.drawn_ = others[rng.integers(0, len(others), self.subsets * self.sample)]
        self.suspects_, self.loss_ = len(suspects), losses

    def slopes(self, network: Network, suspects: Array, others: Array, samples: Array, margin: float) -> float:
        """Fill the slopes of the mean hinge over pairs, each with a sample of its own; the mean hinge."""
        count, size, columns = samples.shape
        represented = network.forward(np.concatenate([suspects, others, samples.reshape(-1, columns)]))
        sample_points = represented[2 * count :].reshape(count, size, -1)
        pairs = np.arange(count)
        nearest, differences, distances = [], [], []
        for first in (0, count):  # of the suspects, then of the others
            steps = represented[first : first + count, None] - sample_points
            lengths = np.sqrt((steps**2).sum(axis=2))
            nearest.append(lengths.argmin(axis=1))
            differences.append(steps[pairs, nearest[-1]])
            distances.append(lengths[pairs, nearest[-1]])
        hinge = np.maximum(margin + distances[1] - distances[0], 0.0)
        errors = np.zeros_like(represented)
        for part, sign in enumerate((-1, 1)):
            scale = sign * (hinge > 0) / count / np.maximum(distances[part], 1e-12)
            pull = scale[:, None] * differences[part]
            errors[part * count : (part + 1) * count] += pull
            errors[2 * count + pairs * size + nearest[part]] -= pull
        network.backward(RELU.pull(errors, represented))
        return float(hinge.mean())

    def score_rows(self, table: Table) -> Array:
        """The mean distance to the nearest row of a sample."""
        from scipy.spatial.distance import cdist

        network = Network.of(self.weights_, self.biases_, [RELU])
        distances = cdist(network.answers(table.numbers), network.answers(self.drawn_))
        nearest = distances.reshape(len(table), self.subsets, self.sample).min(axis=2)
        return np.asarray(nearest.mean(axis=1))

    def deviations(self, table: Table) -> Array:
        """How much of the score goes when a cell is replaced by the mean of the rows drawn."""

        def score(X: Array) -> Array:
            return self.score_rows(replace(table, numbers=X))

        return occlusion(score, table.numbers, self.drawn_.mean(axis=0))

    def explain(self) -> findings.Explanation:
        """The suspects, the layer, and the hinge over the steps."""
        rows = ((self.base.final.id, self.suspects_),)
        suspects = findings.Table("Suspects", ("by", "training rows"), rows)
        layers = layers_of(self.drawn_.shape[1], self.biases_, ["relu"])
        # points of the curve
        parts = np.array_split(self.loss_, min(50, self.steps))
        ends = tuple(np.cumsum([len(part) for part in parts]).astype(float).tolist())
        hinge = tuple(float(part.mean()) for part in parts)
        return suspects, layers, findings.Curve("Hinge loss by step", "step", ends, (("mean", hinge),))

    def check_learned(self) -> None:
        """Refuse a layer of other widths, and other rows."""
        super().check_learned()
        columns = sum(not column.coded for column in self.columns_)
        check_layers(self.weights_, self.biases_, (columns, self.features))
        if self.drawn_.shape != (self.subsets * self.sample, columns):
            raise ValueError("the saved samples are not rows of the model")


def suspected_rows(scores: Array) -> Flags:
    """The rows that score far above the mean, at least the highest."""
    return np.asarray(scores >= min(scores.mean() + np.sqrt(3) * scores.std(), scores.max()))
