"""Networks of fully connected layers with their activations, losses and optimisers.

θ are the parameters, g the gradient of the loss E:

forward     a⁰ = x,  a^l = f^l(a^(l−1) W^l + b^l)
backward    ∂E/∂W^l = a^(l−1)ᵀ δ^l,  ∂E/∂b^l = Σ_i δ_i^l,  δ^(l−1) = (δ^l W^lᵀ) f'(z^(l−1))
sgd         v ← μ v − η g,  θ ← θ + v
adam        m ← β₁ m + (1 − β₁) g,  s ← β₂ s + (1 − β₂) g²,
            θ ← θ − η √(1 − β₂ᵗ) / (1 − β₁ᵗ) · m / (√s + ε)      (Kingma & Ba 2015)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol, Self

import numpy as np

from mlcli.core import findings
from mlcli.core.tables import Array

# Activations a = f(z), where z is the sum of the inputs of a unit. The slope is a function of a alone, so that z
# need not be kept:
#
#     sigmoid              1 / (1 + e^−z)         a (1 − a)
#     tanh                 tanh z                 1 − a²
#     relu                 max(0, z)              1 where a > 0, else 0
#     identity             z                      1
#     softplus             log(1 + e^z)           1 − e^−a
#     arctan               arctan z               cos² a
#     generalised-logistic (1 + e^−z)^−α          α a (1 − a^(1/α))
#
# The last layer has a loss, and the error terms δ = ∂loss/∂z where backpropagation begins:
#
#     output × loss              output a                loss of a row                          δ
#     softmax, cross-entropy     e^z_k / Σ e^z_j         −Σ y log a                             a − y
#     sigmoid, cross-entropy     1 / (1 + e^−z)          −Σ [y log a + (1 − y) log(1 − a)]      a − y
#     any, squared-error         f(z)                    ½ Σ (y − a)²                           (a − y) f'(z)
#     step, squared-error        1 where z > 0, else 0   ½ Σ (y − a)²                           a − y
#
# A step has no slope: its δ is the perceptron's rule. Logarithms are natural.


@dataclass(frozen=True)
class Activation:
    """An activation. Both functions work in place."""

    apply: Callable[[Array], Array]
    """From z to a."""
    pull: Callable[[Array, Array], Array]
    """Multiplies the gradient in a, given first, by the slope at a."""


def sigmoid(z: Array) -> Array:
    """1 / (1 + e^−z), as ½ (1 + tanh z/2), which no z overflows."""
    z *= 0.5
    np.tanh(z, out=z)
    z += 1.0
    z *= 0.5
    return z


def _pull_sigmoid(gradient: Array, a: Array) -> Array:
    gradient *= a
    return np.multiply(gradient, 1.0 - a, out=gradient)


def _generalised_logistic(alpha: float) -> Activation:
    return Activation(
        lambda z: np.power(sigmoid(z), alpha, out=z),
        lambda back, a: np.multiply(back, alpha * a * (1.0 - a ** (1.0 / alpha)), out=back),
    )


SIGMOID = Activation(sigmoid, _pull_sigmoid)
TANH = Activation(lambda z: np.tanh(z, out=z), lambda back, a: np.multiply(back, 1.0 - a * a, out=back))
IDENTITY = Activation(lambda z: z, lambda back, a: back)
RELU = Activation(lambda z: np.maximum(z, 0.0, out=z), lambda back, a: np.multiply(back, a > 0, out=back))
SOFTPLUS = Activation(
    lambda z: np.logaddexp(0.0, z, out=z), lambda back, a: np.multiply(back, -np.expm1(-a), out=back)
)
ARCTAN = Activation(lambda z: np.arctan(z, out=z), lambda back, a: np.multiply(back, np.cos(a) ** 2, out=back))
ACTIVATIONS: dict[str, Callable[[float], Activation]] = {
    "relu": lambda alpha: RELU,
    "sigmoid": lambda alpha: SIGMOID,
    "tanh": lambda alpha: TANH,
    "identity": lambda alpha: IDENTITY,
    "softplus": lambda alpha: SOFTPLUS,
    "arctan": lambda alpha: ARCTAN,
    "generalised-logistic": _generalised_logistic,
}
"""By name, given α, the exponent of the generalised logistic function."""


@dataclass(frozen=True)
class Output:
    """A last layer with its loss."""

    activation: Activation
    losses: Callable[[Array, Array], Array]
    """From outputs and targets, the loss of each row."""
    errors: Callable[[Array, Array], Array]
    """From outputs, which are overwritten, and targets, the error terms."""
    start: Callable[[Array], Array]
    """From the mean target, the z at which the output is that."""


def softmax(z: Array) -> Array:
    """e^z_k / Σ_j e^z_j over the units of a row, in place."""
    z -= z.max(axis=1, keepdims=True)
    np.exp(z, out=z)
    z /= z.sum(axis=1, keepdims=True)
    return z


def _pull_softmax(gradient: Array, a: Array) -> Array:
    gradient -= np.einsum("ij,ij->i", gradient, a)[:, None]
    return np.multiply(gradient, a, out=gradient)


def _log_loss(outputs: Array, targets: Array) -> Array:
    """−Σ y log a of each row, with probabilities of at least 1e-300."""
    return np.asarray(-np.einsum("ij,ij->i", targets, np.log(np.maximum(outputs, 1e-300))))


def _half_squares(outputs: Array, targets: Array) -> Array:
    errors = outputs - targets
    return np.asarray(0.5 * np.einsum("ij,ij->i", errors, errors))


def _difference(outputs: Array, targets: Array) -> Array:
    return np.subtract(outputs, targets, out=outputs)


def _squared_error(name: str) -> Output:
    """Any output layer with the squared error."""
    activation = ANSWERS[name]
    return Output(
        activation,
        _half_squares,
        lambda outputs, targets: activation.pull(outputs - targets, outputs),
        STARTS[name],
    )


def _inside(mean: Array, low: float) -> Array:
    """The mean target, not quite at an end that an output reaches only with an infinite z."""
    return np.clip(mean, low + 1e-6, 1.0 - 1e-6)


SOFTMAX = Activation(softmax, _pull_softmax)
STEP = Activation(lambda z: np.heaviside(z, 0.5, out=z), IDENTITY.pull)
STARTS: dict[str, Callable[[Array], Array]] = {
    "softmax": lambda mean: np.log(_inside(mean, 0.0)),
    "sigmoid": lambda mean: np.log(_inside(mean, 0.0) / (1.0 - _inside(mean, 0.0))),
    "linear": lambda mean: mean,
    "tanh": lambda mean: np.arctanh(_inside(mean, -1.0)),
    "step": np.zeros_like,
}
ANSWERS = {"softmax": SOFTMAX, "sigmoid": SIGMOID, "linear": IDENTITY, "tanh": TANH, "step": STEP}
"""The activation of the last layer, by name."""
OUTPUTS: dict[tuple[str, str], Output] = {
    ("softmax", "cross-entropy"): Output(SOFTMAX, _log_loss, _difference, STARTS["softmax"]),
    ("sigmoid", "cross-entropy"): Output(
        SIGMOID,
        lambda outputs, targets: _log_loss(outputs, targets) + _log_loss(1.0 - outputs, 1.0 - targets),
        _difference,
        STARTS["sigmoid"],
    ),
    **{(name, "squared-error"): _squared_error(name) for name in ANSWERS},
}
"""By the names of the output layer and of the loss."""
LOSSES = ("cross-entropy", "squared-error")


@dataclass(frozen=True, eq=False)
class Layer:
    """Weights (inputs × units) and biases with their slopes, views of vectors of the network."""

    weight: Array
    bias: Array
    weight_slope: Array
    bias_slope: Array
    activation: Activation

    def draw(self, rng: np.random.Generator) -> None:
        """Random weights between ±√(6 / (inputs + units)), biases 0 (Glorot & Bengio 2010)."""
        bound = np.sqrt(6.0 / max(sum(self.weight.shape), 1))
        self.weight[:] = rng.uniform(-bound, bound, self.weight.shape)


class Network:
    """Layers whose weights and biases are views of one vector of parameters, and their slopes of another.

    A step of an optimiser is then a few operations on two vectors, however many layers there are.
    """

    def __init__(self, widths: Sequence[int], activations: Sequence[Activation]) -> None:
        """``widths`` are the numbers of columns, units of each hidden layer, and outputs."""
        pairs = list(pairwise(widths))
        self.weight_count = sum(before * units for before, units in pairs)
        self.parameters = np.zeros(self.weight_count + sum(widths[1:]))
        self.slopes = np.zeros_like(self.parameters)
        views = zip(_views(self.parameters, pairs), _views(self.slopes, pairs), activations, strict=True)
        self.layers = tuple(Layer(*own, *slopes, activation) for own, slopes, activation in views)
        self._room = [np.empty((0, units)) for units in widths[1:]]
        self._back = [np.empty((0, units)) for units in widths[1:-1]]

    @classmethod
    def of(cls, weights: Sequence[Array], biases: Sequence[Array], activations: Sequence[Activation]) -> Self:
        """The network with these weights and biases, layer by layer."""
        network = cls([len(weights[0]), *(len(bias) for bias in biases)], activations)
        network.parameters[:] = np.concatenate([part.ravel() for part in (*weights, *biases)])
        return network

    def learned(self) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
        """Copies of the weights and of the biases, layer by layer."""
        layers = self.layers
        return tuple(layer.weight.copy() for layer in layers), tuple(layer.bias.copy() for layer in layers)

    @property
    def weights(self) -> Array:
        """The weights of all layers, in one vector."""
        return self.parameters[: self.weight_count]

    def draw(self, rng: np.random.Generator) -> None:
        """Random weights for every layer."""
        for layer in self.layers:
            layer.draw(rng)

    def forward(self, X: Array, dropped: Sequence[Array] = ()) -> Array:
        """The outputs; those of all layers are kept for ``backward``, and valid up to the next call.

        ``dropped`` has factors for the units of each hidden layer in each row: 0 where they are dropped.
        """
        self._answers, self._inputs = [], [X]
        for index, layer in enumerate(self.layers):
            a = np.dot(self._inputs[-1], layer.weight, out=_room_for(self._room, index, len(X)))
            a += layer.bias
            self._answers.append(layer.activation.apply(a))
            self._inputs.append(a * dropped[index] if index < len(dropped) else a)
        return self._answers[-1]

    def backward(self, errors: Array, dropped: Sequence[Array] = ()) -> Array:
        """Fill the slopes, given the error terms of the last layer; return those of the first layer."""
        for index in range(len(self.layers) - 1, -1, -1):
            layer = self.layers[index]
            np.dot(self._inputs[index].T, errors, out=layer.weight_slope)
            np.add.reduce(errors, axis=0, out=layer.bias_slope)
            if index:
                errors = np.dot(errors, layer.weight.T, out=_room_for(self._back, index - 1, len(errors)))
                if dropped:
                    errors *= dropped[index - 1]
                errors = self.layers[index - 1].activation.pull(errors, self._answers[index - 1])
        return errors

    def answers(self, X: Array) -> Array:
        """The outputs for any number of rows, block by block."""
        result, block = np.empty((len(X), self.layers[-1].weight.shape[1])), 4096
        for first in range(0, len(X), block):
            rows = slice(first, first + block)
            result[rows] = self.forward(X[rows])
        return result


class TiedNetwork(Network):
    """An autoencoder whose decoder has the weights of its encoder, transposed, and biases of its own."""

    def __init__(self, widths: Sequence[int], activations: Sequence[Activation]) -> None:
        """``widths`` are symmetric; the parameters for weights of the decoder stay 0."""
        super().__init__(widths, activations)
        encoder, decoder = self.layers[: len(self.layers) // 2], []
        for layer, mirrored in zip(self.layers[len(encoder) :], reversed(encoder), strict=True):
            slope = np.empty_like(layer.weight)
            decoder.append(replace(layer, weight=mirrored.weight.T, weight_slope=slope))
        self.layers = (*encoder, *decoder)

    def draw(self, rng: np.random.Generator) -> None:
        """Random weights for the encoder, which the decoder shares."""
        for layer in self.layers[: len(self.layers) // 2]:
            layer.draw(rng)

    def backward(self, errors: Array, dropped: Sequence[Array] = ()) -> Array:
        """As for any network; the slopes of a shared weight are added."""
        errors = super().backward(errors, dropped)
        half = len(self.layers) // 2
        for own, mirrored in zip(self.layers[:half], reversed(self.layers[half:]), strict=True):
            own.weight_slope[:] += mirrored.weight_slope.T
        return errors


def check_layers(weights: Sequence[Array], biases: Sequence[Array], widths: Sequence[int]) -> None:
    """Raise ValueError for weights and biases that do not fit layers of these widths."""
    shapes = [weight.shape for weight in weights]
    if shapes != list(pairwise(widths)):
        raise ValueError("the saved weights are not those of such layers")
    if [bias.shape for bias in biases] != [(units,) for units in widths[1:]]:
        raise ValueError("the saved biases are not those of such layers")


def _views(vector: Array, pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[Array, Array]]:
    """The weights and the biases of each layer as views of a vector."""
    weight, bias = 0, sum(before * units for before, units in pairs)
    for before, units in pairs:
        yield vector[weight : weight + before * units].reshape(before, units), vector[bias : bias + units]
        weight, bias = weight + before * units, bias + units


def _room_for(rooms: list[Array], index: int, rows: int) -> Array:
    """Memory for so many rows, allocated once for the largest number."""
    if len(rooms[index]) < rows:
        rooms[index] = np.empty((rows, rooms[index].shape[1]))
    return rooms[index][:rows]


class Optimiser(Protocol):
    """Updates parameters by their slopes."""

    def step(self, parameters: Array, slopes: Array) -> None:
        """Change the parameters in place; the slopes may be overwritten."""


class Momentum:
    """Gradient descent with momentum."""

    def __init__(self, size: int, rate: float, momentum: float) -> None:
        self.rate, self.momentum, self.velocity = rate, momentum, np.zeros(size)

    def step(self, parameters: Array, slopes: Array) -> None:
        """V ← μ v − η g, θ ← θ + v."""
        slopes *= self.rate
        self.velocity *= self.momentum
        self.velocity -= slopes
        parameters += self.velocity


class Adam:
    """Adam: steps of about the learning rate for every parameter, however large its slope is."""

    def __init__(self, size: int, rate: float, first: float = 0.9) -> None:
        """``first`` is β₁, the momentum; β₂ and ε are as in the paper."""
        self.rate, self.first, self.steps = rate, first, 0
        self.mean, self.square, self.room = np.zeros(size), np.zeros(size), np.empty(size)

    def step(self, parameters: Array, slopes: Array) -> None:
        """θ ← θ − η √(1 − β₂ᵗ) / (1 − β₁ᵗ) · m / (√s + ε), with m / (1 − β₁) and s / (1 − β₂) stored."""
        first, second, epsilon = self.first, 0.999, 1e-8
        self.steps += 1
        scale = math.sqrt(1 - second)
        rate = self.rate * math.sqrt(1 - second**self.steps) / (1 - first**self.steps) * (1 - first) / scale
        room = np.multiply(slopes, slopes, out=self.room)
        self.square *= second
        self.square += room
        self.mean *= first
        self.mean += slopes
        np.sqrt(self.square, out=room)
        room += epsilon / scale
        np.divide(self.mean, room, out=room)
        room *= rate
        parameters -= room


OPTIMISERS: dict[str, Callable[[int, float, float], Optimiser]] = {
    "adam": lambda size, rate, momentum: Adam(size, rate),
    "sgd": Momentum,
}
"""By name, given the number of parameters, the learning rate, and the momentum of sgd."""


def layers_of(
    columns: int, biases: Sequence[Array], activations: Sequence[str], shared: int = 0
) -> findings.Table:
    """Units, activation and parameters of each layer; ``shared`` weights are counted once."""
    before = columns
    rows: list[tuple[findings.Entry, ...]] = []
    for index, (bias, activation) in enumerate(zip(biases, activations, strict=True), 1):
        name = "output" if index == len(biases) else f"hidden {index}"
        rows.append((name, len(bias), activation, (before + 1) * len(bias)))
        before = len(bias)
    total = sum(int(row[3] or 0) for row in rows) - shared
    note = f"{total:,} adjustable parameters: a weight for each connection, a bias for each unit"
    note += f"; {shared:,} weights are shared" if shared else ""
    return findings.Table("Layers", ("layer", "units", "activation", "parameters"), tuple(rows), note=note)


def loss_curve(training: Array, validation: Array, epochs: int) -> findings.Curve:
    """The mean loss after at most 60 of the epochs, the last and the best included."""
    count = len(training)
    shown = np.linspace(0, count - 1, min(60, count)).round().astype(int)
    ended = f"it fell no more after {count} epochs" if count < epochs else "it may fall further with more epochs"
    series = [("training", training)]
    if len(validation):
        best = int(validation.argmin())
        shown = np.union1d(shown, best)
        series.append(("held aside", validation))
        last = ", the last: it may fall further" if best + 1 == epochs else ""
        ended = f"smallest for rows held aside after epoch {best + 1}, which is kept{last}"
    lines = tuple((name, tuple(losses[shown].tolist())) for name, losses in series)
    note = f"of rows while they are learned from; {ended}"
    return findings.Curve("Loss by epoch", "epoch", tuple((1.0 + shown).tolist()), lines, note=note)
