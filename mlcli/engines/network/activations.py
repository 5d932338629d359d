"""Activations: what a unit answers to the sum z of what comes in, and how steeply that rises.

Every slope is a function of the answer a = f(z) alone, so that z need not be kept:

    sigmoid              1 / (1 + e^−z)         a (1 − a)
    tanh                 tanh z                 1 − a²
    relu                 max(0, z)              1 where a > 0, else 0
    identity             z                      1
    softplus             log(1 + e^z)           1 − e^−a
    arctan               arctan z               cos² a
    generalised-logistic (1 + e^−z)^−α          α a (1 − a^(1/α))
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
    back *= 1.0 - a
    return back


def _tanh(z: Array) -> Array:
    return np.tanh(z, out=z)


def _pull_tanh(back: Array, a: Array) -> Array:
    back *= 1.0 - a * a
    return back


def _relu(z: Array) -> Array:
    return np.maximum(z, 0.0, out=z)


def _pull_relu(back: Array, a: Array) -> Array:
    back *= a > 0
    return back


def _identity(z: Array) -> Array:
    return z


def _pull_identity(back: Array, a: Array) -> Array:
    return back


def _softplus(z: Array) -> Array:
    return np.logaddexp(0.0, z, out=z)


def _pull_softplus(back: Array, a: Array) -> Array:
    back *= -np.expm1(-a)
    return back


def _arctan(z: Array) -> Array:
    return np.arctan(z, out=z)


def _pull_arctan(back: Array, a: Array) -> Array:
    back *= np.cos(a) ** 2
    return back


def _generalised_logistic(alpha: float) -> Activation:
    def apply(z: Array) -> Array:
        return np.power(sigmoid(z), alpha, out=z)

    def pull(back: Array, a: Array) -> Array:
        back *= alpha * a * (1.0 - a ** (1.0 / alpha))
        return back

    return Activation(apply, pull)


SIGMOID = Activation(sigmoid, _pull_sigmoid)
TANH = Activation(_tanh, _pull_tanh)
IDENTITY = Activation(_identity, _pull_identity)
ACTIVATIONS: dict[str, Callable[[float], Activation]] = {
    "relu": lambda alpha: Activation(_relu, _pull_relu),
    "sigmoid": lambda alpha: SIGMOID,
    "tanh": lambda alpha: TANH,
    "identity": lambda alpha: IDENTITY,
    "softplus": lambda alpha: Activation(_softplus, _pull_softplus),
    "arctan": lambda alpha: Activation(_arctan, _pull_arctan),
    "generalised-logistic": _generalised_logistic,
}
"""By name; α is the exponent of the generalised logistic function alone."""
