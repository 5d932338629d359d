"""Autoencoders: networks that restore rows from a code of fewer numbers, for scores and for new columns."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mlcli.core.findings import Explanation
from mlcli.core.params import GIVEN, learned, param
from mlcli.core.rows import RowsOfTable
from mlcli.core.schema import Column
from mlcli.core.tables import Array, Table
from mlcli.engines.content_seeds import as_repeats, held_aside
from mlcli.engines.network.activations import ACTIVATIONS, OUTPUTS
from mlcli.engines.network.network import Network, TiedNetwork, check_layers, layers_of, loss_curve
from mlcli.engines.network.training import Examples, Plan, train
from mlcli.engines.principal_components import column_by_column

RESTORED = OUTPUTS["linear", "squared-error"]


@dataclass(kw_only=True, eq=False)
class Autoencoding:
    """What a method or step knows that has learned to restore rows."""

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
        """Draw weights, then learn to restore the rows."""
        rows, aside = held_aside(as_repeats(data.counted()), self.validation, rng)
        made = TiedNetwork if self.tied else Network
        network = made(self._widths, [ACTIVATIONS[name](self.alpha) for name in self._names])
        network.draw(rng)
        validation = None if aside is None else _to_restore(aside)
        history = train(network, RESTORED, _to_restore(rows), validation, Plan.of(self), rng)
        self.weights_, self.biases_ = network.learned()
        self.training_loss_, self.validation_loss_ = np.array(history.training), np.array(history.validation)

    def code_length(self, columns: tuple[Column, ...]) -> int:
        """How many numbers the code of such columns has."""
        return self.code or math.ceil(sum(not column.coded for column in columns) / 3)

    @property
    def _widths(self) -> tuple[int, ...]:
        columns = sum(not column.coded for column in self.columns_)
        return columns, *self.hidden, self.code_length(self.columns_), *self.hidden[::-1], columns

    @property
    def _names(self) -> tuple[str, ...]:
        """The activation of each layer."""
        between = (self.activation,) * len(self.hidden)
        return *between, "identity", *between, "identity"

    def restored(self, table: Table) -> Array:
        """The rows as they come out of the code."""
        network = Network.of(self.weights_, self.biases_, [ACTIVATIONS[name](self.alpha) for name in self._names])
        return network.answers(table.numbers)

    def codes(self, table: Table) -> Array:
        """The code of each row, which does not depend on the others in its last digit either."""
        found = table.numbers
        for place in range(len(self.weights_) // 2):
            sums = column_by_column(found, self.weights_[place]) + self.biases_[place]
            found = ACTIVATIONS[self._names[place]](self.alpha).apply(sums)
        return found

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
