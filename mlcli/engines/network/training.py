"""Training of networks: epochs of batches, each with a forward pass, a backward pass and a step of the optimiser.

The loss is the mean over the n rows plus l2 / 2n · ‖W‖², which has the same minimum as the sum over rows plus
l2 / 2 · ‖W‖². Biases are not penalised.

Pre-training needs no labels: hidden layers learn to restore cells that were masked (set to 0, the mean of a
standardised column), or rows to which noise was added (denoising). The training for a target then begins with
these weights (fine-tuning).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Self

import numpy as np

from mlcli.core.errors import FitError, MlcliWarning
from mlcli.core.findings import Explanation
from mlcli.core.params import GIVEN, learned, param
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Rows, Table
from mlcli.engines.content_seeds import as_repeats, held_aside
from mlcli.engines.network.network import (
    ACTIVATIONS,
    IDENTITY,
    OPTIMISERS,
    OUTPUTS,
    Activation,
    Network,
    Optimiser,
    Output,
    TiedNetwork,
    check_layers,
    layers_of,
    loss_curve,
)
from mlcli.engines.principal_components import column_by_column


@dataclass(frozen=True)
class Plan:
    """How a network is trained."""

    epochs: int
    batch: int | None
    """The rows of a step; None: all."""
    learning_rate: float
    optimiser: str = "adam"
    momentum: float = 0.0
    l2: float = 0.0
    dropout: float = 0.0
    patience: int | None = None
    """Training ends after so many epochs without a smaller watched loss; None: never."""
    tolerance: float = 0.0
    """By how much the loss must be smaller."""

    @classmethod
    def of(cls, model: object) -> Self:
        """The plan from the parameters of a model, by name."""
        names = [field.name for field in fields(cls)]
        return cls(**{name: getattr(model, name) for name in names if hasattr(model, name)})


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows with the targets of all outputs, and weights with mean 1; None: equal weights."""

    X: Array
    Y: Array
    weights: Array | None = None

    def __len__(self) -> int:
        return len(self.X)

    def take(self, rows: Rows | slice) -> Examples:
        """Some of the rows."""
        return Examples(self.X[rows], self.Y[rows], None if self.weights is None else self.weights[rows])

    def mean_of(self, losses: Array) -> float:
        """The mean of a loss of each row."""
        return float(losses.mean() if self.weights is None else losses @ self.weights / self.weights.sum())


@dataclass
class History:
    """The loss after each epoch, and the parameters that the network would have if training ended there."""

    training: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    kept: dict[int, Array] = field(default_factory=dict)

    @property
    def watched(self) -> list[float]:
        """The loss that decides when training ends."""
        return self.validation or self.training

    def parameters_after(self, epoch: int) -> Array:
        """The final parameters if training had ended after an epoch."""
        if epoch not in self.kept:
            known = ", ".join(map(str, sorted(self.kept)))
            raise FitError(f"of so large a network not every epoch is kept, only {known}: ask for some of these")
        return self.kept[epoch]


def train(
    network: Network,
    output: Output,
    examples: Examples,
    aside: Examples | None,
    plan: Plan,
    rng: np.random.Generator,
) -> History:
    """Train a network from its present parameters; with rows aside it ends with those of the best epoch."""
    history, trainer = History(), Trainer(network, output, plan, rng)
    keeps = epochs_kept(plan.epochs, len(network.parameters))
    best, since, final = math.inf, 0, network.parameters
    for epoch in range(1, plan.epochs + 1):
        history.training.append(trainer.epoch(examples))
        if aside is not None:
            history.validation.append(trainer.loss(aside))
        loss = history.watched[-1]
        if not math.isfinite(loss):
            what = f"the loss of epoch {epoch} is infinite: a smaller learning_rate or scaled columns help"
            raise FitError(what)
        since = 0 if loss < best - plan.tolerance else since + 1
        if aside is None:
            final = network.parameters
        elif loss < best:
            final = network.parameters.copy()
        best = min(best, loss)
        if epoch in keeps:
            history.kept[epoch] = final.copy() if aside is None else final
        if plan.patience is not None and since >= plan.patience:
            break
    network.parameters[:] = final
    if aside is not None and min(history.validation) == history.validation[-1] and epoch == plan.epochs:
        text = "the loss of the rows held aside was smallest after the last epoch: more epochs may be better"
        warnings.warn(text, MlcliWarning, stacklevel=3)
    return history


def epochs_kept(epochs: int, parameters: int) -> frozenset[int]:
    """The epochs whose parameters are kept: all if these are few, else 1, 2, 3, 5, 7, 10, 20, ..."""
    if epochs * parameters <= (1 << 20):
        return frozenset(range(1, epochs + 1))
    return frozenset(few * 10**power for power in range(len(str(epochs))) for few in (1, 2, 3, 5, 7))


class Trainer:
    """Takes a network through one epoch after another."""

    def __init__(self, network: Network, output: Output, plan: Plan, rng: np.random.Generator) -> None:
        self.network, self.output, self.plan, self.rng = network, output, plan, rng
        build = OPTIMISERS[plan.optimiser]
        self.optimiser: Optimiser = build(len(network.parameters), plan.learning_rate, plan.momentum)

    def epoch(self, examples: Examples, order: Rows | None = None) -> float:
        """Train on every row once, in random batches; return the mean loss of rows before their step."""
        size = min(self.plan.batch or len(examples), len(examples))
        outputs = np.empty_like(examples.Y)
        order = self.rng.permutation(len(examples)) if order is None and size < len(examples) else order
        for first in range(0, len(examples), size):
            rows = slice(None) if order is None else order[first : first + size]
            outputs[rows] = self.step(examples.take(rows), len(examples))
        return examples.mean_of(self.output.losses(outputs, examples.Y))

    def step(self, batch: Examples, rows: int) -> Array:
        """A step of the optimiser with a batch; return the outputs before it.

        Units of hidden layers are dropped at random; the others count for more to make up for that.
        """
        network, stays = self.network, 1.0 - self.plan.dropout
        dropped: Sequence[Array] = ()
        if self.plan.dropout:
            shapes = [(len(batch), len(layer.bias)) for layer in network.layers[:-1]]
            dropped = [(self.rng.random(shape) < stays) / stays for shape in shapes]
        outputs = network.forward(batch.X, dropped)
        before = outputs.copy()
        errors = self.output.errors(outputs, batch.Y)
        errors *= 1 / len(batch) if batch.weights is None else batch.weights[:, None] / len(batch)
        network.backward(errors, dropped)
        if self.plan.l2:
            network.slopes[: network.weight_count] += self.plan.l2 / rows * network.weights
        self.optimiser.step(network.parameters, network.slopes)
        return before

    def loss(self, examples: Examples) -> float:
        """The mean loss of rows with the present parameters."""
        return examples.mean_of(self.output.losses(self.network.answers(examples.X), examples.Y))


def masked(X: Array, share: float, rng: np.random.Generator) -> Examples:
    """Rows with some cells set to 0, whose values are the targets; other targets are NaN."""
    hidden = rng.random(X.shape) < share
    return Examples(np.where(hidden, 0.0, X), np.where(hidden, X, np.nan))


def denoising(X: Array, deviation: float, rng: np.random.Generator) -> Examples:
    """Rows with Gaussian noise, and as targets without it."""
    return Examples(X + rng.normal(0.0, deviation, X.shape), X)


CORRUPTIONS: dict[str, Callable[[Array, float, np.random.Generator], Examples]] = {
    "masked": masked,
    "denoising": denoising,
}


def _errors_of_known(outputs: Array, targets: Array) -> Array:
    """Outputs less targets, in place; 0 for targets that are NaN."""
    outputs -= targets
    return np.nan_to_num(outputs, copy=False)


KNOWN_CELLS = Output(
    activation=IDENTITY,
    losses=lambda outputs, targets: np.asarray(0.5 * (_errors_of_known(outputs.copy(), targets) ** 2).sum(axis=1)),
    errors=_errors_of_known,
    start=np.zeros_like,
)
"""Half the squared error of the cells whose target is known."""


def pretrain(
    network: Network,
    activations: Sequence[Activation],
    X: Array,
    how: str,
    strength: float,
    plan: Plan,
    rng: np.random.Generator,
) -> Array:
    """Train the hidden layers of a network to restore rows, corrupted anew in each epoch; return the losses."""
    units = [len(layer.bias) for layer in network.layers[:-1]]
    copy = Network([X.shape[1], *units, X.shape[1]], [*activations[: len(units)], IDENTITY])
    copy.draw(rng)
    trainer = Trainer(copy, KNOWN_CELLS, replace(plan, dropout=0.0), rng)
    losses = [trainer.epoch(CORRUPTIONS[how](X, strength, rng)) for _ in range(plan.epochs)]
    for layer, trained in zip(network.layers[:-1], copy.layers[:-1], strict=True):
        layer.weight[:], layer.bias[:] = trained.weight, trained.bias
    return np.array(losses)


@dataclass(kw_only=True, eq=False)
class Autoencoding:
    """The base of the method and the step: a network that restores rows from a code of fewer numbers."""

    columns_: tuple[Column, ...] = learned()
    hidden: tuple[int, ...] = param(
        (32, 16), "units of the layers before the code; behind it they are mirrored", ge=1
    )
    code: int | None = param(
        None, "how many numbers the code has; none: a third of the columns", ge=1, tune=(1, 20)
    )
    activation: str = param("tanh", "of the hidden layers", choices=ACTIVATIONS)
    alpha: float = param(
        1.0, "the exponent of generalised-logistic", gt=0, matters_when={"activation": "generalised-logistic"}
    )
    tied: bool = param(False, "whether the decoder has the weights of the encoder")
    epochs: int = param(200, "how often every row is learned from at most", ge=1, tune=(50, 500))
    batch: int | None = param(32, "the batch size: how many rows a step is made from; none: all", ge=1)
    learning_rate: float = param(0.003, "the learning rate of Adam", gt=0, tune=(1e-4, 1e-1))
    l2: float = param(0.01, "L2 penalty: the cost of half a unit of squared weight", ge=0, tune=(1e-3, 10))
    validation: float = param(0.0, "the share of rows held aside, whose error is then watched", ge=0, lt=1)
    patience: int | None = param(10, "how many epochs without a smaller watched error end it; none: never", ge=1)
    tolerance: float = param(1e-4, "by how much it must be smaller", ge=0, matters_when={"patience": GIVEN})

    weights_: tuple[Array, ...] = learned()
    biases_: tuple[Array, ...] = learned()
    training_loss_: Array = learned("passes")
    validation_loss_: Array = learned("validated")

    def learn_to_restore(self, data: RowsOfTable, rng: np.random.Generator) -> None:
        """Draw weights, then train the network to restore the rows."""
        rows, aside = held_aside(as_repeats(data.counted()), self.validation, rng)
        network_type = TiedNetwork if self.tied else Network
        network = network_type(self._widths, [ACTIVATIONS[name](self.alpha) for name in self._names])
        network.draw(rng)
        validation = None if aside is None else _to_restore(aside)
        output = OUTPUTS["linear", "squared-error"]
        history = train(network, output, _to_restore(rows), validation, Plan.of(self), rng)
        self.weights_, self.biases_ = network.learned()
        self.training_loss_, self.validation_loss_ = np.array(history.training), np.array(history.validation)

    def code_length(self, columns: tuple[Column, ...]) -> int:
        """The length of the code of rows with these columns."""
        return self.code or math.ceil(sum(not column.coded for column in columns) / 3)

    @property
    def _widths(self) -> tuple[int, ...]:
        columns = sum(not column.coded for column in self.columns_)
        return columns, *self.hidden, self.code_length(self.columns_), *self.hidden[::-1], columns

    @property
    def _names(self) -> tuple[str, ...]:
        """The activation of each layer."""
        hidden = (self.activation,) * len(self.hidden)
        return *hidden, "identity", *hidden, "identity"

    def restored(self, table: Table) -> Array:
        """The rows, restored from their codes."""
        network = Network.of(self.weights_, self.biases_, [ACTIVATIONS[name](self.alpha) for name in self._names])
        return network.answers(table.numbers)

    def codes(self, table: Table) -> Array:
        """The code of each row; no row depends on the others in its last digit."""
        result = table.numbers
        for index in range(len(self.weights_) // 2):
            sums = column_by_column(result, self.weights_[index]) + self.biases_[index]
            result = ACTIVATIONS[self._names[index]](self.alpha).apply(sums)
        return result

    def explain(self) -> Explanation:
        """The layers, and the error epoch by epoch."""
        shared = sum(weight.size for weight in self.weights_) // 2 if self.tied else 0
        return (
            layers_of(self._widths[0], self.biases_, self._names, shared),
            loss_curve(self.training_loss_, self.validation_loss_, self.epochs),
        )

    def check_learned(self) -> None:
        """Refuse layers of other widths."""
        check_layers(self.weights_, self.biases_, self._widths)


def _to_restore(data: RowsOfTable) -> Examples:
    X = data.table.numbers
    return Examples(X, X, None if data.weight is None else data.weight / data.weight.mean())
