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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np

from mlcli.core import findings
from mlcli.core.abilities import CountsParameters, RowExplainer, Staged
from mlcli.core.errors import MlcliWarning
from mlcli.core.findings import Explanation
from mlcli.core.moments import quotient
from mlcli.core.params import GIVEN, TASK, learned, param
from mlcli.core.ranges import Range, log_range
from mlcli.core.registry import register
from mlcli.core.schema import Accepts
from mlcli.core.tables import Array, Codes, Table
from mlcli.engines.content_seeds import as_repeats, held_aside
from mlcli.engines.network.network import (
    ACTIVATIONS,
    ANSWERS,
    LOSSES,
    OPTIMISERS,
    OUTPUTS,
    Activation,
    Layer,
    Network,
    Output,
    check_layers,
    layers_of,
    loss_curve,
)
from mlcli.engines.network.training import CORRUPTIONS, Examples, History, Plan, pretrain, train
from mlcli.tasks.supervised import Classifier, LabelledRows, Regressor, SupervisedRows

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
        return Accepts(weights=True, prefers_scaled=True, unlabelled=self.pretrain is not None)

    def conflicts(self) -> list[str]:
        """Activations for all layers or each; cross-entropy of probabilities; hidden layers to pre-train."""
        result = []
        layers = len(self.hidden)
        if len(self.activation) not in (1, layers):
            result.append(f"activation names {len(self.activation)} for {layers} hidden layers: name one, or each")
        if self.loss == "cross-entropy" and self.output not in (None, "softmax", "sigmoid"):
            result.append(f"loss cross-entropy needs probabilities (softmax, sigmoid), not output {self.output}")
        if self.pretrain and not self.hidden:
            result.append("pretrain needs hidden layers, and hidden is empty")
        return result

    def fit(self, data: SupervisedRows, rng: np.random.Generator) -> None:
        """Start at random, or where pre-training ends, and train epoch after epoch."""
        everything = data
        data = as_repeats(data.counted())
        self._learn_coding(data)
        rows, aside = held_aside(data, self.validation, rng)
        examples = self._examples(rows)
        network = self._start(everything, examples, rng)
        validation = None if aside is None else self._examples(aside)
        self.history = train(network, self._output, examples, validation, Plan.of(self), rng)
        self.weights_, self.biases_ = network.learned()
        self.training_loss_ = np.array(self.history.training)
        self.validation_loss_ = np.array(self.history.validation)

    def _start(self, data: SupervisedRows, examples: Examples, rng: np.random.Generator) -> Network:
        """Hidden layers at random or pre-trained; a last layer that answers the mean target to every row."""
        network = Network((examples.X.shape[1], *self.hidden, examples.Y.shape[1]), self._activations)
        *before, last = network.layers
        for layer in before:
            layer.draw(rng)
        self.pretraining_loss_ = np.empty(0)
        if self.pretrain:
            # rows with and without a class
            others = getattr(data, "unlabelled", None)
            all_rows = data if others is None else data.alone().joined(others)
            X, plan = as_repeats(all_rows.counted()).table.numbers, Plan.of(self)
            losses = pretrain(network, self._activations, X, self.pretrain, self.corruption, plan, rng)
            self.pretraining_loss_ = losses
        last.bias[:] = self._output.start(np.average(examples.Y, axis=0, weights=examples.weights))
        return network

    def _learn_coding(self, data: SupervisedRows) -> None:
        if isinstance(data, LabelledRows):
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

    def _examples(self, data: SupervisedRows) -> Examples:
        weights = None if data.weight is None else data.weight / data.weight.mean()
        return Examples(data.table.numbers, self._coding.targets(data.outputs), weights)

    def predict_proba(self, table: Table) -> Array:
        """What the units of the classes answer, made to sum to 1."""
        return self._coding.decoded(self._network().answers(table.numbers))

    def predict_values(self, table: Table) -> Array:
        """What the unit answers, as a value of the target."""
        return self._coding.decoded(self._network().answers(table.numbers))

    def _network(self) -> Network:
        return Network.of(self.weights_, self.biases_, self._activations)

    def stages(self) -> int:
        """A stage for each epoch that was made; a model that was loaded knows none."""
        return len(self.history.training)

    def staged(self, table: Table, at: Sequence[int]) -> Iterator[Array]:
        """The predictions of the network after some epochs."""
        network = self._network()
        for epoch in at:
            network.parameters[:] = self.history.parameters_after(epoch)
            yield self._coding.decoded(network.answers(table.numbers))

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
        # error terms for at most three possible true classes
        if isinstance(coding, ClassCoding) and len(coding.present) <= 3:
            each = coding.targets(np.eye(len(self.classes_))[coding.present])
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


# What the units of the last layer are to answer for classes and for values, and what their answers mean.

RANGES = {"sigmoid": (0.1, 0.9), "tanh": (-0.8, 0.8)}
"""Where the training values lie in the answers of an output that has ends, which only an infinite sum reaches."""


@dataclass(frozen=True, eq=False)
class ClassCoding:
    """A unit for each class that has training rows, on for its own; one unit, on for the second, of two classes.

    With softmax two classes have two units as well.
    """

    output: str
    present: Codes
    shares: Array
    """How much of the training weight each class has."""

    @property
    def single(self) -> bool:
        """Whether one unit tells two classes apart."""
        return len(self.present) == 2 and self.output != "softmax"

    @property
    def units(self) -> int:
        """How many outputs there are."""
        return 1 if self.single else len(self.present)

    def targets(self, indicators: Array) -> Array:
        """1 where a unit is to be on for the class of a row, else 0, of tanh −1."""
        on = indicators[:, self.present[1:]] if self.single else indicators[:, self.present]
        return np.ascontiguousarray(2.0 * on - 1.0 if self.output == "tanh" else on)

    def decoded(self, answers: Array) -> Array:
        """Answers between off and on, made to sum to 1; where every unit is off, the shares of the classes."""
        on = np.clip(0.5 * (answers + 1.0) if self.output == "tanh" else answers, 0.0, 1.0)
        on = np.hstack([1.0 - on, on]) if self.single else on
        total = on.sum(axis=1, keepdims=True)
        result = np.zeros((len(answers), len(self.shares)))
        result[:, self.present] = quotient(on, total)
        return np.where(total > 0, result, self.shares)


@dataclass(frozen=True, eq=False)
class ValueCoding:
    """One unit: values in units of their spread, or brought into the range that the output can answer."""

    centre: float
    """The value, and with ``middle`` the answer, that the others are measured from."""
    unit: float
    """How much value one in the answer stands for; 0 where all training values are equal."""
    middle: float
    units: int = 1

    def __str__(self) -> str:
        """How an answer stands for a value."""
        answer = f"(a − {self.middle:g})" if self.middle else "a"
        return f"the value is {self.centre:g} + {self.unit:g} {answer}"

    @staticmethod
    def of(data: SupervisedRows, output: str) -> ValueCoding:
        """The coding of training values for an output."""
        y = data.outputs[:, 0]
        if output not in RANGES:
            centre = float(np.average(y, weights=data.weights))
            spread = np.average((y - centre) ** 2, weights=data.weights)
            return ValueCoding(centre, float(np.sqrt(spread)), 0.0)
        low, high = RANGES[output]
        least, most = float(y.min()), float(y.max())
        return ValueCoding(0.5 * (least + most), (most - least) / (high - low), 0.5 * (low + high))

    def targets(self, values: Array) -> Array:
        """What the unit is to answer for values (n × 1)."""
        return np.asarray(self.middle + (values - self.centre) / (self.unit or 1.0))

    def decoded(self, answers: Array) -> Array:
        """The values that answers stand for."""
        return np.asarray(self.centre + self.unit * (answers[:, 0] - self.middle))


# What passes through a network for one row: sums and answers forwards, error terms backwards, unit by unit.

MOST_UNITS = 10
"""So many units of a layer are shown."""


def forward_sums(layers: Sequence[Layer], row: Array) -> list[tuple[Array, Array]]:
    """Of each layer the sums z = a W + b that come in and what it answers to them."""
    results, a = [], row[None, :]
    for layer in layers:
        z = a @ layer.weight + layer.bias
        a = layer.activation.apply(z.copy())
        results.append((z, a))
    return results


def error_terms(layers: Sequence[Layer], answers: Sequence[Array], output: Output, target: Array) -> list[Array]:
    """δ = ∂loss/∂z of each layer, were the target this one."""
    results = [output.errors(answers[-1].copy(), target[None, :])]
    for (before, layer), a in zip(reversed(list(pairwise(layers))), reversed(answers[:-1]), strict=True):
        results.append(before.activation.pull(results[-1] @ layer.weight.T, a.copy()))
    return results[::-1]


def passes(
    network: Network, row: Array, output: Output, targets: Mapping[str, Array], names: Sequence[Sequence[str]]
) -> findings.Table:
    """Forward pass, and for each target that may be the truth the backward pass.

    ``names`` are those of the columns, then of the units of each layer.
    """
    forward = forward_sums(network.layers, row)
    answers = [a for _, a in forward]
    errors = [error_terms(network.layers, answers, output, target) for target in targets.values()]
    columns, *units = names
    rows: list[tuple[findings.Entry, ...]] = [
        (name, None, value, *(None for _ in targets))
        for name, value in zip(columns[:MOST_UNITS], row.tolist(), strict=False)
    ]
    for index, ((z, a), layer) in enumerate(zip(forward, units, strict=True)):
        numbers = np.vstack([z, a, *(error[index] for error in errors)]).T.tolist()
        rows += [(name, *line) for name, line in zip(layer[:MOST_UNITS], numbers, strict=False)]
    header = ("unit", "sum z", "answer a", *(f"δ if {name}" for name in targets))
    note = "z: bias + weights × what comes in; a = f(z)"
    note += "; δ = ∂loss/∂z, by backpropagation: a weight steps against δ × the a that comes in" if targets else ""
    note += f"; the first {MOST_UNITS} of a layer" if max(map(len, names)) > MOST_UNITS else ""
    title = "Forward and backward pass" if targets else "Forward pass"
    return findings.Table(title, header, tuple(rows), note=note)


def weights_of(network: Network, names: Sequence[Sequence[str]]) -> findings.Explanation:
    """The weight of each connection and the bias of each unit, of a small network; ``names`` as of passes."""
    # the weights of a network with more are not
    if len(network.parameters) > 60:
        return ()
    rows = [
        (unit, source, float(value))
        for layer, (before, units) in zip(network.layers, pairwise(names), strict=True)
        for index, unit in enumerate(units)
        for source, value in (("bias", layer.bias[index]), *zip(before, layer.weight[:, index], strict=True))
    ]
    return (findings.Table("Weights", ("unit", "from", "weight"), tuple(rows)),)
