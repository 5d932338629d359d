"""A network of fully connected layers, and how far an optimiser steps from its parameters θ, given slopes g.

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
from mlcli.engines.network.activations import Activation

BLOCK = 4096
"""How many rows are asked about at a time, so that what is between stays small."""


@dataclass(frozen=True, eq=False)
class Layer:
    """Weights (units before × units) and biases with their slopes, views of vectors of the network."""

    weight: Array
    bias: Array
    weight_slope: Array
    bias_slope: Array
    activation: Activation

    def draw(self, rng: np.random.Generator) -> None:
        """Weights between ±√(6 / (units before + units)), biases 0 (Glorot & Bengio 2010)."""
        bound = np.sqrt(6.0 / max(sum(self.weight.shape), 1))
        self.weight[:] = rng.uniform(-bound, bound, self.weight.shape)


class Network:
    """Layers whose weights, then biases, stand in one vector of parameters, as do their slopes in another.

    A step of an optimiser is then a few operations on two vectors, however many layers there are.
    """

    def __init__(self, widths: Sequence[int], activations: Sequence[Activation]) -> None:
        """``widths`` are the numbers of columns, of units of each hidden layer, and of outputs."""
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
        """The network of known weights and biases, layer by layer."""
        made = cls([len(weights[0]), *(len(bias) for bias in biases)], activations)
        made.parameters[:] = np.concatenate([part.ravel() for part in (*weights, *biases)])
        return made

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
        """The answers; what layers answer is kept for ``backward``, and valid up to the next call.

        ``dropped`` is what the units of each hidden layer count for in each row: 0 where they are dropped.
        """
        self._answers, self._inputs = [], [X]
        for place, layer in enumerate(self.layers):
            a = np.dot(self._inputs[-1], layer.weight, out=_room_for(self._room, place, len(X)))
            a += layer.bias
            self._answers.append(layer.activation.apply(a))
            self._inputs.append(a * dropped[place] if place < len(dropped) else a)
        return self._answers[-1]

    def backward(self, errors: Array, dropped: Sequence[Array] = ()) -> Array:
        """Fill the slopes from the error terms of the last layer; the error terms of the first layer."""
        for place in range(len(self.layers) - 1, -1, -1):
            layer = self.layers[place]
            np.dot(self._inputs[place].T, errors, out=layer.weight_slope)
            np.add.reduce(errors, axis=0, out=layer.bias_slope)
            if place:
                errors = np.dot(errors, layer.weight.T, out=_room_for(self._back, place - 1, len(errors)))
                if dropped:
                    errors *= dropped[place - 1]
                errors = self.layers[place - 1].activation.pull(errors, self._answers[place - 1])
        return errors

    def answers(self, X: Array) -> Array:
        """The answers to any number of rows, block by block."""
        found = np.empty((len(X), self.layers[-1].weight.shape[1]))
        for first in range(0, len(X), BLOCK):
            rows = slice(first, first + BLOCK)
            found[rows] = self.forward(X[rows])
        return found


class TiedNetwork(Network):
    """An autoencoder whose decoder has the weights of its encoder, transposed, and biases of its own."""

    def __init__(self, widths: Sequence[int], activations: Sequence[Activation]) -> None:
        """``widths`` are the same read from either end; places for weights of the decoder stay 0."""
        super().__init__(widths, activations)
        encoder = self.layers[: len(self.layers) // 2]
        pairs = zip(self.layers[len(encoder) :], reversed(encoder), strict=True)
        decoder = (replace(it, weight=own.weight.T, weight_slope=np.empty_like(it.weight)) for it, own in pairs)
        self.layers = (*encoder, *decoder)

    def draw(self, rng: np.random.Generator) -> None:
        """Random weights for the encoder, which are those of the decoder."""
        for layer in self.layers[: len(self.layers) // 2]:
            layer.draw(rng)

    def backward(self, errors: Array, dropped: Sequence[Array] = ()) -> Array:
        """The same; the slopes of a weight in both of its places are added."""
        errors = super().backward(errors, dropped)
        half = len(self.layers) // 2
        for own, mirrored in zip(self.layers[:half], reversed(self.layers[half:]), strict=True):
            own.weight_slope[:] += mirrored.weight_slope.T
        return errors


def check_layers(weights: Sequence[Array], biases: Sequence[Array], widths: Sequence[int]) -> None:
    """Refuse (ValueError) weights and biases that are not those of layers of these widths."""
    shapes = [weight.shape for weight in weights]
    if shapes != list(pairwise(widths)):
        raise ValueError("the saved weights are not those of such layers")
    if [bias.shape for bias in biases] != [(units,) for units in widths[1:]]:
        raise ValueError("the saved biases are not those of such layers")


def _views(vector: Array, pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[Array, Array]]:
    """The weights and the biases of each layer in a vector that holds those of all."""
    weight, bias = 0, sum(before * units for before, units in pairs)
    for before, units in pairs:
        yield vector[weight : weight + before * units].reshape(before, units), vector[bias : bias + units]
        weight, bias = weight + before * units, bias + units


def _room_for(rooms: list[Array], place: int, rows: int) -> Array:
    """Room for so many rows, which is made once for the longest."""
    if len(rooms[place]) < rows:
        rooms[place] = np.empty((rows, rooms[place].shape[1]))
    return rooms[place][:rows]


FIRST, SECOND, NEVER_NOTHING = 0.9, 0.999, 1e-8
"""β₁, β₂ and ε of Adam, as in the paper."""


class Optimiser(Protocol):
    """What moves parameters."""

    def step(self, parameters: Array, slopes: Array) -> None:
        """Move parameters downwards; the slopes may be overwritten."""


class Momentum:
    """Gradient descent whose steps carry on."""

    def __init__(self, size: int, rate: float, momentum: float) -> None:
        self.rate, self.momentum, self.velocity = rate, momentum, np.zeros(size)

    def step(self, parameters: Array, slopes: Array) -> None:
        """V ← μ v − η g, θ ← θ + v."""
        slopes *= self.rate
        self.velocity *= self.momentum
        self.velocity -= slopes
        parameters += self.velocity


class Adam:
    """Steps of about the learning rate for every parameter, however large its slope is."""

    def __init__(self, size: int, rate: float, first: float = FIRST) -> None:
        """``first`` is β₁: how long steps go on in their direction."""
        self.rate, self.first, self.steps = rate, first, 0
        self.mean, self.square, self.room = np.zeros(size), np.zeros(size), np.empty(size)

    def step(self, parameters: Array, slopes: Array) -> None:
        """θ ← θ − η √(1 − β₂ᵗ) / (1 − β₁ᵗ) · m / (√s + ε); m / (1 − β₁) and s / (1 − β₂) are what is kept."""
        self.steps += 1
        scale = math.sqrt(1 - SECOND)
        rate = (
            self.rate * math.sqrt(1 - SECOND**self.steps) / (1 - self.first**self.steps) * (1 - self.first) / scale
        )
        room = np.multiply(slopes, slopes, out=self.room)
        self.square *= SECOND
        self.square += room
        self.mean *= self.first
        self.mean += slopes
        np.sqrt(self.square, out=room)
        room += NEVER_NOTHING / scale
        np.divide(self.mean, room, out=room)
        room *= rate
        parameters -= room


OPTIMISERS: dict[str, Callable[[int, float, float], Optimiser]] = {
    "adam": lambda size, rate, momentum: Adam(size, rate),
    "sgd": Momentum,
}
"""By name, of the number of parameters, the learning rate and the momentum, which is that of sgd."""


MOST_POINTS = 60
"""How many epochs of a curve are shown."""


def layers_of(
    columns: int, biases: Sequence[Array], activations: Sequence[str], shared: int = 0
) -> findings.Table:
    """Units, activation and parameters of each layer; ``shared`` weights are counted once."""
    before = columns
    rows: list[tuple[findings.Entry, ...]] = []
    for place, (bias, activation) in enumerate(zip(biases, activations, strict=True), 1):
        name = "output" if place == len(biases) else f"hidden {place}"
        rows.append((name, len(bias), activation, (before + 1) * len(bias)))
        before = len(bias)
    total = sum(int(row[3] or 0) for row in rows) - shared
    note = f"{total:,} adjustable parameters: a weight for each connection, a bias for each unit"
    note += f"; {shared:,} weights are shared" if shared else ""
    return findings.Table("Layers", ("layer", "units", "activation", "parameters"), tuple(rows), note=note)


def loss_curve(training: Array, validation: Array, epochs: int) -> findings.Curve:
    """The mean loss after some of the epochs, the last and the best included; so many were allowed."""
    made = len(training)
    shown = np.linspace(0, made - 1, min(MOST_POINTS, made)).round().astype(int)
    ended = f"it fell no more after {made} epochs" if made < epochs else "it may fall further with more epochs"
    series = [("training", training)]
    if len(validation):
        best = int(validation.argmin())
        shown = np.union1d(shown, best)
        series.append(("held aside", validation))
        last = ", the last: it may fall further" if best + 1 == epochs else ""
        ended = f"smallest for rows held aside after epoch {best + 1}, which is kept{last}"
    lines = tuple((name, tuple(losses[shown].tolist())) for name, losses in series)
    points = tuple((1.0 + shown).tolist())
    return findings.Curve(
        "Loss by epoch", "epoch", points, lines, note=f"of rows while they are learned from; {ended}"
    )
