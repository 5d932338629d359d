"""Optimisers: how far to step from parameters θ whose loss has the slopes g, in place.

sgd     v ← μ v − η g,  θ ← θ + v
adam    m ← β₁ m + (1 − β₁) g,  s ← β₂ s + (1 − β₂) g²,
θ ← θ − η √(1 − β₂ᵗ) / (1 − β₁ᵗ) · m / (√s + ε)      (Kingma & Ba 2015)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

from mlcli.core.tables import Array

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
