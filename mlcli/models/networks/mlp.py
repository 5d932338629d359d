"""Multi-layer perceptron: layers of weighted sums, each put through an activation, learned by backpropagation.

Formula:
    a⁰ = x, a^l = f^l(W^l a^(l−1) + b^l). With E the mean loss of a batch of rows and δ^L = ∂E/∂z^L:
    δ^l = (W^(l+1)ᵀ δ^(l+1)) f'(z^l), ∂E/∂W^l = δ^l a^(l−1)ᵀ, ∂E/∂b^l = δ^l.
    An optimiser steps against these slopes, batch after batch; an epoch is every row once. f is relu max(0, z),
    sigmoid 1 / (1 + e^−z) (the logistic function), tanh (hyperbolic tangent), arctan, softplus ln(1 + e^z),
    generalised-logistic (1 + e^−z)^−alpha, or the identity.

Assumes:
    Many rows: there are easily more weights than rows, so that the network can learn them by heart (l2, dropout
    and rows held aside restrain it).

Cost:
    About 6 × parameters operations for each row and epoch; 2 × parameters to answer.

Choices:
    A step is θ − η ∂E/∂θ with δ = (a − y) f'(z); logarithms are natural; classes have a softmax. Squared error is
    ½ Σ (y − a)². Weights start at random (Glorot & Bengio 2010), those of the last layer at 0 and its biases such
    that the network answers class shares or the mean: the start does not depend on the names of classes. A step
    output has no slope and learns by the perceptron's rule, δ = a − y. Values are learned in units of their
    spread, or brought into the range of a sigmoid or tanh. l2 is the cost of half a unit of squared weight beside
    the summed loss, as in ``ridge``. Whole weights count as repeats. Batches follow from what is in the rows and
    not from their order; of more than 2²⁵ cells, runs of rows are mixed some at a time. With rows held aside the
    network of the epoch with their smallest loss is kept.
    Pre-training lets the hidden layers first learn, from rows without a class too, to give back cells that were
    masked or noise that was added.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Any, ClassVar

import numpy as np

from mlcli.core.abilities import CountsParameters, RowExplainer, Staged
from mlcli.core.accepts import Accepts
from mlcli.core.errors import MlcliWarning
from mlcli.core.findings import Explanation
from mlcli.core.params import GIVEN, TASK, learned, param
from mlcli.core.ranges import Range, log_range
from mlcli.core.registry import register
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.content_seeds import as_repeats, held_aside
from mlcli.engines.network.activations import ACTIVATIONS, ANSWERS, LOSSES, OUTPUTS, Activation, Output
from mlcli.engines.network.network import OPTIMISERS, Network, check_layers, layers_of, loss_curve
from mlcli.engines.network.passes import passes, weights_of
from mlcli.engines.network.training import CORRUPTIONS, Examples, History, Plan, pretrain, train
from mlcli.models.networks._targets import ClassCoding, ValueCoding
from mlcli.tasks.classification import Classifier
from mlcli.tasks.regression import Regressor
from mlcli.tasks.supervised import SupervisedRows

MOST_TRUTHS = 3
"""Error terms are shown for so many classes that may be the true one."""
OF_CLASSES = ("softmax", "step")
"""Outputs that answer no value."""


@register("mlp", reference="Rumelhart, Hinton & Williams 1986, Back-propagating errors", revision=2)
class MultiLayerPerceptron(Classifier, Regressor, CountsParameters, RowExplainer, Staged):
    """A fully connected feed-forward network."""

    hidden: tuple[int, ...] = param((100,), "how many units each hidden layer has; empty: no hidden layer", ge=1)
    activation: tuple[str, ...] = param(("relu",), "of all hidden layers, or one for each", choices=ACTIVATIONS)
    alpha: float = param(
        1.0, "the exponent of generalised-logistic", gt=0, matters_when={"activation": "generalised-logistic"}
    )
    output: str | None = param(
        None,
        "the activation of the last layer; none: softmax for classes, linear for values",
        choices=ANSWERS,
        default_means=lambda model, task: "linear" if task == "regressor" else "softmax",
    )
    loss: str | None = param(
        None,
        "the loss; none: cross-entropy where answers are probabilities",
        choices=LOSSES,
        matters_when={TASK: "classifier", "output": ("softmax", "sigmoid")},
        default_means=lambda model, task: "squared-error" if task == "regressor" else "cross-entropy",
    )
    epochs: int = param(
        200, "how often every row is learned from at most", ge=1, tune=Range(50, 500, simpler="low", unasked=False)
    )
    batch: int | None = param(32, "the batch size: how many rows a step is made from; 1: online; none: all", ge=1)
    optimiser: str = param("adam", "the optimiser", choices=OPTIMISERS)
    learning_rate: float = param(0.001, "the learning rate", gt=0, tune=log_range(3e-4, 3e-2))
    momentum: float = param(
        0.9,
        "the momentum of sgd: which part of its last step it adds to the next",
        ge=0,
        lt=1,
        matters_when={"optimiser": "sgd"},
    )
    l2: float = param(
        1.0,
        "L2 penalty: the cost of half a unit of squared weight",
        ge=0,
        tune=log_range(1e-2, 1e2, simpler="high"),
    )
    dropout: float = param(0.0, "the share of hidden units left out, drawn for each row and step", ge=0, lt=1)
    validation: float = param(0.0, "the share of rows held aside, whose loss is then watched", ge=0, lt=1)
    patience: int | None = param(10, "how many epochs without a smaller watched loss end it; none: never", ge=1)
    tolerance: float = param(1e-4, "by how much a loss must be smaller", ge=0, matters_when={"patience": GIVEN})
    pretrain: str | None = param(None, "what hidden layers learn before, without labels", choices=CORRUPTIONS)
    corruption: float = param(
        0.25,
        "the share of cells masked, or the deviation of the noise",
        gt=0,
        lt=1,
        matters_when={"pretrain": GIVEN},
    )

    stage_name: ClassVar[str] = "epochs"

    adjustable: ClassVar[tuple[str, ...]] = ("weights_", "biases_")

    weights_: tuple[Array, ...] = learned()
    biases_: tuple[Array, ...] = learned()
    present_: Codes = learned("present")
    """The classes with training rows; of numbers empty."""
    coding_: Array = learned()
    """Of classes their shares; of values centre, unit and middle."""
    training_loss_: Array = learned("passes")
    validation_loss_: Array = learned("validated")
    pretraining_loss_: Array = learned("pretraining")
    history: History = field(init=False, default_factory=History, repr=False, compare=False)
    """The network after each epoch, which is not saved."""

    @property
    def accepts(self) -> Accepts:
        """Numbers on one scale, and weights; rows without a class where it is pre-trained."""
        return Accepts(weights=True, large=True, prefers_scaled=True, unlabelled=self.pretrain is not None)

    def conflicts(self) -> list[str]:
        """Activations for all layers or each; cross-entropy of probabilities; hidden layers to pre-train."""
        found = []
        layers = len(self.hidden)
        if len(self.activation) not in (1, layers):
            found.append(f"activation names {len(self.activation)} for {layers} hidden layers: name one, or each")
        if self.loss == "cross-entropy" and self.output not in (None, "softmax", "sigmoid"):
            found.append(f"loss cross-entropy needs probabilities (softmax, sigmoid), not output {self.output}")
        if self.pretrain and not self.hidden:
            found.append("pretrain needs hidden layers, and hidden is empty")
        return found

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Start at random, or where pre-training ends, and train epoch after epoch."""
        everything = data
        data = as_repeats(data.counted())
        self._learn_coding(data)
        rows, aside = held_aside(data, self.validation, rng)
        examples = self._examples(rows)
        network = self._drawn(everything, examples, rng)
        validation = None if aside is None else self._examples(aside)
        self.history = train(network, self._output, examples, validation, Plan.of(self), rng)
        self.weights_, self.biases_ = network.learned()
        self.training_loss_ = np.array(self.history.training)
        self.validation_loss_ = np.array(self.history.validation)

    def _drawn(self, data: SupervisedRows, examples: Examples, rng: np.random.Generator) -> Network:
        """Hidden layers at random or pre-trained; a last layer that answers the mean target to every row."""
        network = Network((examples.X.shape[1], *self.hidden, examples.Y.shape[1]), self._activations)
        *before, last = network.layers
        for layer in before:
            layer.draw(rng)
        self.pretraining_loss_ = np.empty(0)
        if self.pretrain:
            X, plan = as_repeats(_all_rows(data).counted()).table.numbers, Plan.of(self)
            losses = pretrain(network, self._activations, X, self.pretrain, self.corruption, plan, rng)
            self.pretraining_loss_ = losses
        last.bias[:] = self._output.start(np.average(examples.Y, axis=0, weights=examples.weights))
        return network

    def _learn_coding(self, data: Any) -> None:
        if self.classes_ is not None:
            self.present_ = np.flatnonzero(data.class_totals > 0).astype(np.int32)
            self.coding_ = data.class_totals / data.class_totals.sum()
            return
        self.present_ = np.empty(0, np.int32)
        if self.output in OF_CLASSES:
            text = f"{self.output} is of classes, but {data.target} is a number: the output is {self._output_name}"
            warnings.warn(text, MlcliWarning, stacklevel=3)
        coding = ValueCoding.of(data, self._output_name)
        self.coding_ = np.array([coding.centre, coding.unit, coding.middle])

    @property
    def _coding(self) -> ClassCoding | ValueCoding:
        if self.classes_ is None:
            return ValueCoding(*self.coding_.tolist())
        return ClassCoding(self._output_name, self.present_, self.coding_)

    @property
    def _output_name(self) -> str:
        if self.classes_ is not None:
            return self.output or "softmax"
        return "linear" if self.output is None or self.output in OF_CLASSES else self.output

    @property
    def _output(self) -> Output:
        of_probabilities = self.classes_ is not None and (self._output_name, "cross-entropy") in OUTPUTS
        loss = self.loss or "cross-entropy"
        return OUTPUTS[self._output_name, loss if of_probabilities else "squared-error"]

    @property
    def _names(self) -> tuple[str, ...]:
        """The activation of each layer."""
        each = self.activation * len(self.hidden) if len(self.activation) == 1 else self.activation
        return (*each, self._output_name)

    @property
    def _activations(self) -> list[Activation]:
        return [*(ACTIVATIONS[name](self.alpha) for name in self._names[:-1]), self._output.activation]

    def _examples(self, data: Any) -> Examples:
        weights = None if data.weight is None else data.weight / data.weight.mean()
        return Examples(data.table.numbers, self._coding.targets(data), weights)

    def predict_proba(self, table: Table) -> Array:
        """What the units of the classes answer, made to sum to 1."""
        return self._decoded_answers(self._network(), table)

    def predict_values(self, table: Table) -> Array:
        """What the unit answers, as a value of the target."""
        return self._decoded_answers(self._network(), table)

    def _network(self) -> Network:
        return Network.of(self.weights_, self.biases_, self._activations)

    def _decoded_answers(self, network: Network, table: Table) -> Array:
        return self._coding.decoded(network.answers(table.numbers))

    def stages(self) -> int:
        """A stage for each epoch that was made; a model that was loaded knows none."""
        return len(self.history.training)

    def staged(self, table: Table, at: Sequence[int]) -> Iterator[Array]:
        """What the network would answer had training ended after some epochs."""
        network = self._network()
        for epoch in at:
            network.parameters[:] = self.history.parameters_after(epoch)
            yield self._decoded_answers(network, table)

    def explain(self) -> Explanation:
        """The layers with their numbers of parameters, few weights, and the loss epoch by epoch."""
        layers = layers_of(len(self.weights_[0]), self.biases_, self._names)
        weights = weights_of(self._network(), self._unit_names)
        loss = loss_curve(self.training_loss_, self.validation_loss_, self.epochs)
        if not len(self.pretraining_loss_):
            return layers, *weights, loss
        before = loss_curve(self.pretraining_loss_, np.empty(0), self.epochs)
        return layers, *weights, replace(before, title="Loss of pre-training by epoch"), loss

    def explain_answer(self, table: Table) -> Explanation:
        """What each unit answers, and its error term for each class that may be the true one."""
        coding, targets = self._coding, dict[str, Array]()
        if isinstance(coding, ClassCoding) and len(coding.present) <= MOST_TRUTHS:
            each = coding.coded(np.eye(len(self.classes_))[coding.present])
            targets = dict(zip((self.classes_[code] for code in coding.present), each, strict=True))
        found = passes(self._network(), table.numbers[0], self._output, targets, self._unit_names)
        return (found if self.classes_ is not None else replace(found, note=f"{found.note}; {coding}"),)

    @property
    def _unit_names(self) -> list[list[str]]:
        """The names of the columns, and of the units of each layer."""
        coding, outputs = self._coding, [self.target_]
        if isinstance(coding, ClassCoding):
            outputs = [self.classes_[code] for code in coding.present[int(coding.single) :]]
        hidden = enumerate(self.hidden, 1)
        units = ([f"hidden {layer}.{unit + 1}" for unit in range(width)] for layer, width in hidden)
        return [[column.name for column in self.columns_ if not column.coded], *units, outputs]

    def check_learned(self) -> None:
        """Refuse layers of other widths, and what is no coding of these classes or values."""
        classes = 0 if self.classes_ is None else len(self.classes_)
        if not np.isin(self.present_, np.arange(classes)).all():
            raise ValueError("the saved classes are not there")
        if self.coding_.shape != (classes or 3,):
            raise ValueError("the saved coding is not that of the target")
        columns = sum(not column.coded for column in self.columns_)
        check_layers(self.weights_, self.biases_, (columns, *self.hidden, self._coding.units))


def _all_rows(data: Any) -> Any:
    """Rows with and without a class."""
    others = getattr(data, "unlabelled", None)
    return data if others is None else data.alone().joined(others)
