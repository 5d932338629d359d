"""Pre-training without labels: hidden layers learn to give back cells that were masked, or rows that were blurred.

    masked      some cells of a row become 0, the mean of a standardised column; only these are to be given back
    denoising   noise is added to every cell; the row without it is to be given back

What hidden layers have learned so is where the training for a target begins (fine-tuning).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from mlcli.core.tables import Array
from mlcli.engines.network.activations import IDENTITY, Activation
from mlcli.engines.network.network import Network
from mlcli.engines.network.outputs import Output
from mlcli.engines.network.training import Examples, Plan, Trainer


def masked(X: Array, share: float, rng: np.random.Generator) -> Examples:
    """Some cells are 0, and these are the targets; what is not asked for is not a number."""
    hidden = rng.random(X.shape) < share
    return Examples(np.where(hidden, 0.0, X), np.where(hidden, X, np.nan))


def denoising(X: Array, deviation: float, rng: np.random.Generator) -> Examples:
    """Rows with Gaussian noise, and without it."""
    return Examples(X + rng.normal(0.0, deviation, X.shape), X)


CORRUPTIONS: dict[str, Callable[[Array, float, np.random.Generator], Examples]] = {
    "masked": masked,
    "denoising": denoising,
}


def _apart(answers: Array, targets: Array) -> Array:
    """Answers less targets, 0 where none is asked for, in place."""
    answers -= targets
    return np.nan_to_num(answers, copy=False)


KNOWN_CELLS = Output(
    activation=IDENTITY,
    losses=lambda answers, targets: np.asarray(0.5 * (_apart(answers.copy(), targets) ** 2).sum(axis=1)),
    errors=_apart,
    start=np.zeros_like,
)
"""Half the squared error of the cells that are asked for."""


def pretrain(
    network: Network,
    activations: Sequence[Activation],
    X: Array,
    how: str,
    strength: float,
    plan: Plan,
    rng: np.random.Generator,
) -> Array:
    """Let the hidden layers of a network learn from rows alone, corrupted anew in each epoch; the loss of each."""
    units = [len(layer.bias) for layer in network.layers[:-1]]
    copy = Network([X.shape[1], *units, X.shape[1]], [*activations[: len(units)], IDENTITY])
    copy.draw(rng)
    trainer = Trainer(copy, KNOWN_CELLS, replace(plan, dropout=0.0), rng)
    losses = [trainer.epoch(CORRUPTIONS[how](X, strength, rng)) for _ in range(plan.epochs)]
    for layer, learned in zip(network.layers[:-1], copy.layers[:-1], strict=True):
        layer.weight[:], layer.bias[:] = learned.weight, learned.bias
    return np.array(losses)
