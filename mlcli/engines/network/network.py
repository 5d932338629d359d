"""A network of fully connected layers: forward from columns to answers, backward from error terms to slopes.

forward     a⁰ = x,  a^l = f^l(a^(l−1) W^l + b^l)
backward    ∂E/∂W^l = a^(l−1)ᵀ δ^l,  ∂E/∂b^l = Σ_i δ_i^l,  δ^(l−1) = (δ^l W^lᵀ) f'(z^(l−1))
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self

import numpy as np

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
        decoder = zip(self.layers[len(encoder) :], reversed(encoder), strict=True)
        self.layers = (*encoder, *(_mirrored(layer, own) for layer, own in decoder))

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


def _mirrored(layer: Layer, own: Layer) -> Layer:
    """A layer of the decoder with the weights of one of the encoder."""
    return replace(layer, weight=own.weight.T, weight_slope=np.empty_like(layer.weight))


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
