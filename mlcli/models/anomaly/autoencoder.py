"""Autoencoder: a row is odd when a network that compresses and reconstructs rows reconstructs it badly.

Formula:
    z = Φ_e(x; Θ_e), x̂ = Φ_d(z; Θ_d), with fewer numbers in z than columns in x (the bottleneck).
    Θ = arg min (1/n) Σ ½ ‖x_i − Φ_d(Φ_e(x_i))‖²; s(x) = ‖x − x̂‖².

Assumes:
    Good rows lie near a surface of few dimensions, from which anomalies stand off. Anomalies among the training
    rows bend the surface towards them.

Cost:
    About 6 × parameters operations for each training row and epoch; 2 × parameters for each row asked.

Choices:
    The error is minimised (the notes print a maximum). The decoder mirrors the encoder; tied, it has the weights
    of the encoder transposed, half as many to learn. The code and the restored row are linear, the layers between
    have the activation; without such layers, the best code are the principal components. l2 is the cost of half a
    unit of squared weight beside the summed error. Whole weights count as repeats.
"""

from __future__ import annotations

import math

import numpy as np

from mlcli.core.accepts import Accepts
from mlcli.core.errors import FitError
from mlcli.core.findings import Explanation
from mlcli.core.params import learned, param
from mlcli.core.registry import register
from mlcli.core.tables import Array, Table
from mlcli.engines.network.activations import ACTIVATIONS, OUTPUTS
from mlcli.engines.network.network import Network, TiedNetwork, check_layers, layers_of, loss_curve
from mlcli.engines.network.training import Examples, Plan, train
from mlcli.engines.random_by_content import as_repeats, held_aside
from mlcli.tasks.anomaly import Detector, ScreenedRows

RESTORED = OUTPUTS["linear", "squared-error"]


@register(
    "autoencoder", reference="Hawkins, He, Williams & Baxter 2002, Outlier detection using replicator networks"
)
class Autoencoder(Detector):
    """Scores by the error of reconstruction."""

    hidden: tuple[int, ...] = param(
        (32, 16), "units of the layers before the code; behind it they are mirrored", ge=1
    )
    code: int | None = param(
        None, "how many numbers the code has; none: a third of the columns", ge=1, tune=(1, 20)
    )
    activation: str = param("tanh", "of the hidden layers", choices=ACTIVATIONS)
    alpha: float = param(1.0, "the exponent of generalised-logistic", gt=0)
    tied: bool = param(False, "whether the decoder has the weights of the encoder")
    epochs: int = param(200, "how often every row is learned from at most", ge=1, tune=(50, 500))
    batch: int | None = param(32, "the batch size: how many rows a step is made from; none: all", ge=1)
    learning_rate: float = param(0.003, "the learning rate of Adam", gt=0, tune=(1e-4, 1e-1))
    l2: float = param(0.01, "L2 penalty: the cost of half a unit of squared weight", ge=0, tune=(1e-3, 10))
    validation: float = param(0.0, "the share of rows held aside, whose error is then watched", ge=0, lt=1)
    patience: int | None = param(10, "how many epochs without a smaller watched error end it; none: never", ge=1)
    tolerance: float = param(1e-4, "by how much it must be smaller", ge=0)

    weights_: tuple[Array, ...] = learned()
    biases_: tuple[Array, ...] = learned()
    training_loss_: Array = learned("passes")
    validation_loss_: Array = learned("validated")

    accepts = Accepts(weights=True, prefers_scaled=True)

    def fit(self, data: ScreenedRows, rng: np.random.Generator) -> None:
        """Draw weights, then learn to restore the rows."""
        rows, aside = held_aside(as_repeats(data.counted()), self.validation, rng)
        if not rows.table.numbers.shape[1]:
            raise FitError("an autoencoder needs a column to reconstruct")
        made = TiedNetwork if self.tied else Network
        network = made(self._widths, [ACTIVATIONS[name](self.alpha) for name in self._names])
        network.draw(rng)
        validation = None if aside is None else _to_restore(aside)
        history = train(network, RESTORED, _to_restore(rows), validation, Plan.of(self), rng)
        self.weights_, self.biases_ = network.learned()
        self.training_loss_, self.validation_loss_ = np.array(history.training), np.array(history.validation)

    @property
    def _widths(self) -> tuple[int, ...]:
        columns = sum(not column.coded for column in self.columns_)
        return columns, *self.hidden, self.code or math.ceil(columns / 3), *self.hidden[::-1], columns

    @property
    def _names(self) -> tuple[str, ...]:
        """The activation of each layer."""
        between = (self.activation,) * len(self.hidden)
        return *between, "identity", *between, "identity"

    def restored(self, table: Table) -> Array:
        """The rows as they come out of the code."""
        network = Network.of(self.weights_, self.biases_, [ACTIVATIONS[name](self.alpha) for name in self._names])
        return network.answers(table.numbers)

    def score_rows(self, table: Table) -> Array:
        """The squared distance of each row to what is restored of it."""
        return np.asarray(((table.numbers - self.restored(table)) ** 2).sum(axis=1))

    def deviations(self, table: Table) -> Array:
        """The squared error of each column, with the sign of the deviation."""
        apart = table.numbers - self.restored(table)
        return np.asarray(apart * np.abs(apart))

    def explain(self) -> Explanation:
        """The layers, and the error epoch by epoch."""
        shared = sum(weight.size for weight in self.weights_) // 2 if self.tied else 0
        return (
            layers_of(self._widths[0], self.biases_, self._names, shared),
            loss_curve(self.training_loss_, self.validation_loss_, self.epochs),
        )

    def check_learned(self) -> None:
        """Refuse layers of other widths."""
        super().check_learned()
        check_layers(self.weights_, self.biases_, self._widths)


def _to_restore(data: ScreenedRows) -> Examples:
    X = data.table.numbers
    return Examples(X, X, None if data.weight is None else data.weight / data.weight.mean())
