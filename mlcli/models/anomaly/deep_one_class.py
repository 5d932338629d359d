"""Deep one-class: a network represents rows such that a plane separates nearly all from the origin.

Formula:
    min_{w, Θ, r} ½ ‖w‖² + ½ λ ‖Θ − Θ₀‖² + 1/(ν n) Σ max(0, r − wᵀΦ(x_i; Θ)) − r; s(x) = r − wᵀΦ(x; Θ), above 0 for
    about a share ν of the training rows. Φ(x) = √(2/K) cos(V a(x) + b), with a(x) the last hidden layer (tanh).

Assumes:
    Good rows are alike, and few of the training rows are anomalies.

Cost:
    About 6 × parameters operations for each training row and epoch; 2 × parameters for each predicted row.

Choices:
    With −r, and ½ ‖w‖². A penalty ½ ‖Θ‖², as the notes print it, draws Θ to 0, where all rows have one
    representation (Ruff et al. 2018); so the penalty is on the way from the random start Θ₀, and λ is ``anchor``.
    At the start the cosines are random Fourier features (Rahimi & Recht 2007): without hidden layers, w and r are
    a one-class SVM with a Gaussian kernel, whose width is that of the hidden layer's spread. r is the ν-quantile
    of wᵀΦ, its best value, found anew in each epoch. What a column adds is the fall of the score when its cell is
    replaced by the training mean.
"""

from __future__ import annotations

import numpy as np

from mlcli.core import CLOSE
from mlcli.core.errors import FitError
from mlcli.core.findings import Explanation
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Table
from mlcli.engines.content_seeds import as_repeats
from mlcli.engines.network.network import (
    IDENTITY,
    TANH,
    Activation,
    Adam,
    Network,
    check_layers,
    layers_of,
    loss_curve,
)
from mlcli.tasks.anomaly import Detector, ScreenedRows, occlusion


@register("deep-one-class", reference="Chalapathy, Menon & Chawla 2018, Anomaly detection with one-class networks")
class DeepOneClass(Detector):
    """A one-class SVM whose representation is learned with it."""

    hidden: tuple[int, ...] = param((64,), "how many units each hidden layer has; empty: no hidden layer", ge=1)
    features: int = param(300, "how many cosines represent a row", ge=1, tune=(20, 500))
    nu: float = param(0.1, "the share of training rows that may lie on the side of the origin", gt=0, lt=1)
    gamma: float | None = param(None, "1 / (2 width²) of the kernel at the start; none: by the spread", gt=0)
    anchor: float = param(0.1, "the cost of half a unit of squared way from the start", ge=0)
    epochs: int = param(50, "how often every row is learned from", ge=1, tune=(10, 200))
    batch: int | None = param(32, "the batch size: how many rows a step is made from; none: all", ge=1)
    learning_rate: float = param(0.001, "the learning rate of Adam", gt=0, tune=(1e-4, 1e-2))

    weights_: tuple[Array, ...] = learned()
    biases_: tuple[Array, ...] = learned()
    normal_: Array = learned("features")
    """w."""
    margin_: float = learned()
    """r."""
    usual_: Array = learned("numbers")
    objective_: Array = learned()

    accepts = Accepts(prefers_scaled=True)

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Draw a representation, then learn it together with the plane."""
        X = as_repeats(data).table.numbers
        if not X.shape[1]:
            raise FitError("deep-one-class needs a column")
        self.usual_ = X.mean(axis=0)
        network = self.draw_network(X, rng)
        start, w = network.parameters.copy(), self._features(network.answers(X)).mean(axis=0)
        network_adam, plane_adam = Adam(len(start), self.learning_rate), Adam(len(w), self.learning_rate)
        objective = []
        for _ in range(self.epochs):
            r, cost = self._margin(network, w, X)
            objective.append(cost + 0.5 * self.anchor * float(((network.parameters - start) ** 2).sum()))
            order = rng.permutation(len(X))
            for first in range(0, len(X), self.batch or len(X)):
                rows = order[first : first + (self.batch or len(X))]
                plane_slopes = self._backward(network, w, r, X[rows])
                network.slopes += self.anchor * (network.parameters - start)
                network_adam.step(network.parameters, network.slopes)
                plane_adam.step(w, plane_slopes)
        self.weights_, self.biases_ = network.learned()
        self.normal_, self.margin_ = w, self._margin(network, w, X)[0]
        self.objective_ = np.array(objective)

    def draw_network(self, X: Array, rng: np.random.Generator) -> Network:
        """Random hidden layers, then random waves as wide as the spread of what these return."""
        network = Network((X.shape[1], *self.hidden, self.features), self._activations)
        *hidden, last = network.layers
        for layer in hidden:
            layer.draw(rng)
        spread = X
        for layer in hidden:
            spread = layer.activation.apply(spread @ layer.weight + layer.bias)
        gamma = self.gamma or 1.0 / (spread.shape[1] * float(spread.var()) or 1.0)
        last.weight[:] = rng.normal(0.0, np.sqrt(2.0 * gamma), last.weight.shape)
        last.bias[:] = rng.uniform(0.0, 2.0 * np.pi, self.features)
        return network

    @property
    def _activations(self) -> list[Activation]:
        return [TANH] * len(self.hidden) + [IDENTITY]

    def _features(self, z: Array) -> Array:
        return np.asarray(np.sqrt(2.0 / self.features) * np.cos(z))

    def _margin(self, network: Network, w: Array, X: Array) -> tuple[float, float]:
        """The best r, and what the plane costs with it."""
        f = self._features(network.answers(X)) @ w
        r = float(np.quantile(f, self.nu, method="higher"))
        return r, float(0.5 * w @ w + np.maximum(r - f, 0.0).mean() / self.nu - r)

    def _backward(self, network: Network, w: Array, r: float, X: Array) -> Array:
        """Fill the slopes of the network; the slopes of w."""
        z = network.forward(X)
        features = self._features(z)
        outside = (features @ w < r - CLOSE) * (-1.0 / (self.nu * len(X)))
        errors = -np.sqrt(2.0 / self.features) * np.sin(z)
        errors *= w
        errors *= outside[:, None]
        network.backward(errors)
        return np.asarray(w + outside @ features)

    def score_rows(self, table: Table) -> Array:
        """How far each row lies on the side of the origin."""
        return self._score(table.numbers)

    def _score(self, X: Array) -> Array:
        network = Network.of(self.weights_, self.biases_, self._activations)
        return np.asarray(self.margin_ - self._features(network.answers(X)) @ self.normal_)

    def deviations(self, table: Table) -> Array:
        """How much of the score goes when a cell is replaced by the training mean."""
        return occlusion(self._score, table.numbers, self.usual_)

    def explain(self) -> Explanation:
        """The layers, and what the plane cost epoch by epoch."""
        return (
            layers_of(len(self.usual_), self.biases_, [*["tanh"] * len(self.hidden), "cosine"]),
            loss_curve(self.objective_, np.empty(0), self.epochs),
        )

    def check_learned(self) -> None:
        """Refuse layers of other widths."""
        super().check_learned()
        check_layers(self.weights_, self.biases_, (len(self.usual_), *self.hidden, self.features))
