"""Activations and last layers: what a unit answers to the sum z of what comes in, and how steeply that rises.

Every slope is a function of the answer a = f(z) alone, so that z need not be kept:

    sigmoid              1 / (1 + e^−z)         a (1 − a)
    tanh                 tanh z                 1 − a²
    relu                 max(0, z)              1 where a > 0, else 0
    identity             z                      1
    softplus             log(1 + e^z)           1 − e^−a
    arctan               arctan z               cos² a
    generalised-logistic (1 + e^−z)^−α          α a (1 − a^(1/α))

The last layer has its answers, what they cost, and the error terms δ = ∂loss/∂z where backpropagation begins:

    output × loss              answer a                loss of a row                          δ
    softmax, cross-entropy     e^z_k / Σ e^z_j         −Σ y log a                             a − y
    sigmoid, cross-entropy     1 / (1 + e^−z)          −Σ [y log a + (1 − y) log(1 − a)]      a − y
    any, squared-error         f(z)                    ½ Σ (y − a)²                           (a − y) f'(z)
    step, squared-error        1 where z > 0, else 0   ½ Σ (y − a)²                           a − y

A step has no slope: its δ is the perceptron's rule. Logarithms are natural.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mlcli.core.tables import Array


@dataclass(frozen=True)
class Activation:
    """Both work in place: ``apply`` turns sums into answers, ``pull`` multiplies slopes into what comes back."""

    apply: Callable[[Array], Array]
    pull: Callable[[Array, Array], Array]
    """Of what comes back and the answers."""


def sigmoid(z: Array) -> Array:
    """1 / (1 + e^−z), as ½ (1 + tanh z/2), which no z overflows."""
    z *= 0.5
    np.tanh(z, out=z)
    z += 1.0
    z *= 0.5
    return z


def _pull_sigmoid(back: Array, a: Array) -> Array:
    back *= a
    return np.multiply(back, 1.0 - a, out=back)


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
"""By name; α is the exponent of the generalised logistic function alone."""
LEAST = 1e-300
"""A probability is not taken for less in a logarithm."""
NEARLY = 1e-6
"""The mean target is kept so far from the ends that an output reaches only with an infinite z."""


@dataclass(frozen=True)
class Output:
    """One row of the table; ``errors`` works in place of the answers."""

    activation: Activation
    losses: Callable[[Array, Array], Array]
    """Of answers and targets, one for each row."""
    errors: Callable[[Array, Array], Array]
    start: Callable[[Array], Array]
    """The z at which it answers the mean target, whatever the columns say."""


def softmax(z: Array) -> Array:
    """e^z_k / Σ_j e^z_j over the units of a row, in place."""
    z -= z.max(axis=1, keepdims=True)
    np.exp(z, out=z)
    z /= z.sum(axis=1, keepdims=True)
    return z


def _pull_softmax(back: Array, a: Array) -> Array:
    back -= np.einsum("ij,ij->i", back, a)[:, None]
    return np.multiply(back, a, out=back)


def _of_one_class(answers: Array, targets: Array) -> Array:
    return np.asarray(-np.einsum("ij,ij->i", targets, np.log(np.maximum(answers, LEAST))))


def _of_each_unit(answers: Array, targets: Array) -> Array:
    return _of_one_class(answers, targets) + _of_one_class(1.0 - answers, 1.0 - targets)


def _half_squares(answers: Array, targets: Array) -> Array:
    apart = answers - targets
    return np.asarray(0.5 * np.einsum("ij,ij->i", apart, apart))


def _difference(answers: Array, targets: Array) -> Array:
    return np.subtract(answers, targets, out=answers)


def _times_slope(activation: Activation) -> Callable[[Array, Array], Array]:
    return lambda answers, targets: activation.pull(answers - targets, answers)


def _inside(mean: Array, low: float) -> Array:
    return np.clip(mean, low + NEARLY, 1.0 - NEARLY)


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
"""What the last layer answers, by name."""
OUTPUTS: dict[tuple[str, str], Output] = {
    ("softmax", "cross-entropy"): Output(SOFTMAX, _of_one_class, _difference, STARTS["softmax"]),
    ("sigmoid", "cross-entropy"): Output(SIGMOID, _of_each_unit, _difference, STARTS["sigmoid"]),
} | {
    (name, "squared-error"): Output(activation, _half_squares, _times_slope(activation), STARTS[name])
    for name, activation in ANSWERS.items()
}
LOSSES = ("cross-entropy", "squared-error")
